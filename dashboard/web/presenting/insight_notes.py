"""Single answers that are worth a look: too quick to have been read, or not the only one given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from uuid import UUID

from dashboard.accounts.models import User
from dashboard.approvals.models import ApprovalRequest, Decision
from dashboard.approvals.rules import insight
from dashboard.approvals.rules import insight as insight_rules
from dashboard.approvals.rules.insight import MOST_LISTED, AskedRequest, CountedVote, Period
from dashboard.web.presenting import times, words
from dashboard.web.presenting.insight import sees_everybody
from dashboard.wire import Kind, Status


@dataclass(frozen=True, kw_only=True, slots=True)
class Told:
    """One answer to one request."""

    id: UUID
    kind: str
    kind_word: str
    agent: str
    person: str
    said: str
    status: str
    at: datetime
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Quick:
    """A yes that came sooner than anybody reads; ``more`` such are not listed."""

    told: Told
    after: str
    lines: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Notes:
    """What is listed; each list holds the newest ``MOST_LISTED`` at most."""

    quick: list[Quick]
    more_quick: int
    disagreements: list[list[Told]]
    more_disagreements: int


def notes(
    asked: Sequence[AskedRequest], yeses: Sequence[CountedVote], period: Period, person: User
) -> Notes:
    """List what is worth a look; reviewers see only their own quick answers."""
    everybody = sees_everybody(person)
    quick = [
        yes
        for yes in yeses
        if (yes.is_quick or yes.is_unread) and (everybody or yes.person == person.username)
    ]
    digests = list(insight_rules.disagreements(asked))
    listed = _disagreements(digests[:MOST_LISTED], period)
    return Notes(
        quick=_quick(quick[:MOST_LISTED]),
        more_quick=max(0, len(quick) - MOST_LISTED),
        disagreements=listed,
        more_disagreements=len(digests) - len(listed),
    )


def _quick(few: Sequence[CountedVote]) -> list[Quick]:
    found = insight.votes(yes.id for yes in few)
    listed = []
    for yes in few:
        vote = found[yes.id]
        status, at = Status.APPROVED, vote.voted_at
        told = _told(vote.approval, vote.person.username, status, at, vote.reason)
        after = times.length(max(0.0, yes.after_s or 0.0))
        listed.append(Quick(told=told, after=after, lines=yes.lines or 0))
    return listed


def _disagreements(digests: Sequence[str], period: Period) -> list[list[Told]]:
    answers: dict[str, list[Decision]] = {digest: [] for digest in digests}
    for decision in insight.answers_to(digests, period):
        answers[decision.approval.digest].append(decision)
    return [_both(given) for given in answers.values() if given]


def _both(given: Sequence[Decision]) -> list[Told]:
    """Take the newest yes and the newest no, and what else there is room for."""
    newest = {decision.status: decision for decision in reversed(given)}
    others = islice((d for d in given if d not in newest.values()), 2)
    few = sorted([*newest.values(), *others], key=lambda d: d.decided_at, reverse=True)
    return [_of(decision) for decision in few]


def _of(decision: Decision) -> Told:
    person = decision.decided_by.username if decision.decided_by else ""
    status, at = Status(decision.status), decision.decided_at
    return _told(decision.approval, person, status, at, decision.reason)


def _told(
    approval: ApprovalRequest, person: str, status: Status, at: datetime, reason: str
) -> Told:
    return Told(
        id=approval.pk,
        kind=approval.kind,
        kind_word=words.KINDS[Kind(approval.kind)],
        agent=approval.agent.name,
        person=person,
        said=words.STATUSES[status],
        status=status,
        at=at,
        reason=reason,
    )
