"""``approvals hook --finished``: Claude Code says how a tool ended, and the dashboard is told.

It runs after the tool, so nothing here can let anything through. The model is told one thing: what
a person changed in its call.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from approval_client._defaults import default_client
from approval_client.adapters import claude_code
from approval_client.command import notes
from approval_client.wire import canonical_json, parse_json

WITHIN_S = 10.0


class NotTheEnd(ValueError):
    """What was read does not tell of the end of a tool."""


def report(tell: Callable[[dict[str, Any]], None], *, capture: bool) -> None:
    """Read the event from standard input and report the end of what was approved, if it was.

    Args:
        tell: Says something to Claude Code, before the report, which may fail.
        capture: Report the beginning of the output too.

    Raises:
        NotTheEnd: The event cannot be read, or is another one.
        DashboardError: Nobody was told.
    """
    event = _read()
    key = claude_code.key(event)
    note = notes.take(key) if key else None
    if note is None:
        return  # nothing is known of it: it was not asked about, or was reported before
    if note.changed is not None:
        tell(claude_code.edit_told(event["hook_event_name"], note.changed))
    default_client().report_finished(
        note.response,
        error=_text(event.get("error")),
        duration_s=note.ago_s,
        output_head=_text(_output(event)) if capture else "",
        within_s=WITHIN_S,
    )


def _read() -> dict[str, Any]:
    try:
        event = parse_json(sys.stdin.buffer.read())
    except (ValueError, OSError, AttributeError):
        event = None
    if not isinstance(event, dict) or not str(event.get("hook_event_name")).startswith("PostTool"):
        raise NotTheEnd("The event is not the end of a tool.")
    return event


def _output(event: dict[str, Any]) -> Any:
    tool_response = event.get("tool_response")
    streams = tool_response if isinstance(tool_response, dict) else {}
    parts = [streams[name] for name in ("stdout", "stderr") if isinstance(streams.get(name), str)]
    return "".join(parts) if parts else tool_response


def _text(value: Any) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return canonical_json(value)
