"""For Osprey. Checked against osprey-framework 0.11.5, the last with ``osprey.approval``.

Interrupts made by it or by ``approval_client.capabilities`` become requests of their own kind, and
answers come back as the state update that ``get_approval_resume_data`` reads.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from os import PathLike
from typing import Any

from approval_client._async_client import AsyncClient
from approval_client._models import ApprovalResponse
from approval_client._telling import Listener
from approval_client.adapters import _core
from approval_client.adapters._graphs import (
    GraphDesk,
    Question,
    Responses,
    checked,
    of_invoke,
    resuming,
)
from approval_client.adapters._pauses import Undecided, Unfinished, is_approval
from approval_client.adapters._steps import drive, drive_async
from approval_client.adapters._words import formerly
from approval_client.adapters.osprey import _plan_files
from approval_client.adapters.osprey._interrupts import (
    PLAN,
    STEP,
    edited,
    payload_of,
    to_request,
    with_notebook,
)
from approval_client.wire import Status

__all__ = [
    "Undecided",
    "Unfinished",
    "aresume_pending",
    "resume_pending",
    "state_update",
    "to_request",
]
_OWN = (
    "client",
    "edits",
    "max_wait_s",
    "notebooks",
    "on_decided",
    "on_pending",
    "tell",
    "time_limit_s",
)
Tell = Callable[[ApprovalResponse], Mapping[str, Any]]


@formerly(wait_s="max_wait_s")
def resume_pending(graph: Any, config: Mapping[str, Any], **options: Any) -> Any:
    """Put what is pending on the desk, wait, and have the graph go on, until nothing is.

    Osprey has no place for a reason, and its state holds one answer at a time.

    Args:
        graph: A compiled graph with a checkpointer.
        config: Names the thread, as LangGraph takes it.
        options: ``client`` (an ``AsyncClient``), ``max_wait_s`` (how long to wait for people, in
            seconds; 0 to look only), ``time_limit_s`` (how long they have), ``tell``, which makes
            of an answer what else goes into the state, such as a message with its reason,
            ``notebooks``, the folder from which notebooks may be sent (that of the execution if
            None), and ``edits``, the approval types whose nodes run what they find in the
            payload (Osprey's own do so for plans and memory only). ``on_pending`` and
            ``on_decided`` are called with the answer when a person has to decide, and when one
            did: see ``Client.telling``. All others go to the graph's ``invoke``, such as
            ``context`` and ``durability``.

    Returns:
        What the graph returned last, or its values if nothing was pending.

    Raises:
        Undecided: Nobody decided within ``max_wait_s``. The question stays on the desk.
        Unfinished: A node is left unfinished, and nothing is pending.
        DashboardError: It was neither approved nor rejected. The graph stays interrupted.
        ValueError: The interrupt is none of Osprey's, what would run cannot be shown, or several
            are pending at once; or the graph takes a context, and none was passed.
        TypeError: There is no such option.
    """
    own_options, rest = of_invoke(graph, options, _OWN)
    return drive(graph, config, resuming(_desk(checked(config), **own_options)), rest)


@formerly(wait_s="max_wait_s")
async def aresume_pending(graph: Any, config: Mapping[str, Any], **options: Any) -> Any:
    """Do what ``resume_pending`` does, with a graph that is awaited."""
    own_options, rest = of_invoke(graph, options, _OWN)
    flow = resuming(_desk(checked(config), **own_options))
    return await drive_async(graph, config, flow, rest)


def state_update(value: Any, response: ApprovalResponse) -> dict[str, Any]:
    """Return what to put into the state. The payload is the interrupt's own, or a reviewer's."""
    payload = dict(payload_of(value))
    # Osprey counts rejections, and after three of them takes a step without asking.
    count = {"react_rejection_count": 0} if payload["approval_type"] == STEP else {}
    if response.approved is not True:
        return {**count, "approval_approved": False, "approved_payload": None}
    if response.edited:
        payload |= edited(payload, _core.plain(response.content))
    return {**count, "approval_approved": True, "approved_payload": payload}


def _desk(
    config: Mapping[str, Any],
    *,
    client: AsyncClient | None = None,
    max_wait_s: float | None = None,
    time_limit_s: int | None = None,
    on_pending: Listener | None = None,
    on_decided: Listener | None = None,
    **reading: Any,
) -> GraphDesk:
    return GraphDesk(
        client=_core.asking(client, "A graph", on_pending, on_decided),
        config=config,
        read=_Reader(**reading).question,
        command=_update,
        max_wait_s=max_wait_s,
        time_limit_s=time_limit_s,
        most=1,
        holds=lambda state: state.values.get("approval_approved") is not None,
    )


@dataclass(frozen=True, kw_only=True)
class _Reader:
    tell: Tell | None = None
    notebooks: str | PathLike[str] | None = None
    edits: Collection[str] = ()

    def question(self, interrupt: Any, *_: Any) -> Question:
        value = interrupt.value
        payload, request = payload_of(value), to_request(value, self.edits)

        def answer(responses: Responses) -> dict[str, Any]:
            more = self.tell(responses[0]) if self.tell else {}
            return {**more, **state_update(value, responses[0])}

        requests = [with_notebook(request, payload, self.notebooks)]
        if payload["approval_type"] != PLAN:
            return Question(requests=requests, answer=answer)
        steps = request.content["steps"]
        return Question(
            requests=requests,
            answer=answer,
            settle=lambda responses: [_settled(payload, steps, responses[0])],
            after=lambda: _plan_files.withdraw(payload, steps),
        )


def _settled(
    payload: Mapping[str, Any], steps: Sequence[Any], response: ApprovalResponse
) -> ApprovalResponse:
    _plan_files.check(payload, steps)
    if not is_approval(response) or not response.edited:
        return response
    allowed_steps = response.content["steps"]
    if reason := _not_carried(steps, allowed_steps):
        return _refused(response, reason)
    _plan_files.shorten(payload, steps, allowed_steps)
    return response


def _refused(response: ApprovalResponse, why: str) -> ApprovalResponse:
    reason = (
        f"Only a part of the plan was approved, and Osprey cannot follow it: {why}. Nothing of it "
        "was run. Plan anew with what was allowed."
    )
    return replace(
        response,
        approved=False,
        status=Status.REJECTED,
        reason=reason,
        content=None,
        edited=False,
    )


def _not_carried(steps: Sequence[Any], allowed: Sequence[Any]) -> str:
    """Say why Osprey cannot follow these steps of a plan alone, if it cannot."""
    if allowed[-1] != steps[-1]:
        return "its last step, which answers, is left out"
    kept_keys = {str(step.get("context_key")) for step in allowed}
    left_out = {str(step.get("context_key")) for step in steps} - kept_keys
    if missing_keys := left_out & {key for step in allowed for key in _needed(step)}:
        return f"a step needs {min(missing_keys)!r:.80} of a step that is left out"
    return ""


def _needed(step: Mapping[str, Any]) -> set[str]:
    """Return the context keys that a step takes: ``inputs`` lists ``{type: key}``."""
    inputs = step.get("inputs")
    listed = inputs if isinstance(inputs, Sequence) else []
    return {str(key) for entry in listed if isinstance(entry, Mapping) for key in entry.values()}


def _update(values: Mapping[str, Any]) -> Any:
    (update,) = values.values()
    return import_module("langgraph.types").Command(update=update)
