"""What the modes of a policy say about a question: approve, review, or nothing. Pure.

They are judged by the same evaluators that agents can use on their side
(``approval_client.capabilities``), so there is one truth.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from approval_client.capabilities import ApprovalDecision, ApprovalManager, ApprovalMode
from approval_client.wire import Kind
from dashboard.policies.judgements.grounds import ModeSays
from dashboard.policies.rules.rule import Effect

PYTHON, MEMORY = "python_execution", "memory"
MODES_OF_OTHERS = frozenset({PYTHON, MEMORY})
"""Capabilities that have a mode of their own; no tool may carry one of these names."""
_KEYS = frozenset({"global_mode", "capabilities"})
_SETTINGS = {PYTHON: frozenset({"enabled", "mode"}), MEMORY: frozenset({"enabled"})}
_ASKING = {PYTHON: {"enabled": True, "mode": "all_code"}, MEMORY: {"enabled": True}}
_WORDS = {
    Kind.CODE: "code",
    Kind.TOOL_CALL: "a tool call",
    Kind.PLAN: "a plan",
    Kind.MEMORY: "memory",
}
_NAMES = {Kind.CODE: PYTHON, Kind.MEMORY: MEMORY}


class ModeVerdict(NamedTuple):
    """What the modes say; with no effect they say nothing.

    Attributes:
        sentence: The same as agents are told it.
    """

    effect: Effect | None
    says: ModeSays
    sentence: str


class Modes:
    """Modes, read.

    A capability that is left out needs approval, as Osprey has it. One that is there and null has
    no mode and says nothing, unless all capabilities are switched on.

    Attributes:
        left_unset: The capabilities that are null.

    Raises:
        ValueError: They do not hold together. Unlike Osprey, what is not known is refused.
    """

    def __init__(self, modes: Mapping[str, Any]) -> None:
        capabilities = modes.get("capabilities", {})
        _refuse_unknown("", modes, _KEYS)
        if not isinstance(capabilities, Mapping):
            raise ValueError("capabilities must be a mapping of names to modes")  # noqa: TRY004 - a form's
        _refuse_unknown("capabilities", capabilities, MODES_OF_OTHERS)
        for name, settings in capabilities.items():
            if isinstance(settings, Mapping):
                _refuse_unknown(f"capabilities.{name}", settings, _SETTINGS[name])
        self.left_unset = frozenset(name for name, value in capabilities.items() if value is None)
        # Nobody reads the mode of what is unset, but where all_capabilities switches it on.
        asking = {name: _ASKING[name] for name in self.left_unset}
        manager = ApprovalManager({**modes, "capabilities": {**capabilities, **asking}})
        self.config = manager.config
        self.asks_nobody = self.config.global_mode == "disabled"
        is_selective = self.config.global_mode == "selective"
        self._silent = self.left_unset if is_selective else frozenset()
        self._python = manager.get_python_execution_evaluator()
        self._memory = manager.get_memory_evaluator()

    def say(self, kind: Kind, *, may_write: bool, reads: bool) -> ModeVerdict:
        """Say what holds for a question of this kind.

        The kind fixes the mode: code of any language is judged as ``python_execution``, memory as
        ``memory``, and no claim of the agent's changes that.
        """
        if self.asks_nobody:
            return ModeVerdict(
                Effect.APPROVE, ModeSays.ASKS_NOBODY, "Nobody is asked about anything."
            )
        decision = self._decision(kind, may_write=may_write, reads=reads)
        if decision is None:
            return ModeVerdict(None, ModeSays.NOTHING, f"No mode covers {_WORDS[kind]}.")
        effect = Effect.REVIEW if decision.needs_approval else Effect.APPROVE
        says = self._of_code(may_write=may_write) if kind is Kind.CODE else self._of_memory()
        return ModeVerdict(effect, says, f"{decision.reasoning}.")

    def _of_code(self, *, may_write: bool) -> ModeSays:
        if not self._python.config.enabled:
            return ModeSays.CODE_IS_OFF
        if self._python.config.mode is ApprovalMode.DISABLED:
            return ModeSays.CODE_MODE_IS_OFF
        if self._python.config.mode is ApprovalMode.ALL_CODE:
            return ModeSays.ALL_CODE
        return ModeSays.CONTROL_WRITES if may_write else ModeSays.NO_CONTROL_WRITES

    def _of_memory(self) -> ModeSays:
        is_on = self._memory.config.enabled
        return ModeSays.ALL_MEMORY if is_on else ModeSays.MEMORY_IS_OFF

    def effects(self, kind: Kind) -> frozenset[Effect | None]:
        """Return all that can be said for questions of this kind, whatever is found in them."""
        return frozenset(
            self.say(kind, may_write=may_write, reads=False).effect for may_write in (False, True)
        )

    def _decision(self, kind: Kind, *, may_write: bool, reads: bool) -> ApprovalDecision | None:
        if kind not in _NAMES or _NAMES[kind] in self._silent:
            return None
        if kind is Kind.CODE:
            return self._python.evaluate(may_write, reads)
        return self._memory.evaluate()


def _refuse_unknown(where: str, fields: Mapping[str, Any], known: frozenset[str]) -> None:
    unknown = sorted(map(str, set(fields) - known))
    if unknown:
        names, place = ", ".join(map(repr, unknown)), f" in {where!r}" if where else ""
        expected = ", ".join(map(repr, sorted(known)))
        raise ValueError(f"There is no setting {names}{place}. It must be one of {expected}.")
