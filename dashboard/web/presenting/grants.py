"""Remembered answers in words: for whom, for what exactly, until when and how often."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Case, When
from django.db.models.functions import Left, Right
from django.utils.safestring import SafeString

from dashboard.accounts import roles
from dashboard.accounts.models import User
from dashboard.approvals import queries
from dashboard.approvals.models import Grant, GrantQuerySet
from dashboard.approvals.rules.grant import GrantScope
from dashboard.inspection.findings import Severity
from dashboard.web.presenting import times
from dashboard.web.presenting.findings import SEVERITIES
from dashboard.web.presenting.gist import HEAD, TAIL, gist
from dashboard.web.presenting.remembering import THIS, pin
from dashboard.web.presenting.times import Moment, TimeLeft
from dashboard.web.rendering.markup import theirs
from dashboard.wire import Kind, parse_json

MOST_OVER = 50
_LONGEST_VALUE = 400
_IDLE = "{} does not review any more, so this answers nothing. It would again with the role."


@dataclass(frozen=True, slots=True)
class Covered:
    """A finding that the yes covered."""

    severity: str
    word: str
    name: str


@dataclass(frozen=True, slots=True)
class Answered:
    """One of the last requests that a grant answered."""

    approval_id: UUID
    at: Moment


@dataclass(frozen=True, kw_only=True, slots=True)
class GrantRow:
    """One grant. ``run``, ``tool``, ``values`` and ``gist`` are the agent's voice, drawn.

    Attributes:
        what: What exactly is allowed, in our words.
        uses: How often it was used, and of how many times.
        idle: Why it answers nothing although it is in force; empty while it does.
        over: Why it is in force no more; empty while it is.
    """

    number: int
    agent: str
    what: str
    digest: str
    tool: SafeString
    values: list[SafeString]
    gist: SafeString
    run_id: str
    run: SafeString
    findings: list[Covered]
    by: str
    made: Moment
    made_from: UUID
    left: TimeLeft
    uses: str
    answered: list[Answered]
    idle: str
    over: str
    over_at: datetime | None
    may_end: bool


@dataclass(frozen=True, slots=True)
class GrantListing:
    """All grants in force, the newest first, and the last that are over."""

    in_force: list[GrantRow]
    over: list[GrantRow]
    more: bool


def listing(person: User, now: datetime) -> GrantListing:
    """List grants for a person who looks."""
    over = list(_light(queries.grants_over(now, MOST_OVER + 1)))
    return GrantListing(
        [_row(grant, person, now) for grant in _light(queries.grants_in_force(now))],
        [_row(grant, person, now) for grant in over[:MOST_OVER]],
        len(over) > MOST_OVER,
    )


def _light(grants: GrantQuerySet) -> GrantQuerySet:
    """Read only the ends of what is allowed: of its own content, or of what was asked."""
    content = Case(When(content="", then="made_from__content"), default="content")
    return grants.annotate(head=Left(content, HEAD), tail=Right(content, TAIL))


def _row(grant: Grant, person: User, now: datetime) -> GrantRow:
    over, over_at = _over(grant, now)
    is_call = grant.scope != GrantScope.CONTENT
    drawn = gist(grant.kind, grant.head, grant.tail)  # type: ignore[attr-defined] # annotated
    return GrantRow(
        number=grant.pk,
        agent=grant.agent.name,
        what=_what(grant),
        digest=grant.digest,
        tool=theirs(grant.tool) if is_call else SafeString(""),
        values=_values(grant),
        gist=SafeString("") if is_call else drawn,
        run_id=grant.run_id,
        run=theirs(grant.run_id),
        findings=_findings(grant),
        by="you" if grant.made_by_id == person.pk else grant.made_by.username,
        made=times.moment(grant.made_at, now),
        made_from=grant.made_from_id,
        left=times.time_left(grant.made_at, grant.expires_at, now),
        uses=_uses(grant),
        answered=_answered(grant, now),
        idle="" if roles.may_decide(grant.made_by) else _IDLE.format(grant.made_by.username),
        over=over,
        over_at=over_at,
        may_end=not over and _may_end(grant, person),
    )


def _may_end(grant: Grant, person: User) -> bool:
    made_it = grant.made_by_id == person.pk and roles.may_decide(person)
    return made_it or roles.may_administer(person)


def _what(grant: Grant) -> str:
    match grant.scope:
        case GrantScope.TOOL:
            return "with any values"
        case GrantScope.ARGUMENTS:
            return "with these values, whatever its other arguments are"
    return THIS[Kind(grant.kind)]


def _values(grant: Grant) -> list[SafeString]:
    values = parse_json(grant.arguments)
    return [pin(name, value, _LONGEST_VALUE) for name, value in values.items()]


def _findings(grant: Grant) -> list[Covered]:
    found = [(Severity(severity), name) for name, severity in json.loads(grant.findings).items()]
    found.sort(key=lambda covered: (-covered[0].rank, covered[1]))
    return [Covered(str(severity), SEVERITIES[severity], name) for severity, name in found]


def _uses(grant: Grant) -> str:
    if grant.most_uses is None:
        return "once, of any number" if grant.uses == 1 else f"{grant.uses} times, of any number"
    return f"{grant.uses} of {grant.most_uses} times"


def _answered(grant: Grant, now: datetime) -> list[Answered]:
    latest = grant.latest  # type: ignore[attr-defined] # prefetched under this name
    return [Answered(d.approval_id, times.moment(d.decided_at, now)) for d in latest]


def _over(grant: Grant, now: datetime) -> tuple[str, datetime | None]:
    if grant.ended_at:
        by = f" by {grant.ended_by.username}" if grant.ended_by else f": {grant.ended_because}"
        return f"Ended{by}", grant.ended_at
    if grant.expires_at <= now:
        return "Its time is over", grant.expires_at
    if grant.most_uses is not None and grant.uses >= grant.most_uses:
        return "Used up", None
    return "", None
