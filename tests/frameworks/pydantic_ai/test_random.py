"""Pydantic AI: whatever is approved is what the tool gets."""

import asyncio
from contextlib import suppress

from pydantic_ai import Agent, Tool
from pydantic_ai.exceptions import UnexpectedModelBehavior
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel

from approval_client.adapters.pydantic_ai import run_with_approvals
from tests.frameworks.random_calls import check


def run(fake, function, text):
    turns = [[ToolCallPart("act", text, "c1")]]

    def answer(*_):
        return ModelResponse(parts=turns.pop(0) if turns else [TextPart("done")])

    agent = Agent(FunctionModel(answer), tools=[Tool(function, requires_approval=True)])
    with suppress(UnexpectedModelBehavior):
        asyncio.run(run_with_approvals(agent, "Go.", client=fake.async_client()))


def test_what_is_approved_is_what_the_tool_gets():
    check(run, handed=_arguments)


def _arguments(parameters, got):
    # Of a tool that takes one model, the fields of that are the arguments.
    name, _, kind = parameters.partition(": ")
    return got[name] if kind == "Place" else got
