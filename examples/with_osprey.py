"""Osprey's approvals, answered in the dashboard. Needs langgraph; no model account.

    python examples/with_osprey.py

DASHBOARD_URL and DASHBOARD_TOKEN say where the dashboard is and who asks. Where osprey-framework
0.11 is installed, ``osprey.approval`` takes the place of ``approval_client.capabilities``: the
names and what they do are the same.
"""

from typing import Any, Required, TypedDict

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.types import interrupt

from approval_client.adapters.osprey import resume_pending
from approval_client.capabilities import (
    clear_approval_state,
    create_code_approval_interrupt,
    get_approval_resume_data,
)


class State(TypedDict, total=False):
    """What the node takes and leaves."""

    code: Required[str]
    approval_approved: bool | None  # Osprey's state has these two
    approved_payload: dict[str, Any] | None
    done: str
    reason: str


def python_capability(state: State) -> dict[str, Any]:
    """A node as Osprey's capabilities are: asks, and reads the answer when it runs again."""
    answered, payload = get_approval_resume_data(state, "python_executor")
    if not answered:
        interrupt(
            create_code_approval_interrupt(
                code=state["code"],
                analysis_details={"writes": 1},
                execution_mode="write_access",
                safety_concerns=["Writes to a magnet."],
                step_objective="Move the beam.",
            )
        )
    done = f"ran {payload['code']}" if payload else "not run"
    return {"done": done, **clear_approval_state()}


graph = StateGraph(State)
graph.add_node("python", python_capability)
graph.add_edge(START, "python")
compiled = graph.compile(checkpointer=InMemorySaver())  # one in a database survives a restart

for code in ("caput('SR:C01:HC1', 0.05)", "caput('SR:ALL', 0)"):
    thread: RunnableConfig = {"configurable": {"thread_id": code}}
    compiled.invoke({"code": code}, thread)  # stops at the question
    print(f"Asked: {code}")
    # Osprey has no place for a reason, so say where it goes.
    state = resume_pending(compiled, thread, tell=lambda answer: {"reason": answer.reason})
    print(f"  {state['done']}")
    if state["reason"]:
        print(f"  The reason: {state['reason']}")
