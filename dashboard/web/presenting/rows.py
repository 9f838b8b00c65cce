"""The rows of the queue."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from itertools import groupby
from uuid import UUID

from django.db.models.functions import Left, Right
from django.utils.safestring import SafeString

from dashboard.accounts.models import User
from dashboard.accounts.roles import may_decide
from dashboard.approvals import queries
from dashboard.approvals.models import (
    ApprovalQuerySet,
    ApprovalRequest,
    Assignment,
    Decision,
    Poll,
)
from dashboard.approvals.rules.answer import votes_that_count
from dashboard.approvals.rules.assignment import Presence, presence
from dashboard.inspection.findings import Severity
from dashboard.policies.demands import Required
from dashboard.web.presenting import times, words
from dashboard.web.presenting.attending import reading
from dashboard.web.presenting.findings import SEVERITIES
from dashboard.web.presenting.gist import HEAD, TAIL, gist
from dashboard.web.presenting.times import Moment, TimeLeft
from dashboard.web.rendering.markup import theirs
from dashboard.wire import Kind, Source, Status

MOST = 100
POLLS_EVERY = timedelta(seconds=40)
"""An agent that waits asks again within this time; after it we say that nobody waits."""

_CLOSERS = {
    Source.POLICY: "by the policy",
    Source.GRANT: "by a remembered yes",
    Source.ADMIN: "by an admin",
}
_GRAVE = re.compile(
    rf'"sentence":"((?:[^"\\]|\\.)*)","severity":"{Severity.HIGH}"\Z'  # quotation marks: escaped
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """One request in the list. ``gist`` and ``run`` are the agent's voice, drawn.

    Attributes:
        risk: The highest severity of what was found, where that is no mere note.
        finding: Our sentence about the gravest finding, where that is of high severity.
        progress: How many approved, where several have to.
        claim: Who is on it, in words; ``is_mine`` says whether that is the reader.
        reading: Who else has it open, in words.
        back_at: When it comes back that the reader put off.
        may_join: Whether there are others on the list that seem alike, and nothing against that.
        together: The same for requests of one run; empty where the agent named none.
    """

    id: UUID
    kind: str
    kind_word: str
    status: str
    status_word: str
    risk: str
    risk_word: str
    finding: SafeString
    gist: SafeString
    agent: str
    run: SafeString
    together: tuple[int, str] | None
    progress: str
    claim: str
    is_mine: bool
    reading: str
    back_at: str
    may_join: bool
    asked: Moment
    left: TimeLeft | None
    nobody_waits: bool
    closed: Moment | None
    closer: str


@dataclass(frozen=True, slots=True)
class Together:
    """Rows that stand one after the other and are of one run, or one row."""

    rows: list[Row]

    @property
    def is_run(self) -> bool:
        """Whether they stand under a heading of their own."""
        return len(self.rows) > 1


def rows(approvals: ApprovalQuerySet, person: User, now: datetime) -> list[Row]:
    """Present requests, without reading a whole content or report of any."""
    annotated = approvals.annotate(
        head=Left("content", HEAD),
        tail=Right("content", TAIL),
        risk=queries.gravest_rank(),
        grave=queries.about_the_gravest(),
        demands=queries.last_demands(),
    )
    light = list(annotated.defer("content", "evidence", "objective"))
    open_now = [approval.pk for approval in light if approval.status == Status.PENDING]
    queries.fetch_votes([a for a in light if a.status == Status.PENDING and _approvals(a) > 1])
    found = presence(open_now, person, now)
    kinds = [_likeness(approval, found, person) for approval in light]
    joined = {kind for kind, count in Counter(kinds).items() if kind and count > 1}
    return [
        _row(approval, person, now, found, may_join=kind in joined)
        for approval, kind in zip(light, kinds, strict=True)
    ]


def together(listed: Iterable[Row]) -> list[Together]:
    """Put rows of one run that stand one after the other under one heading. Nothing moves."""
    grouped = groupby(listed, key=lambda row: row.together or row.id)
    return [Together(list(group)) for _, group in grouped]


def nobody_waits(approval: ApprovalRequest, now: datetime) -> bool:
    """Say whether the agent of a pending request has stopped asking for the answer."""
    if approval.status != Status.PENDING:
        return False
    poll: Poll | None = getattr(approval, "poll", None)
    last = poll.last_polled_at if poll else approval.submitted_at
    return now - max(last, approval.submitted_at) > POLLS_EVERY


def _row(
    approval: ApprovalRequest,
    person: User,
    now: datetime,
    attended: Presence,
    *,
    may_join: bool,
) -> Row:
    is_open = approval.status == Status.PENDING
    decision: Decision | None = None if is_open else approval.decision
    left = times.time_left(approval.submitted_at, approval.expires_at, now) if is_open else None
    claim, back = attended.assignments.get(approval.pk), attended.snoozed_until.get(approval.pk)
    is_mine = claim is not None and claim.person_id == person.pk
    risk = _risk(approval.risk)  # type: ignore[attr-defined] # annotated
    return Row(
        id=approval.pk,
        risk=risk or "",
        risk_word=SEVERITIES[risk].lower() if risk else "",
        finding=theirs(_grave_sentence(approval.grave or "")),  # type: ignore[attr-defined]
        kind=approval.kind,
        kind_word=words.KINDS[Kind(approval.kind)],
        status=approval.status,
        status_word=words.STATUSES[Status(approval.status)],
        gist=_gist(approval),
        agent=approval.agent.name,
        run=theirs(approval.run_id),
        together=(approval.agent_id, approval.run_id) if approval.run_id else None,
        progress=_progress(approval, now) if is_open else "",
        claim=_claimed(claim, is_mine=is_mine),
        is_mine=is_mine,
        reading=reading(attended.viewing.get(approval.pk, [])),
        back_at=times.clock(back) if back else "",
        may_join=may_join,
        asked=times.moment(approval.submitted_at, now),
        left=left,
        nobody_waits=nobody_waits(approval, now),
        closed=times.moment(decision.decided_at, now) if decision else None,
        closer=closer(decision, person) if decision else "",
    )


def _claimed(claim: Assignment | None, *, is_mine: bool) -> str:
    if claim is None:
        return ""
    return "you are on this" if is_mine else f"{claim.person.username} is on this"


def _likeness(
    approval: ApprovalRequest, found: Presence, person: User
) -> tuple[object, ...] | None:
    """What requests share that may be answered together; the page of many looks closer."""
    claim = found.assignments.get(approval.pk)
    is_calm = approval.risk <= Severity.LOW.rank  # type: ignore[attr-defined] # annotated
    is_free = claim is None or claim.person_id == person.pk
    if approval.status != Status.PENDING or not (is_calm and is_free and may_decide(person)):
        return None
    if _approvals(approval) > 1:
        return None
    return approval.agent_id, approval.kind, approval.capability


def _approvals(approval: ApprovalRequest) -> int:
    return _required(approval.demands).approvals  # type: ignore[attr-defined] # annotated


_required = lru_cache(256)(Required.from_json)  # a policy asks the same of many


def _risk(rank: int) -> Severity | None:
    return list(Severity)[rank] if rank > Severity.INFO.rank else None


def _gist(approval: ApprovalRequest) -> SafeString:
    return gist(approval.kind, approval.head, approval.tail)  # type: ignore[attr-defined] # the same


def _grave_sentence(part: str) -> str:
    found = _GRAVE.search(part)
    return str(json.loads(f'"{found[1]}"')) if found else ""


def _progress(approval: ApprovalRequest, now: datetime) -> str:
    """Count those who said yes and still may; the votes come with the list."""
    if _approvals(approval) == 1:
        return ""
    required = _required(approval.demands)  # type: ignore[attr-defined] # annotated
    approval.token.agent = approval.agent
    counting = votes_that_count(approval, required, now, approval.votes.all())
    return f"{len(counting)} of {required.approvals} approved"


def closer(decision: Decision, person: User) -> str:
    """Say how and by whom something was answered, as far as the status does not say it already."""
    by = _CLOSERS.get(Source(decision.source), "")
    if decision.decided_by:
        same = decision.decided_by_id == person.pk
        by = "by you" if same else f"by {decision.decided_by.username}"
    return f"with a change {by}".strip() if decision.edit_id else by
