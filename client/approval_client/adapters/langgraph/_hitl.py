"""LangChain's human-in-the-loop requests, batched and one for each call (langchain 1.4.7)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from approval_client._models import ApprovalRequest, ApprovalResponse
from approval_client._refusals import for_model
from approval_client.adapters import _core
from approval_client.adapters._graphs import Question

# With anything else beside these it is no such request, and all of it is what is asked.
_OF_A_CALL = {"name", "args", "description"}
_OF_ONE = _OF_A_CALL | {"type", "tool_call_id"}
_OF_A_BATCH = {"action_requests", "review_configs"}
_ALL = frozenset({"approve", "edit", "reject"})


def question(value: Any, schema: Any = None, values: Any = None) -> Question | None:
    """Return what such a request asks, one request for each call, or None if it is not one.

    ``schema`` is the interrupt's own for its answer, if there is one, and ``values`` are those of
    the graph's state.
    """
    if not isinstance(value, Mapping):
        return None
    if value.get("type") == "tool_approval" and value.keys() <= _OF_ONE:
        allowed = [_kinds(schema)]
        return Question(
            requests=[_request(value, allowed[0])],
            answer=lambda r: _decisions(allowed, [value], r)[0],
        )
    calls = value.get("action_requests")
    if not isinstance(calls, Sequence) or not calls or not value.keys() <= _OF_A_BATCH:
        return None
    if not all(isinstance(call, Mapping) and call.keys() <= _OF_A_CALL for call in calls):
        return None
    rules = {
        rule.get("action_name"): frozenset(rule.get("allowed_decisions", _ALL))
        for rule in value.get("review_configs", ())
    }
    left_out = () if _apart(calls, values) else ("edit",)
    allowed = [rules.get(call["name"], _ALL).difference(left_out) for call in calls]
    requests = [_request(call, may) for call, may in zip(calls, allowed, strict=True)]
    return Question(requests=requests, answer=partial(_batch, allowed, calls))


def _apart(calls: Sequence[Mapping[str, Any]], values: Any) -> bool:
    """Say whether every call in the model's message has an id of its own.

    LangChain applies an edit to whatever has the id of the call that was edited.
    """
    messages = values.get("messages", ()) if isinstance(values, Mapping) else ()
    made = next((m.tool_calls for m in reversed(messages) if getattr(m, "type", "") == "ai"), ())
    ids = [call["id"] for call in made]
    what = [(call["name"], call["args"]) for call in made]
    seen = all((call["name"], call["args"]) in what for call in calls)
    return seen and all(ids) and len(set(ids)) == len(ids)


def _kinds(schema: Any) -> frozenset[str]:
    """Return the decisions that a JSON schema of them allows: several, or a single one."""
    found = schema if isinstance(schema, Mapping) else {}
    try:
        if "discriminator" in found:
            return frozenset(found["discriminator"]["mapping"])
        return frozenset({found["properties"]["type"]["const"]})
    except (LookupError, TypeError):
        return frozenset({"approve", "reject"})  # which LangChain checks again


def _request(call: Mapping[str, Any], may: frozenset[str]) -> ApprovalRequest:
    return ApprovalRequest.tool_call(
        call["name"],
        call["args"],
        objective=str(call.get("description") or "")[: _core.MAX_TEXT],
        accepts_edits="edit" in may,
    )


def _batch(
    allowed: Sequence[frozenset[str]],
    calls: Sequence[Mapping[str, Any]],
    responses: Sequence[ApprovalResponse],
) -> dict[str, Any]:
    return {"decisions": _decisions(allowed, calls, responses)}


def _decisions(
    allowed: Sequence[frozenset[str]],
    calls: Sequence[Mapping[str, Any]],
    responses: Sequence[ApprovalResponse],
) -> list[dict[str, Any]]:
    three = zip(allowed, calls, responses, strict=True)
    return [_decision(may, call, response) for may, call, response in three]


def _decision(
    may: frozenset[str], call: Mapping[str, Any], response: ApprovalResponse
) -> dict[str, Any]:
    yes = response.approved is True
    decide: Callable[..., dict[str, Any]] = _yes if yes else _no
    return decide(may, call, response)


def _yes(
    may: frozenset[str], call: Mapping[str, Any], response: ApprovalResponse
) -> dict[str, Any]:
    if response.edited and "edit" in may and response.content["tool"] == call["name"]:
        arguments = _core.plain(response.content["arguments"])
        return {"type": "edit", "edited_action": {"name": call["name"], "args": arguments}}
    if not response.edited and "approve" in may:
        return {"type": "approve"}
    if not response.edited and "respond" in may:  # the reviewer's words are the tool's result
        return {"type": "respond", "message": response.reason or "Approved, without a note."}
    raise ValueError(
        f"{call['name']!r:.80} allows no answer that fits this approval. Nothing was resumed. "
        "Add one to allowed_decisions."
    )


def _no(
    may: frozenset[str], call: Mapping[str, Any], response: ApprovalResponse
) -> dict[str, Any]:
    for kind in ("reject", "respond"):
        if kind in may:
            return {"type": kind, "message": for_model(response).reason}
    raise ValueError(
        f"{call['name']!r:.80} does not allow a rejection. Nothing was resumed. Add it to "
        "allowed_decisions."
    )
