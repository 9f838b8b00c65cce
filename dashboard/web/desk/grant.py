"""Remembered approvals: offered with an answer, listed, and ended."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.db.models import Case, Value, When
from django.db.models.functions import Left
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.safestring import SafeString
from django.views.decorators.http import require_safe

from approval_client.wire import Kind, canonical_json, parse_json
from dashboard.accounts import roles
from dashboard.accounts.models import User
from dashboard.approvals.errors import NotAllowed
from dashboard.approvals.models import ApprovalRequest, Grant, GrantQuerySet, Judgement
from dashboard.approvals.queries.grant import grants_in_force, grants_over
from dashboard.approvals.rules.grant import (
    DEFAULT_FOR_S,
    LONGEST_NAME,
    MOST_USES,
    GrantScope,
    GrantTerms,
    may_end,
    scopes,
    why_not_by,
    why_not_grantable,
)
from dashboard.approvals.rules.judgement import demands_of, report_of
from dashboard.approvals.rules.step import exact_steps
from dashboard.approvals.services import revoke_grant
from dashboard.clock import database_now
from dashboard.inspection.findings import Report, Severity
from dashboard.inspection.headline import Headline, make_headline, parse_content
from dashboard.inspection.parts import words
from dashboard.inspection.redaction import candidates, secrets_in_text
from dashboard.policies.rules.demands import Required
from dashboard.web import times
from dashboard.web.access import any_role, auth, refused
from dashboard.web.drawing.direction import TextReading
from dashboard.web.drawing.markup import EMPTY, REDACTED, untrusted, untrusted_code
from dashboard.web.drawing.prettyjson import on_a_line
from dashboard.web.drawing.redaction import redacted
from dashboard.web.drawing.summary import headline_of, one_line
from dashboard.web.findings import SEVERITIES
from dashboard.web.forms import offer_choices
from dashboard.web.http import PersonRequest
from dashboard.web.times import Moment, TimeLeft

USES = 10
"""How often a grant is used at most, unless its reviewer says otherwise."""

_HOUR, _DAY = 3600, 86_400

_LENGTHS = [
    (_HOUR, "1 hour"),
    (DEFAULT_FOR_S, "8 hours"),
    (_DAY, "1 day"),
    (7 * _DAY, "7 days"),
    (30 * _DAY, "30 days"),
]

_HOW_OFTEN = (
    f"Say how often this approval may be used, 1 to {MOST_USES} times, or tick “any number of "
    "times”. Nothing was recorded."
)


class GrantForm(forms.Form):
    """How much more an approval allows.

    Args:
        has_run: Whether the request belongs to a run.
        pins: The arguments, each drawn; the form sends their positions.
    """

    where = forms.ChoiceField(
        choices=[("run", "Only in this run"), ("agent", "In any run of this agent")],
        widget=forms.RadioSelect,
    )
    for_s = forms.TypedChoiceField(label="For how long", choices=_LENGTHS, coerce=int)
    most_uses = forms.IntegerField(
        label="How often at most",
        required=False,
        min_value=1,
        max_value=MOST_USES,
    )
    any_number = forms.BooleanField(label="Any number of times", required=False)
    pinned = forms.TypedMultipleChoiceField(
        coerce=int, required=False, widget=forms.CheckboxSelectMultiple
    )

    def __init__(self, *, has_run: bool, pins: Sequence[SafeString], data: Any = None) -> None:
        start = {"where": "run", "for_s": DEFAULT_FOR_S, "most_uses": USES}
        every = list(range(len(pins)))
        super().__init__(data, initial={**start, "pinned": every}, auto_id="remember-%s")
        offer_choices(self, "pinned", list(enumerate(pins)))
        if not has_run:
            del self.fields["where"]

    def clean(self) -> dict[str, Any]:
        """Require a number, unless the form says that there is no limit."""
        chosen = self.cleaned_data
        self.errors.pop("most_uses", None)
        if not chosen.get("any_number") and chosen.get("most_uses") is None:
            self.add_error("most_uses", _HOW_OFTEN)
        return chosen

    @property
    def what_is_wrong(self) -> str:
        """The errors that the person can correct; all other fields come from our own page."""
        return " ".join(map(str, self["most_uses"].errors))

    def terms(self, scope: GrantScope, names: Sequence[str]) -> GrantTerms:
        """Return what is to be allowed; ``names`` are those of the arguments, in their order."""
        chosen = self.cleaned_data
        pinned = tuple(names[index] for index in chosen["pinned"])
        return GrantTerms(
            scope=scope,
            this_run=chosen.get("where") == "run",
            arguments=pinned if scope is GrantScope.ARGUMENTS else (),
            for_s=chosen["for_s"],
            most_uses=None if chosen["any_number"] else chosen["most_uses"],
        )


MOST_PINS = 20
"""A call with more arguments offers the first ones; the others may then have any value."""

_LONGEST_VALUE = 100

THIS = {
    Kind.CODE: "exactly this code",
    Kind.TOOL_CALL: "exactly this call",
    Kind.PLAN: "exactly this plan",
    Kind.MEMORY: "exactly this change",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class GrantOffer:
    """An approval that can be remembered, and how much more it may allow.

    Attributes:
        this: What it would be at the least, in our words.
        tool: The tool's name, drawn; empty unless it is a tool call.
        pins: Arguments with their values, drawn, whose values may have to be the same.
        is_cut: Whether the call has more arguments than are offered.
        scope: What was chosen by a form that came back; else the least.
        is_back: Whether the form was sent for this, and something in it has to be mended.
    """

    this: str
    agent: str
    tool: SafeString
    names: list[str]
    pins: list[SafeString]
    is_cut: bool
    form: GrantForm
    scope: str
    is_back: bool

    def terms(self, scope: GrantScope) -> GrantTerms:
        """Return what was chosen, once the form is valid."""
        return self.form.terms(scope, self.names)


def grant_offer(
    approval: ApprovalRequest,
    judgement: Judgement,
    person: User,
    form: Mapping[str, Any] | None = None,
) -> GrantOffer | None:
    """Return what can be allowed from now on; None if this approval cannot be remembered.

    Args:
        approval: What is asked, with its agent.
        judgement: What the policy says of it.
        person: Who would approve.
        form: The form, if it was sent.
    """
    required, report = demands_of(judgement), report_of(judgement.inspection)
    if why_not_grantable(approval, required, report) or why_not_by(person, required):
        return None
    offered_scopes = scopes(approval)
    content = parse_json(approval.content) if GrantScope.TOOL in offered_scopes else {}
    by_values = GrantScope.ARGUMENTS in offered_scopes
    arguments: dict[str, Any] = content.get("arguments", {}) if by_values else {}
    names = sorted(arguments)[:MOST_PINS]
    pins = [drawn_argument(name, arguments[name]) for name in names]
    return GrantOffer(
        this=THIS[Kind(approval.kind)],
        agent=approval.agent.name,
        tool=untrusted(content.get("tool", "")),
        names=names,
        pins=pins,
        is_cut=len(arguments) > len(names),
        form=GrantForm(has_run=bool(approval.run_id), pins=pins, data=_sent(form)),
        scope=_chosen(form) or str(GrantScope.CONTENT),
        is_back=bool(_chosen(form)),
    )


def drawn_argument(name: str, value: Any, longest: int = _LONGEST_VALUE) -> SafeString:
    """Draw an argument with its value, cut to fit; what looks like a secret is redacted.

    Exactly that is remembered, so it stands in the order of its source.
    """
    prefix = f"{on_a_line(_cut(name, LONGEST_NAME))} = "
    if isinstance(value, str) and (0, len(value)) in secrets_in_text(value, words(name)):
        return untrusted_code(prefix, TextReading.CODE) + REDACTED
    text, end = prefix + canonical_json(value), len(prefix) + longest
    if len(text) <= end:
        return redacted(text, TextReading.CODE)
    # What is cut in two would not look like what it is.
    inside = (start for start, stop in candidates(text) if start < end < stop)
    return redacted(f"{text[: next(inside, end)]}…", TextReading.CODE)


def _cut(text: str, longest: int) -> str:
    return f"{text[:longest]}…" if len(text) > longest else text


def _sent(form: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    # Perhaps this was not offered when the page was made.
    return form if form and "for_s" in form else None


def _chosen(form: Mapping[str, Any] | None) -> str:
    verdict = str(form.get("verdict", "")) if form else ""
    return next((str(scope) for scope in GrantScope if verdict == f"remember-{scope}"), "")


MOST_OVER = 50

_LONGEST_VALUE_LISTED = 400

_IDLE = "Inactive: {} is no longer a reviewer."


@dataclass(frozen=True, slots=True)
class CoveredFinding:
    """A finding that the approval covered."""

    severity: str
    word: str
    name: str


@dataclass(frozen=True, slots=True)
class GrantUse:
    """One of the last requests that a grant answered."""

    approval_id: UUID
    at: Moment


@dataclass(frozen=True, kw_only=True, slots=True)
class GrantRow:
    """One grant. ``run``, ``tool``, ``values`` and ``summary`` are the agent's voice, drawn.

    Attributes:
        what: What exactly is allowed, in our words.
        uses: How often it was used, and of how many times.
        idle: Why it is in force and still answers nothing; empty if it answers.
        over: Why it is no longer in force; empty while it is.
    """

    number: int
    agent: str
    what: str
    digest: str
    tool: SafeString
    values: list[SafeString]
    summary: SafeString
    run_id: str
    run: SafeString
    findings: list[CoveredFinding]
    by: str
    made: Moment
    made_from: UUID
    left: TimeLeft
    uses: str
    answered: list[GrantUse]
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


def grant_listing(person: User, now: datetime) -> GrantListing:
    """List grants for a person who looks."""
    over = list(_light(grants_over(now, MOST_OVER + 1)))
    return GrantListing(
        [_row(grant, person, now) for grant in _light(grants_in_force(now))],
        [_row(grant, person, now) for grant in over[:MOST_OVER]],
        len(over) > MOST_OVER,
    )


_WITH_TEXTS = ("made_from", "edit__approval")


_MOST_OF_A_STEP = 20_000
"""Characters; what is longer is known by its digest alone."""


def _light(grants: GrantQuerySet) -> GrantQuerySet:
    """Read the headline of what is allowed: of the request, of an edit, or what a step says."""
    rows = grants.select_related("made_from__headline", "edit__headline", "edit__approval")
    of_step = Case(When(edit=None, then=Left("content", _MOST_OF_A_STEP)), default=Value(""))
    texts = [f"{relation}__{text}" for relation in _WITH_TEXTS for text in ("content", "evidence")]
    return rows.annotate(of_step=of_step).defer("content", "edit__content", "edit__report", *texts)


def _headline(grant: Grant) -> Headline | None:
    of_step = vars(grant)["of_step"]
    if not of_step:
        return headline_of(grant.edit or grant.made_from)
    try:
        return make_headline(Kind(grant.kind), parse_content(of_step), Report())
    except ValueError:
        return None


def _row(grant: Grant, person: User, now: datetime) -> GrantRow:
    over, over_at = _over(grant, now)
    is_call = grant.scope != GrantScope.CONTENT
    headline = one_line(_headline(grant))
    return GrantRow(
        number=grant.pk,
        agent=grant.agent.name,
        what=_what(grant),
        digest=grant.digest,
        tool=untrusted(grant.tool) if is_call else EMPTY,
        values=_values(grant),
        summary=EMPTY if is_call else headline,
        run_id=grant.run_id,
        run=untrusted(grant.run_id),
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
        may_end=not over and may_end(grant, person),
    )


def _what(grant: Grant) -> str:
    match grant.scope:
        case GrantScope.TOOL:
            return "with any values"
        case GrantScope.ARGUMENTS:
            return "with these values, whatever its other arguments are"
    return THIS[Kind(grant.kind)]


def _values(grant: Grant) -> list[SafeString]:
    values = parse_json(grant.arguments)
    return [drawn_argument(name, value, _LONGEST_VALUE_LISTED) for name, value in values.items()]


def _findings(grant: Grant) -> list[CoveredFinding]:
    pairs = [(Severity(severity), name) for name, severity in json.loads(grant.findings).items()]
    pairs.sort(key=lambda covered: (-covered[0].rank, covered[1]))
    return [CoveredFinding(str(severity), SEVERITIES[severity], name) for severity, name in pairs]


def _uses(grant: Grant) -> str:
    if grant.most_uses is None:
        return "once, no limit" if grant.uses == 1 else f"{grant.uses} times, no limit"
    return f"{grant.uses} of {grant.most_uses} times"


def _answered(grant: Grant, now: datetime) -> list[GrantUse]:
    latest = grant.latest  # type: ignore[attr-defined] # prefetched under this name
    return [GrantUse(d.approval_id, times.moment(d.decided_at, now)) for d in latest]


def _over(grant: Grant, now: datetime) -> tuple[str, datetime | None]:
    if grant.ended_at:
        by = f" by {grant.ended_by.username}" if grant.ended_by else f": {grant.ended_because}"
        return f"Ended{by}", grant.ended_at
    if grant.expires_at <= now:
        return "Its time is over", grant.expires_at
    if grant.most_uses is not None and grant.uses >= grant.most_uses:
        return "Used up", None
    return "", None


def runnable_steps(
    approval: ApprovalRequest, content: str, required: Required, report: Report, *, person: User
) -> str:
    """Name the steps of a plan that may be allowed to run; empty if none may."""
    if approval.kind != Kind.PLAN or not approval.run_id:
        return ""
    if why_not_grantable(approval, required, report) or why_not_by(person, required):
        return ""
    numbers = [str(step.index + 1) for step in exact_steps(content)]
    *heads, tail = numbers or [""]
    return f"steps {', '.join(heads)} and {tail}" if heads else tail and f"step {tail}"


@any_role
@require_safe
def grants(request: PersonRequest) -> HttpResponse:
    """Show every grant in force, and those that are over."""
    context = {"listing": grant_listing(request.user, database_now())}
    return render(request, "office/grants.html", context)


@any_role
def end_grant(request: PersonRequest, grant_id: int) -> HttpResponse:
    """End a grant at once; any method but POST is redirected to the list."""
    if request.method != "POST":
        return redirect("web:grants")
    try:
        revoke_grant(grant_id, by=request.user, auth=auth(request))
    except NotAllowed:
        return refused(request, "whoever gave that approval, and for admins")
    messages.success(
        request, f"Remembered approval {grant_id} has ended. A person is asked again from now on."
    )
    return redirect("web:grants")
