"""LangGraph: nodes that run only if approved. Needs langgraph; no model account.

    python examples/with_langgraph.py

DASHBOARD_URL and DASHBOARD_TOKEN say where the dashboard is and who asks.
"""

from typing import TypedDict

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph

from approval_client import ApprovalRequest
from approval_client.adapters.langgraph import gate, resume_pending


class State(TypedDict, total=False):
    """What the nodes hand on."""

    code: str
    answer: dict
    printed: str


def write_code(state: State) -> State:
    """Stand in for a model that writes code."""
    return {"code": state["code"], "printed": "nothing ran"}


def ask(state: State) -> ApprovalRequest:
    """Return the question; the same each time, because LangGraph runs the node again."""
    return ApprovalRequest.code(state["code"], "python", objective="Move the beam.")


def run(state: State) -> State:
    """Run what was approved; ``gate`` is the only way here."""
    return {"printed": f"ran {state['code']}"}


graph = StateGraph(State)
graph.add_node("write_code", write_code)
graph.add_node("gate", gate(ask, then="run", answer="answer"), destinations=("run", END))
graph.add_node("run", run)
graph.add_edge(START, "write_code")
graph.add_edge("write_code", "gate")
compiled = graph.compile(checkpointer=InMemorySaver())  # one in a database survives a restart

for code in ("caput('SR:C01:HC1', 0.05)", "caput('SR:ALL', 0)"):
    thread = {"configurable": {"thread_id": code}}
    compiled.invoke({"code": code}, thread)  # stops at the gate
    print(f"Asked: {code}")
    state = resume_pending(compiled, thread)  # waits for a person
    print(f"  {state['answer']['status']}; {state['printed']}")
    if reason := state["answer"]["reason"]:
        print(f"  The graph was told: {reason.splitlines()[0]}")
