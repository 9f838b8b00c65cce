"""One rule of a policy, as a form: every condition and demand by name, empty where not wanted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from django import forms

from approval_client.wire import Kind
from dashboard.inspection.findings import Severity
from dashboard.policies.rules import Effect
from dashboard.web.forms_policy_fields import (
    NOT_ASKED,
    LengthOfTime,
    Lines,
    Named,
    WholeForm,
    area,
    plain,
    yes_no,
)

_GLOBS = "One a line; * stands for anything."
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
    Effect.APPROVE: "Approve: at once, nobody is asked",
    Effect.REVIEW: "Review: people are asked",
    Effect.REJECT: "Reject: at once, whatever other rules say",
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
_ZONES = ["UTC", "Europe/London", "Europe/Berlin", "America/New_York", "America/Los_Angeles"]


SECTIONS = [
    ("Who asks", "", ("agents",)),
    (
        "What is asked",
        "",
        ("kinds", "tools", "languages", "memory_operations", "memory_users"),
    ),
    (
        "Content",
        "What our own inspection sees, never what the agent says about it.",
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
        "By the moment at which the agent asks. None of it filled in: always.",
        ("days", "hours_from", "hours_until", "timezone"),
    ),
    (
        "What the agent says of itself",
        "It can make an answer stricter, never laxer, so a rule that approves cannot name any.",
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
    """A rule. What it means is for ``parse_rule`` to say; this only gives it a shape."""

    name = forms.CharField(
        label="Name",
        max_length=100,
        widget=plain(),
        help_text="Stands in the trace of every request that it decides.",
    )
    effect = forms.ChoiceField(
        label="What happens", choices=list(_EFFECTS.items()), widget=forms.RadioSelect
    )

    agents = Lines(label="Agents", placeholder="beamline-*", help_text=f"By token. {_GLOBS}")

    kinds = _ticks("Kinds", _KINDS)
    tools = Lines(label="Tools", placeholder="delete_*", help_text=_GLOBS)
    languages = Lines(
        label="Languages of code",
        placeholder="python",
        help_text="An approving rule has to fit every block, any other rule one.",
    )
    memory_operations = Lines(label="Memory operations", placeholder="update")
    memory_users = Lines(label="Users of memory", placeholder="operator-*")

    content_matches = forms.CharField(
        label="Pattern (RE2)",
        required=False,
        strip=False,
        max_length=1000,
        widget=plain(**{"class": "mono"}),
        help_text="Of an approving rule it has to match the whole text, of any other a part.",
    )
    larger_than = _number("Larger than (bytes)", min_value=0)
    smaller_than = _number("Smaller than (bytes)", min_value=1)
    finding_names = Lines(
        label="Any of these findings",
        placeholder="control-system-write\nsql-*",
        help_text="Names that our own inspection gives. One a line; * stands for anything.",
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
        help_text="How often the same content: finds loops.",
    )

    reason = forms.CharField(
        label="What the agent is told",
        required=False,
        max_length=1000,
        widget=forms.Textarea(attrs={"rows": 3}),
    )

    also_if_not_followed = yes_no(
        "Also reject what could not be followed",
        initial="no",
        help_text="Where findings or languages are a condition, and the content runs what it puts "
        "together or calls something unknown. What could not be read is rejected anyway.",
    )

    approvals = forms.IntegerField(
        label="People who have to approve",
        min_value=1,
        max_value=10,
        initial=1,
        widget=forms.NumberInput(attrs={"inputmode": "numeric"}),
        help_text="Distinct people; one rejection is final.",
    )
    groups = _ticks("Whose votes count", {}, help_text="None ticked: every reviewer's.")
    time_limit = LengthOfTime(
        label="Time limit",
        required=False,
        max_length=20,
        widget=plain(placeholder="5 min"),
        help_text="The agent's own may be shorter. Time that runs out is a no.",
    )
    escalate_to = Named(
        "From half time on also", [], required=False, help_text="Whose votes count too then."
    )
    owner = Named(
        "Owner may approve",
        [("policy", "as the policy says"), ("no", "No"), ("yes", "Yes")],
        initial="policy",
        help_text="Whose agent it is.",
    )
    editor = yes_no("Editor may approve", initial="no", help_text="Who changed the content.")
    reason_required = yes_no("Reason required", initial="no", help_text="For Approve.")
    grants_allowed = yes_no(
        "Grants allowed", initial="no", help_text="Whether a yes may be remembered."
    )
    whole_content = yes_no(
        "Read to the end", initial="yes", help_text="Before Approve can be pressed."
    )

    match = _examples(
        "Has to match", "Questions that this rule is for, as a list in YAML or JSON."
    )
    not_match = _examples("Must not match", "Questions that it has to leave alone.")

    field_order = ["name", "effect"]

    def __init__(self, groups: Iterable[str], data: Any = None, initial: Any = None) -> None:
        super().__init__(data, initial=initial, auto_id="rule_%s", use_required_attribute=False)
        self.zones = _ZONES
        known, named = list(groups), _named(initial or {})
        choices = [(name, name) for name in known]
        choices += [(name, f"{name} (no such group)") for name in named if name not in known]
        self.fields["groups"].choices = choices  # type: ignore[attr-defined] # of its field
        self.fields["escalate_to"].choices = [("", "nobody else"), *choices]  # type: ignore[attr-defined] # the same


def _named(initial: dict[str, Any]) -> Sequence[str]:
    named = [*initial.get("groups", ()), initial.get("escalate_to")]
    return list(dict.fromkeys(name for name in named if name))
