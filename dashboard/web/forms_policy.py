"""The policy as forms: its modes, publishing, and where a draft can come from."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from approval_client.capabilities import ApprovalMode
from dashboard.policies.evaluate import Policy
from dashboard.web.forms_policy_fields import WholeForm, area, plain

LARGEST_IMPORT = 256 * 1024
_LARGEST_SEQ = 2**63 - 1
_UNSET = "unset"


def _radio(label: str, choices: list[tuple[str, str]], help_text: str = "") -> forms.ChoiceField:
    # Named choices and no boxes: a form that arrives incomplete must not switch asking off.
    return forms.ChoiceField(
        label=label, choices=choices, help_text=help_text, widget=forms.RadioSelect
    )


class ModesForm(WholeForm):
    """Everything of a policy but its rules. Every choice is required."""

    global_mode = _radio(
        "Global mode",
        [
            ("all_capabilities", "all_capabilities: asking is on for code and memory"),
            ("selective", "selective: asking is on where it is switched on below"),
            ("disabled", "disabled: nobody is asked about anything"),
        ],
        "all_capabilities switches asking on, but leaves the mode for code alone. Tools and plans "
        "have no mode: without a rule a person is asked.",
    )
    python = _radio(
        "Asking about code",
        [
            ("on", "On"),
            ("off", "Off: nobody is asked, unless a rule says so"),
            (_UNSET, "Unset: says nothing, the rules decide"),
        ],
        "Osprey's python_execution.enabled; any language and shell included.",
    )
    python_mode = _radio(
        "Mode for code, while asking is on",
        [
            (ApprovalMode.ALL_CODE.value, "all_code: every piece of code"),
            (
                ApprovalMode.EPICS_WRITES.value,
                "epics_writes: what writes to the controls, cannot be followed or is no Python",
            ),
            (ApprovalMode.DISABLED.value, "disabled: no code; all of it is approved at once"),
        ],
    )
    memory = _radio(
        "Asking about memory",
        [
            ("on", "On"),
            ("off", "Off: nobody is asked, unless a rule says so"),
            (_UNSET, "Unset: says nothing, the rules decide"),
        ],
        "Osprey's memory.enabled.",
    )
    owner_may_approve = _radio(
        "Owners may approve what their own agents ask",
        [("no", "No, another reviewer has to"), ("yes", "Yes")],
    )
    stamp = forms.CharField(required=False, max_length=50, widget=forms.HiddenInput)

    def policy(self) -> Policy:
        """Return a policy without rules that does what was chosen."""
        chosen = self.cleaned_data
        python = {"enabled": chosen["python"] == "on", "mode": chosen["python_mode"]}
        memory = {"enabled": chosen["memory"] == "on"}
        capabilities = {
            "python_execution": None if chosen["python"] == _UNSET else python,
            "memory": None if chosen["memory"] == _UNSET else memory,
        }
        modes = {"global_mode": chosen["global_mode"], "capabilities": capabilities}
        return Policy(modes=modes, owner_may_approve=chosen["owner_may_approve"] == "yes")


def choices_of(policy: Policy) -> dict[str, str]:
    """Return what ``ModesForm`` shows for a policy."""
    config, given = policy.config, policy.modes.get("capabilities", {})

    def switch(name: str, *, enabled: bool) -> str:
        if name in given and given[name] is None:
            return _UNSET
        return "on" if enabled else "off"

    return {
        "global_mode": config.global_mode,
        "python": switch("python_execution", enabled=config.python_execution.enabled),
        "python_mode": config.python_execution.mode.value,
        "memory": switch("memory", enabled=config.memory.enabled),
        "owner_may_approve": "yes" if policy.owner_may_approve else "no",
    }


class ConfirmForm(forms.Form):
    """The word that says that loosening is meant."""

    confirm = forms.CharField(required=False, max_length=20, widget=plain())

    def __init__(self, word: str, data: Any = None) -> None:
        super().__init__(data, auto_id="publish_%s")
        self.word = word
        self.fields["confirm"].label = f"Type {word} to confirm"


class PublishForm(ConfirmForm):
    """The same, with why, and with what was shown."""

    note = forms.CharField(
        label="Why, for the record", required=False, max_length=500, widget=plain()
    )
    based_on = forms.IntegerField(min_value=1, max_value=_LARGEST_SEQ, widget=forms.HiddenInput)
    stamp = forms.CharField(required=False, max_length=50, widget=forms.HiddenInput)
    field_order = ["note", "confirm"]


class ImportForm(forms.Form):
    """A policy as YAML, typed or from a file; the file is taken if there are both."""

    text = forms.CharField(
        label="Paste YAML",
        required=False,
        strip=False,
        max_length=LARGEST_IMPORT,
        widget=area(12, placeholder="global_mode: selective\nrules:\n  - name: …"),
    )
    file = forms.FileField(
        label="Or choose a file",
        required=False,
        help_text=f"Up to {LARGEST_IMPORT // 1024} KiB.",
        widget=forms.ClearableFileInput(attrs={"accept": ".yaml,.yml,.json"}),
    )
    stamp = forms.CharField(required=False, max_length=50, widget=forms.HiddenInput)

    def clean_file(self) -> str:
        """Read the file."""
        file = self.cleaned_data["file"]
        if not file:
            return ""
        if file.size > LARGEST_IMPORT:
            raise ValidationError(
                f"This file has {file.size:,} bytes; the most are {LARGEST_IMPORT:,}. Nothing "
                "was imported."
            )
        try:
            text: str = file.read().decode()
        except UnicodeDecodeError:
            raise ValidationError("This file is not UTF-8 text. Nothing was imported.") from None
        return text

    def clean(self) -> None:
        """Take one of the two."""
        chosen = self.cleaned_data.get("file") or self.cleaned_data.get("text")
        if not chosen and not self.errors:
            self.add_error("text", "Paste a policy, or choose a file. Nothing was imported.")
        self.cleaned_data["yaml"] = chosen
