"""For LangChain's agents. Checked against langchain 1.4.7; 1.0.0 works too, with less (see below).

An agent made by ``create_agent`` is a LangGraph graph, and what its ``HumanInTheLoopMiddleware``
asks is an interrupt. ``resume_pending`` (``aresume_pending`` for an agent that is awaited) is
LangGraph's: each call becomes a request of its own, and the answers go back as ``approve``,
``edit``, ``reject`` or ``respond``, of which only those that the tool allows. A call that only
allows ``respond`` takes the reviewer's words as its result.

``respond`` and ``interrupt_mode="per_call"`` came after langchain 1.0.0.
"""

from __future__ import annotations

from approval_client.adapters.langgraph import (
    Undecided,
    Unfinished,
    aresume_pending,
    resume_pending,
)

__all__ = ["Undecided", "Unfinished", "aresume_pending", "resume_pending"]
