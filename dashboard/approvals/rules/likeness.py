"""Requests that are the same as an earlier one, or like it.

A run is what the agent calls one; nothing here trusts it further than to put things side by side.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import Case, F, Q, QuerySet, TextField, Value, When
from django.db.models.functions import Coalesce, Length

from approval_client.wire import Kind, Source, Status, canonical_json, parse_json
from dashboard.accounts.models import Agent, User
from dashboard.approvals.models import (
    ApprovalQuerySet,
    ApprovalRequest,
    Decision,
    Judgement,
    Vote,
)
from dashboard.approvals.rules.edit import edited
from dashboard.approvals.rules.recall import recall_of
from dashboard.statements import Many, rows

LONGEST = 20_000
"""Characters of canonical content; what is longer resembles nothing but itself."""

ALIKE = 0.6
"""From here on two contents are worth reading side by side: 1 is the same, 0 nothing common."""

_PIECE = 3  # characters: long enough to know words by, short enough to survive a changed one
MOST_COMPARED = 10
"""How many earlier requests one is compared with: the newest of its kind."""

WITHIN = timedelta(days=7)
"""How far back an earlier request is looked for. It keeps the search off a whole archive."""

_MOST_CHARACTERS = 100_000
"""How much of a story is compared; what is beyond it is compared by its digest alone."""

_MEMORIES_READ = 20


@dataclass(frozen=True, slots=True)
class Sketch:
    """What is kept of a content to compare it.

    Attributes:
        frame: What has to be equal: the tool, or what is done to whose memory.
        pieces: How often each piece of text is in it.
        total: How many pieces that is.
    """

    frame: tuple[str, ...]
    pieces: Counter[str]
    total: int


def sketch(kind: str, content: str) -> Sketch:
    """Sketch canonical ``content``, which has to be no longer than ``LONGEST``."""
    frame, text = _read(Kind(kind), parse_json(content))
    padded = f"\n{text}\n"
    cut = [padded[start : start + _PIECE] for start in range(len(padded) - _PIECE + 1)]
    return Sketch(frame, Counter(cut), len(cut))


def likeness(one: Sketch, other: Sketch) -> float:
    """Return the share of pieces that two contents have in common, from 0 to 1."""
    total = one.total + other.total
    if one.frame != other.frame or not total:
        return 0.0
    fewer, more = sorted((one, other), key=lambda side: side.total)
    if 2 * fewer.total < ALIKE * total:
        return 0.0  # too unequal in length to be alike
    common = sum(min(count, more.pieces[piece]) for piece, count in fewer.pieces.items())
    return 2 * common / total


def _read(kind: Kind, content: dict[str, Any]) -> tuple[tuple[str, ...], str]:
    match kind:
        case Kind.CODE:
            return (), _written(content.get("code"))
        case Kind.TOOL_CALL:
            return (_written(content.get("tool")),), _written(content.get("arguments"))
        case Kind.PLAN:
            return (), _written(content.get("steps"))
        case Kind.MEMORY:
            whose = (_written(content.get("operation")), _written(content.get("user_id")))
            return whose, _written(content.get("content"))


def _written(value: Any) -> str:
    return value if isinstance(value, str) else canonical_json(value)


@dataclass(frozen=True, slots=True)
class EarlierRequest:
    """An earlier request that one resembles.

    Attributes:
        approval: With its decision, and with its ``text`` where that is short enough to compare.
        is_same: Whether the content is the same to the last character.
    """

    approval: ApprovalRequest
    is_same: bool


def resembled(approval: ApprovalRequest) -> EarlierRequest | None:
    """Return the earlier request of the same run that ``approval`` is most like, if any is."""
    at = approval.submitted_at
    story = (approval.agent_id, approval.run_id, approval.kind, at, at - WITHIN, approval.pk)
    equal = _equal_before(*story, approval.digest) if _has_equal(approval) else []
    same = _closest(approval, None, [(candidate, None) for candidate in _texts(equal)])
    if same or len(approval.content) > LONGEST:
        return same
    newest = _texts(_before(*story))
    earlier = [(candidate, _sketched(candidate)) for candidate in newest]
    return _closest(approval, sketch(approval.kind, approval.content), earlier)


def earlier_in_run(approvals: Sequence[ApprovalRequest]) -> dict[UUID, EarlierRequest]:
    """Return for requests of a run, oldest first, the earlier one that each resembles."""
    resembled_by_id: dict[UUID, EarlierRequest] = {}
    earlier_ones: list[tuple[ApprovalRequest, Sketch | None]] = []
    room = _MOST_CHARACTERS
    for approval in approvals:
        text = text_of(approval)
        room -= len(text)
        own_sketch = sketch(approval.kind, text) if text and room >= 0 else None
        if earlier := _closest(approval, own_sketch, _comparable(approval, earlier_ones)):
            resembled_by_id[approval.pk] = earlier
        earlier_ones.append((approval, own_sketch))
    return resembled_by_id


def text_of(approval: ApprovalRequest) -> str:
    """Return the canonical content of a request that was read here; empty if it is too long."""
    text: str = approval.text  # type: ignore[attr-defined] # annotated
    return text


def _has_equal(approval: ApprovalRequest) -> bool:
    """Whether the run may have asked for the same another time; ``queries.whole`` knows."""
    return bool(vars(approval).get("has_equal", True))


_STORY = (
    Agent.id,
    ApprovalRequest.run_id,
    ApprovalRequest.kind,
    ApprovalRequest.submitted_at,
    ApprovalRequest.submitted_at,
    ApprovalRequest.id,
)
"""What says which requests came before one: its own values, and how far back."""


@rows(*_STORY)
def _before(
    agent: int, run: str, kind: str, at: datetime, since: datetime, pk: UUID
) -> QuerySet[ApprovalRequest, UUID]:
    earlier = Q(submitted_at__lt=at) | Q(submitted_at=at, pk__lt=pk)
    of_run = ApprovalRequest.objects.filter(earlier, agent=agent, run_id=run, kind=kind)
    newest = of_run.filter(submitted_at__gte=since).order_by("-submitted_at", "-pk")
    # The ids alone: else the database would cut the content of every row that it sorts.
    return newest.values_list("pk", flat=True)[:MOST_COMPARED]


@rows(*_STORY, ApprovalRequest.digest)
def _equal_before(
    agent: int, run: str, kind: str, at: datetime, since: datetime, pk: UUID, digest: str
) -> QuerySet[ApprovalRequest, UUID]:
    earlier = Q(submitted_at__lt=at) | Q(submitted_at=at, pk__lt=pk)
    of_run = ApprovalRequest.objects.filter(earlier, agent=agent, run_id=run, kind=kind)
    equal = of_run.filter(submitted_at__gte=since, digest=digest)
    newest = equal.order_by("-submitted_at", "-pk")
    return newest.values_list("pk", flat=True)[:MOST_COMPARED]


def _texts(ids: Collection[UUID]) -> list[ApprovalRequest]:
    """Read these requests with their texts, the newest first."""
    return _with_text(ids) if ids else []


@rows(Many(ApprovalRequest.id))
def _with_text(ids: Iterable[UUID]) -> QuerySet[ApprovalRequest]:
    approvals = ApprovalRequest.objects.filter(pk__among=ids)
    return with_text(approvals).order_by("-submitted_at", "-pk")


def with_text(approvals: ApprovalQuerySet) -> ApprovalQuerySet:
    """Read the content only where it is short: it may be a megabyte."""
    of_short = When(size__lte=LONGEST, then=F("content"))
    short = Case(of_short, default=Value(""), output_field=TextField())
    annotated = approvals.annotate(size=Length("content")).annotate(text=short)
    light = annotated.defer("content", "evidence", "objective")
    return light.select_related("decision__decided_by", "recall__person")


def _sketched(approval: ApprovalRequest) -> Sketch | None:
    text = text_of(approval)
    return sketch(approval.kind, text) if text else None


def _comparable(
    approval: ApprovalRequest, earlier: Sequence[tuple[ApprovalRequest, Sketch | None]]
) -> Iterator[tuple[ApprovalRequest, Sketch | None]]:
    """Choose from what came before as ``resembled`` does, the newest first."""
    of_kind = [
        (candidate, its_sketch)
        for candidate, its_sketch in reversed(earlier)
        if candidate.kind == approval.kind
    ]
    same = [
        (candidate, its_sketch)
        for candidate, its_sketch in of_kind
        if candidate.digest == approval.digest
    ]
    yield from same[:MOST_COMPARED] or of_kind[:MOST_COMPARED]


def _closest(
    approval: ApprovalRequest,
    own_sketch: Sketch | None,
    earlier: Iterable[tuple[ApprovalRequest, Sketch | None]],
) -> EarlierRequest | None:
    """Choose what is most like it: what a person answered before all else, then the newest."""
    ranked = []
    for age, (candidate, its_sketch) in enumerate(earlier):
        is_same = candidate.digest == approval.digest
        like = (
            1.0
            if is_same
            else likeness(own_sketch, its_sketch)
            if own_sketch and its_sketch
            else 0.0
        )
        if like >= ALIKE:
            ranked.append(((is_same, _by_person(candidate), like, -age), candidate))
    if not ranked:
        return None
    rank, closest = max(ranked, key=lambda pair: pair[0])
    return EarlierRequest(closest, rank[0])


def _by_person(approval: ApprovalRequest) -> bool:
    decision: Decision | None = getattr(approval, "decision", None)
    return decision is not None and decision.source == Source.REVIEWER


def earlier_answer(approval: ApprovalRequest, judgement: Judgement) -> Decision | None:
    """Return the last decision of a person about exactly what ``approval`` asks, or None.

    The agent, the run, the content, the capability and all that the agent says have to be the
    same, and so has the policy: its revision, what it says and what was found. A run has to be
    named: without one, nobody knows what belongs together. Where the last word about it was to
    take an approval back, there is none: an older answer does not come back.
    """
    if not approval.run_id or not _has_equal(approval):
        return None
    at, story = approval.submitted_at, (approval.agent_id, approval.run_id, approval.kind)
    latest = _answered.first(*story, at, at - WITHIN, approval.pk, approval.digest)
    # An answer to each step, or to an edit, cannot be repeated by one press.
    if latest is None or latest.edit_id is not None or latest.has_steps:
        return None
    is_in_force = recall_of(latest.approval) is None
    return latest if is_in_force and _is_same(latest, approval, judgement) else None


@rows(*_STORY, ApprovalRequest.digest)
def _answered(
    agent: int, run: str, kind: str, at: datetime, since: datetime, pk: UUID, digest: str
) -> QuerySet[Decision]:
    answers = Decision.objects.filter(
        source=Source.REVIEWER,
        approval__agent=agent,
        approval__run_id=run,
        approval__kind=kind,
        approval__digest=digest,
        approval__submitted_at__lte=at,
        approval__submitted_at__gte=since,
    ).exclude(approval=pk)
    whole = answers.select_related("approval__recall", "decided_by", "judgement__inspection")
    return whole.order_by(Coalesce("approval__recall__taken_back_at", "decided_at").desc())[:1]


def saw_the_end(decision: Decision, person: User) -> bool:
    """Whether this person had the end of that content in sight when they approved it."""
    own_votes = Vote.objects.filter(
        approval=decision.approval_id, person=person, end_seen=True, edit=None
    )
    return decision.status == Status.APPROVED and own_votes.exists()


def _is_same(last: Decision, approval: ApprovalRequest, judgement: Judgement) -> bool:
    then = last.judgement
    if then is None or last.digest != approval.digest:
        return False
    return _asked(last.approval) == _asked(approval) and _judged(then) == _judged(judgement)


def _asked(approval: ApprovalRequest) -> tuple[object, ...]:
    return (
        approval.content,
        approval.capability,
        approval.objective,
        approval.evidence,
        approval.accepts_edits,
    )


def _judged(judgement: Judgement) -> tuple[object, ...]:
    return (
        judgement.revision_id,
        judgement.effect,
        judgement.demands,
        judgement.trace,
        judgement.inspection.report,
    )


def memory_approved_before(approval: ApprovalRequest) -> ApprovalRequest | None:
    """Return the request that was approved last for the same agent's memory of the same user.

    Its content is what was approved, also where a reviewer had changed what was asked.

    For a request that is decided, that is what was approved before its own decision.
    """
    if approval.kind != Kind.MEMORY:
        return None
    user = parse_json(approval.content).get("user_id")
    # The members of canonical JSON stand in the order of their names, and this is the last. A
    # database may take a capital letter for a small one here, so what it finds is read again.
    ending = f',"user_id":{canonical_json(user)}}}'
    same = ApprovalRequest.objects.filter(
        agent=approval.agent_id,
        kind=Kind.MEMORY,
        status=Status.APPROVED,
        recall=None,
        content__endswith=ending,
    ).exclude(pk=approval.pk)
    if decision := getattr(approval, "decision", None):
        same = same.filter(decision__decided_at__lt=decision.decided_at)
    newest = same.select_related("decision__edit").order_by("-decision__decided_at")[
        :_MEMORIES_READ
    ]
    newest_same = next(
        (candidate for candidate in newest if candidate.content.endswith(ending)), None
    )
    edit = newest_same.decision.edit if newest_same else None
    return edited(newest_same, edit.content) if newest_same and edit else newest_same
