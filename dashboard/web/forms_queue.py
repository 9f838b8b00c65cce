"""What the address of the queue asks for. Whatever is wrong in it is left out, and said."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django import forms

from dashboard.inspection.findings import Severity
from dashboard.web import words
from dashboard.wire import Kind

LONGEST = 200
TABS = ("waiting", "claimed", "later", "decided")
_LEFT_OUT = {
    "show": "There is no such tab, so this is what waits.",
    "agent": "There is no agent of that name, so the list holds those of all agents.",
    "kind": "There is no such kind of request, so the list holds all kinds.",
    "capability": "That cannot be the name of a capability, so the list holds all of them.",
    "severity": "There is no such severity, so the list holds all of them.",
    "mine": "What needs you is asked for by mine=1, so the list holds what others answer too.",
    "group": "There is no group of that name, so the list holds what any group answers.",
    "q": f"A search is text of at most {LONGEST} characters, so nothing was searched for.",
    "order": "There is no such order, so what has the least time left comes first.",
}
_SEVERITIES = [
    ("", "Anything or nothing"),
    (Severity.LOW, "Low or graver"),
    (Severity.MEDIUM, "Medium or graver"),
    (Severity.HIGH, "High"),
]


def _choice(label: str, choices: list[tuple[str, str]]) -> forms.ChoiceField:
    return forms.ChoiceField(label=label, choices=choices, required=False)


def _text(label: str, **attrs: str) -> forms.CharField:
    plain = {"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}
    widget = forms.TextInput(attrs={**plain, **attrs})
    return forms.CharField(label=label, max_length=LONGEST, required=False, widget=widget)


class QueueForm(forms.Form):
    """Asks which requests to list, and which comes first."""

    show = _choice("Which requests", [(tab, "") for tab in TABS])
    q = _text("Search content, objective and run", type="search", placeholder="Search")
    mine = _choice("Needs me", [("1", "")])
    order = _choice("Order", [("", "By time left"), ("risk", "By risk")])
    agent = _choice("Agent", [])
    kind = _choice("Kind", [("", "All kinds"), *((str(k), words.KINDS[k]) for k in Kind)])
    severity = _choice("Found", [(str(value), label) for value, label in _SEVERITIES])
    group = _choice("Needs a yes from", [])
    capability = _text("Capability, exactly")

    def __init__(self, data: Any, agents: Iterable[str], groups: Iterable[str]) -> None:
        super().__init__(data, auto_id="filter-%s")
        self._offer("agent", "All agents", agents)
        self._offer("group", "Anybody", groups)

    @property
    def left_out(self) -> list[str]:
        """What in the address is wrong, and what was done instead, once for each."""
        return [_LEFT_OUT[name] for name in self.errors]

    def _offer(self, name: str, everything: str, names: Iterable[str]) -> None:
        field = self.fields[name]
        assert isinstance(field, forms.ChoiceField)  # noqa: S101 - for the types
        field.choices = [("", everything), *((one, one) for one in names)]
