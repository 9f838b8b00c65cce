"""Claude Code's tool calls as our questions: what a PreToolUse hook reads and writes.

Checked against Claude Code 2.1.330; Osprey 2026 uses the same hooks. The words are ``allow`` and
``deny`` only: never ``ask`` or ``defer``, which leave the answer to somebody at the terminal.
``updatedInput`` is not used either, because a version that does not know it would run what was
asked and not what the reviewer made of it: so no edit is accepted. The permission prompt accepts
edits, and what it runs instead is told to the model after the call, as ``additionalContext``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from approval_client._models import ApprovalRequest, ApprovalResponse, sendable, within_limit
from approval_client.adapters import _binding
from approval_client.wire import canonical_json

EVENT = "PreToolUse"
MAX_REASON = 2000  # characters; Claude Code cuts an answer at 10,000, and JSON escapes some
MAX_TOLD = 3000  # characters of an edit that a model is told, for the same reason
MARGIN_S = 4  # before the end, for taking the question back, which takes up to 3 s
SHORTEST_S = 5  # the dashboard gives people no less; the time is over earlier all the same
# A remembered approval answers only in the same folder: the dashboard compares it by this name.
_SHOWN = {"cwd": "working_directory", "permission_mode": "permission_mode"}
_MAX_LINE = 200  # what the dashboard takes as the name of a run
# With nothing but these a Bash call is its command, and they are shown beside it; with more, such
# as a switch that turns a sandbox off, all of it is what would run.
_OF_A_COMMAND = {"command", "description", "timeout"}


class Unreadable(ValueError):
    """The event is not a tool call about to be made."""


def to_request(
    event: Any, *, wait_s: int | None = None, evidence: Mapping[str, Any] | None = None
) -> ApprovalRequest:
    """Return the question that stands for a tool call.

    Args:
        event: What Claude Code wrote: ``tool_name`` and ``tool_input``, and more.
        wait_s: How long anybody waits for the answer, in seconds.
        evidence: What else is to be shown.

    Raises:
        ValueError: It is ``Unreadable``, or holds what cannot be sent.
    """
    tool, arguments = _call(event)
    details = {ours: event[name] for name, ours in _SHOWN.items() if event.get(name)}
    options: dict[str, Any] = {
        "evidence": sendable({**details, **(evidence or {})}),
        "objective": _text(arguments.get("description")),
        "run_id": _line(event.get("session_id")),
        "time_limit_s": wait_s,
        "max_wait_s": wait_s,
    }
    if _is_command(tool, arguments):
        limit = {"timeout_ms": arguments["timeout"]} if "timeout" in arguments else {}
        options["evidence"] |= sendable(limit)
        return within_limit(ApprovalRequest.code(arguments["command"], "bash", **options))
    return within_limit(ApprovalRequest.tool_call(tool, arguments, **options))


def people_have_s(limit_s: float) -> int:
    """Return how long people have, if Claude Code needs an answer within ``limit_s``."""
    return max(SHORTEST_S, int(limit_s - MARGIN_S - 1))


class Progress(StrEnum):
    """How far a question came, as a model is told when its time is over."""

    UNREAD = "The event was not read"
    ASKED = "No usable answer came from the dashboard"
    PENDING = "Nobody decided"


def late(limit_s: float, progress: Progress) -> str:
    """Return what the model is told when that time is over."""
    return (
        f"{progress} within the {limit_s:.0f} s that an answer may take. Nothing was approved "
        "and nothing was run. This is not a mistake in the call: stop and report it."
    )


def key(event: Mapping[str, Any]) -> str | None:
    """Return the name of this one call, so that a hook that runs twice asks once."""
    names = [event.get("session_id"), event.get("tool_use_id")]
    if not all(isinstance(name, str) and name for name in names):
        return None
    return f"claude-{hashlib.sha256(canonical_json(names).encode()).hexdigest()}"


def answer(response: ApprovalResponse) -> dict[str, Any]:
    """Return what Claude Code is told. Only an approval allows."""
    decider = response.decided_by or response.source or "the dashboard"
    if response.approved is True:
        return decision("allow", f"Approved by {decider}. {response.reason}")
    return decision("deny", response.reason)


def deny(reason: str) -> dict[str, Any]:
    """Return a denial."""
    return decision("deny", reason)


def decision(word: str, reason: str) -> dict[str, Any]:
    """Return an answer in Claude Code's own shape, its reason without control characters."""
    plain = "".join(c if c.isprintable() or c == "\n" else "\ufffd" for c in reason.strip())
    return {
        "hookSpecificOutput": {
            "hookEventName": EVENT,
            "permissionDecision": word,
            "permissionDecisionReason": plain[:MAX_REASON],
        }
    }


def edit_told(event_name: str, arguments: Any) -> dict[str, Any]:
    """Return what tells the model, after a call, with what a person had it run instead.

    Args:
        event_name: Of the event that says how the call ended.
        arguments: What it was run with.
    """
    text = canonical_json(arguments)
    excerpt = arguments if len(text) <= MAX_TOLD else f"{text[:MAX_TOLD]}… (more is left out)"
    note = _binding.edited_note(excerpt)
    return {"hookSpecificOutput": {"hookEventName": event_name, "additionalContext": note}}


def check_numbers(arguments: Mapping[str, Any]) -> None:
    """Refuse numbers that Claude Code, which is JavaScript, would read as others.

    Raises:
        Unaskable: There is one.
    """
    _binding.settled(
        dict(arguments), lambda found: json.loads(canonical_json(found), parse_int=float)
    )


def _call(event: Any) -> tuple[str, Mapping[str, Any]]:
    if not isinstance(event, Mapping):
        raise Unreadable("The event is not a JSON object.")
    if event.get("hook_event_name") != EVENT:
        raise Unreadable(f"This hook takes only {EVENT} events, and this is another one.")
    tool, arguments = event.get("tool_name"), event.get("tool_input")
    if not isinstance(tool, str) or not tool:
        raise Unreadable("The event names no tool.")
    if not isinstance(arguments, Mapping):
        kind = _binding.kind_of(arguments) if "tool_input" in event else "missing"
        raise Unreadable(f"The tool's input is {kind}, and a JSON object is taken.")
    return tool, arguments


def _is_command(tool: str, arguments: Mapping[str, Any]) -> bool:
    command, limit = arguments.get("command"), arguments.get("timeout", 0)
    description = arguments.get("description", "")
    plain = isinstance(command, str) and bool(command) and set(arguments) <= _OF_A_COMMAND
    is_showable = (
        isinstance(description, str) and len(description) <= MAX_REASON and type(limit) is not bool
    )
    return tool == "Bash" and plain and is_showable and isinstance(limit, int | float)


def _text(value: Any) -> str:
    return value[:MAX_REASON] if isinstance(value, str) else ""


def _line(value: Any) -> str:
    if not isinstance(value, str):
        return ""
    return "".join(c for c in value if c.isprintable())[:_MAX_LINE]
