"""What people type to try a policy before it is published. Nothing of it is stored."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django import forms
from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator

from dashboard.accounts.models import User
from dashboard.approvals.rules.content import problems_with
from dashboard.policies.questions import Question
from dashboard.web.presenting import words
from dashboard.web.presenting.candidates import Candidate, candidate, choices
from dashboard.web.rendering.prettyjson import pretty_json
from dashboard.wire import JsonError, Kind, canonical_json, parse_json

LONGEST_DAYS, USUAL_DAYS = 365, 30
_GONE = (
    "There is no such policy: perhaps your draft was published or discarded. Nothing was tried; "
    "choose another one."
)
_OF_BEFORE = "This revision cannot be read by this version any more. Nothing was tried."
_ID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
_one_line = RegexValidator(
    r"\A[^\x00-\x1f\x7f]*\Z", "This must be one line, without control characters."
)
_MOST_REPEATED = 1_000_000
_FOLDED = ("capability", "execution_mode", "run", "repeated", "asked_at")


def _plain(**attrs: str) -> forms.TextInput:
    return forms.TextInput(
        attrs={"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false", **attrs}
    )


def _line(label: str, help_text: str = "", **more: Any) -> forms.CharField:
    return forms.CharField(
        label=label,
        help_text=help_text,
        max_length=200,
        strip=False,
        validators=[_one_line],
        widget=more.pop("widget", None) or _plain(),
        **{"required": False, **more},
    )


class CandidateForm(forms.Form):
    """Asks which policy to try. ``cleaned_data["policy"]`` is a ``Candidate``."""

    policy = forms.ChoiceField(label="Policy", error_messages={"invalid_choice": _GONE})

    def __init__(self, person: User, data: Mapping[str, Any] | None = None, **more: Any) -> None:
        super().__init__(data, **more)
        self.person = person
        wanted = (data or self.initial).get("policy") or ""
        self.fields["policy"].choices = choices(person, wanted)  # type: ignore[attr-defined] # of its field

    def clean_policy(self) -> Candidate:
        """Look up what was chosen."""
        try:
            found = candidate(self.person, self.cleaned_data["policy"])
        except ValueError:
            raise ValidationError(_OF_BEFORE) from None
        if found is None:
            raise ValidationError(_GONE)
        return found


class PastForm(CandidateForm):
    """One request that was asked."""

    request = forms.CharField(
        label="Request",
        max_length=500,
        help_text="Its id or its address; both stand in its page.",
        widget=_plain(**{"class": "mono"}),
    )

    def clean_request(self) -> UUID:
        """Find the id in what may be an address."""
        found = id_in(self.cleaned_data["request"])
        if found is None:
            raise ValidationError("This holds no id of a request. Nothing was tried.")
        return found


class PastedForm(CandidateForm):
    """One question, typed or pasted. ``cleaned_data["content"]`` is what an agent would send."""

    kind = forms.ChoiceField(label="What is asked for", choices=list(words.KINDS.items()))
    language = _line("Language", "Leave it empty for fenced blocks that name their own.")
    content = forms.CharField(
        strip=False,
        widget=forms.Textarea(
            attrs={
                "autocapitalize": "none",
                "autocomplete": "off",
                "class": "mono",
                "rows": 12,
                "spellcheck": "false",
            }
        ),
    )
    agent = _line("Agent", initial="example", required=True, widget=_plain(list="agents"))
    capability = _line("Capability", "As the agent names it; empty says nothing.")
    execution_mode = _line("Execution mode", "Such as readonly.")
    run = _line("Run")
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
            content = _content(chosen["kind"], chosen["content"], chosen.get("language", ""))
            problems = problems_with(chosen["kind"], content)
        except JsonError as error:
            problems = [str(error).replace("The body", "The content")]
        if problems:
            self.add_error("content", [*problems, "Nothing was tried."])
        else:
            chosen["content"] = content


class BacktestForm(CandidateForm):
    """Which policy, and how far back."""

    days = forms.IntegerField(
        label="Days back",
        min_value=1,
        max_value=LONGEST_DAYS,
        initial=USUAL_DAYS,
        widget=forms.NumberInput(attrs={"inputmode": "numeric"}),
    )


def id_in(text: str) -> UUID | None:
    """Find the id of a request in what may be its address."""
    found: list[str] = _ID.findall(text.lower())
    return UUID(found[-1]) if found else None


def as_typed(question: Question) -> dict[str, Any]:
    """Write a question the way ``PastedForm`` asks for it."""
    is_code = question.kind is Kind.CODE
    content = question.content
    return {
        "kind": question.kind,
        "language": (content.get("language") or "") if is_code else "",
        "content": content["code"] if is_code else pretty_json(content),
        "agent": question.agent,
        "capability": question.capability,
        "execution_mode": question.execution_mode,
        "run": question.run_id,
        "repeated": question.repeated or None,
        "asked_at": question.asked_at,
    }


def _content(kind: Kind, text: str, language: str) -> Any:
    content = parse_json(text) if kind is not Kind.CODE else {"code": text}
    if kind is Kind.CODE and language:
        content["language"] = language
    canonical_json({"content": content})  # what is too deep to be sent is not tried
    return content
