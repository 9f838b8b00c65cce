"""Conditions on the arguments of a tool call: one row a condition, two empty rows to add more."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from approval_client.wire import JsonError, canonical_json, parse_json
from dashboard.policies.rules import Argument
from dashboard.web.forms_policy_fields import WholeForm, plain

MOST_ROWS = 50
_SPARE_ROWS = 2
_TESTS = {
    "present": "is there",
    "absent": "is not there",
    "equals": "equals",
    "one_of": "is one of",
    "glob": "fits the glob",
    "matches": "matches the pattern",
    "over": "is over",
    "under": "is under",
}
_TEXTS = {"glob", "matches"}


class ArgumentForm(WholeForm):
    """One condition; a row without a path is none."""

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
            self.cleaned_data["value"] = _value(test, text)
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
            {"path": a.path, "test": a.test, "value": _written(a.test, a.value)} for a in arguments
        ]
        super().__init__(data, initial=initial, prefix="arguments", auto_id="%s")

    def conditions(self) -> list[dict[str, Any]]:
        """Return the conditions as a document holds them."""
        return [form.condition for form in self.forms if form.condition]


def _value(test: str, text: str) -> Any:
    text = text if test in _TEXTS else text.strip()
    if test in {"present", "absent"}:
        if text:
            raise ValidationError("This test takes no value.")
        return None
    if not text.strip():
        raise ValidationError("This test needs a value.")
    if test in _TEXTS:
        return _json(text) if text.startswith('"') else text
    return _several(text) if test == "one_of" else _json_or_text(text)


def _several(text: str) -> Any:
    if text.startswith("["):
        return _json(text)
    try:
        return parse_json(f"[{text}]")
    except JsonError:
        return [_json_or_text(part.strip()) for part in text.split(",") if part.strip()]


def _json_or_text(text: str) -> Any:
    try:
        return parse_json(text)
    except JsonError:
        return _json(text) if text[:1] in {'"', "[", "{"} else text


def _json(text: str) -> Any:
    try:
        return parse_json(text)
    except JsonError:
        raise ValidationError(
            "This begins like JSON but cannot be read as it; look at its quotes and brackets."
        ) from None


def _written(test: str, value: Any) -> str:
    if value is None and test in {"present", "absent"}:
        return ""
    if test in _TEXTS and value.strip() and not value.startswith('"'):
        return str(value)
    return canonical_json(value)
