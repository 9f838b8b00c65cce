"""The one manager of an agent's process. The server makes one for each policy revision instead."""

from __future__ import annotations

from copy import deepcopy
from threading import Lock
from typing import Any

from approval_client.capabilities.manager import ApprovalManager

_CRITICAL = "❌ CRITICAL: "
_REMEDY = "Nothing can be approved: call configure_approval() with it when the program starts."


class _Held:
    """What was configured: once, by whichever thread comes first."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.manager: ApprovalManager | None = None
        self.config: dict[str, Any] = {}


_held = _Held()


def configure_approval(config: dict[str, Any]) -> ApprovalManager:
    """Configure approval for this process and return its manager.

    The configuration is copied, so it does not change when the dictionary does. Configuring with
    equal content again returns the same manager.

    Raises:
        ValueError: The configuration is missing or malformed, or another one holds already.
    """
    config_copy = deepcopy(config)
    _check(config_copy)
    manager = _made(config_copy)
    with _held.lock:
        if _held.manager is None:
            _held.manager, _held.config = manager, config_copy
        elif _held.config != config_copy:
            raise ValueError(
                "Approval is configured already, with other content. That configuration still "
                "holds: configure approval once, when the program starts."
            )
        current = _held.manager
    if current is manager:  # the first time; outside the lock, because handlers are anybody's code
        current.log_summary()
    return current


def get_approval_manager() -> ApprovalManager:
    """Return the manager of this process, the same one every time.

    Raises:
        ValueError: Nobody configured approval. It never makes up a configuration.
    """
    with _held.lock:
        if _held.manager is None:
            raise _missing()
        return _held.manager


def forget_approval() -> None:
    """Forget what was configured. For tests only: a running agent keeps one configuration."""
    with _held.lock:
        _held.manager, _held.config = None, {}


def _check(config: object) -> None:
    if not config:
        raise _missing()
    if not isinstance(config, dict):
        got = type(config).__name__
        raise ValueError(f"{_CRITICAL}Approval configuration must be a dictionary, got {got}")  # noqa: TRY004 - Osprey's callers catch ValueError
    for key, label in (
        ("global_mode", "'global_mode'"),
        ("capabilities", "'capabilities' section"),
    ):
        if key not in config:
            raise ValueError(
                f"{_CRITICAL}Missing required {label} in approval configuration. {_REMEDY}"
            )


def _made(config: dict[str, Any]) -> ApprovalManager:
    try:
        return ApprovalManager(config)
    except ValueError as error:
        raise ValueError(f"Invalid approval configuration structure: {error}") from error


def _missing() -> ValueError:
    return ValueError(
        f"{_CRITICAL}Approval configuration is missing from system configuration. {_REMEDY}"
    )
