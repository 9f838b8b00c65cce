"""AG2: whatever is approved is what the tool gets."""

import asyncio

from ag2 import Agent, tool
from ag2.events import ToolCallEvent
from ag2.testing import TestConfig

from approval_client.adapters.ag2 import approval_required
from tests.frameworks.random_calls import check


def run(fake, function, text):
    asks = approval_required(client=fake.async_client())
    model = TestConfig(ToolCallEvent("act", arguments=text), "done", raise_tool_errors=False)
    tools = [tool(function, middleware=[asks])]
    asyncio.run(Agent("runner", "Do.", config=model, tools=tools).ask("Go."))


def test_what_is_approved_is_what_the_tool_gets():
    check(run)
