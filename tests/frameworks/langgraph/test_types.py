"""What the docs show, LangGraph's page too, passes two type checkers."""

from tests.frameworks.typed import problems, shown, write

PROMISED = """
from typing import TypedDict

from langgraph.graph import StateGraph

from approval_client import ApprovalRequest, ApprovalResponse
from approval_client.adapters.langgraph import ask, gate, gated


class State(TypedDict):
    code: str


def question(state: State) -> ApprovalRequest:
    return ApprovalRequest.code(state["code"])


def run(state: State, response: ApprovalResponse) -> State:
    return state


async def arun(state: State, response: ApprovalResponse) -> State:
    return state


def asks(state: State) -> State:
    return {"code": str(ask(question(state)).content)}


graph = StateGraph(State)
graph.add_node("runs", gated(run, question))
graph.add_node("awaits", gated(arun, question, otherwise=arun))
graph.add_node("goes", gate(question, then="runs"))
graph.add_node("asks", asks)
"""


def test_what_the_docs_show_is_typed(tmp_path):
    files = shown(tmp_path, "langgraph")

    assert problems(tmp_path, files) == []


def test_what_is_returned_has_the_types_of_the_framework(tmp_path):
    assert problems(tmp_path, [write(tmp_path / "promised.py", PROMISED)]) == []
