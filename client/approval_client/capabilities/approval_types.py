"""Names that say which approval was asked for, such as ``memory_save``."""

from __future__ import annotations

from threading import Lock
from typing import TypeAlias

_Names: TypeAlias = tuple[str, str | None]

_OURS: dict[str, _Names] = {
    "python_executor": ("python_executor", None),
    "orchestrator_plan": ("orchestrator", "plan"),
    "memory_save": ("memory", "save"),
    "reactive_orchestrator_step": ("reactive_orchestrator", "step"),
    "channel_write": ("channel_write", None),
}
_made = _OURS.copy()
_lock = Lock()


def create_approval_type(capability_name: str, operation_type: str | None = None) -> str:
    """Return the name of an approval, as ``"memory_save"`` for ``("memory", "save")``.

    The same names give the same approval type, as often as they are asked for. Other names never
    give one that is taken in this process, so no answer counts for another question. Types that
    interrupts of this package use are taken from the start.

    Raises:
        ValueError: A name is empty, is not a string, or has white space or hidden characters; or
            other names gave the same approval type before.
    """
    _check("capability_name", capability_name)
    if operation_type is not None:
        _check("operation_type", operation_type)
    names = (capability_name, operation_type)
    # join() and not an f-string: of an Enum that is a str it takes the value, not the member.
    approval_type = "_".join(name for name in names if name is not None)
    with _lock:
        old_names = _made.setdefault(approval_type, names)
    if old_names != names:
        raise ValueError(
            f"{_said(names)} would give the approval type {approval_type!r}, which "
            f"{_said(old_names)} has already. No approval type was made. Choose another name for "
            "one of them."
        )
    return approval_type


def forget_approval_types() -> None:
    """Forget which approval types were made. For tests only."""
    with _lock:
        _made.clear()
        _made.update(_OURS)


def _check(what: str, name: object) -> None:
    if not isinstance(name, str) or not name or " " in name or not name.isprintable():
        raise ValueError(
            f"{what} must be a name without white space and hidden characters, got {name!r:.80}. "
            f"No approval type was made."
        )


def _said(names: _Names) -> str:
    capability_name, operation_type = names
    return f"({capability_name!r:.80}, {operation_type!r:.80})"
