"""Try a policy on one question. Everybody who may look may try; nothing is stored."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple
from uuid import UUID

from django import forms
from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator
from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from approval_client.wire import JsonError, Kind, Status, canonical_json, parse_json
from dashboard.accounts.models import User
from dashboard.accounts.queries import agents
from dashboard.approvals.models import ApprovalRequest
from dashboard.approvals.queries.tool import UNLISTED, ToolStanding, any_classed, standing
from dashboard.approvals.rules.content import problems_with
from dashboard.approvals.rules.past_cases import past
from dashboard.approvals.rules.tool import bare_spelling_of
from dashboard.inspection.findings import INSPECTOR_VERSION
from dashboard.policies import queries
from dashboard.policies.evaluate import Effect, Evaluation, Policy, evaluate
from dashboard.policies.inspections import inspect
from dashboard.policies.models import PolicyRevision
from dashboard.policies.rules.demands import Required
from dashboard.policies.rules.facts import Question
from dashboard.policies.rules.rule import Rule, ToolClass
from dashboard.policies.rules.wording import CLASSES
from dashboard.policies.services import current_revision
from dashboard.web import words
from dashboard.web.access import any_role
from dashboard.web.content import Content, may_redact, render_content, too_long
from dashboard.web.drawing.prettyjson import pretty_json
from dashboard.web.findings import Found, found
from dashboard.web.forms import area, offer_choices, plain, status_of
from dashboard.web.http import PersonRequest
from dashboard.web.office.policies.policy import PathBox, path_taken
from dashboard.web.times import length
from dashboard.web.words import decided_by

IN_FORCE, DRAFT, PROPOSAL = "in_force", "draft", "proposal-"

_SHOWN = 50

_LONGEST_NUMBER = 18  # digits; what is longer fits no database's integer


@dataclass(frozen=True)
class Candidate:
    """One policy to try.

    Attributes:
        name: What to call it in a sentence.
    """

    name: str
    policy: Policy


def candidate_choices(person: User, wanted: str = "") -> list[tuple[str, str]]:
    """List what there is to try, key and label, the likeliest first.

    The revision that is ``wanted`` is among them, however old.
    """
    present = current_revision().number
    draft = queries.draft_of(person)
    numbers = list(queries.revisions()[:_SHOWN].values_list("number", flat=True))
    if _is_number(wanted) and int(wanted) not in numbers:
        numbers += PolicyRevision.objects.filter(number=wanted).values_list("number", flat=True)
    return [
        *([(DRAFT, "Your draft")] if draft else []),
        (IN_FORCE, f"In force: revision {present}"),
        *(
            (f"{PROPOSAL}{proposal.pk}", f"Proposed by {proposal.author.username}")
            for proposal in queries.open_proposals()
        ),
        *((str(number), f"Revision {number}") for number in numbers if number != present),
        *([(wanted, f"Revision {present}")] if wanted == str(present) else []),
    ]


def candidate_of(person: User, key: str) -> Candidate | None:
    """Return what one key of ``choices`` stands for, None if it is gone.

    Raises:
        ValueError: It was written for a version of this program that read policies differently.
    """
    if key == DRAFT:
        draft = queries.draft_of(person)
        return Candidate("your draft", Policy.from_json(draft.document)) if draft else None
    if key.startswith(PROPOSAL):
        return _proposed(key.removeprefix(PROPOSAL))
    if key == IN_FORCE:
        revision: PolicyRevision | None = current_revision()
    else:
        revision = PolicyRevision.objects.filter(number=key).first()
    if revision is None:
        return None
    return Candidate(f"revision {revision.number}", Policy.from_json(revision.document))


def _proposed(number: str) -> Candidate | None:
    proposal = queries.open_proposals().filter(pk=number).first() if _is_number(number) else None
    if proposal is None:
        return None
    policy = Policy.from_json(proposal.document)
    return Candidate(f"what {proposal.author.username} proposes", policy)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= _LONGEST_NUMBER


_GONE = (
    "There is no such policy: perhaps your draft was published or discarded. Nothing was "
    "tried. Choose another one."
)

_OF_BEFORE = "This version can no longer read this revision. Nothing was tried."

_ID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")

_one_line = RegexValidator(
    r"\A[^\x00-\x1f\x7f]*\Z", "This must be one line, without control characters."
)

_MOST_REPEATED = 1_000_000

_OTHERWISE, _UNLISTED = "otherwise", "unlisted"

_FOLDED = ("tool_class", "capability", "execution_mode", "run", "repeated", "asked_at")


def _line_field(label: str, help_text: str = "", **more: Any) -> forms.CharField:
    return forms.CharField(
        label=label,
        help_text=help_text,
        max_length=200,
        strip=False,
        validators=[_one_line],
        widget=more.pop("widget", None) or plain(),
        **{"required": False, **more},
    )


class CandidateForm(forms.Form):
    """Asks which policy to try. ``cleaned_data["policy"]`` is a ``Candidate``."""

    policy = forms.ChoiceField(label="Policy", error_messages={"invalid_choice": _GONE})

    def __init__(self, person: User, data: Mapping[str, Any] | None = None, **more: Any) -> None:
        super().__init__(data, **more)
        self.person = person
        choice = (data or self.initial).get("policy") or ""
        offer_choices(self, "policy", candidate_choices(person, choice))

    def clean_policy(self) -> Candidate:
        """Look up what was chosen."""
        try:
            candidate = candidate_of(self.person, self.cleaned_data["policy"])
        except ValueError:
            raise ValidationError(_OF_BEFORE) from None
        if candidate is None:
            raise ValidationError(_GONE)
        return candidate


class PastForm(CandidateForm):
    """One request that was asked."""

    request = forms.CharField(
        label="Request",
        max_length=500,
        help_text="Its id or its address. Both are on its page.",
        widget=plain(**{"class": "mono"}),
    )

    def clean_request(self) -> UUID:
        """Find the id in what may be an address."""
        approval_id = id_in(self.cleaned_data["request"])
        if approval_id is None:
            raise ValidationError("This contains no id of a request. Nothing was tried.")
        return approval_id


class PastedForm(CandidateForm):
    """One question, typed or pasted. ``cleaned_data["content"]`` is what an agent would send."""

    kind = forms.ChoiceField(label="What is asked for", choices=list(words.KINDS.items()))
    language = _line_field("Language", "Leave it empty for fenced blocks that name their own.")
    content = forms.CharField(
        strip=False,
        widget=area(12),
    )
    agent = _line_field("Agent", initial="example", required=True, widget=plain(list="agents"))
    tool_class = forms.ChoiceField(
        label="Class of the tool",
        choices=[
            ("", "nobody has classed it"),
            *CLASSES.items(),
            (_OTHERWISE, "nobody, but classed with another schema or spelling"),
            (_UNLISTED, "in no list: the agent has too many tools"),
        ],
        required=False,
        help_text="Of a tool call. A tool that is classed, called without its class, has another "
        "schema.",
    )
    capability = _line_field("Capability", "As the agent names it; empty says nothing.")
    execution_mode = _line_field("Execution mode", "Such as readonly.")
    run = _line_field("Run")
    repeated = forms.IntegerField(
        label="Asked before in this run",
        required=False,
        min_value=0,
        max_value=_MOST_REPEATED,
        help_text="How often, with the same content.",
    )
    asked_at = forms.DateTimeField(
        label="Asked at (UTC)",
        required=False,
        help_text="Empty means now.",
        input_formats=["%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M"],
        widget=forms.DateTimeInput(format="%Y-%m-%dT%H:%M", attrs={"type": "datetime-local"}),
    )

    @property
    def says_more(self) -> bool:
        """Whether something stands in the fields that are folded away."""
        return any(self[name].value() or self[name].errors for name in _FOLDED)

    def clean_kind(self) -> Kind:
        """Make it one of our words."""
        return Kind(self.cleaned_data["kind"])

    def clean_content(self) -> str:
        """Undo what browsers do to the ends of lines."""
        text: str = self.cleaned_data["content"]
        return text.replace("\r\n", "\n")

    def clean(self) -> None:
        """Make of kind, language and content what an agent would send."""
        chosen = self.cleaned_data
        if "kind" not in chosen or "content" not in chosen:
            return
        try:
            content = _content_as_sent(
                chosen["kind"], chosen["content"], chosen.get("language", "")
            )
            problems = problems_with(chosen["kind"], content)
        except JsonError as error:
            problems = [str(error).replace("The body", "The content")]
        if problems:
            self.add_error("content", [*problems, "Nothing was tried."])
        else:
            chosen["content"] = content


def id_in(text: str) -> UUID | None:
    """Find the id of a request in what may be its address."""
    matches: list[str] = _ID.findall(text.lower())
    return UUID(matches[-1]) if matches else None


def as_typed(question: Question) -> dict[str, Any]:
    """Write a question the way ``PastedForm`` asks for it."""
    is_code = question.kind is Kind.CODE
    content = question.content
    return {
        "kind": question.kind,
        "language": (content.get("language") or "") if is_code else "",
        "content": content["code"] if is_code else pretty_json(content),
        "agent": question.agent,
        "tool_class": question.tool_class
        or (_OTHERWISE if question.classed_otherwise else "")
        or (_UNLISTED if question.is_unlisted else ""),
        "capability": question.capability,
        "execution_mode": question.execution_mode,
        "run": question.run_id,
        "repeated": question.repeated or None,
        "asked_at": question.asked_at,
    }


def _content_as_sent(kind: Kind, text: str, language: str) -> Any:
    content = parse_json(text) if kind is not Kind.CODE else {"code": text}
    if kind is Kind.CODE and language:
        content["language"] = language
    canonical_json({"content": content})  # what is too deep to be sent is not tried
    return content


HEADLINES = {
    Effect.APPROVE: "It is approved at once. Nobody is asked.",
    Effect.REVIEW: "A person is asked.",
    Effect.REJECT: "It is rejected at once. Nobody is asked.",
}

STATUS_OF = {Effect.APPROVE: "approved", Effect.REVIEW: "pending", Effect.REJECT: "rejected"}
"""The colour and the icon of an effect are those of the status that it leads to."""

DOES = {Effect.APPROVE: "approves", Effect.REVIEW: "asks", Effect.REJECT: "rejects"}

_MOST_LINES = 20_000  # what is longer is judged, and not drawn here

_OUTCOMES_OF_MODES = {"matches": "apply", "does not match": "do not apply"}


class TraceRow(NamedTuple):
    """One rule, or the modes, with what became of it.

    Attributes:
        does: What the rule does where it matches; empty for the modes.
        status: The status that leads to.
    """

    number: int
    name: str
    does: str
    status: str
    outcome: str
    why: str


@dataclass(frozen=True, kw_only=True, slots=True)
class BenchResult:
    """One policy tried on one question.

    Attributes:
        policy: What to call the policy in a sentence.
        told: What a rejecting rule tells the agent.
        demands: What a review asks for, one sentence each.
        found: What was found in the content.
        content: What was tried, with marks where findings are; empty if it is too long.
        is_older: Whether an older inspector looked.
        steps: Every rule in its order, then the modes.
        path: The way through the policy, with what decided.
        trace: How the answer came about, as the request itself would keep it.
    """

    policy: str
    kind: Kind
    headline: str
    status: str
    told: str
    demands: list[str]
    found: Found
    content: Content
    is_older: bool
    steps: list[TraceRow]
    path: list[PathBox]
    trace: list[str]


def bench_result(candidate: Candidate, question: Question) -> BenchResult:
    """Ask a policy, and lay out its answer."""
    answer, report = evaluate(candidate.policy, question), question.report
    described, content = found(report, _drawn(question), str(question.tool_class or ""))
    return BenchResult(
        policy=candidate.name,
        kind=question.kind,
        headline=HEADLINES[answer.effect],
        status=STATUS_OF[answer.effect],
        told=answer.reason if answer.effect is Effect.REJECT else "",
        demands=list(_demanded(answer.demands)) if answer.effect is Effect.REVIEW else [],
        found=described,
        content=content,
        is_older=report.inspector != INSPECTOR_VERSION,
        steps=list(_steps(candidate.policy.rules, answer)),
        path=path_taken(candidate.policy, answer, words.KINDS[question.kind]),
        trace=answer.sentences,
    )


def _drawn(question: Question) -> Content:
    text = canonical_json(question.content)
    if too_long(question.kind, text, _MOST_LINES):
        return Content([])
    return render_content(question.kind, text, redacts=may_redact(question.report))


def _steps(rules: tuple[Rule, ...], answer: Evaluation) -> Iterator[TraceRow]:
    *of_rules, of_modes = answer.steps
    for number, (rule, step) in enumerate(zip(rules, of_rules, strict=True), 1):
        does, status = DOES[rule.effect], STATUS_OF[rule.effect]
        yield TraceRow(number, rule.name, does, status, step.outcome, step.why)
    outcome = _OUTCOMES_OF_MODES.get(of_modes.outcome, of_modes.outcome)
    yield TraceRow(len(rules) + 1, "Modes", "", "", outcome, of_modes.why)


def _demanded(demands: Required) -> Iterator[str]:
    people = demands.approvals
    yield "One person approves." if people == 1 else f"{people} different people approve."
    for circle in demands.circles:
        later = " or ".join(circle.later)
        yield (
            f"Approvers must be members of {' or '.join(circle.groups)}"
            + (f", or after {length(int(circle.later_from_s))} of {later}." if later else ".")
        )
    for role, counts in (
        ("agent's owner", demands.owner_may_approve),
        ("editor", demands.editor_may_approve),
    ):
        yield f"An approval of the {role} {'counts' if counts else 'does not count'}."
    if demands.time_limit_s is not None:
        yield f"It expires after {length(demands.time_limit_s)} at the latest."
    if demands.reason_required:
        yield "A reason is needed to approve."
    if demands.grants_allowed:
        yield "The approval may be remembered."
    if demands.whole_content:
        yield "All of the content must be in view before anybody approves."
    if demands.reveal_required:
        yield "Every masked secret must be revealed before anybody approves."
    if demands.proof:
        yield "Whoever approves signs it with their passkey."


_NONE_SUCH = "There is no such request. Nothing was tried."


@any_role
@require_http_methods(["GET", "HEAD", "POST"])
def bench(request: PersonRequest) -> HttpResponse:
    """Show what a policy answers to pasted content (POST) or to a past request (GET)."""
    if request.method == "POST":
        return _pasted(request)
    if "request" in request.GET:
        return _past(request)
    return _page(request, _empty(request))


def _pasted(request: PersonRequest) -> HttpResponse:
    form = PastedForm(request.user, request.POST)
    if not form.is_valid():
        return _page(request, form)
    chosen = form.cleaned_data
    return _page(request, form, result=bench_result(chosen["policy"], _question(chosen)))


def _past(request: PersonRequest) -> HttpResponse:
    query = request.GET.dict()
    if not query["request"]:
        return _page(request, PastForm(request.user, initial=query), tab="past")
    form = PastForm(request.user, {"policy": IN_FORCE, **query})
    case = past(form.cleaned_data["request"]) if form.is_valid() else None
    if form.is_valid() and case is None:
        form.add_error("request", _NONE_SUCH)
    if case is None:
        return _page(request, form, tab="past")
    return _page(
        request,
        form,
        tab="past",
        result=bench_result(form.cleaned_data["policy"], case.question),
        past=case,
        then=HEADLINES[case.effect],
        ended=_ended(case.approval, request.user),
    )


def _ended(approval: ApprovalRequest, person: User) -> str:
    if approval.status == Status.PENDING:
        return "It still waits for an answer."
    sentence = f"{words.STATUSES[Status(approval.status)]} {decided_by(approval.decision, person)}"
    return f"{sentence.strip()}."


def _empty(request: PersonRequest) -> PastedForm:
    initial: dict[str, Any] = {"policy": request.GET.get("policy", "")}
    copied = id_in(request.GET.get("copy", ""))
    case = past(copied) if copied else None
    return PastedForm(request.user, initial=initial | (as_typed(case.question) if case else {}))


def _page(request: PersonRequest, form: CandidateForm, **more: Any) -> HttpResponse:
    names = agents().values_list("name", flat=True)
    context = {"form": form, "tab": "pasted", "agents": names, **more}
    return render(request, "office/bench.html", context, status=status_of(form))


def _question(fields: dict[str, Any]) -> Question:
    tool = _standing(fields)
    return Question(
        kind=fields["kind"],
        content=fields["content"],
        report=inspect(fields["kind"], fields["content"]),
        agent=fields["agent"],
        asked_at=fields["asked_at"] or timezone.now(),
        capability=fields["capability"],
        execution_mode=fields["execution_mode"],
        run_id=fields["run"],
        repeated=fields["repeated"] or 0,
        tool_class=tool.tool_class,
        classed_otherwise=tool.classed_otherwise,
        is_unlisted=tool.is_unlisted,
    )


def _standing(fields: dict[str, Any]) -> ToolStanding:
    """Say how the class stands that was chosen, for a tool of that agent."""
    chosen = fields["tool_class"]
    if chosen in CLASSES:
        return ToolStanding(ToolClass(chosen))
    if chosen == _UNLISTED:
        return UNLISTED
    tool = fields["content"].get("tool") if fields["kind"] is Kind.TOOL_CALL else None
    is_classed = isinstance(tool, str) and any_classed(fields["agent"], bare_spelling_of(tool))
    return standing(None, is_name_classed=chosen == _OTHERWISE or is_classed)
