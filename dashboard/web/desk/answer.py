"""A reviewer's answer: the form, the votes so far, and how a request ended."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from typing import Any
from uuid import UUID

from django import forms
from django.urls import reverse
from django.utils.html import format_html

from approval_client.wire import (
    JsonError,
    OutcomeState,
    Source,
    Status,
    StepAnswer,
    parse_json,
)
from dashboard.accounts import webauthn
from dashboard.accounts.models import User
from dashboard.approvals import errors as refusals
from dashboard.approvals import services
from dashboard.approvals.errors import Stopped
from dashboard.approvals.models import (
    ApprovalRequest,
    Decision,
    Edit,
    Grant,
    Judgement,
    Outcome,
    Vote,
)
from dashboard.approvals.rules.answer import votes_that_count
from dashboard.approvals.rules.extension import LIMIT_OVER
from dashboard.approvals.rules.grant import GrantScope, GrantTerms
from dashboard.approvals.rules.likeness import earlier_answer, saw_the_end
from dashboard.approvals.rules.recall import may_recall, recall_of
from dashboard.approvals.services import Basis
from dashboard.policies.rules.demands import Required
from dashboard.web import times, words
from dashboard.web.access import auth
from dashboard.web.desk.grant import grant_offer
from dashboard.web.desk.judgement import count_of_people, last_judgement
from dashboard.web.desk.queue import filters_of
from dashboard.web.desk.signature import pressed_before
from dashboard.web.desk.step import (
    PlanAnswers,
    check_part,
    check_whole,
    names_steps,
    plan_answers,
)
from dashboard.web.desk.view import what_was_shown
from dashboard.web.drawing import moments
from dashboard.web.forms import LONGEST_REASON, Incomplete
from dashboard.web.http import PersonRequest
from dashboard.web.times import Moment

_REMEMBER = {f"remember-{scope}": scope for scope in GrantScope}

_VERDICTS = {
    "approve": Status.APPROVED,
    "reject": Status.REJECTED,
    **dict.fromkeys(_REMEMBER, Status.APPROVED),
    "same-approve": Status.APPROVED,
    "same-reject": Status.REJECTED,
}

_TOO_LONG = (
    f"The reason is longer than {LONGEST_REASON} characters. Nothing was recorded. Say it in "
    "fewer words."
)


PRESETS = [
    ("wrong-target", "Wrong target"),
    ("too-broad", "Too broad"),
    ("explain-first", "Explain first"),
    ("not-now", "Not now"),
]
"""Reasons for a rejection that are one press: the form's value, and what the agent is told."""


class InViewField(forms.CharField):
    """What a page says was in view; see ``inview.js``. Empty where nothing counted it."""

    def __init__(self) -> None:
        super().__init__(max_length=4_000, required=False)

    def clean(self, value: Any) -> dict[str, Any] | None:
        """Return it as it is kept with the answer."""
        text = super().clean(value)
        try:
            return _in_view(parse_json(text)) if text else None
        except (JsonError, ArithmeticError, KeyError, TypeError, ValueError) as error:
            raise forms.ValidationError("This is not what our page sends.") from error


_UNITS = ("line", "step", "argument", "part")


_MOST_SPANS = 60


_MOST_PARTS = 10_000_000


_LONGEST_S = 100 * 24 * 3600  # far beyond the longest time limit


def _in_view(said: Any) -> dict[str, Any]:
    of, seen_count, unit = int(said["of"]), int(said["seen"]), str(said["unit"])
    spans = [tuple(map(int, span)) for span in said["spans"]]
    if unit not in _UNITS or not 0 <= seen_count <= of <= _MOST_PARTS:
        raise ValueError(unit)
    if len(spans) > _MOST_SPANS:
        raise ValueError(unit)
    if any(
        not 1 <= start <= end <= of or not 0 <= for_s <= _LONGEST_S for start, end, for_s in spans
    ):
        raise ValueError(spans)
    if bool(seen_count) != bool(spans):
        raise ValueError(seen_count)
    return {"unit": unit, "of": of, "seen": seen_count, "spans": [list(span) for span in spans]}


def in_view_in_words(shown: str) -> str:
    """Say what was in view of whoever answered, and for how long; empty if nothing counted it."""
    in_view = parse_json(shown).get("in_view")
    if not in_view:
        return ""
    of, seen_count, unit = int(in_view["of"]), int(in_view["seen"]), in_view["unit"]
    parts = f"{of:,} {unit}{'' if of == 1 else 's'}"
    if not seen_count:
        return f"None of {parts} was in view."
    count = f"All {parts}" if seen_count == of > 1 else f"{seen_count:,} of {parts}"
    times_s = [int(for_s) for _, _, for_s in in_view["spans"]]
    least_s, most_s = min(times_s), max(times_s)
    how_long = f"{least_s}" if least_s == most_s else f"{least_s} to {most_s}"
    if not most_s:
        how_long = "less than 1"
    return f"{count} {'was' if seen_count == 1 else 'were'} in view, for {how_long} s."


def _reason() -> forms.CharField:
    return forms.CharField(
        max_length=LONGEST_REASON, required=False, error_messages={"max_length": _TOO_LONG}
    )


class AnswerForm(forms.Form):
    """An answer, with the basis that the page showed. Each answer has a reason of its own."""

    verdict = forms.ChoiceField(choices=list(_VERDICTS.items()))
    digest = forms.RegexField(r"\A[0-9a-f]{64}\Z")
    judgement = forms.IntegerField(min_value=1)
    shown = forms.CharField(max_length=10_000)
    end_seen = forms.CharField(max_length=3, required=False)
    same_as = forms.IntegerField(min_value=1, required=False)  # the decision to give again
    despite = forms.CharField(max_length=100, required=False)  # to whom else it is assigned
    in_view = InViewField()
    because = forms.MultipleChoiceField(choices=PRESETS, required=False)
    allow_steps = forms.BooleanField(required=False)
    approves = forms.IntegerField(required=False)  # how many steps of a plan the button named
    approve_reason = _reason()
    reason = _reason()
    nonce = forms.CharField(max_length=64)  # ours, for a signature: ``signature.pressed_before``
    signed = forms.CharField(max_length=webauthn.LONGEST, required=False)

    @property
    def what_is_wrong_with_the_reason(self) -> str:
        """The errors that the person can correct; all other fields come from our own page."""
        errors = [*self["approve_reason"].errors, *self["reason"].errors]
        return " ".join(map(str, errors))

    @property
    def status(self) -> Status:
        """The status that the answer leads to."""
        return _VERDICTS[self.cleaned_data["verdict"]]

    @property
    def scope(self) -> GrantScope | None:
        """What to remember; None if the answer is for this request only."""
        return _REMEMBER.get(self.cleaned_data["verdict"])

    @property
    def repeats(self) -> bool:
        """Whether an earlier answer is given again."""
        return str(self.cleaned_data["verdict"]).startswith("same-")

    @property
    def said(self) -> str:
        """The reason for this answer; what was typed for the other one is dropped."""
        if self.status is Status.APPROVED:
            return str(self.cleaned_data["approve_reason"])
        chosen = [f"{label}." for word, label in PRESETS if word in self.cleaned_data["because"]]
        return "\n".join(filter(None, [" ".join(chosen), str(self.cleaned_data["reason"])]))

    @property
    def was_seen(self) -> dict[str, Any]:
        """What the page adds about what was in view, for the record."""
        in_view = self.cleaned_data["in_view"]
        return {"end_seen": self.end_was_seen} | ({"in_view": in_view} if in_view else {})

    @property
    def end_was_seen(self) -> str:
        """``"yes"`` if the end of the content was in sight, else empty."""
        return "yes" if self.cleaned_data["end_seen"] == "yes" else ""


@dataclass(frozen=True, slots=True)
class Voter:
    """One person who approved.

    Attributes:
        counts: Whether it counts; it does not after the person lost the right to approve.
        reason: Why, in their own words.
    """

    name: str
    at: datetime
    reason: str
    counts: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class VoteProgress:
    """Who approved so far.

    Attributes:
        mine: What became of the reader's own approval; empty if they gave none that counts.
    """

    counted: int
    needed: int
    mine: str
    voters: list[Voter]

    @property
    def headline(self) -> str:
        """Say how far it has come."""
        return f"{self.counted} of {count_of_people(self.needed)} approved"

    @property
    def left(self) -> range:
        """One for each approval that is missing."""
        return range(self.needed - self.counted)


def vote_progress(
    approval: ApprovalRequest,
    required: Required,
    person: User,
    now: datetime,
    *,
    edit: Edit | None = None,
) -> VoteProgress | None:
    """Say who approved a pending request, or an ``edit`` of it, so far.

    None where one approval is enough and there is none yet. Approving the request does not
    approve an edit, and the other way round.
    """
    about = edit.pk if edit else None
    votes = [vote for vote in approval.votes.all() if vote.edit_id == about]
    if required.approvals == 1 and not votes:
        return None
    counting = {vote.pk for vote in votes_that_count(approval, required, now, edit=edit)}
    shortfall = required.approvals - len(counting)
    is_mine = any(vote.person_id == person.pk and vote.pk in counting for vote in votes)
    return VoteProgress(
        counted=len(counting),
        needed=required.approvals,
        mine=f"You approved; {shortfall} more {_is_or_are(shortfall)} needed."
        if is_mine and shortfall > 0
        else "",
        voters=voters(votes, person, counting),
    )


def voters(votes: Sequence[Vote], person: User, counting: set[int]) -> list[Voter]:
    """List the voters, each once: the vote that counts, or else the last one."""
    ordered = sorted(votes, key=lambda vote: vote.pk in counting)  # what counts comes last
    return [
        Voter(
            "you" if vote.person_id == person.pk else vote.person.username,
            vote.voted_at,
            vote.reason,
            vote.pk in counting,
        )
        for vote in {vote.person_id: vote for vote in ordered}.values()
    ]


def _is_or_are(count: int) -> str:
    return "is" if count == 1 else "are"


_ENDS = {
    (Status.APPROVED, Source.POLICY): "Approved by the policy; nobody was asked",
    (Status.REJECTED, Source.POLICY): "Rejected by the policy; nobody was asked",
    (Status.APPROVED, Source.GRANT): "Approved by a remembered approval",
    (Status.CANCELLED, Source.AGENT): "Withdrawn by the agent",
    (Status.CANCELLED, Source.ADMIN): "Closed by an admin",
    (Status.EXPIRED, Source.DEADLINE): "Expired: nobody decided in time",
}

_NO_END = "It has not reported how it ended. Not every agent does."
_NOTHING_RAN = "Nothing was approved, so nothing may run."

_NO_MORE = "It can no longer be started."


@dataclass(frozen=True, kw_only=True, slots=True)
class GrantNote:
    """The remembered approval that answered a request, or that was made from it.

    Attributes:
        by: Who gave it.
        made_from: The request that it was given to.
        answered: Whether it answered this one.
        others: How many more were made with it, one for each step of a plan.
        is_replacement: Whether it allows, once, the replacement that came with a rejection.
    """

    number: int
    by: str
    at: datetime
    made_from: UUID
    answered: bool
    others: int
    is_replacement: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class RecallNote:
    """That an approval was taken back.

    Attributes:
        by: ``"you"``, or a name.
        reason: Why, in that person's words.
    """

    by: str
    at: datetime
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class RequestResult:
    """What stands where the buttons were.

    Attributes:
        headline: What happened and by whom.
        at: When, exactly.
        reason: Why, in the words of whoever closed it.
        reason_is_untrusted: Whether the agent wrote the reason.
        voters: Who else approved, or everybody who did where several had to.
        grant: The remembered approval that it used or made.
        edit_id: What was approved instead of what was asked; None if nothing was.
        seen: What of it was in view of whoever decided, in a sentence; empty if nobody counted.
        since: What happened after that, one sentence each.
        short: What became of it in a few words, for the line beside the next request.
        error, output: What the agent reports about the end; its voice.
        recall: How the approval was taken back, if it was.
        is_mine: Whether this person decided it, or approved it with others.
        may_recall: Whether this person can take it back now.
    """

    status: str
    headline: str
    at: datetime
    reason: str
    reason_is_untrusted: bool
    voters: list[Voter]
    grant: GrantNote | None
    edit_id: int | None
    seen: str
    since: list[str]
    short: str
    error: str
    output: str
    recall: RecallNote | None
    is_mine: bool
    may_recall: bool


def result_of(
    approval: ApprovalRequest, person: User, now: datetime, *, stop: Stopped | None
) -> RequestResult | None:
    """Say how a request ended, or None while it has not."""
    decision: Decision | None = getattr(approval, "decision", None)
    if decision is None:
        return None
    reported = {outcome.state: outcome for outcome in approval.outcomes.all()}
    finished = reported.get(OutcomeState.FINISHED)
    said_yes = _voters(approval, decision, person)
    is_by_one = not said_yes or decision.status != Status.APPROVED
    return RequestResult(
        status=words.standing(approval)[0],
        headline=(_headline(decision, person) if is_by_one else _approved_by(said_yes))
        + (", with a change" if decision.edit_id else "")
        + (", signed with a passkey" if _is_signed(approval, decision) else ""),
        edit_id=decision.edit_id,
        at=decision.decided_at,
        voters=said_yes,
        grant=_grant_note(approval, decision, person),
        reason=decision.reason if is_by_one and _has_own_reason(decision) else "",
        reason_is_untrusted=decision.source == Source.AGENT,
        seen=in_view_in_words(decision.shown),
        since=_since(approval, reported, now, stop=stop),
        short=_short(approval, reported),
        error=finished.error if finished else "",
        output=finished.output_head if finished else "",
        recall=_recall_note(approval, person),
        is_mine=decision.decided_by_id == person.pk
        or any(vote.person_id == person.pk for vote in approval.votes.all()),
        may_recall=may_recall(approval, person, now),
    )


def _recall_note(approval: ApprovalRequest, person: User) -> RecallNote | None:
    recall = recall_of(approval)
    if recall is None:
        return None
    by = "you" if recall.person_id == person.pk else recall.person.username
    return RecallNote(by=by, at=recall.taken_back_at, reason=recall.reason)


def _headline(decision: Decision, person: User) -> str:
    if decision.decided_by:
        by = "you" if decision.decided_by_id == person.pk else decision.decided_by.username
        again = ", as before" if decision.repeats_id else ""
        return f"{decision.status.capitalize()} by {by}{again}"
    end = (Status(decision.status), Source(decision.source))
    return _ENDS.get(end, decision.status.capitalize())


def _voters(approval: ApprovalRequest, decision: Decision, person: User) -> list[Voter]:
    """List everybody who approved, unless that is the one person whom the decision names."""
    votes = [vote for vote in approval.votes.all() if vote.edit_id == decision.edit_id]
    closed_it = [vote.person_id == decision.decided_by_id for vote in votes]
    only_one = decision.status == Status.APPROVED and closed_it == [True]
    names = json.loads(decision.counted)
    counted_ids = {vote.pk for vote in votes if vote.person.username in names}
    return [] if only_one else voters(votes, person, counted_ids)


def _is_signed(approval: ApprovalRequest, decision: Decision) -> bool:
    """Whether everybody whose approval counted signed it."""
    names = set(json.loads(decision.counted))
    signed_by = {
        vote.person.username for vote in approval.votes.all() if hasattr(vote, "signature")
    }
    return bool(names) and names <= signed_by


def _approved_by(said_yes: Sequence[Voter]) -> str:
    *heads, tail = [voter.name for voter in said_yes if voter.counts]
    return f"Approved by {', '.join(heads)} and {tail}" if heads else f"Approved by {tail}"


def _grant_note(approval: ApprovalRequest, decision: Decision, person: User) -> GrantNote | None:
    grants: list[Grant] = list(approval.grants_made.all())
    grant = decision.grant or (grants[0] if grants else None)
    if grant is None:
        return None
    return GrantNote(
        number=grant.pk,
        by="you" if grant.made_by_id == person.pk else grant.made_by.username,
        at=grant.made_at,
        made_from=grant.made_from_id,
        answered=decision.grant_id == grant.pk,
        others=max(0, len(grants) - 1),
        is_replacement=grant.edit_id is not None,
    )


def _has_own_reason(decision: Decision) -> bool:
    """Other reasons are on the page already, in our words."""
    if decision.source == Source.DEADLINE:
        return decision.reason != LIMIT_OVER
    return decision.source not in (Source.POLICY, Source.GRANT)


def _since(
    approval: ApprovalRequest,
    reported: dict[str, Outcome],
    now: datetime,
    *,
    stop: Stopped | None,
) -> list[str]:
    decision = approval.decision
    if decision.status != Status.APPROVED:
        return [_NOTHING_RAN]
    if recall_of(approval):
        return [f"The agent had not started it, so nothing ran. {_NO_MORE}"]
    started = reported.get(OutcomeState.STARTED)
    if started is None:
        return [_not_started(decision, now, stop=stop)]
    wait_s = (started.reported_at - decision.decided_at).total_seconds()
    sentences = [f"The agent started it {times.length(max(0.0, wait_s))} later."]
    finished = reported.get(OutcomeState.FINISHED)
    return [*sentences, _finished(finished) if finished else _NO_END]


def _short(approval: ApprovalRequest, reported: dict[str, Outcome]) -> str:
    decision = approval.decision
    if recall_of(approval):
        return "approved, then taken back"
    started = reported.get(OutcomeState.STARTED)
    finished = reported.get(OutcomeState.FINISHED)
    parts = [f"{decision.status}{' with a change' if decision.edit_id else ''}"]
    if started:
        wait_s = max(0.0, (started.reported_at - decision.decided_at).total_seconds())
        parts.append(f"started {times.length(wait_s)} later")
    if finished:
        parts.append("ended with an error" if finished.error else "finished")
    return ", ".join(parts)


def _not_started(decision: Decision, now: datetime, *, stop: Stopped | None) -> str:
    until = decision.valid_until
    if until is None or until <= now:
        at = format_html(" at {}", moments.clock(until)) if until else ""
        return format_html("The agent did not start it; the approval ran out{}. {}", at, _NO_MORE)
    if stop:
        return f"The agent cannot start it now. {stop.why}"
    return format_html("The agent may start it once, until {}.", moments.clock(until))


def _finished(outcome: Outcome) -> str:
    how = f" after {times.length(outcome.duration_s)}" if outcome.duration_s is not None else ""
    code = f", exit code {outcome.exit_code}" if outcome.exit_code is not None else ""
    phrase = "It ended with an error" if outcome.error else "It finished"
    return f"{phrase}{how}{code}, says the agent."


@dataclass(frozen=True, kw_only=True, slots=True)
class RepeatOffer:
    """A person's earlier answer, in this run, to exactly the same content.

    Attributes:
        decision_id: Which answer, for the form.
        by: ``"you"``, or a name.
        reason: The reason that is given again with it.
        end_seen: Whether the reader had the end of it in sight then.
    """

    decision_id: int
    approval_id: UUID
    verb: str
    status: str
    by: str
    at: Moment
    reason: str
    end_seen: bool

    @property
    def is_yes(self) -> bool:
        """Whether it approved."""
        return self.status == Status.APPROVED


def repeat_offer(
    approval: ApprovalRequest, judgement: Judgement, person: User, now: datetime
) -> RepeatOffer | None:
    """Return the answer that can be given again, or None."""
    earlier = earlier_answer(approval, judgement)
    if earlier is None or earlier.decided_by is None:
        return None
    return RepeatOffer(
        decision_id=earlier.pk,
        approval_id=earlier.approval_id,
        verb="approve" if earlier.status == Status.APPROVED else "reject",
        status=earlier.status,
        by="you" if earlier.decided_by == person else earlier.decided_by.username,
        at=times.moment(earlier.decided_at, now),
        reason=earlier.reason,
        end_seen=saw_the_end(earlier, person),
    )


_INCOMPLETE = (
    "Your browser did not send all that the page showed. Nothing was recorded. Load the page "
    "again and decide there."
)

_NOT_WHOLE = (
    "This page did not show the whole content, so it cannot be approved from here. Nothing was "
    "recorded."
)

_SENT_AGAIN = (
    Incomplete,
    refusals.ReasonMissing,
    refusals.RecallReasonMissing,
    refusals.GrantRefused,
    refusals.StepsRefused,
    refusals.SignatureMissing,
)
"""What a form that says more or otherwise would have got past."""


def decide(request: PersonRequest, approval_id: UUID) -> str:
    """Record an answer; return the address of the request, with the filters of the list.

    Approving a plan of which steps are held or refused approves nothing yet: what is left of it
    is saved, and its address is returned.
    """
    pressed_before(request)
    edit = record(request, approval_id, AnswerForm(request.POST))
    if edit:
        return reverse("web:edit_shown", args=[approval_id, edit.pk])
    page = reverse("web:request", args=[approval_id])
    query = filters_of(request.GET).query if request.GET and not request.htmx else ""
    return f"{page}?{query}" if query else page


def record(
    request: PersonRequest, approval_id: UUID, form: AnswerForm, edit: Edit | None = None
) -> Edit | None:
    """Record what a form answers: to the request, perhaps step by step, or to an edit of it.

    That the person viewed the request is recorded with the answer, and also without it. Returns
    what is left of a plan of which steps are held or refused: it is approved on its own page.

    Raises:
        Refused: Nothing else was recorded.
    """
    try:
        return _record(request, approval_id, form, edit)
    except refusals.Refused:
        services.mark_viewed(approval_id=approval_id, person=request.user, auth=auth(request))
        raise


def _record(
    request: PersonRequest, approval_id: UUID, form: AnswerForm, edit: Edit | None
) -> Edit | None:
    if not form.is_valid():
        raise Incomplete(form.what_is_wrong_with_the_reason or _INCOMPLETE)
    data, edit_id = form.cleaned_data, edit.pk if edit else None
    answers = _plan_answers(request, approval_id, form, edit)
    page = f"{approval_id}/edits/{edit_id}" if edit_id else str(approval_id)
    view = what_was_shown(page, data["shown"])
    if view is None:
        raise refusals.StaleBasis
    if form.status is Status.APPROVED and not view["whole"]:
        raise refusals.NotAllowed(_NOT_WHOLE)
    if answers and form.status is Status.APPROVED and not answers.is_whole:
        return _part(request, approval_id, form, answers)
    rejects = answers and answers.is_given and form.status is Status.REJECTED
    services.decide(
        approval_id=approval_id,
        answer=services.ReviewerAnswer(
            reviewer=request.user,
            auth=auth(request),
            status=form.status,
            basis=Basis(data["digest"], data["judgement"], edit_id),
            reason=form.said,
            shown={**view, **form.was_seen},
            allow_steps=form.status is Status.APPROVED and data["allow_steps"],
            remember=_terms(request, approval_id, form.scope) if form.scope else None,
            viewed=True,
            despite=data["despite"],
            repeats=_earlier(approval_id, data["same_as"]) if form.repeats else None,
            steps=answers.steps(StepAnswer.HELD) if answers and rejects else (),
            approves=data["approves"] or 0,
            nonce=data["nonce"],
            signed=data["signed"],
        ),
    )
    return None


def _plan_answers(
    request: PersonRequest, approval_id: UUID, form: AnswerForm, edit: Edit | None
) -> PlanAnswers | None:
    """Read the answers to the steps of a plan; None if there are none.

    Of an edit, which leaves steps out already, none are taken.
    """
    if edit or not names_steps(request.POST):
        return None
    approval = services.current(approval_id)
    answers = plan_answers(approval, request.POST)
    if form.repeats or form.scope:
        check_whole(answers)
    if form.status is Status.APPROVED and not answers.is_whole:
        check_part(approval, answers, form.cleaned_data["approves"])
    return answers


def _part(
    request: PersonRequest, approval_id: UUID, form: AnswerForm, answers: PlanAnswers
) -> Edit:
    approval, data = services.current(approval_id), form.cleaned_data
    if (data["digest"], data["judgement"]) != (approval.digest, last_judgement(approval).pk):
        raise refusals.StaleBasis
    return services.propose_part(
        approval_id=approval_id,
        editor=request.user,
        auth=auth(request),
        steps=answers.steps(StepAnswer.ALLOWED),
    )


def _earlier(approval_id: UUID, decision_id: int | None) -> Decision:
    """Find the answer to give again. The service decides whether that is allowed."""
    approval = services.current(approval_id)
    earlier = earlier_answer(approval, last_judgement(approval))
    if earlier is None or earlier.pk != decision_id:
        raise refusals.StaleBasis
    return earlier


def _terms(request: PersonRequest, approval_id: UUID, scope: GrantScope) -> GrantTerms:
    """Read how much more is to be approved. The service decides whether that is allowed."""
    approval = services.current(approval_id)
    offered = grant_offer(approval, last_judgement(approval), request.user, request.POST)
    if offered is None:
        raise refusals.StaleBasis
    if not offered.form.is_valid():
        raise Incomplete(offered.form.what_is_wrong or _INCOMPLETE)
    return offered.terms(scope)


def status_of_refusal(refusal: refusals.Refused) -> int:
    """Return the HTTP status of a page that says why nothing was recorded."""
    if isinstance(refusal, _SENT_AGAIN):
        return HTTPStatus.UNPROCESSABLE_ENTITY
    if isinstance(refusal, refusals.NotAllowed):
        return HTTPStatus.FORBIDDEN
    return HTTPStatus.CONFLICT
