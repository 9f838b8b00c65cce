"""LangGraph: the older form of Agent Inbox is answered in that form, or not asked."""

from typing import Any, TypedDict

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.types import interrupt

from approval_client.adapters.langgraph import resume_pending
from tests.frameworks.langgraph.test_adapter import THREAD

ALL = {"allow_accept": True, "allow_edit": True, "allow_ignore": True, "allow_respond": True}
MAIL = {"action": "send_mail", "args": {"to": "anna@example.org"}}


class State(TypedDict):
    answers: Any


def paused(value):
    """A graph that waits for the answer to ``value``, and keeps it."""

    def node(_):
        return {"answers": interrupt(value)}

    graph = StateGraph(State).add_node("ask", node).add_edge(START, "ask")
    graph = graph.compile(checkpointer=InMemorySaver())
    graph.invoke({"answers": None}, THREAD)
    return graph


def asking(action=MAIL, **config):
    return {"action_request": action, "config": ALL | config, "description": "Send it?"}


def answers(graph, gate):
    return resume_pending(graph, THREAD, client=gate.client)["answers"]


def test_an_approval_accepts(gate):
    gate.approve_next()

    assert answers(paused([asking()]), gate) == [{"type": "accept", "args": None}]
    assert gate.asked() == [{"tool": "send_mail", "arguments": MAIL["args"]}]
    assert gate.requests()[0]["objective"] == "Send it?"


def test_an_edit_carries_the_arguments(gate):
    gate.edit_next({"tool": "send_mail", "arguments": {"to": "bob@example.org"}})

    edit = {"action": "send_mail", "args": {"to": "bob@example.org"}}
    assert answers(paused([asking()]), gate) == [{"type": "edit", "args": edit}]


def test_a_rejection_is_a_response_with_the_reason(gate):
    gate.reject_next("Not to her.")

    (answer,) = answers(paused([asking()]), gate)

    assert answer["type"] == "response"
    assert answer["args"].startswith("Not to her.")


def test_where_nobody_may_respond_a_rejection_ignores(gate):
    gate.reject_next("Not to her.")

    ignored = [{"type": "ignore", "args": None}]
    assert answers(paused([asking(allow_respond=False)]), gate) == ignored


def test_no_edit_is_offered_where_none_is_allowed(gate):
    gate.approve_next()

    answers(paused([asking(allow_edit=False)]), gate)

    assert gate.requests()[0].get("accepts_edits", False) is False


def test_two_actions_are_asked_each_for_itself_and_answered_in_their_order(gate):
    gate.approve_next()
    gate.approve_next()
    second = {"action": "pay", "args": {"amount": 1}}

    accepted = {"type": "accept", "args": None}
    assert answers(paused([asking(), asking(second)]), gate) == [accepted, accepted]
    assert sorted(one["tool"] for one in gate.asked()) == ["pay", "send_mail"]


COPILOT = {"__copilotkit_interrupt_value__": MAIL, "__copilotkit_messages__": []}


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ([asking(allow_accept=False)], "allows nobody to accept it"),
        ([asking(allow_respond=False, allow_ignore=False)], "allows nobody to reject it"),
        ([asking() | {"more": 1}], "other members than are known"),
        ([asking({"action": "pay"})], "other members than are known"),
        (asking(), "but not in a list"),
        (COPILOT, "a question of CopilotKit"),
    ],
)
def test_what_could_not_be_answered_is_not_asked_and_says_what_to_do(gate, value, why):
    with pytest.raises(ValueError, match=why) as caught:
        answers(paused(value), gate)

    assert "Pass read=" in str(caught.value)
    assert gate.asked() == []
