"""LangGraph: a graph that the host streams itself."""

import operator
from typing import Annotated, TypedDict

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph

from approval_client import ApprovalRequest, Unreachable
from approval_client.adapters.langgraph import Undecided, Unfinished, approvals, ask, gated
from tests.frameworks.examples import defined

THREAD = {"configurable": {"thread_id": "t1"}}


class State(TypedDict, total=False):
    ran: Annotated[list, operator.add]


def asking(*, fails=False):
    """A graph whose one node asks, and then runs."""

    async def act(_):
        response = ask(ApprovalRequest.code("act()"))
        if fails:
            raise ConnectionError("Quench!")
        return {"ran": [response.approved]}

    return compiled(act)


def compiled(node):
    graph = StateGraph(State).add_node("act", node).add_edge(START, "act")
    return graph.compile(checkpointer=InMemorySaver())


async def streamed(graph, gate, **options):
    """Stream a graph to its end, and return its updates."""
    seen, command = [], {}
    async with approvals(graph, THREAD, client=gate.client, **options) as pending:
        while command is not None:
            seen += [update async for update in graph.astream(command, THREAD)]
            command = await pending.ask_pending()
    return [update["act"] for update in seen if "act" in update]


async def test_it_goes_on_after_an_approval_and_its_end_is_told(gate):
    gate.approve_next()

    assert await streamed(asking(), gate) == [{"ran": [True]}]
    assert (gate.started(), gate.finished()) == (1, [{"exit_code": 0}])


async def test_it_goes_on_after_a_rejection(gate):
    gate.reject_next("No.")

    assert await streamed(asking(), gate) == [{"ran": [False]}]
    assert gate.started() == 0


async def test_a_node_that_starts_itself_does_so(gate):
    gate.approve_next()

    async def act(_, response):
        return {"ran": [response.content["code"]]}

    node = gated(act, lambda _: ApprovalRequest.code("act()"), client=gate.client)

    assert await streamed(compiled(node), gate) == [{"ran": ["act()"]}]
    assert (gate.started(), gate.finished()) == (1, [{"exit_code": 0}])


async def test_how_it_failed_is_told_and_raised(gate):
    gate.approve_next()

    with pytest.raises(ConnectionError, match="Quench!"):
        await streamed(asking(fails=True), gate)
    assert gate.finished() == [{"exit_code": 1, "error": "ConnectionError: Quench!"}]


async def test_nobody_having_decided_leaves_the_question_for_the_next_time(gate):
    graph = asking()
    with pytest.raises(Undecided):
        await streamed(graph, gate, max_wait_s=0)

    gate.approve_next()
    async with approvals(graph, THREAD, client=gate.client) as pending:
        command = await pending.ask_pending()
        state = await graph.ainvoke(command, THREAD)
        assert await pending.ask_pending() is None

    assert (state["ran"], len(gate.asked())) == ([True], 1)


async def test_a_dashboard_that_is_down_leaves_the_graph_interrupted(gate):
    graph = asking()
    gate.unplug()

    with pytest.raises(Unreachable):
        await streamed(graph, gate)
    assert len((await graph.aget_state(THREAD)).interrupts) == 1


async def test_a_thread_without_a_name_is_refused(gate):
    with pytest.raises(ValueError, match="names no thread_id"):
        approvals(asking(), {}, client=gate.client)


async def test_a_graph_that_stopped_elsewhere_is_not_taken_for_ended(gate):
    graph = StateGraph(State).add_node("act", lambda _: {}).add_edge(START, "act")
    stopped = graph.compile(checkpointer=InMemorySaver(), interrupt_before=["act"])

    with pytest.raises(Unfinished):
        await streamed(stopped, gate)


async def test_what_the_page_shows_does_so(gate, capsys):
    gate.approve_next()

    with gate.environment():
        await defined("langgraph", "stream")(asking(), THREAD, {})

    assert "{'act': {'ran': [True]}}" in capsys.readouterr().out
