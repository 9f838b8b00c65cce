"""What the hook remembers from the beginning of a tool to its end: one small file a call.

It serves the report alone. Whether a tool may be called is decided by the dashboard, never by
this.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from approval_client import ApprovalResponse
from approval_client.wire import Status, canonical_json, parse_json

KEPT_S = 86_400  # what has not ended by then is forgotten


class Note(NamedTuple):
    """A call that was approved, how many seconds ago, and what a person made of its input."""

    response: ApprovalResponse
    ago_s: float
    changed: Any


def keep(key: str, response: ApprovalResponse, changed: Any = None) -> None:
    """Remember that this call was approved. Failing to is no reason to refuse the call.

    Args:
        changed: With what it is run, if a person changed that.
    """
    with suppress(OSError, RuntimeError):  # the latter where there is no home
        folder = _folder()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        _forget(folder)
        text = canonical_json({"id": response.id, "digest": response.digest, "changed": changed})
        (folder / key).write_text(text, encoding="utf-8")


def take(key: str) -> Note | None:
    """Return what was approved; once, and nothing if nothing was."""
    try:
        path = _folder() / key
        ago_s = max(0.0, time.time() - path.stat().st_mtime)
        payload = parse_json(path.read_bytes())
        path.unlink()
        name, content_digest = str(payload["id"]), str(payload["digest"])
    except (OSError, RuntimeError, ValueError, TypeError, KeyError):
        return None
    response = ApprovalResponse(
        approved=True, reason="", status=Status.APPROVED, id=name, digest=content_digest
    )
    return Note(response, ago_s, payload.get("changed"))


def _folder() -> Path:
    base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(base) / "approval-dashboard" / "hook"


def _forget(folder: Path) -> None:
    for path in folder.iterdir():
        with suppress(OSError):
            if time.time() - path.stat().st_mtime > KEPT_S:
                path.unlink()
