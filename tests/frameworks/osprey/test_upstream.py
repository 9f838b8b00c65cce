"""What Osprey 0.11.5 asserts of its own approvals holds when the dashboard answers them.

``docs/frameworks/osprey.md`` says which test of Osprey's each one stands for. The graph is a small
copy of its reactive one: proposes steps, asks about each, and skips asking after three rejections.
"""

import operator
from typing import Annotated, Any, TypedDict

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt
from osprey import approval as osprey

from approval_client import ApprovalRequest
from approval_client.adapters.osprey import Undecided, state_update
from tests.frameworks.osprey.test_adapter import THREAD, code, resume, write

MOST_REJECTIONS = 3
FIND, SET = ({"context_key": name, "capability": name} for name in ("find", "set"))


class State(TypedDict, total=False):
    approval_approved: bool | None
    approved_payload: Any
    react_rejection_count: int
    messages: Annotated[list, operator.add]
    ran: Annotated[list, operator.add]
    context: dict
    error: str | None


def proposing(*steps, stubborn=0, runs=lambda: None):
    """A graph that asks about these steps in turn, and about one again after so many a no."""

    asked = []

    def node(state):
        yes, payload = osprey.get_approval_resume_data(state, "reactive_orchestrator_step")
        if yes and payload:
            runs()
            ran = [one["capability"] for one in payload["execution_plan"]["steps"]]
            return {"ran": ran, "messages": ["ran"], **osprey.clear_approval_state()}
        left = steps[len(state.get("ran", [])) :]
        rejected = state.get("react_rejection_count", 0)
        if not left or (yes and len(asked) > stubborn):
            return {"messages": ["responded"], **osprey.clear_approval_state()}
        if rejected < MOST_REJECTIONS:
            asked.append(left[0])
            plan = {"steps": [left[0]]}
            interrupt(osprey.create_step_approval_interrupt(left[0], 1, plan))
        return {"ran": ["UNASKED"], **osprey.clear_approval_state()}

    built = StateGraph(State)
    built.add_node("node", node)
    built.add_edge(START, "node")
    built.add_conditional_edges(
        "node", lambda state: END if state["messages"][-1] == "responded" else "node"
    )
    return built.compile(checkpointer=InMemorySaver())


def paused(graph, **state):
    graph.invoke({"messages": ["asked"], **state}, THREAD)
    return graph


def test_approved_a_step_is_taken_and_the_graph_responds(gate):
    gate.approve_next()

    state = resume(paused(proposing(FIND)), gate)

    assert (state["ran"], state["messages"]) == (["find"], ["asked", "ran", "responded"])


def test_rejected_a_step_is_not_taken_and_the_graph_responds(gate):
    gate.reject_next("Not that one.")

    state = resume(paused(proposing(FIND)), gate)

    assert (state.get("ran", []), state["messages"]) == ([], ["asked", "responded"])


def test_each_of_two_approvals_in_a_chain_is_asked(gate):
    gate.approve_next()
    gate.approve_next()

    state = resume(paused(proposing(FIND, SET)), gate)

    assert (state["ran"], gate.asked()) == (["find", "set"], [{"steps": [FIND]}, {"steps": [SET]}])


def test_a_yes_to_the_first_of_a_chain_is_none_to_the_second(gate):
    gate.approve_next()
    gate.reject_next("Enough.")

    assert resume(paused(proposing(FIND, SET)), gate)["ran"] == ["find"]


def test_the_first_of_a_chain_runs_while_the_second_waits(gate):
    gate.approve_next()
    found = paused(proposing(FIND, SET))

    with pytest.raises(Undecided):
        resume(found, gate, max_wait_s=0.2)

    assert found.get_state(THREAD).values["ran"] == ["find"]


def test_a_step_that_is_proposed_again_at_once_is_asked_about_again(gate):
    gate.reject_next("Not yet.")
    gate.reject_next("Not yet.")
    gate.approve_next()

    state = resume(paused(proposing(FIND, stubborn=2)), gate)

    assert (state["ran"], len(gate.asked())) == (["find"], 3)


def test_a_step_that_failed_after_a_yes_is_asked_about_again(gate):
    gate.approve_next()
    gate.approve_next()
    errors = [OSError("The beam is lost.")]
    found = paused(proposing(FIND, runs=lambda: fail(errors)))
    with pytest.raises(OSError, match="The beam is lost"):
        resume(found, gate)

    state = resume(found, gate)

    assert (state["ran"], gate.started()) == (["find"], 2)


def fail(errors):
    if errors:
        raise errors.pop()


def test_messages_and_context_from_before_are_there_afterwards(gate):
    gate.approve_next()

    state = resume(paused(proposing(FIND), context={"magnets": ["SR:C01"]}), gate)

    assert (state["messages"][0], state["context"]) == ("asked", {"magnets": ["SR:C01"]})


def test_an_earlier_error_does_not_stand_in_the_way_of_an_approval(gate):
    gate.approve_next()

    assert resume(paused(proposing(FIND), error="It failed."), gate)["ran"] == ["find"]


def test_after_any_number_of_rejections_every_step_is_asked_about(gate):
    gate.reject_next("No.")
    found = paused(proposing(FIND), react_rejection_count=MOST_REJECTIONS - 1)

    state = resume(found, gate)
    gate.reject_next("No.")
    found.invoke({"messages": ["again"]}, THREAD)
    again = resume(found, gate)

    assert (state["react_rejection_count"], again.get("ran", [])) == (0, [])
    assert len(gate.asked()) == 2


def test_the_same_step_after_a_rejection_is_asked_as_the_same_of_the_same_run(gate):
    gate.reject_next("No.")
    gate.reject_next("No again.")
    found = paused(proposing(FIND))
    resume(found, gate)
    found.invoke({"messages": ["again"]}, THREAD)

    resume(found, gate)

    first, second = [(one["run_id"], one["content"]) for one in gate.requests()]
    assert first == second == ("t1", {"steps": [FIND]})


def test_nothing_pending_is_an_ordinary_message(gate):
    assert resume(proposing(FIND), gate) == {}
    assert gate.asked() == []


@pytest.mark.parametrize("make", [code, write])
def test_a_yes_and_a_no_are_the_updates_that_ospreys_gateway_makes(gate, make):
    made = make(osprey)
    yes, no = answered(gate, "approve_next", ""), answered(gate, "reject_next", "No.")

    assert state_update(made, yes) == {
        "approval_approved": True,
        "approved_payload": made["resume_payload"],
    }
    assert state_update(made, no) == {"approval_approved": False, "approved_payload": None}


def answered(gate, how, reason):
    getattr(gate, how)(reason)
    return gate.blocking.request_approval(ApprovalRequest.code("caput('MAG:1', 3.5)", "python"))


@pytest.mark.parametrize("word", ["yes", "Yes!", " okay ", "y", "go ahead", "no"])
def test_no_word_is_an_answer(gate, word):
    gate.reject_next(word)

    assert resume(paused(proposing(FIND)), gate).get("ran", []) == []


def test_a_channel_write_is_asked_about_through_the_whole_graph(gate):
    gate.approve_next()
    built = StateGraph(State)
    built.add_node("find", lambda _: {"context": {"magnets": ["MAG:1"]}})
    built.add_node("set", set_channels)
    built.add_edge(START, "find")
    built.add_edge("find", "set")
    found = built.compile(checkpointer=InMemorySaver())
    found.invoke({"messages": []}, THREAD)

    state = resume(found, gate)

    assert (state["ran"], state["context"]) == (["MAG:1"], {"magnets": ["MAG:1"]})


def set_channels(state):
    yes, payload = osprey.get_approval_resume_data(state, "channel_write")
    if not yes:
        interrupt(write(osprey))
    ran = [one["channel_address"] for one in payload["operations"]] if payload else []
    return {"ran": ran, **osprey.clear_approval_state()}
