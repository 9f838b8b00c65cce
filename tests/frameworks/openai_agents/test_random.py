"""The OpenAI Agents SDK: whatever is approved is what the tool gets."""

import asyncio

from agents import Agent, function_tool

from approval_client.adapters.openai_agents import run_with_approvals
from tests.frameworks.openai_agents.test_adapter import Script, says, written
from tests.frameworks.random_calls import check


def run(fake, function, text):
    tool = function_tool(function, needs_approval=True, strict_mode=False)
    model = Script([written(text, tool="act")], [says("done")])
    agent = Agent("operator", model=model, tools=[tool])
    asyncio.run(run_with_approvals(agent, "Go.", client=fake.async_client()))


def test_what_is_approved_is_what_the_tool_gets():
    check(run)
