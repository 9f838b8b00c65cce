"""LangGraph: nodes that run only if approved. Needs langgraph; no model account.

    python examples/with_langgraph.py

DASHBOARD_URL and DASHBOARD_TOKEN say where the dashboard is and who asks.
"""

from typing import NotRequired, TypedDict

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph

from approval_client import ApprovalRequest, ApprovalResponse
from approval_client.adapters.langgraph import gated, resume_pending


class State(TypedDict):
    """What the nodes hand on."""

    code: str
    printed: NotRequired[str]


def write_code(state: State) -> State:
    """Stand in for a model that writes code."""
    return {"code": state["code"]}


def ask(state: State) -> ApprovalRequest:
    """Return the question; the same each time, because LangGraph runs the node again."""
    return ApprovalRequest.code(state["code"], "python", objective="Move the beam.")


def run(state: State, response: ApprovalResponse) -> State:
    """Run what was approved, once."""
    return {**state, "printed": f"approved; ran {response.content['code']}"}


def tell(state: State, response: ApprovalResponse) -> State:
    """Take the place of ``run`` after a rejection."""
    said = response.reason.splitlines()[0]
    return {**state, "printed": f"rejected; nothing ran\n  The graph was told: {said}"}


graph = StateGraph(State)
graph.add_node("write_code", write_code)
graph.add_node("run", gated(run, ask, otherwise=tell))
graph.add_edge(START, "write_code")
graph.add_edge("write_code", "run")
compiled = graph.compile(checkpointer=InMemorySaver())  # one in a database survives a restart

for code in ("caput('SR:C01:HC1', 0.05)", "caput('SR:ALL', 0)"):
    thread: RunnableConfig = {"configurable": {"thread_id": code}}
    compiled.invoke({"code": code}, thread)  # stops where it asks
    print(f"Asked: {code}")
    print(f"  {resume_pending(compiled, thread)['printed']}")  # waits for a person
