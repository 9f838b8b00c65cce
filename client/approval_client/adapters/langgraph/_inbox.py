"""The older form of Agent Inbox: a list of ``action_request`` and ``config``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from approval_client._models import ApprovalResponse
from approval_client._refusals import for_model
from approval_client.adapters import _core
from approval_client.adapters._graphs import Question
from approval_client.adapters.langgraph._hitl import ReviewedCall, asking

_MEMBERS = {"action_request", "config", "description"}
_ALLOWED = {"allow_accept", "allow_edit", "allow_ignore", "allow_respond"}
_COPILOT = {"__copilotkit_interrupt_value__", "__copilotkit_messages__"}
_READ = "Nobody was asked and nothing was resumed. Pass read=, and make a Question of it."


def question(value: Any) -> Question | None:
    """Return what such a request asks, one request for each action, or None if it is not one.

    Raises:
        ValueError: Its node could not be told an approval, or a rejection.
    """
    if isinstance(value, Mapping) and value.keys() & (_COPILOT | {"action_request"}):
        form = "CopilotKit" if value.keys() & _COPILOT else "Agent Inbox, but not in a list"
        raise ValueError(f"This is a question of {form}: how it is answered is not known. {_READ}")
    if not isinstance(value, Sequence) or isinstance(value, str) or not value:
        return None
    if not all(isinstance(entry, Mapping) and "action_request" in entry for entry in value):
        return None
    return asking([_call(entry) for entry in value], list, _response)


def _call(asked: Mapping[str, Any]) -> ReviewedCall:
    action, config = asked["action_request"], asked.get("config") or {}
    fits = asked.keys() <= _MEMBERS and isinstance(config, Mapping) and config.keys() <= _ALLOWED
    if not fits or not isinstance(action, Mapping) or action.keys() != {"action", "args"}:
        raise ValueError(f"This question of Agent Inbox has other members than are known. {_READ}")
    may = frozenset(name.removeprefix("allow_") for name in config if config[name] is True)
    if "accept" not in may:
        raise ValueError(f"{action['action']!r:.80} allows nobody to accept it. {_READ}")
    if not may & {"respond", "ignore"}:
        raise ValueError(f"{action['action']!r:.80} allows nobody to reject it. {_READ}")
    call = {
        "name": str(action["action"]),
        "args": action["args"],
        "description": asked.get("description"),
    }
    return ReviewedCall(call, may)


def _response(
    may: frozenset[str], call: Mapping[str, Any], answer: ApprovalResponse
) -> dict[str, Any]:
    if answer.approved is not True:
        text = for_model(answer).reason
        responds = "respond" in may
        return {"type": "response", "args": text} if responds else {"type": "ignore", "args": None}
    if not answer.edited:
        return {"type": "accept", "args": None}
    arguments = _core.plain(answer.content["arguments"])
    return {"type": "edit", "args": {"action": call["name"], "args": arguments}}
