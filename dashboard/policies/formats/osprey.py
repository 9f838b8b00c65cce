"""Osprey's ``approval`` section, of both eras, as a policy and a report. Pure.

Until 2026.3 it held ``global_mode`` and ``capabilities``, since then ``enabled``,
``default_policy`` and ``tools``. Where the two differ from what we can say, ours is the stricter.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from approval_client.capabilities import ApprovalManager
from dashboard.policies.evaluate import EVERYTHING_TO_A_PERSON, Policy, PolicyError
from dashboard.policies.formats.strict_yaml import Ambiguous
from dashboard.policies.rules.problems import parse_rule
from dashboard.policies.rules.rule import Rule

BY_CAPABILITY = frozenset({"global_mode", "capabilities"})
BY_TOOL = frozenset({"enabled", "default_policy", "tools"})
EXECUTE = "execute"
_CAPABILITIES = {"python_execution": {"enabled", "mode"}, "memory": {"enabled"}}
_POLICIES = ("skip", "selective", "always")


class Section:
    """One ``approval`` section, read.

    Attributes:
        mapped: What became of what, a sentence each.
        ignored: What has no meaning here, a sentence each.

    Raises:
        PolicyError: It is not such a section.
    """

    def __init__(self, data: Any) -> None:
        self.mapped: list[str] = []
        self.ignored: list[str] = []
        if not isinstance(data, dict):
            raise PolicyError([("approval", "This must be a mapping.")])
        data = {key: _as_osprey_reads(value) for key, value in data.items()}
        if BY_CAPABILITY & set(data) and BY_TOOL & set(data):
            message = (
                "This mixes old and new settings of Osprey. Use either the old or the new ones."
            )
            raise PolicyError([("approval", message)])
        if not (BY_CAPABILITY | BY_TOOL) & set(data):
            raise PolicyError([("approval", "There is no known setting in this.")])
        self.policy = self._by_tool(data) if BY_TOOL & set(data) else self._by_capability(data)

    def _by_capability(self, data: dict[str, Any]) -> Policy:
        self._ignore_but(BY_CAPABILITY, data, "")
        capabilities = data.get("capabilities", {})
        if isinstance(capabilities, dict):
            self._ignore_but(set(_CAPABILITIES), capabilities, "capabilities.")
            for name, settings_of in _CAPABILITIES.items():
                if isinstance(capabilities.get(name), dict):
                    self._ignore_but(settings_of, capabilities[name], f"capabilities.{name}.")
        try:
            config = ApprovalManager(data).config
        except ValueError as error:
            raise PolicyError([("approval", f"{error}.")]) from None
        python = {"enabled": config.python_execution.enabled}
        modes = {
            "global_mode": config.global_mode,
            "capabilities": {
                "python_execution": {**python, "mode": config.python_execution.mode.value},
                "memory": {"enabled": config.memory.enabled},
            },
        }
        self._tell_modes(data, modes)
        return Policy(modes)

    def _tell_modes(self, data: dict[str, Any], modes: dict[str, Any]) -> None:
        capabilities = data.get("capabilities", {})
        for name, settings in modes["capabilities"].items():
            values = ", ".join(f"{key} {_word(value)}" for key, value in settings.items())
            default = "" if name in capabilities else " (it was not there)"
            self.mapped.append(f"capabilities.{name} → {values}{default}.")
        default = "" if "global_mode" in data else " (it was not there)"
        self.mapped.insert(0, f"global_mode → {modes['global_mode']}{default}.")

    def _by_tool(self, data: dict[str, Any]) -> Policy:
        self._ignore_but(BY_TOOL, data, "")
        enabled = data.get("enabled", True)
        if not isinstance(enabled, bool):
            raise PolicyError([("approval.enabled", "This must be true or false.")])
        if not enabled:
            self.mapped.append("enabled: false → the global mode 'disabled'. NOBODY IS ASKED.")
            self.ignored += [f"{key}: nothing is asked." for key in data if key != "enabled"]
            return Policy({**EVERYTHING_TO_A_PERSON.modes, "global_mode": "disabled"})
        tools, default = _policies_of(data)
        execute = tools.get(EXECUTE, default)
        if EXECUTE not in tools and default == "selective":
            tools = {**tools, EXECUTE: default}
        mode = "epics_writes" if execute == "selective" else "all_code"
        self.mapped.append(f"What 'execute' runs, submitted as code → the mode '{mode}'.")
        python = {"enabled": True, "mode": mode}
        modes = {"python_execution": python, "memory": {"enabled": True}}
        rules = list(self._rules(tools))
        self._about_default(default)
        return Policy({"global_mode": "selective", "capabilities": modes}, rules=tuple(rules))

    def _rules(self, tools: Mapping[str, str]) -> Iterator[Rule]:
        # What is always asked about comes first, so that no other rule is in its way.
        for tool, policy in tools.items():
            if policy == "always" or (policy == "selective" and tool != EXECUTE):
                self.mapped.append(f"tools.{tool}: {policy} → a rule has its calls reviewed.")
                yield _rule(f"{tool}: {policy}", "review", tools=_either_way(tool))
        for tool, policy in tools.items():
            if policy == "skip":
                self.mapped.append(
                    f"tools.{tool}: skip → a rule approves calls of the tool named exactly "
                    f"'{tool}'. NOBODY IS ASKED."
                )
                yield _rule(f"{tool}: skip", "approve", tools=[_literally(tool)])
        if tools.get(EXECUTE) == "selective":
            yield from self._selective()

    def _selective(self) -> Iterator[Rule]:
        self.mapped.append(
            "tools.execute: selective → rules have it reviewed in a write mode, and approve it if "
            "it is Python without a high finding (a control-system write is one) or a doubt."
        )
        tools, writing = _either_way(EXECUTE), ["*write*"]
        argument = {"path": "execution_mode", "test": "glob", "value": writing[0]}
        yield _rule("execute: write mode", "review", tools=tools, arguments=[argument])
        yield _rule("code: write mode", "review", kinds=["code"], execution_modes=writing)
        conditions = {"languages": ["python"], "no_findings_above": "medium"}
        yield _rule("execute: selective", "approve", tools=[EXECUTE], **conditions)

    def _about_default(self, policy: str) -> None:
        if policy == "skip":
            self.ignored.append(
                "default_policy: skip: only a rule that names a tool approves calls of it, so a "
                "person is asked about other tools."
            )
        else:
            self.mapped.append(f"default_policy: {policy} → a person is asked about other tools.")

    def _ignore_but(self, known: set[str] | frozenset[str], data: dict[str, Any], at: str) -> None:
        self.ignored += [f"{at}{key}: not known here." for key in data if key not in known]


def _policies_of(data: dict[str, Any]) -> tuple[dict[str, str], str]:
    tools = data.get("tools") or {}
    if not isinstance(tools, dict):
        raise PolicyError([("approval.tools", "This must be a mapping of tools to policies.")])
    default = data.get("default_policy", "always")
    policy_by_name = {
        "default_policy": default,
        **{f"tools.{tool}": policy for tool, policy in tools.items()},
    }
    message = "This must be skip, selective or always."
    problems = [
        (f"approval.{at}", message)
        for at, policy in policy_by_name.items()
        if policy not in _POLICIES
    ]
    if problems:
        raise PolicyError(problems)
    return tools, default


def _rule(name: str, effect: str, **when: Any) -> Rule:
    return parse_rule({"name": name, "effect": effect, "when": when})


def _either_way(tool: str) -> list[str]:
    return [_literally(tool), f"mcp__*__{_literally(tool)}"]


def _literally(tool: str) -> str:
    return re.sub(r"([*?[])", r"[\1]", tool)


def _as_osprey_reads(value: Any) -> Any:
    # Osprey reads YAML 1.1, where "off" is false.
    if isinstance(value, Ambiguous):
        return str(value) if value.as_bool is None else value.as_bool
    if isinstance(value, dict):
        return {key: _as_osprey_reads(item) for key, item in value.items()}
    return value


def _word(value: Any) -> str:
    return {True: "on", False: "off"}.get(value, str(value))
