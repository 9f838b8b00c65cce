"""A graph that asks a person and notes when it went on."""

import time
from typing import TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt


class State(TypedDict, total=False):
    """``at`` is seconds since the epoch."""

    at: float


def ask(_):
    interrupt("May I?")
    return {"at": time.time()}


graph = StateGraph(State).add_node("ask", ask).add_edge(START, "ask").add_edge("ask", END)
graph = graph.compile()
