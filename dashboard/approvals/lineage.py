"""What came before a request in the same run, and the story of a whole run. Reads only.

A run is what the agent calls one; nothing here trusts it further than to put things side by side.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from django.db.models import Case, F, Prefetch, Q, TextField, Value, When
from django.db.models.functions import Left, Length, Right

from approval_client.wire import Source
from dashboard.approvals.archive import ENDS, these
from dashboard.approvals.models import (
    ApprovalQuerySet,
    ApprovalRequest,
    Decision,
    Grant,
    Outcome,
    Vote,
)
from dashboard.approvals.similarity import ALIKE, LONGEST, Sketch, likeness, sketch

MOST_COMPARED = 10
"""How many earlier requests one is compared with: the newest of its kind."""

MOST_IN_A_STORY = 100
"""How many requests of a run are told together: the newest."""

WITHIN = timedelta(days=7)
"""How far back an earlier request is looked for. It keeps the search off a whole archive."""

_MOST_CHARACTERS = 100_000
"""How much of a story is compared; what is beyond it is compared by its digest alone."""


@dataclass(frozen=True, slots=True)
class Earlier:
    """An earlier request that one resembles.

    Attributes:
        approval: With its decision, and with its ``text`` where that is short enough to compare.
        is_same: Whether the content is the same to the last character.
    """

    approval: ApprovalRequest
    is_same: bool


@dataclass(frozen=True, slots=True)
class Story:
    """What an agent asked in one run, in order: the newest ones, out of ``total``."""

    approvals: list[ApprovalRequest]
    total: int


def resembled(approval: ApprovalRequest) -> Earlier | None:
    """Return the earlier request of the same run that ``approval`` is most like, if any is."""
    before = _before(approval).order_by("-submitted_at", "-pk")
    equal = _with_text(these(before.filter(digest=approval.digest)[:MOST_COMPARED]))
    same = _closest(approval, None, [(one, None) for one in equal])
    if same or len(approval.content) > LONGEST:
        return same
    newest = _with_text(these(before[:MOST_COMPARED]))
    known = [(one, _sketched(one)) for one in newest]
    return _closest(approval, sketch(approval.kind, approval.content), known)


def story(agent_id: int, run_id: str) -> Story:
    """Return what an agent asked in a run, with all that its page needs."""
    asked = ApprovalRequest.objects.filter(agent=agent_id, run_id=run_id)
    newest = asked.order_by("-submitted_at", "-pk")[:MOST_IN_A_STORY]
    approvals = list(_told(these(newest)))
    total = len(approvals) if len(approvals) < MOST_IN_A_STORY else asked.count()
    return Story(approvals[::-1], total)


def chain(approvals: Sequence[ApprovalRequest]) -> dict[UUID, Earlier]:
    """Say which of a story, in its order, resembles which one before it."""
    found: dict[UUID, Earlier] = {}
    known: list[tuple[ApprovalRequest, Sketch | None]] = []
    left = _MOST_CHARACTERS
    for approval in approvals:
        text = text_of(approval)
        left -= len(text)
        own = sketch(approval.kind, text) if text and left >= 0 else None
        if earlier := _closest(approval, own, _comparable(approval, known)):
            found[approval.pk] = earlier
        known.append((approval, own))
    return found


def text_of(approval: ApprovalRequest) -> str:
    """Return the canonical content of a request that was read here; empty if it is too long."""
    text: str = approval.text  # type: ignore[attr-defined] # annotated
    return text


def _before(approval: ApprovalRequest) -> ApprovalQuerySet:
    at = approval.submitted_at
    earlier = Q(submitted_at__lt=at) | Q(submitted_at=at, pk__lt=approval.pk)
    return ApprovalRequest.objects.filter(
        earlier,
        agent=approval.agent_id,
        run_id=approval.run_id,
        kind=approval.kind,
        submitted_at__gte=at - WITHIN,
    )


def _with_text(approvals: ApprovalQuerySet) -> ApprovalQuerySet:
    """Read the content only where it is short: it may be a megabyte."""
    of_short = When(size__lte=LONGEST, then=F("content"))
    short = Case(of_short, default=Value(""), output_field=TextField())
    annotated = approvals.annotate(size=Length("content")).annotate(text=short)
    light = annotated.defer("content", "evidence", "objective")
    return light.select_related("decision__decided_by")


def _told(approvals: ApprovalQuerySet) -> ApprovalQuerySet:
    ends = {"head": Left("content", ENDS), "tail": Right("content", ENDS)}
    votes = Vote.objects.select_related("person").defer("shown").order_by("id")
    grants = Grant.objects.select_related("made_by")
    return (
        _with_text(approvals)
        .annotate(**ends)
        .select_related("agent", "poll", "decision__grant__made_by")
        .prefetch_related(
            Prefetch("outcomes", queryset=Outcome.objects.order_by("id")),
            Prefetch("votes", queryset=votes),
            Prefetch("grants_made", queryset=grants),
        )
    )


def _sketched(approval: ApprovalRequest) -> Sketch | None:
    text = text_of(approval)
    return sketch(approval.kind, text) if text else None


def _comparable(
    approval: ApprovalRequest, known: Sequence[tuple[ApprovalRequest, Sketch | None]]
) -> Iterator[tuple[ApprovalRequest, Sketch | None]]:
    """Choose from what came before as ``resembled`` does, the newest first."""
    of_kind = [(one, own) for one, own in reversed(known) if one.kind == approval.kind]
    same = [(one, own) for one, own in of_kind if one.digest == approval.digest]
    yield from same[:MOST_COMPARED] or of_kind[:MOST_COMPARED]


def _closest(
    approval: ApprovalRequest,
    own: Sketch | None,
    known: Iterable[tuple[ApprovalRequest, Sketch | None]],
) -> Earlier | None:
    """Choose what is most like it: what a person answered before all else, then the newest."""
    found = []
    for age, (one, its) in enumerate(known):
        is_same = one.digest == approval.digest
        like = 1.0 if is_same else likeness(own, its) if own and its else 0.0
        if like >= ALIKE:
            found.append(((is_same, _by_person(one), like, -age), one))
    if not found:
        return None
    rank, closest = max(found, key=lambda pair: pair[0])
    return Earlier(closest, rank[0])


def _by_person(approval: ApprovalRequest) -> bool:
    decision: Decision | None = getattr(approval, "decision", None)
    return decision is not None and decision.source == Source.REVIEWER
