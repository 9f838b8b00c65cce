"""For LangGraph. Checked against langgraph 1.2.22 and langchain 1.4.7.

``resume_pending`` puts every pending interrupt of a thread on the desk and resumes each by its id.
``gated``, ``ask`` and ``gate`` make interrupts inside a graph; LangChain's human-in-the-loop
requests are understood too. An approval or a rejection resumes the graph; without either it stays
interrupted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from typing import Any

from approval_client._async_client import AsyncClient
from approval_client._errors import AlreadyUsed
from approval_client._models import ApprovalRequest, ApprovalResponse
from approval_client._telling import Listener
from approval_client.adapters import _core
from approval_client.adapters._content import whole
from approval_client.adapters._graphs import (
    GraphDesk,
    Question,
    check_options,
    checked,
    of_invoke,
    resuming,
)
from approval_client.adapters._pauses import Undecided, Unfinished
from approval_client.adapters._steps import Approvals, drive, drive_async
from approval_client.adapters._words import formerly
from approval_client.adapters.langgraph import _hitl, _inbox, _kept
from approval_client.adapters.langgraph._gated import Gated, gated
from approval_client.adapters.langgraph._once import each_once
from approval_client.adapters.langgraph._tools import NOWHERE, Origin, origin

__all__ = [
    "Question",
    "Undecided",
    "Unfinished",
    "approvals",
    "aresume_pending",
    "ask",
    "gate",
    "gated",
    "resume_pending",
]
_OWN = ("client", "max_wait_s", "on_decided", "on_pending", "read", "time_limit_s")
Read = Callable[[Any, str], Question | ApprovalRequest | None]


@formerly(wait_s="max_wait_s")
def resume_pending(graph: Any, config: Mapping[str, Any], **options: Any) -> Any:
    """Put all that is pending on the desk, wait, and have the graph go on, until nothing is.

    Killed and called again, it finds its questions and their answers. A question that nobody
    can answer any more is asked again.

    Args:
        graph: A compiled graph with a checkpointer.
        config: Names the thread, as LangGraph takes it.
        options: ``client`` (an ``AsyncClient``), ``max_wait_s`` (how long to wait for people, in
            seconds; 0 to look only), ``time_limit_s`` (how long they have), and ``read``, which
            makes a ``Question`` or an ``ApprovalRequest`` of an interrupt's value and its node's
            name, or None to leave it to this module. ``on_pending`` and ``on_decided`` are called
            with the answer when a person has to decide, and when one did: see
            ``Client.telling``. All others go to the graph's ``invoke``: ``context``, which
            LangGraph does not keep with a thread, ``durability`` and the like.

    Returns:
        What the graph returned last, or its values if nothing was pending.

    Raises:
        Undecided: Nobody decided within ``max_wait_s``. The question stays on the desk.
        Unfinished: A node failed or was killed, or the graph has a breakpoint: nothing is pending,
            and the graph has not ended.
        DashboardError: It was neither approved nor rejected. The graph stays interrupted.
        ValueError: The config names no thread, or a checkpoint of the past; or the graph takes a
            context, and none was passed.
        TypeError: There is no such option.
    """
    own_options, rest = of_invoke(graph, options, _OWN)
    with each_once():
        flow = resuming(_desk(graph, checked(config), **own_options))
        return drive(graph, config, flow, rest)


@formerly(wait_s="max_wait_s")
async def aresume_pending(graph: Any, config: Mapping[str, Any], **options: Any) -> Any:
    """Do what ``resume_pending`` does, with a graph that is awaited."""
    own_options, rest = of_invoke(graph, options, _OWN)
    flow = resuming(_desk(graph, checked(config), **own_options))
    with each_once():
        return await drive_async(graph, config, flow, rest)


@formerly(wait_s="max_wait_s")
def approvals(graph: Any, config: Mapping[str, Any], **options: Any) -> Approvals:
    """Return the approvals of a graph that you run yourself: streamed, for example.

    Args:
        graph: A compiled graph with a checkpointer, which is awaited.
        config: Names the thread, as LangGraph takes it.
        options: Those of ``resume_pending``, without what goes to the graph's ``invoke``.

    Raises:
        ValueError: The config names no thread, or a checkpoint of the past.
    """
    check_options(options, _OWN)
    flow = resuming(_desk(graph, checked(config), **options))
    return Approvals(graph, config, flow, around=each_once())


def ask(request: ApprovalRequest) -> ApprovalResponse:
    """Ask inside a node: interrupts the graph, and returns the answer once it was resumed.

    If the graph is resumed with anything but an answer to this very request, that counts as a
    rejection. Make the same request each time: LangGraph runs the node again from its start.

    Raises:
        AlreadyUsed: It was approved, the node failed, and its retry policy runs it again.
    """
    response = _kept.read(request, _kept.interrupted(request))
    if response.approved is True and _attempt() > 1:
        raise AlreadyUsed(
            "LangGraph runs this node again after it failed, and an approval is used once. "
            "Nothing was run this time. Remove the retry policy from nodes that ask."
        )
    return response


def gate(
    make_request: Callable[[Any], ApprovalRequest],
    *,
    then: str,
    otherwise: str = "__end__",
    answer: str = "",
) -> Gated:
    """Return a node that goes to the node ``then`` if approved, and else to ``otherwise``.

    Without ``answer`` a reviewer's changes would have nowhere to go, so none are offered.

    Args:
        make_request: Makes the question of the graph's state.
        then: The node after an approval. No other edge may lead there.
        otherwise: The node after a rejection.
        answer: Where in the state to keep the answer, with its reason, if anywhere.
    """

    def approval(state: Any) -> Any:
        request = make_request(state)
        response = ask(request if answer else replace(request, accepts_edits=False))
        goto = then if response.approved is True else otherwise
        fields = {
            name: value for name, value in _kept.told(response).items() if name != _kept.EXACT
        }
        update = {answer: fields} if answer else {}
        return import_module("langgraph.types").Command(goto=goto, update=update)

    return approval


def _desk(
    graph: Any,
    config: Mapping[str, Any],
    *,
    client: AsyncClient | None = None,
    read: Read | None = None,
    max_wait_s: float | None = None,
    time_limit_s: int | None = None,
    on_pending: Listener | None = None,
    on_decided: Listener | None = None,
) -> GraphDesk:
    def question(interrupt: Any, task: Any, values: Any) -> Question:
        reading = read(interrupt.value, task.name) if read else None
        if isinstance(reading, ApprovalRequest):
            return _alone(reading)
        return reading or _question(interrupt, task.name, origin(graph, task, values, interrupt))

    return GraphDesk(
        client=_core.asking(client, "A graph", on_pending, on_decided),
        config=config,
        read=question,
        command=_by_id,
        max_wait_s=max_wait_s,
        time_limit_s=time_limit_s,
        check=_no_earlier_answer,
    )


def _no_earlier_answer(state: Any) -> None:
    """Refuse a graph that would be resumed with what a node was told before it failed.

    Raises:
        AlreadyUsed: LangGraph keeps such an answer, and puts every later one behind it.
    """
    failed = [task.name for task in state.tasks if task.interrupts and task.error]
    if failed:
        raise AlreadyUsed(
            f"{', '.join(failed)!r:.80} failed after it was answered. LangGraph would give it "
            "the same answer again, whatever people decide now. Nobody was asked and nothing "
            "was resumed. To ask again, call graph.update_state(config, None, "
            "as_node='__copy__') and graph.invoke(None, config): that runs all nodes of this "
            "step from their start."
        )


def _attempt() -> int:
    """Return how often this node was begun in this run of the graph, as far as that is told."""
    module = import_module("langgraph.runtime")
    info = getattr(module.get_runtime(), "execution_info", None)
    return getattr(info, "node_attempt", 1)


def _by_id(values: Mapping[str, Any]) -> Any:
    if not values or any(value is None for value in values.values()):
        raise ValueError("A graph cannot be resumed without an answer. Nothing was resumed.")
    return import_module("langgraph.types").Command(resume=dict(values))


def _question(interrupt: Any, node: str, place: Origin = NOWHERE) -> Question:
    value = interrupt.value
    if own_pair := _kept.asked(value):
        return _alone(own_pair[0], starts=own_pair[1])
    if query := _hitl.question(value, getattr(interrupt, "response_schema", None), place):
        return query
    if query := _inbox.question(value):
        return query
    # Not our own: the value is all that is known of it.
    tool = _core.line(f"langgraph.{node}")
    request = ApprovalRequest.tool_call(tool, {"value": whole(value)})
    return _alone(request)


def _alone(request: ApprovalRequest, *, starts: bool = False) -> Question:
    def answer(responses: Sequence[ApprovalResponse]) -> dict[str, Any]:
        return _kept.bound(request, responses[0])

    return Question(requests=[request], answer=answer, starts=starts)
