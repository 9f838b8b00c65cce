"""LangChain: whatever is approved is what the tool gets."""

from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain.tools import tool
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver

from approval_client.adapters.langchain import resume_pending
from tests.frameworks.langchain.test_adapter import Model
from tests.frameworks.langgraph.test_adapter import THREAD
from tests.frameworks.random_calls import check


def run(fake, function, values):
    call = {"name": "act", "args": values, "id": "c1", "type": "tool_call"}
    model = Model(messages=iter([AIMessage("", tool_calls=[call]), AIMessage("done")]))
    asks = HumanInTheLoopMiddleware(interrupt_on={"act": True})
    agent = create_agent(model, [tool(function)], middleware=[asks], checkpointer=InMemorySaver())
    try:
        agent.invoke({"messages": [("user", "Go.")]}, THREAD)
    except TypeError:  # the checkpoint holds no integer of more than 64 bits
        return
    resume_pending(agent, THREAD, client=fake.async_client())


def test_what_is_approved_is_what_the_tool_gets():
    check(run, as_values=True)
