"""Policies as YAML: ours, which says everything, and Osprey's ``approval`` section. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from dashboard.policies import documents
from dashboard.policies.evaluate import Policy, PolicyError
from dashboard.policies.formats.osprey import BY_CAPABILITY, BY_TOOL, Section
from dashboard.policies.formats.strict_yaml import (
    YamlError,
    dump,
    load,
    load_any,
    refuse_ambiguous,
)
from dashboard.policies.rules.names import refuse_misspelt

__all__ = ["Import", "YamlError", "dump", "from_yaml", "load", "to_yaml"]

_BLANK = "This has no value. Give one, or leave the line out."
_MAY_BE_NULL = {"value", "content"}
"""What an argument is compared with, and what the agent of an example asks."""
_OURS = frozenset({"owner_may_approve", "rules"})


@dataclass(frozen=True)
class Import:
    """A policy that was read.

    Attributes:
        mapped: What became of what, a sentence each; empty for our own format.
        ignored: What was left out, a sentence each.
    """

    policy: Policy
    mapped: list[str]
    ignored: list[str]


def to_yaml(policy: Policy) -> str:
    """Write a policy so that ``from_yaml`` reads the same one."""
    return dump(policy.to_data())


def from_yaml(text: str) -> Import:
    """Read a policy in our own format, or Osprey's ``approval`` section, alone or in a whole file.

    Raises:
        YamlError: It is not YAML that can be taken.
        PolicyError: It is not a policy, or one that does not hold together, or it names a finding
            or a language that does not exist.
    """
    data = load_any(text)
    if not isinstance(data, dict):
        raise PolicyError([("", "A policy must be a mapping, beginning with 'global_mode:'.")])
    if "approval" in data:
        return _from_whole_file(data)
    if _OURS & set(data):
        refuse_ambiguous(data)
        _refuse_blank(data.get("rules", []))
        policy = Policy(**documents.parts(data))
        refuse_misspelt(policy.rules)
        return Import(policy, [], [])
    if set(data) <= BY_CAPABILITY or set(data) <= BY_TOOL:
        return _from_section(data, [])
    names = ", ".join(repr(name) for name in sorted(BY_CAPABILITY | _OURS))
    raise PolicyError(
        [("", (f"This is not a policy. A policy may contain {names}, or a section 'approval'."))]
    )


def _refuse_blank(rules: Any) -> None:
    """Refuse lines without a value: without them, a rule would match more or demand less."""
    problems = [(where, _BLANK) for where in _blank_lines(rules, "rules")]
    if problems:
        raise PolicyError(problems)


def _blank_lines(data: Any, where: str) -> Iterator[str]:
    if data is None:
        yield where
    lines = data.items() if isinstance(data, dict) else ()
    for name, inner in enumerate(data) if isinstance(data, list) else lines:
        if name not in _MAY_BE_NULL:
            yield from _blank_lines(inner, f"{where}.{name}")


def _from_whole_file(data: dict[str, Any]) -> Import:
    if mixed := sorted((_OURS | BY_CAPABILITY) & set(data)):
        message = f"There is a section 'approval' beside {mixed}. Use one or the other."
        raise PolicyError([("", message)])
    other_sections = [f"{key}: not about approval." for key in data if key != "approval"]
    return _from_section(data["approval"], other_sections)


def _from_section(data: Any, ignored: list[str]) -> Import:
    section = Section(data)
    return Import(section.policy, section.mapped, section.ignored + ignored)
