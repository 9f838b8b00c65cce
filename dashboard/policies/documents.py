"""The document of a policy, as it is stored: canonical JSON. Pure.

``{"global_mode", "capabilities", "owner_may_approve", "rules"}``; without rules that key is left
out, as in documents of before there were rules. A rule leaves out what is at its default.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from approval_client.wire import parse_json
from dashboard.policies.rules.problems import PolicyError, Problem, parse_rule
from dashboard.policies.rules.rule import Rule


def as_data(
    modes: Mapping[str, Any], rules: Sequence[Rule], *, owner_may_approve: bool
) -> dict[str, Any]:
    """Return what a document says."""
    data = {**modes, "owner_may_approve": owner_may_approve}
    if rules:
        data["rules"] = [rule_data(rule) for rule in rules]
    return data


def rule_data(rule: Rule) -> dict[str, Any]:
    """Return what a document says about one rule."""
    return rule.model_dump(by_alias=True, exclude_defaults=True)


def read(document: str) -> dict[str, Any]:
    """Return what a policy is made of.

    Raises:
        ValueError: It is not a document, or a rule in it is not one.
    """
    data = parse_json(document)
    if not isinstance(data, dict):
        raise PolicyError([("", "A policy must be a mapping.")])
    return parts(data)


def parts(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a policy is made of, from what a document says.

    Raises:
        PolicyError: A rule is not one.
    """
    modes = dict(data)
    owner_may_approve = modes.pop("owner_may_approve", False)
    rules = parse_rules(modes.pop("rules", []))
    return {"modes": modes, "owner_may_approve": owner_may_approve, "rules": rules}


def parse_rules(data: Any) -> tuple[Rule, ...]:
    """Make rules of what a document says.

    Raises:
        PolicyError: Says what is wrong with each.
    """
    if not isinstance(data, list):
        raise PolicyError([("rules", "This must be a list of rules.")])
    rules: list[Rule] = []
    problems: list[Problem] = []
    for index, each in enumerate(data):
        try:
            rules.append(parse_rule(each))
        except PolicyError as error:
            problems += [
                (f"rules.{index}.{where}", sentence) for where, sentence in error.problems
            ]
    if problems:
        raise PolicyError(problems)
    return tuple(rules)
