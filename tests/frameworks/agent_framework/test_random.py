"""Microsoft Agent Framework: whatever is approved is what the tool gets."""

import asyncio
from contextlib import suppress

import pytest
from agent_framework import Agent, Content, MiddlewareFailure, tool

from approval_client.adapters.agent_framework import gate, run_with_approvals
from tests.frameworks.agent_framework.kit import OLD, Model
from tests.frameworks.random_calls import check


def by_run(fake, function, text):
    agent = Agent(asking(text), "Do.", tools=[tool(function, approval_mode="always_require")])
    session, client = agent.create_session(), fake.async_client()
    asyncio.run(run_with_approvals(agent, "Go.", session=session, client=client))


def by_gate(fake, function, text):
    middleware = [gate(client=fake.async_client())]
    agent = Agent(asking(text), "Do.", tools=[tool(function)], middleware=middleware)
    with suppress(MiddlewareFailure):
        asyncio.run(agent.run("Go."))


def asking(text):
    return Model([Content.from_function_call(call_id="c1", name="act", arguments=text)])


@pytest.mark.parametrize("way", [by_run, by_gate], ids=lambda way: way.__name__)
def test_what_is_approved_is_what_the_tool_gets(way):
    check(way, refuses=OLD)  # which calls no tool that takes a date or a set
