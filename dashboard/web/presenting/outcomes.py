"""What became of a request, in honest sentences."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from dashboard.accounts.models import User
from dashboard.approvals.models import ApprovalRequest, Decision, Grant, Outcome
from dashboard.web import times
from dashboard.web.presenting.voting import Voter, voters
from dashboard.wire import OutcomeState, Source, Status

_ENDS = {
    (Status.APPROVED, Source.POLICY): "Approved by the policy; nobody was asked",
    (Status.REJECTED, Source.POLICY): "Rejected by the policy; nobody was asked",
    (Status.APPROVED, Source.GRANT): "Approved by a remembered yes",
    (Status.CANCELLED, Source.AGENT): "Withdrawn by the agent",
    (Status.CANCELLED, Source.ADMIN): "Closed by an admin",
    (Status.EXPIRED, Source.DEADLINE): "Expired: nobody decided in time",
}
_NOTHING_RAN = "Nothing was approved, so nothing may run."
_FINAL = "A decision cannot be undone."
_NO_MORE = "It cannot be started any more."


@dataclass(frozen=True, kw_only=True, slots=True)
class GrantSaid:
    """The remembered yes that answered a request, or that was made from it.

    Attributes:
        by: Who gave it.
        made_from: The request that it was given to.
        answered: Whether it answered this one.
        others: How many more were made with it, one for each step of a plan.
        is_replacement: Whether it allows once what a reviewer sent along with a no.
    """

    number: int
    by: str
    at: datetime
    made_from: UUID
    answered: bool
    others: int
    is_replacement: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Result:
    """What stands where the buttons were.

    Attributes:
        headline: What happened and by whom.
        at: When, exactly.
        reason: Why, in the words of whoever closed it.
        reason_is_theirs: Whether the agent wrote the reason.
        voters: Who else had said yes, or all who did where several had to.
        grant: The remembered yes that has to do with it.
        edit_id: What was approved instead of what was asked; None if nothing was.
        since: What happened after that, one sentence each.
        error, output: What the agent reports about the end; its voice.
    """

    status: str
    headline: str
    at: datetime
    reason: str
    reason_is_theirs: bool
    voters: list[Voter]
    grant: GrantSaid | None
    edit_id: int | None
    since: list[str]
    error: str
    output: str


def result(approval: ApprovalRequest, person: User, now: datetime, *, held: bool) -> Result | None:
    """Say how a request ended, or None while it has not."""
    decision: Decision | None = getattr(approval, "decision", None)
    if decision is None:
        return None
    reported = {outcome.state: outcome for outcome in approval.outcomes.all()}
    finished = reported.get(OutcomeState.FINISHED)
    said_yes = _voters(approval, decision, person)
    alone = not said_yes or decision.status != Status.APPROVED
    return Result(
        status=decision.status,
        headline=(_headline(decision, person) if alone else _together(said_yes))
        + (", with a change" if decision.edit_id else ""),
        edit_id=decision.edit_id,
        at=decision.decided_at,
        voters=said_yes,
        grant=_grant(approval, decision, person),
        reason=decision.reason if alone and _has_own_reason(decision) else "",
        reason_is_theirs=decision.source == Source.AGENT,
        since=_since(decision, reported, now, held=held),
        error=finished.error if finished else "",
        output=finished.output_head if finished else "",
    )


def _headline(decision: Decision, person: User) -> str:
    if decision.decided_by:
        by = "you" if decision.decided_by_id == person.pk else decision.decided_by.username
        again = ", as before" if decision.repeats_id else ""
        return f"{decision.status.capitalize()} by {by}{again}"
    end = (Status(decision.status), Source(decision.source))
    return _ENDS.get(end, decision.status.capitalize())


def _voters(approval: ApprovalRequest, decision: Decision, person: User) -> list[Voter]:
    """Name all who said yes, unless that is one and the decision says it."""
    votes = [vote for vote in approval.votes.all() if vote.edit_id == decision.edit_id]
    closed_it = [vote.person_id == decision.decided_by_id for vote in votes]
    only_one = decision.status == Status.APPROVED and closed_it == [True]
    names = json.loads(decision.counted)
    counted = {vote.pk for vote in votes if vote.person.username in names}
    return [] if only_one else voters(votes, person, counted)


def _together(said_yes: Sequence[Voter]) -> str:
    *others, last = [voter.name for voter in said_yes if voter.counts]
    return f"Approved by {', '.join(others)} and {last}" if others else f"Approved by {last}"


def _grant(approval: ApprovalRequest, decision: Decision, person: User) -> GrantSaid | None:
    made: list[Grant] = list(approval.grants_made.all())
    grant = decision.grant or (made[0] if made else None)
    if grant is None:
        return None
    return GrantSaid(
        number=grant.pk,
        by="you" if grant.made_by_id == person.pk else grant.made_by.username,
        at=grant.made_at,
        made_from=grant.made_from_id,
        answered=decision.grant_id == grant.pk,
        others=max(0, len(made) - 1),
        is_replacement=grant.edit_id is not None,
    )


def _has_own_reason(decision: Decision) -> bool:
    """What else ends a request is told on its page already, in our words."""
    return decision.source not in (Source.POLICY, Source.GRANT, Source.DEADLINE)


def _since(
    decision: Decision, reported: dict[str, Outcome], now: datetime, *, held: bool
) -> list[str]:
    if decision.status != Status.APPROVED:
        return [_NOTHING_RAN]
    started = reported.get(OutcomeState.STARTED)
    if started is None:
        return [_not_started(decision, now, held=held)]
    wait_s = (started.reported_at - decision.decided_at).total_seconds()
    said = [f"The agent started it {times.length(max(0.0, wait_s))} later."]
    finished = reported.get(OutcomeState.FINISHED)
    return [*said, _finished(finished) if finished else "It has not reported the end yet."]


def _not_started(decision: Decision, now: datetime, *, held: bool) -> str:
    until = decision.valid_until
    if until is None or until <= now:
        at = f" at {times.clock(until)}" if until else ""
        return f"The agent did not start it; the approval ran out{at}. {_NO_MORE}"
    if held:
        return "Everything is on hold, so the agent cannot start it now."
    return f"The agent may start it once, until {times.clock(until)}. {_FINAL}"


def _finished(outcome: Outcome) -> str:
    how = f" after {times.length(outcome.duration_s)}" if outcome.duration_s is not None else ""
    code = f", exit code {outcome.exit_code}" if outcome.exit_code is not None else ""
    what = "It ended with an error" if outcome.error else "It finished"
    return f"{what}{how}{code}, says the agent."
