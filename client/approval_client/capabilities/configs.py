"""What a configuration file says about approval. What it leaves out means: ask."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from functools import cache
from typing import Any

from approval_client.capabilities.modes import GLOBAL_MODES, SELECTIVE, ApprovalMode

log = logging.getLogger(__name__)
_PYTHON = "Python execution approval"
_MEMORY = "Memory approval"
_WHOLE = "Approval config"


@dataclass(frozen=True)
class PythonExecutionApprovalConfig:
    """Whether and in which mode Python code needs approval."""

    enabled: bool
    mode: ApprovalMode

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> PythonExecutionApprovalConfig:
        """Read ``{"enabled", "mode"}``. What is missing is enabled and ``all_code``.

        Raises:
            ValueError: ``data`` is not a dictionary, or a value in it is not one of ours.
        """
        _check_is(f"{_PYTHON} config", data, dict)
        enabled = _read(data, "enabled", _PYTHON, otherwise=True)
        _check_is(f"{_PYTHON} 'enabled'", enabled, bool)
        return cls(enabled, _mode(_read(data, "mode", _PYTHON, otherwise="all_code")))


@dataclass(frozen=True)
class MemoryApprovalConfig:
    """Whether memory operations need approval."""

    enabled: bool

    @classmethod
    def from_dict(cls, data: bool | dict[str, Any]) -> MemoryApprovalConfig:  # noqa: FBT001 - Osprey's
        """Read a bool or ``{"enabled"}``. What is missing is enabled.

        Raises:
            ValueError: It is neither.
        """
        if isinstance(data, bool):
            return cls(data)
        if not isinstance(data, dict):
            raise ValueError(f"Memory approval config must be bool or dict, got {type(data)}")  # noqa: TRY004 - Osprey's
        enabled = _read(data, "enabled", _MEMORY, otherwise=True)
        _check_is(f"{_MEMORY} 'enabled'", enabled, bool)
        return cls(enabled)


@dataclass(frozen=True)
class GlobalApprovalConfig:
    """The mode of the whole system and the configuration of each capability."""

    global_mode: str
    python_execution: PythonExecutionApprovalConfig
    memory: MemoryApprovalConfig

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> GlobalApprovalConfig:
        """Read ``{"global_mode", "capabilities"}``. Unknown keys are ignored, as Osprey does.

        Raises:
            ValueError: The structure or a value is not one of ours.
        """
        _check_is(_WHOLE, data, dict)
        global_mode = _read(data, "global_mode", _WHOLE, otherwise=SELECTIVE)
        if global_mode not in GLOBAL_MODES:
            message = f"Invalid global_mode '{global_mode}'. Valid modes: {list(GLOBAL_MODES)}"
            raise ValueError(message)
        capabilities = data.get("capabilities", {})
        _check_is("Approval capabilities", capabilities, dict)
        return cls(
            global_mode,
            PythonExecutionApprovalConfig.from_dict(capabilities.get("python_execution", {})),
            MemoryApprovalConfig.from_dict(capabilities.get("memory", {})),
        )


def forget_warnings() -> None:
    """Forget which defaults were warned about. For tests only."""
    _warn_once.cache_clear()


def _read(data: dict[str, Any], key: str, what: str, *, otherwise: Any) -> Any:
    if key in data:
        return data[key]
    _warn_once(f"{what} does not say {key!r}, so the secure default {otherwise!r} holds.")
    return otherwise


@cache  # a policy is read again and again, and the same few sentences are no news
def _warn_once(message: str) -> None:
    log.warning(message)


def _mode(value: Any) -> ApprovalMode:
    try:
        return ApprovalMode(value)
    except ValueError:
        valid = [mode.value for mode in ApprovalMode]
        message = f"Invalid approval mode '{value}'. Valid modes: {valid}"
        raise ValueError(message) from None


def _check_is(what: str, value: Any, expected: type) -> None:
    if not isinstance(value, expected):
        message = f"{what} must be {expected.__name__}, got {type(value)}"
        raise ValueError(message)  # noqa: TRY004 - Osprey's callers catch ValueError
