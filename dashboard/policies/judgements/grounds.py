"""What a judgement rests on, as facts. ``judgement_wording`` says it in words. Pure."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple, Self, TypeVar

from approval_client.wire import Kind
from dashboard.inspection.findings import Unseen

T = TypeVar("T")


class Says(StrEnum):
    """What a rule that matched said."""

    APPROVES = "approves"
    ASKS = "asks"
    """It asks for a review."""
    DEMANDS = "demands"
    """A review comes about anyway, and it adds what that takes."""
    REJECTS = "rejects"


class ModeSays(StrEnum):
    """What the modes of a policy said."""

    NOTHING = "nothing"
    ASKS_NOBODY = "asks-nobody"
    CODE_IS_OFF = "code-is-off"
    CODE_MODE_IS_OFF = "code-mode-is-off"
    CONTROL_WRITES = "control-writes"
    NO_CONTROL_WRITES = "no-control-writes"
    ALL_CODE = "all-code"
    MEMORY_IS_OFF = "memory-is-off"
    ALL_MEMORY = "all-memory"


class ToolSays(StrEnum):
    """Why the class of a tool alone had a person asked."""

    IRREVERSIBLE = "irreversible"
    CLASSED_OTHERWISE = "classed-otherwise"
    UNLISTED = "unlisted"
    UNCLASSED = "unclassed"


class RuleGround(NamedTuple):
    """A rule that spoke.

    Attributes:
        claims: Whether it rests on what the agent says of itself.
    """

    rule: str
    says: Says
    claims: bool = False


class UnclearGround(NamedTuple):
    """A rule of which something could not be judged.

    Attributes:
        field: The condition.
        unseen: What the inspection could not see; empty if the condition itself failed.
        finding: What says so: a finding's name. Empty if only the language is not known.
        code: Of that finding, ``sentences.SENTENCES`` says it.
        kept: What it said, if that was kept as a sentence.
        error: How the condition failed.
        effect: What the rule does.
        counts: Whether the condition counted as holding.
    """

    rule: str
    field: str
    unseen: str
    finding: str
    code: str
    kept: str
    error: str
    effect: str
    counts: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Grounds:
    """What an effect rests on.

    Several may say the same. Where nothing speaks, a person is asked.

    Attributes:
        modes: What the modes said, under each policy that judged.
        by_modes: Whether the effect is theirs.
        rules: The rules that spoke, in their order.
        unclear: What could not be judged.
        doubts: The names of what could not be read or followed, where that alone had a person
            asked.
        tool_class: How the tool was classed that is called; empty where nobody had classed it.
        tool: Why the class of the tool alone had a person asked.
        held: Whether a person is asked because all approving was stopped.
        told: Sentences of a judgement that was kept without facts, where nobody knows their facts.
    """

    kind: Kind
    modes: tuple[ModeSays, ...] = ()
    by_modes: bool = False
    rules: tuple[RuleGround, ...] = ()
    unclear: tuple[UnclearGround, ...] = ()
    doubts: tuple[str, ...] = ()
    tool_class: str = ""
    tool: tuple[ToolSays, ...] = ()
    held: bool = False
    told: tuple[str, ...] = ()

    def saying(self, *says: Says) -> list[str]:
        """Return the rules that said one of these, each once."""
        return list(dict.fromkeys(ground.rule for ground in self.rules if ground.says in says))

    def joined(self, other: Grounds) -> Grounds:
        """Return what both rest on, this one first: two judgements of which both hold."""
        return Grounds(
            kind=self.kind,
            modes=_both(self.modes, other.modes),
            by_modes=self.by_modes or other.by_modes,
            rules=_both(self.rules, other.rules),
            unclear=_both(self.unclear, other.unclear),
            doubts=_both(self.doubts, other.doubts),
            tool_class=self.tool_class,
            tool=_both(self.tool, other.tool),
            held=self.held or other.held,
            told=_both(self.told, other.told),
        )

    def to_json(self) -> str:
        """Write the text that is stored; what is empty is left out."""
        facts = {
            "kind": self.kind,
            "modes": self.modes,
            "by_modes": self.by_modes,
            "rules": self.rules,
            "unclear": self.unclear,
            "doubts": self.doubts,
            "tool_class": self.tool_class,
            "tool": self.tool,
            "held": self.held,
            "told": self.told,
        }
        stored = {name: value for name, value in facts.items() if value}
        return json.dumps(stored, separators=(",", ":"), ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read what ``to_json`` wrote.

        Raises:
            KeyError, TypeError, ValueError: It is something else.
        """
        facts = json.loads(text)
        if not isinstance(facts, dict) or not all(
            isinstance(facts.get(name, False), bool) for name in ("by_modes", "held")
        ):
            raise ValueError("These are no grounds.")
        return cls(
            kind=Kind(facts.pop("kind")),
            modes=tuple(map(ModeSays, facts.pop("modes", ()))),
            rules=tuple(
                RuleGround(rule, Says(says), claims)
                for rule, says, claims in facts.pop("rules", ())
            ),
            unclear=tuple(_read_unclear(ground) for ground in facts.pop("unclear", ())),
            doubts=tuple(facts.pop("doubts", ())),
            tool=tuple(map(ToolSays, facts.pop("tool", ()))),
            told=tuple(facts.pop("told", ())),
            **facts,
        )


def _read_unclear(facts: list[Any]) -> UnclearGround:
    ground = UnclearGround(*facts)
    if ground.unseen:
        Unseen(ground.unseen)
    return ground


def _both(a: tuple[T, ...], b: tuple[T, ...]) -> tuple[T, ...]:
    return tuple(dict.fromkeys(a + b))
