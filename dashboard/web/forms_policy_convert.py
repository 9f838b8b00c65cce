"""Between a rule and the fields of its form, both ways."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dashboard.policies.rules import Demands, Effect, Hours, Rule, When

_YES = {True: "yes", False: "no", None: "policy"}
_SAME = [  # conditions whose field has the same name
    "agents",
    "kinds",
    "tools",
    "languages",
    "memory_operations",
    "memory_users",
    "content_matches",
    "larger_than",
    "smaller_than",
    "no_findings_above",
    "capabilities",
    "execution_modes",
    "runs",
    "repeated",
]
_FIELD_OF = {
    "when.findings.names": "finding_names",
    "when.findings.at_least": "findings_at_least",
    "when.findings": "finding_names",
    "when.hours.from": "hours_from",
    "when.hours.until": "hours_until",
    "when.hours.timezone": "timezone",
    "when.hours": "days",
    "demands.time_limit_s": "time_limit",
    "demands.owner_may_approve": "owner",
    "demands.editor_may_approve": "editor",
}


def initial_of(rule: Rule) -> dict[str, Any]:
    """Return what the form shows for ``rule``; its examples are written elsewhere."""
    when = rule.when
    return {
        "name": rule.name,
        "effect": rule.effect.value,
        "reason": rule.reason,
        "also_if_not_followed": _YES[rule.also_if_not_followed],
        **{name: getattr(when, name) for name in _SAME},
        "kinds": [kind.value for kind in when.kinds],
        **dict(_initial_findings(when)),
        **(_initial_hours(when.hours) if when.hours else {}),
        **_initial_demands(rule.demands),
    }


def document_of(
    fields: Mapping[str, Any],
    conditions: Sequence[Mapping[str, Any]],
    examples: Mapping[str, Sequence[Any]],
) -> dict[str, Any]:
    """Return what ``parse_rule`` reads: only what was filled in, and what fits the effect."""
    when = {name: fields[name] for name in _SAME if fields[name] not in (None, "", (), [])}
    when |= dict(_groups_of_conditions(fields, conditions))
    found: dict[str, Any] = {"name": fields["name"], "effect": fields["effect"], "when": when}
    if fields["effect"] == Effect.REJECT:
        found["reason"] = fields["reason"]
        found["also_if_not_followed"] = fields["also_if_not_followed"] == "yes"
    if fields["effect"] == Effect.REVIEW:
        found["demands"] = _demands(fields)
    return found | {name: list(some) for name, some in examples.items() if some}


def field_of(where: str) -> str:
    """Name the field in which a part of a rule is typed; empty if there is none of its own."""
    parts = where.split(".")
    for length in range(len(parts), 0, -1):
        path = ".".join(parts[:length])
        if path in _FIELD_OF:
            return _FIELD_OF[path]
    return parts[1] if parts[0] in {"when", "demands"} and len(parts) > 1 else parts[0]


def _initial_findings(when: When) -> Iterator[tuple[str, Any]]:
    if when.findings:
        yield "finding_names", when.findings.names
        yield "findings_at_least", when.findings.at_least.value
    if when.no_findings_above:
        yield "no_findings_above", when.no_findings_above.value


def _initial_hours(hours: Hours) -> dict[str, Any]:
    return {
        "days": list(hours.days),
        "hours_from": hours.from_.isoformat("minutes"),
        "hours_until": hours.until.isoformat("minutes"),
        "timezone": hours.timezone,
    }


def _initial_demands(demands: Demands) -> dict[str, Any]:
    return {
        "approvals": demands.approvals,
        "groups": list(demands.groups),
        "time_limit": demands.time_limit_s,
        "escalate_to": demands.escalate_to or "",
        "owner": _YES[demands.owner_may_approve],
        "editor": _YES[demands.editor_may_approve],
        "reason_required": _YES[demands.reason_required],
        "grants_allowed": _YES[demands.grants_allowed],
        "whole_content": _YES[demands.whole_content],
    }


def _groups_of_conditions(
    fields: Mapping[str, Any], conditions: Sequence[Mapping[str, Any]]
) -> Iterator[tuple[str, Any]]:
    if conditions:
        yield "arguments", list(conditions)
    findings = {"names": fields["finding_names"], "at_least": fields["findings_at_least"]}
    if any(findings.values()):
        yield "findings", {name: value for name, value in findings.items() if value}
    hours = {"days": fields["days"], "from": fields["hours_from"], "until": fields["hours_until"]}
    if any(hours.values()) or fields["timezone"]:
        given = hours | {"timezone": fields["timezone"]}
        yield "hours", {name: value for name, value in given.items() if value}


def _demands(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "approvals": fields["approvals"],
        "groups": fields["groups"],
        "time_limit_s": fields["time_limit"],
        "escalate_to": fields["escalate_to"] or None,
        "owner_may_approve": {"yes": True, "no": False}.get(fields["owner"]),
        "editor_may_approve": fields["editor"] == "yes",
        "reason_required": fields["reason_required"] == "yes",
        "grants_allowed": fields["grants_allowed"] == "yes",
        "whole_content": fields["whole_content"] == "yes",
    }
