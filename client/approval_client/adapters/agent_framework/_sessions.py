"""What a session of Microsoft Agent Framework says is pending, and a response of its calls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from importlib import import_module
from typing import Any

from approval_client._outcomes import Run

REQUEST = "function_approval_request"
RESULT = "function_result"
_COLLECTED = "collected_approval_responses"  # by a ToolApprovalMiddleware
_GROUPS = "already_approved_approval_request_groups"  # and what was answered of them
_GIVEN = "approval_responses"
_STATE = "tool_approval"  # where the framework keeps what it asked, and whom it believes


def recorded(session: Any) -> dict[str, Any]:
    """Return the requests that the framework has recorded and not yet acted on, by id.

    These, and nothing that a response or a history says, are what an answer lets run.
    """
    state = session.state.get(_STATE)
    stored = state.get("pending_approval_requests") if isinstance(state, Mapping) else None
    requests = [_content(request) for request in stored or ()]
    return {
        request.id: request
        for request in requests
        if request.type == REQUEST and request.function_call is not None
    }


def pending(session: Any) -> dict[str, Any]:
    """Return those of the recorded requests that nobody has answered."""
    requests = recorded(session)
    answered_ids = set(_answered(session)) if requests else ()
    return {name: requests[name] for name in requests if name not in answered_ids}


def take_back(session: Any) -> None:
    """Take out every approval that waits in the session for the rest of its batch.

    Whoever gave it: its request stays recorded, and so is pending again. Rejections stay.
    """
    states = [state for state in session.state.values() if isinstance(state, MutableMapping)]
    groups = [group for state in states for group in state.get(_GROUPS) or ()]
    waiting = [*((state, _COLLECTED) for state in states), *((group, _GIVEN) for group in groups)]
    for holder, name in waiting:
        if answers := holder.get(name):
            holder[name] = [answer for answer in answers if _content(answer).approved is False]


def shown(session: Any) -> list[str]:
    """Return the ids of those that may be answered now; the framework may show one at a time."""
    queued = set(_ids(session, "queued_approval_requests"))
    return [name for name in pending(session) if name not in queued]


def other_input(response: Any) -> bool:
    """Say whether something else than approvals is wanted from the user."""
    requests = getattr(response, "user_input_requests", None) or ()
    return any(request.type != REQUEST for request in requests)


def check_held(session: Any, response: Any) -> None:
    """Refuse a response that asks for approvals of which the session knows nothing.

    Raises:
        ValueError: It does, as that of a workflow does which is used as an agent.
    """
    requests = getattr(response, "user_input_requests", None) or ()
    ids = recorded(session).keys()
    strangers = [entry for entry in requests if entry.type == REQUEST and entry.id not in ids]
    if strangers and not other_input(response):
        tool = getattr(strangers[0].function_call, "name", "")
        raise ValueError(
            f"The agent asks for approval of {tool!r:.80}, and its session holds no such request. "
            "Nobody was asked and it was not called. If the agent is a workflow, from as_agent(), "
            "run the workflow itself and pass it to resume_workflow with its result."
        )


def ends(run: Run, response: Any, names: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """Return how every call of a response ended, by the framework's id.

    Args:
        names: Those ids by the provider's; until 1.20 a result has only the latter.
    """
    messages = getattr(response, "messages", None) or ()
    contents = [content for message in messages for content in message.contents]
    results = [content for content in contents if content.type == RESULT]
    results_by_id = {entry.id or names.get(str(entry.call_id), ""): entry for entry in results}
    return {name: _end(run, results_by_id[name]) for name in results_by_id}


def is_hosted(call: Any) -> bool:
    """Say whether the model's provider makes this call, and not the framework."""
    label = (call.additional_properties or {}).get("server_label")  # until 1.20
    return getattr(call, "hosted", None) is True or bool(label)


def _end(run: Run, result: Any) -> dict[str, Any]:
    """Return how a call with this result ended."""
    if error := getattr(result, "exception", None):
        return run.told(exit_code=1, error=str(error))
    return run.returned("" if result.result is None else str(result.result))


def _content(stored: Any) -> Any:
    if isinstance(stored, Mapping):
        return import_module("agent_framework").Content.from_dict(dict(stored))
    return stored


def _answered(session: Any) -> Iterator[str]:
    """Yield the ids of what was answered and waits in the session for the rest of its batch."""
    yield from _ids(session, _COLLECTED)
    for group in session.state[_STATE].get(_GROUPS) or ():
        for response in group.get(_GIVEN) or ():
            yield from _names(response)


def _ids(session: Any, kept: str) -> Iterator[str]:
    # A ToolApprovalMiddleware may keep its own under another name than the default.
    for state in session.state.values():
        if isinstance(state, Mapping):
            for content in state.get(kept) or ():
                yield from _names(content)


def _names(stored: Any) -> Iterator[str]:
    content = _content(stored)
    yield str(content.id)
    yield str((content.additional_properties or {}).get("_approval_request_id", content.id))
