"""The files that Osprey 0.11 keeps a plan in while people look at it: it goes by them.

On resuming, Osprey takes the steps of ``modified_execution_plan.json``, which its own editor
writes, then those of ``pending_execution_plan.json``, and the payload's only if there is neither.
The names are the same for all sessions.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from approval_client._errors import DigestMismatch
from approval_client.wire import Kind, canonical_json, digest

MODIFIED, PENDING = "modified_execution_plan.json", "pending_execution_plan.json"
_OURS = "approved_part_of"  # in the metadata of a file of ours: the digest of the whole plan


def check(payload: Mapping[str, Any], steps: Any) -> None:
    """Make sure that Osprey will read these steps, if it reads a file.

    Raises:
        DigestMismatch: It would read others.
    """
    withdraw(payload, steps)
    _holds(payload, steps)


def shorten(payload: Mapping[str, Any], whole: Any, allowed: Any) -> None:
    """Have Osprey read the allowed steps only, if it reads a file.

    Raises:
        DigestMismatch: It would read others.
    """
    path = _read_by_osprey(payload)
    if path is None:
        return
    with suppress(OSError, ValueError, AttributeError, TypeError):
        plan = json.loads(path.read_bytes())
        mark = {_OURS: digest(Kind.PLAN, {"steps": whole})}
        new_plan = {"__metadata__": {**plan.get("__metadata__", {}), **mark}, "steps": allowed}
        _replace(path.with_name(MODIFIED), json.dumps(new_plan, indent=2))
    _holds(payload, allowed)


def withdraw(payload: Mapping[str, Any], whole: Any) -> None:
    """Remove what ``shorten`` wrote and Osprey did not read; no other plan may go by it."""
    ours = digest(Kind.PLAN, {"steps": whole})
    for folder in _folders(payload):
        with suppress(OSError, ValueError, LookupError, AttributeError, TypeError):
            path = folder / MODIFIED
            if json.loads(path.read_bytes())["__metadata__"].get(_OURS) == ours:
                path.unlink()


def _replace(path: Path, text: str) -> None:
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        fresh.write_text(text, encoding="utf-8")
        fresh.replace(path)  # Osprey never reads half of it
    finally:
        fresh.unlink(missing_ok=True)


def _holds(payload: Mapping[str, Any], steps: Any) -> None:
    path = _read_by_osprey(payload)
    if path is None:
        return
    try:
        file_steps = json.loads(path.read_bytes())["steps"]
        same = canonical_json(file_steps) == canonical_json(steps)
    except (OSError, ValueError, TypeError, KeyError):
        same = False
    if not same:
        raise DigestMismatch(
            f"The plan file {path} does not hold the steps that were approved. The graph was not "
            "resumed. Remove the file or plan anew."
        )


def _read_by_osprey(payload: Mapping[str, Any]) -> Path | None:
    file = payload.get("plan_file_path")
    paths = [folder / name for name in (MODIFIED, PENDING) for folder in _folders(payload)]
    paths += [Path(str(file))] if file else []
    return next((path for path in paths if path.exists()), None)


def _folders(payload: Mapping[str, Any]) -> list[Path]:
    folder, file = payload.get("pending_plans_dir"), payload.get("plan_file_path")
    folders = [Path(str(folder))] if folder else []
    return [*folders, Path(str(file)).parent] if file else folders
