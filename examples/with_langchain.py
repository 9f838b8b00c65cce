"""LangChain: an agent whose tools are called only if approved. Needs langchain; no model account.

    python examples/with_langchain.py

DASHBOARD_URL and DASHBOARD_TOKEN say where the dashboard is and who asks.
"""

from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver

from approval_client.adapters.langchain import resume_pending


def set_field(tesla: float) -> str:
    """Set the field of the magnet."""
    return f"The field is {tesla} T."


class ScriptedModel(GenericFakeChatModel):
    """Stands in for a model: first it wants to set 0.5 T, then 5 T, then it is done."""

    def bind_tools(self, *_: Any, **__: Any) -> "ScriptedModel":
        """Do nothing: what it says is written already."""
        return self


def wants(tesla: float) -> AIMessage:
    """Return what a model says that wants to call the tool."""
    call = {"name": "set_field", "args": {"tesla": tesla}, "id": f"call-{tesla}"}
    return AIMessage("", tool_calls=[call])


tools = [set_field]
agent = create_agent(
    ScriptedModel(messages=iter([wants(0.5), wants(5.0), AIMessage("Done.")])),
    tools,
    # A tool that is not named here runs unasked, so name them all.
    middleware=[HumanInTheLoopMiddleware({tool.__name__: True for tool in tools})],
    checkpointer=InMemorySaver(),  # one in a database survives a restart
)
thread: RunnableConfig = {"configurable": {"thread_id": "magnets"}}

agent.invoke({"messages": [HumanMessage("Raise the field.")]}, thread)  # stops at the first call
state = resume_pending(agent, thread)  # waits for a person, as often as there are calls

for message in state["messages"]:
    if isinstance(message, AIMessage) and message.tool_calls:
        print("The model wants:", message.tool_calls[0]["args"])
    if isinstance(message, ToolMessage):
        first = message.text.splitlines()[0]  # LangChain puts words of its own before the reason
        print("  It is told:", first.rpartition("with reason: ")[2])
print(state["messages"][-1].text)
