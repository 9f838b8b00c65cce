"""A rule being edited: its form, its rows of arguments and its examples, as one."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.forms import BoundField

from dashboard.policies.evaluate import PolicyError, parse_rule
from dashboard.policies.importing import YamlError, dump, load
from dashboard.policies.rules import Example, Rule
from dashboard.web.forms_policy_arguments import ArgumentForm, ArgumentRows
from dashboard.web.forms_policy_convert import document_of, field_of, initial_of
from dashboard.web.forms_policy_rule import SECTIONS, RuleForm

_EXAMPLES = ("match", "not_match")
_ARGUMENTS = "when.arguments."
_IN_A_POLICY = re.compile(r"rules\.\d+\.", re.ASCII)


@dataclass(frozen=True)
class Section:
    """Some conditions that belong together.

    Attributes:
        is_open: Whether one of them is used or wrong, so that it has to be seen.
    """

    title: str
    note: str
    fields: list[BoundField]
    is_open: bool


class RuleEditor:
    """One rule on a page. What cannot be a rule is never stored, and what was typed is kept.

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
    def sections(self) -> list[Section]:
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

    def _section(self, title: str, note: str, names: tuple[str, ...]) -> Section:
        fields = self.fields(*names)
        return Section(title, note, fields, any(f.errors or f.value() for f in fields))

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


def _written_examples(rule: Rule) -> dict[str, str]:
    return {name: _written(getattr(rule, name)) for name in _EXAMPLES}


def _written(examples: Iterable[Example]) -> str:
    data = [example.model_dump(exclude_defaults=True) for example in examples]
    return dump(data) if data else ""
