"""A service that is a graph of its own asks through the graph around it, here as in Osprey."""

import logging
from typing import Any, TypedDict

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import GraphInterrupt
from langgraph.graph import START, StateGraph
from langgraph.types import Command, Interrupt, interrupt
from osprey import approval as osprey

from approval_client import capabilities
from approval_client.adapters.osprey import aresume_pending

LOG = logging.getLogger(__name__)
THREAD = {"configurable": {"thread_id": "services"}}
BOTH = pytest.mark.parametrize("names", [osprey, capabilities], ids=["osprey", "ours"])


class State(TypedDict, total=False):
    approval_approved: bool | None
    approved_payload: Any
    code: str
    ran: str


def code(text):
    return capabilities.create_code_approval_interrupt(
        code=text,
        analysis_details={},
        execution_mode="write_access",
        safety_concerns=["Writes."],
        step_objective="Move.",
    )


def service(asks=1, checkpointer=None):
    """A graph that asks about code, in several nodes at once if wanted."""
    graph = StateGraph(State)
    for number in range(asks):
        graph.add_node(f"ask{number}", lambda state: interrupt(code(state["code"])))
        graph.add_edge(START, f"ask{number}")
    return graph.compile(checkpointer=checkpointer)


def capability(names, service):
    """A graph around a service, as Osprey's python capability is."""

    async def node(state, config: RunnableConfig):
        answered, payload = names.get_approval_resume_data(state, "python_executor")
        if not answered:
            await names.handle_service_with_interrupts(
                service, {"code": state["code"]}, config, LOG, "python"
            )
        return {"ran": payload["code"] if payload else "nothing", **names.clear_approval_state()}

    graph = StateGraph(State)
    graph.add_node("node", node)
    graph.add_edge(START, "node")
    return graph.compile(checkpointer=InMemorySaver())


@BOTH
@pytest.mark.parametrize(("answer", "ran"), [("approve", "caput('A', 1)"), ("reject", "nothing")])
async def test_what_the_service_asks_is_asked_and_answered(gate, names, answer, ran):
    graph = capability(names, service())
    await graph.ainvoke({"code": "caput('A', 1)"}, THREAD)
    gate.approve_next() if answer == "approve" else gate.reject_next("No.")

    state = await aresume_pending(graph, THREAD, client=gate.client)

    assert [content["code"] for content in gate.asked()] == ["caput('A', 1)"]
    assert state["ran"] == ran


async def test_a_service_with_a_checkpointer_of_its_own_is_asked_about_too(gate):
    graph = capability(capabilities, service(checkpointer=InMemorySaver()))
    await graph.ainvoke({"code": "caput('A', 1)"}, THREAD)
    gate.reject_next("No.")

    state = await aresume_pending(graph, THREAD, client=gate.client)

    assert (len(gate.asked()), state["ran"]) == (1, "nothing")


@BOTH
async def test_what_the_service_returns_is_returned(names):
    class Done:
        async def ainvoke(self, request, _):
            return request

    found = await names.handle_service_with_interrupts(Done(), {"code": "x"}, {}, LOG)

    assert found == {"code": "x"}


@BOTH
async def test_what_the_service_raises_is_raised(names):
    class Broken:
        async def ainvoke(self, *_):
            raise KeyError("x")

    with pytest.raises(KeyError):
        await names.handle_service_with_interrupts(Broken(), {}, {}, LOG)


async def test_of_two_questions_at_once_none_is_asked():
    graph = capability(capabilities, service(asks=2))

    with pytest.raises(RuntimeError, match="asks 2 things at once"):
        await graph.ainvoke({"code": "x"}, THREAD)


async def test_a_value_does_not_answer():
    class Asking:
        async def ainvoke(self, *_):
            raise GraphInterrupt([Interrupt(value=code("x"))])

    graph = capability(capabilities, Asking())
    await graph.ainvoke({"code": "x"}, THREAD)

    with pytest.raises(RuntimeError, match="its answer belongs in the state"):
        await graph.ainvoke(Command(resume="yes"), THREAD)
