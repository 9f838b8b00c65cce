"""One rule of a draft: its form, its conditions on arguments, its examples, and its page."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.forms import BoundField
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.datastructures import MultiValueDict
from django.views.decorators.http import require_http_methods

from approval_client.wire import JsonError, Kind, canonical_json, parse_json
from dashboard.accounts.queries import agents
from dashboard.approvals.queries.request import seen_tools
from dashboard.inspection.findings import Severity
from dashboard.inspection.notes import FINDINGS
from dashboard.policies import queries
from dashboard.policies.errors import DraftRefused, ExamplesFail
from dashboard.policies.evaluate import EVERYTHING_TO_A_PERSON, Policy, PolicyError, parse_rule
from dashboard.policies.formats.policy_yaml import YamlError, dump, load
from dashboard.policies.models import PolicyDraft
from dashboard.policies.rules.rule import Argument, Demands, Effect, Example, Rule, When
from dashboard.policies.rules.wording import CLASSES
from dashboard.policies.services import drafts
from dashboard.policies.wording import rule_sentence
from dashboard.web.access import action, admins_only
from dashboard.web.forms import LengthOfTime, area, offer_choices, plain
from dashboard.web.http import PersonRequest
from dashboard.web.office.policies.draft import draft_refused
from dashboard.web.office.policies.fields import (
    NOT_ASKED,
    Lines,
    Named,
    WholeForm,
    with_plain_ends,
    yes_no,
)
from dashboard.web.office.policies.policy import known_groups, read_policy

MOST_ROWS = 200
"""Each has four fields, and Django takes a thousand of a form."""

_YAML_ONLY = (
    "This rule holds what the form cannot write back as it is, such as an end of a line in a "
    "pattern or a blank around a name. Nothing can be saved here: change it as YAML."
)

_SPARE_ROWS = 2

_TESTS = {
    "present": "is there",
    "absent": "is not there",
    "equals": "equals",
    "one_of": "is one of",
    "glob": "fits the glob",
    "matches": "matches the pattern",
    "within": "lies in the folder",
    "host_is": "leads to the host",
    "over": "is over",
    "under": "is under",
}

_TEXTS = {"glob", "matches"}
_PLACES = {"within", "host_is"}


class ArgumentForm(WholeForm):
    """One condition; a row without a path is not one."""

    path = forms.CharField(
        label="Argument", required=False, max_length=500, widget=plain(placeholder="account.id")
    )
    test = forms.ChoiceField(
        label="Test", required=False, choices=[("", "choose…"), *_TESTS.items()]
    )
    value = forms.CharField(
        label="Value", required=False, max_length=20_000, strip=False, widget=plain()
    )

    def clean(self) -> None:
        """Read the value as the test wants it."""
        super().clean()
        path, test, value = (self.cleaned_data.get(name) for name in ("path", "test", "value"))
        if test and not path:
            self.add_error("path", "Say which argument, such as account.id; * fits any key.")
        if (path or value) and not test:
            self.add_error("test", "Say what is tested.")
        if test and not self.errors:
            self._read(test, value or "")

    def _read(self, test: str, text: str) -> None:
        try:
            self.cleaned_data["value"] = _value_read(test, text)
        except ValidationError as error:
            self.add_error("value", error)

    @property
    def condition(self) -> dict[str, Any] | None:
        """The condition as a document holds it; None for an empty row."""
        chosen = self.cleaned_data
        if not chosen.get("test"):
            return None
        return {name: chosen[name] for name in ("path", "test", "value")}


_Base: type[forms.BaseFormSet[ArgumentForm]] = forms.formset_factory(
    ArgumentForm,
    extra=_SPARE_ROWS,
    max_num=MOST_ROWS,
    absolute_max=MOST_ROWS + _SPARE_ROWS,
)


class ArgumentRows(_Base):  # type: ignore[misc, valid-type] # made by a factory
    """All conditions of a rule."""

    def __init__(self, data: Any = None, arguments: Iterable[Argument] = ()) -> None:
        initial = [
            {"path": a.path, "test": a.test, "value": _value_written(a.test, a.value)}
            for a in arguments
        ]
        super().__init__(data, initial=initial, prefix="arguments", auto_id="%s")

    def conditions(self) -> list[dict[str, Any]]:
        """Return the conditions as a document holds them."""
        return [form.condition for form in self.forms if form.condition]


_THOUSANDS = re.compile(r"(?<![\w.,])\d{1,3}(?:,\d{3})+(?![\w,])", re.ASCII)
"""Digits in groups, such as those of ``2,500``, which as a list are two values."""

_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*+"')

_PYTHON = {"True": "true", "False": "false", "None": "null"}


def _value_read(test: str, text: str) -> Any:
    text = text if test in _TEXTS else text.strip()
    if test in {"present", "absent"}:
        if text:
            raise ValidationError("This test takes no value.")
        return None
    if not text.strip():
        raise ValidationError("This test needs a value.")
    if test in _TEXTS:
        return _json(text) if text.startswith('"') else text
    if test in _PLACES:
        return _several_places(text)
    return _several(text) if test == "one_of" else _json_or_text(text)


def _several(text: str) -> Any:
    if text.startswith("["):
        return _json(text)
    if match := _THOUSANDS.search(_QUOTED.sub('""', text)):
        number, values = match[0].replace(",", ""), match[0].replace(",", ", ")
        raise ValidationError(
            f"Write {number}, or {values} with blanks if these are several values."
        )
    try:
        return parse_json(f"[{text}]")
    except JsonError:
        return [_json_or_text(part.strip()) for part in text.split(",") if part.strip()]


def _several_places(text: str) -> Any:
    if text.startswith("["):
        return _json(text)
    parts = [part.strip() for part in text.split(",") if part.strip()]
    return parts if len(parts) > 1 else text


def _json_or_text(text: str) -> Any:
    if text in _PYTHON:
        raise ValidationError(
            f"Write {_PYTHON[text]}, or {canonical_json(text)} in quotes if it is a text."
        )
    try:
        return parse_json(text)
    except JsonError:
        return _json(text) if text[:1] in {'"', "[", "{"} else text


def _json(text: str) -> Any:
    try:
        return parse_json(text)
    except JsonError:
        raise ValidationError("This is not valid JSON. Check its quotes and brackets.") from None


def _value_written(test: str, value: Any) -> str:
    if value is None and test in {"present", "absent"}:
        return ""
    if test in _PLACES and isinstance(value, str):
        return value
    if test in _TEXTS and value.strip() and not value.startswith('"'):
        return str(value)
    return canonical_json(value)


_GLOBS = "One a line; * matches anything."

_EXAMPLE = """- kind: code
  content:
    language: bash
    code: rm -rf build"""

_KINDS = {
    Kind.CODE: "Code",
    Kind.TOOL_CALL: "Tool calls",
    Kind.PLAN: "Plans",
    Kind.MEMORY: "Memory",
}

_EFFECTS = {
    Effect.APPROVE: "Approve without asking",
    Effect.REVIEW: "Review: people are asked",
    Effect.REJECT: "Reject, whatever other rules say",
}

DAYS = {
    "mon": "Mon",
    "tue": "Tue",
    "wed": "Wed",
    "thu": "Thu",
    "fri": "Fri",
    "sat": "Sat",
    "sun": "Sun",
}

_LANGUAGES = ["python", "bash", "sql", "javascript", "typescript", "powershell", "ruby"]

_ZONES = ["UTC", "Europe/London", "Europe/Berlin", "America/New_York", "America/Los_Angeles"]

SECTIONS = [
    ("Who asks", "", ("agents",)),
    (
        "What is asked",
        "",
        ("kinds", "tools", "tool_classes", "languages", "memory_operations", "memory_users"),
    ),
    (
        "Content",
        "What our inspection found.",
        (
            "finding_names",
            "findings_at_least",
            "no_findings_above",
            "content_matches",
            "larger_than",
            "smaller_than",
        ),
    ),
    (
        "When",
        "When the agent asks. Empty: always.",
        ("days", "hours_from", "hours_until", "timezone"),
    ),
    (
        "What the agent claims",
        "Claims can only require more, so an approving rule cannot use them.",
        ("capabilities", "execution_modes", "runs", "repeated"),
    ),
]
"""Title, note and fields of the conditions that belong together."""


def _severities() -> list[tuple[str, str]]:
    return [NOT_ASKED, *((severity.value, severity.value) for severity in reversed(Severity))]


def _number(label: str, **more: Any) -> forms.IntegerField:
    widget = forms.NumberInput(attrs={"inputmode": "numeric"})
    return forms.IntegerField(label=label, required=False, widget=widget, **more)


def _ticks(label: str, choices: dict[Any, str], **more: Any) -> forms.MultipleChoiceField:
    return forms.MultipleChoiceField(
        label=label,
        required=False,
        choices=[(str(value), words) for value, words in choices.items()],
        widget=forms.CheckboxSelectMultiple,
        **more,
    )


def _examples(label: str, help_text: str) -> forms.CharField:
    widget = area(8, placeholder=_EXAMPLE)
    return forms.CharField(
        label=label, required=False, strip=False, widget=widget, help_text=help_text
    )


class RuleForm(WholeForm):
    """The shape of a rule; ``parse_rule`` says what it means."""

    name = forms.CharField(
        label="Name",
        max_length=100,
        widget=plain(dir="auto"),
        help_text="Shown with every request that it decides.",
    )
    effect = forms.ChoiceField(
        label="What happens", choices=list(_EFFECTS.items()), widget=forms.RadioSelect
    )

    agents = Lines(label="Agents", placeholder="beamline-*", help_text=_GLOBS)

    kinds = _ticks("Kinds", _KINDS)
    tools = Lines(label="Tools", placeholder="delete_*", help_text=_GLOBS)
    tool_classes = _ticks(
        "Classes of tools",
        CLASSES,
        help_text="As admins classed them. Approving: name the tools, too.",
    )
    languages = Lines(
        label="Languages of code",
        placeholder="python",
        help_text="Approving: every block must match. Otherwise: one.",
    )
    memory_operations = Lines(label="Memory operations", placeholder="update")
    memory_users = Lines(label="Users of memory", placeholder="operator-*")

    content_matches = forms.CharField(
        label="Pattern (RE2)",
        required=False,
        strip=False,
        max_length=1000,
        widget=plain(**{"class": "mono"}),
        help_text="Approving: must match the whole text. Otherwise: a part.",
    )
    larger_than = _number("Larger than (bytes)", min_value=0)
    smaller_than = _number("Smaller than (bytes)", min_value=1)
    finding_names = Lines(
        label="Any of these findings",
        placeholder="control-system-write\nsql-*",
        help_text=_GLOBS,
    )
    findings_at_least = Named("… of at least this severity", _severities(), required=False)
    no_findings_above = Named("No finding above", _severities(), required=False)

    days = _ticks("Days", DAYS)
    hours_from = forms.CharField(
        label="From", required=False, widget=forms.TimeInput(attrs={"type": "time"})
    )
    hours_until = forms.CharField(
        label="Until", required=False, widget=forms.TimeInput(attrs={"type": "time"})
    )
    timezone = forms.CharField(
        label="Time zone", required=False, max_length=100, widget=plain(list="zones")
    )

    capabilities = Lines(label="Capabilities", placeholder="python_execution")
    execution_modes = Lines(label="Execution modes", placeholder="write*")
    runs = Lines(label="Runs", placeholder="nightly-*")
    repeated = _number(
        "Asked before in the same run, at least",
        min_value=1,
        help_text="How often the same content. Finds loops.",
    )

    reason = forms.CharField(
        label="What the agent is told",
        required=False,
        strip=False,
        max_length=1000,
        widget=forms.Textarea(attrs={"rows": 3, "dir": "auto"}),
    )

    also_if_not_followed = yes_no(
        "Also reject if it could not be followed",
        initial="no",
        help_text="With conditions on findings or languages. What could not be read is always "
        "rejected.",
    )

    approvals = forms.IntegerField(
        label="Approvals needed",
        min_value=1,
        max_value=10,
        initial=1,
        widget=forms.NumberInput(attrs={"inputmode": "numeric"}),
        help_text="From different people. One rejection is final.",
    )
    groups = _ticks("Whose votes count", {}, help_text="None: every reviewer.")
    time_limit = LengthOfTime(
        label="Time limit",
        required=False,
        help_text="The agent's own may be shorter. Then the request expires.",
    )
    escalate_to = Named(
        "From half time on, also",
        [],
        required=False,
        help_text="A group that may then approve, too.",
    )
    owner = Named(
        "Owner may approve",
        [("policy", "as the policy says"), ("no", "No"), ("yes", "Yes")],
        initial="policy",
        help_text="Of the agent that asks.",
    )
    editor = yes_no("Editor may approve", initial="no", help_text="Whoever changed the content.")
    reason_required = yes_no("Reason required", initial="no", help_text="To approve.")
    grants_allowed = yes_no(
        "May be remembered", initial="no", help_text="The approval, for later requests."
    )
    whole_content = yes_no(
        "Read to the end", initial="yes", help_text="Required before approving."
    )
    reveal_required = yes_no(
        "Reveal every secret",
        initial="no",
        help_text="If not, keys of a known form may stay masked.",
    )
    proof = Named(
        "Signed with",
        [("", "nothing"), ("passkey", "a passkey")],
        required=False,
        help_text="The device of whoever approves. Never remembered.",
    )

    match = _examples("Must match", "Requests for this rule, as a YAML or JSON list.")
    not_match = _examples("Must not match", "Requests it must leave alone.")

    field_order = ["name", "effect"]

    def __init__(self, groups: Iterable[str], data: Any = None, initial: Any = None) -> None:
        super().__init__(data, initial=initial, auto_id="rule_%s", use_required_attribute=False)
        self.zones = _ZONES
        names, picks = list(groups), _named(initial or {})
        choices = [(name, name) for name in names]
        choices += [(name, f"{name} (no such group)") for name in picks if name not in names]
        offer_choices(self, "groups", choices)
        offer_choices(self, "escalate_to", [("", "nobody else"), *choices])

    def clean_reason(self) -> str:
        """Keep the ends of lines as they were."""
        return with_plain_ends(self.cleaned_data["reason"])


def _named(initial: dict[str, Any]) -> Sequence[str]:
    names = [*initial.get("groups", ()), initial.get("escalate_to")]
    return list(dict.fromkeys(name for name in names if name))


_EXAMPLES = ("match", "not_match")

_OTHERWISE_NAMED = {
    "finding_names": "when.findings.names",
    "findings_at_least": "when.findings.at_least",
    "days": "when.hours.days",
    "hours_from": "when.hours.from",
    "hours_until": "when.hours.until",
    "timezone": "when.hours.timezone",
    "time_limit": "demands.time_limit_s",
    "owner": "demands.owner_may_approve",
    "editor": "demands.editor_may_approve",
}


def _part_of(name: str) -> str:
    above = [
        group
        for group, model in (("when", When), ("demands", Demands))
        if name in model.model_fields
    ]
    return _OTHERWISE_NAMED.get(name) or ".".join([*above, name])


PARTS = {name: _part_of(name) for name in RuleForm.base_fields if name not in {"end", *_EXAMPLES}}
"""Field of the form -> where it stands in a rule."""

_ONLY_FOR = {
    "demands": Effect.REVIEW,
    "reason": Effect.REJECT,
    "also_if_not_followed": Effect.REJECT,
}

_CHOSEN = {"yes": True, "no": False, "policy": None}


def _is_choice(name: str) -> bool:
    return ("yes", "Yes") in getattr(RuleForm.base_fields[name], "choices", ())


def initial_of(rule: Rule) -> dict[str, Any]:
    """Return what the form shows for ``rule``; its examples are written elsewhere."""
    written_elsewhere: Any = {"when": {"arguments"}, "match": True, "not_match": True}
    document = rule.model_dump(mode="json", by_alias=True, exclude=written_elsewhere)
    values_by_name = {name: _at(document, part) for name, part in PARTS.items()}
    words = {value: word for word, value in _CHOSEN.items()}
    return {
        name: words[value] if _is_choice(name) else value
        for name, value in values_by_name.items()
        if value is not None
    }


def _at(document: Mapping[str, Any], part: str) -> Any:
    node: Any = document
    for step in part.split("."):
        node = node.get(step) if node else None
    return node


_EMPTY: tuple[Any, ...] = (None, "", (), [])


def document_of(
    fields: Mapping[str, Any],
    conditions: Sequence[Mapping[str, Any]],
    examples: Mapping[str, Sequence[Any]],
) -> dict[str, Any]:
    """Return what ``parse_rule`` reads: only what was filled in, and what fits the effect."""
    document: dict[str, Any] = {"when": {"arguments": list(conditions)} if conditions else {}}
    for name, part in PARTS.items():
        *above, leaf = part.split(".")
        value = _CHOSEN[fields[name]] if _is_choice(name) else fields[name]
        is_for = _ONLY_FOR.get(part.split(".")[0], fields["effect"])
        if is_for != fields["effect"] or (value in _EMPTY and not _means_no_day(name, fields)):
            continue
        holder = document
        for step in above:
            holder = holder.setdefault(step, {})
        holder[leaf] = value
    return document | {name: list(some) for name, some in examples.items() if some}


def _means_no_day(name: str, fields: Mapping[str, Any]) -> bool:
    """Whether no day was left of some hours, which is not every day."""
    return name == "days" and bool(fields["hours_from"] or fields["hours_until"])


def field_of(where: str) -> str:
    """Name the form field of a part of a rule; empty if it has none."""
    parts = where.split(".")
    if parts[0] in _EXAMPLES:
        return parts[0]
    for length in range(len(parts), 0, -1):
        path = ".".join(parts[:length])
        within = (n for n, part in PARTS.items() if part == path or part.startswith(f"{path}."))
        if (length > 1 or path in PARTS) and (name := next(within, "")):
            return name
    return ""


_ARGUMENTS = "when.arguments."

_IN_A_POLICY = re.compile(r"rules\.\d+\.", re.ASCII)


@dataclass(frozen=True)
class RuleSection:
    """Some conditions that belong together.

    Attributes:
        is_open: Whether one of them is used or wrong, so that it has to be seen.
    """

    title: str
    note: str
    fields: list[BoundField]
    is_open: bool


class RuleEditor:
    """One rule on a page. An invalid rule is never stored, and what was typed is kept.

    Attributes:
        rule: What was typed, once ``is_valid`` said that it is one.
    """

    rule: Rule

    def __init__(self, groups: Iterable[str], data: Any = None, rule: Rule | None = None) -> None:
        initial = {**initial_of(rule), **_written_examples(rule)} if rule else None
        self.form = RuleForm(groups, data, initial)
        self.rows = ArgumentRows(data, rule.when.arguments if rule else ())

    def is_valid(self) -> bool:
        """Whether it is a rule; what is wrong stands beside the fields."""
        shapes = [self.form.is_valid(), self.rows.is_valid()]
        examples = {name: self._examples(name) for name in _EXAMPLES}
        if all(shapes) and self.form.is_valid():
            conditions = self.rows.conditions()
            try:
                self.rule = parse_rule(document_of(self.form.cleaned_data, conditions, examples))
            except PolicyError as error:
                self.add_problems(error)
        return self.form.is_valid() and self.rows.is_valid()

    def add_problems(self, error: PolicyError) -> None:
        """Put each problem beside the field that has it."""
        for path, sentence in error.problems:
            where = _IN_A_POLICY.sub("", path, count=1)
            if where.startswith(_ARGUMENTS):
                self._add_to_row(where.removeprefix(_ARGUMENTS), sentence)
            else:
                self._add(where, sentence)

    @property
    def sections(self) -> list[RuleSection]:
        """The conditions, but for those on arguments."""
        return [self._section(*section) for section in SECTIONS]

    @property
    def arguments_are_open(self) -> bool:
        """Whether there are conditions on arguments, or something is wrong with them."""
        return (
            self.rows.is_bound and not self.rows.is_valid()
        ) or self.rows.initial_form_count() > 0

    def fields(self, *names: str) -> list[BoundField]:
        """Return some fields, for a template to lay out."""
        return [self.form[name] for name in names]

    def _section(self, title: str, note: str, names: tuple[str, ...]) -> RuleSection:
        fields = self.fields(*names)
        return RuleSection(title, note, fields, any(f.errors or f.value() for f in fields))

    def _examples(self, name: str) -> list[Any]:
        text = self.form.cleaned_data.get(name, "")
        if not text.strip():
            return []
        try:
            examples = load(text)
        except YamlError as error:
            self.form.add_error(name, str(error))
            return []
        if not isinstance(examples, list):
            self.form.add_error(name, "Write a list: each example begins with a hyphen.")
            return []
        return examples

    def _add(self, where: str, sentence: str) -> None:
        field = field_of(where)
        rest = where.partition(f"{field}.")[2].split(".")
        if field in _EXAMPLES and rest[0].isdigit():
            inside = f" ({'.'.join(rest[1:])})" if rest[1:] else ""
            sentence = f"Example {int(rest[0]) + 1}{inside}: {sentence}"
        elif rest[-1].isdigit():
            sentence = f"Line {int(rest[-1]) + 1}: {sentence}"
        self.form.add_error(field if field in self.form.fields else None, sentence)

    def _add_to_row(self, where: str, sentence: str) -> None:
        index, _, name = where.partition(".")
        used = [form for form in self.rows.forms if form.condition]
        row: ArgumentForm = used[int(index)]
        row.add_error(name if name in row.fields else None, sentence)


def can_write_back(rule: Rule) -> bool:
    """Whether the form, sent as it is shown, makes the same rule again."""
    names = [*rule.demands.groups, *filter(None, [rule.demands.escalate_to])]
    page = RuleEditor(names, rule=rule)
    data = MultiValueDict[str, str]()
    for form in (page.form, page.rows.management_form, *page.rows.forms):
        for name, text in _sent(form):
            data.appendlist(name, text)
    reply = RuleEditor(names, data, rule)
    return reply.is_valid() and _written(reply.rule) == _written(rule)


def _sent(form: forms.BaseForm) -> Iterator[tuple[str, str]]:
    """Yield names and texts as browsers send them: an input has no ends of lines."""
    for field in form:
        widget = field.field.widget
        value = widget.format_value(field.value())
        for text in value if isinstance(value, list | tuple) else [value or ""]:
            has_lines = isinstance(widget, forms.Textarea)
            plain_text = with_plain_ends(str(text))
            yield field.html_name, plain_text.replace("\n", "\r\n" if has_lines else "")


def _written(rule: Rule) -> str:
    return Policy(EVERYTHING_TO_A_PERSON.modes, rules=(rule,)).to_json()


def _written_examples(rule: Rule) -> dict[str, str]:
    return {name: _examples_written(getattr(rule, name)) for name in _EXAMPLES}


def _examples_written(examples: Iterable[Example]) -> str:
    data = [example.model_dump(exclude_defaults=True) for example in examples]
    return dump(data) if data else ""


_METHODS = ["GET", "HEAD", "POST"]


@admins_only
@require_http_methods(_METHODS)
def new_rule(request: PersonRequest) -> HttpResponse:
    """Write a rule and put it after the others."""
    if queries.draft_of(request.user) is None:
        return redirect("web:draft")
    if request.method == "POST":
        return _save(request, RuleEditor(known_groups(), request.POST), None)
    return _page(request, RuleEditor(known_groups()), None)


@admins_only
@require_http_methods(_METHODS)
def rule(request: PersonRequest, index: int) -> HttpResponse:
    """Change one rule of the draft."""
    present = _rule(queries.draft_of(request.user), index)
    if request.method == "POST":
        return _save(request, RuleEditor(known_groups(), request.POST, present), index)
    if present is None:
        return redirect("web:draft")
    return _page(request, RuleEditor(known_groups(), rule=present), index)


@admins_only
@action("web:rule")
def move_rule(request: PersonRequest, index: int) -> HttpResponse:
    """Exchange a rule with its neighbour."""
    up, stamp = request.POST.get("to") == "up", request.POST.get("stamp", "")
    try:
        drafts.move_rule(request.user, index, up=up, stamp=stamp)
    except DraftRefused as error:
        return draft_refused(request, error)
    return redirect(f"{reverse('web:draft')}#rule-{index + (0 if up else 2)}")


@admins_only
@action("web:rule")
def remove_rule(request: PersonRequest, index: int) -> HttpResponse:
    """Take a rule out of the draft."""
    removed = _rule(queries.draft_of(request.user), index)
    try:
        drafts.remove_rule(request.user, index, stamp=request.POST.get("stamp", ""))
    except DraftRefused as error:
        return draft_refused(request, error)
    if removed:
        messages.success(request, f"The rule {removed.name!r} is out of the draft.")
    return redirect("web:draft")


def _offer_known(form: RuleForm) -> None:
    """Let people pick the names that there are, of agents, tools and findings."""
    tools = seen_tools()
    names_by_field = {
        "agents": list(agents().prefetch_related(None).values_list("name", flat=True)),
        "tools": tools,
        "finding_names": sorted(FINDINGS),
        "languages": _LANGUAGES,
        "capabilities": ["python_execution", "memory", *tools],
    }
    for name, names in names_by_field.items():
        form.fields[name].known = names  # type: ignore[attr-defined] # a field of lines


def _rule(draft: PolicyDraft | None, index: int) -> Rule | None:
    policy = read_policy(draft.document) if draft else None
    rules = policy.rules if policy else ()
    return rules[index] if index < len(rules) else None


def _save(request: PersonRequest, editor: RuleEditor, index: int | None) -> HttpResponse:
    stamp, status = request.POST.get("stamp", ""), HTTPStatus.UNPROCESSABLE_ENTITY
    present = None if index is None else _rule(queries.draft_of(request.user), index)
    if present and not can_write_back(present):
        return _page(request, editor, index, status)
    if not editor.is_valid():
        return _page(request, editor, index, status)
    try:
        if index is None:
            drafts.add_rule(request.user, editor.rule, stamp=stamp)
        else:
            drafts.change_rule(request.user, index, editor.rule, stamp=stamp)
    except ExamplesFail as error:
        editor.form.add_error(None, [*error.failures, "Nothing was saved."])
    except PolicyError as error:
        editor.add_problems(error)
    except DraftRefused as error:
        editor.form.add_error(None, str(error))
        status = HTTPStatus.CONFLICT
    else:
        sentence = f"The rule {editor.rule.name!r} is saved in the draft."
        form = f"rule/{'new' if index is None else index}"  # the form's draft is done with
        messages.success(request, sentence, extra_tags=form)
        return redirect("web:draft")
    return _page(request, editor, index, status)


def _page(
    request: PersonRequest,
    editor: RuleEditor,
    index: int | None,
    status: HTTPStatus = HTTPStatus.OK,
) -> HttpResponse:
    draft = queries.draft_of(request.user)
    present = None if index is None else _rule(draft, index)
    _offer_known(editor.form)
    context = {
        "yaml_only": _YAML_ONLY if present and not can_write_back(present) else "",
        "editor": editor,
        "index": index,
        "sentence": rule_sentence(present) if present else "",
        "stamp": request.POST.get("stamp") or drafts.stamp_of(draft),
    }
    return render(request, "office/policy/rule.html", context, status=status)
