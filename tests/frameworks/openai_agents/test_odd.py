"""The OpenAI Agents SDK: what is shown is what is called, whatever a model writes."""

import asyncio
from functools import partial
from typing import Annotated

import pytest
from agents import Agent, FunctionTool, RunHooks, function_tool
from pydantic import AfterValidator

from approval_client import DigestMismatch
from approval_client.adapters.openai_agents import run_with_approvals
from tests.frameworks.odd import CASES, LARGE, Case, Tools, is_told_to_write_less
from tests.frameworks.openai_agents.test_adapter import Script, outputs, says, written


async def run(gate, case, **options):
    """Have a model make the call of a case; returns the tools and what it read."""
    tools = Tools(partial(function_tool, needs_approval=True, **options))
    model = Script([written(case.written, tool=case.tool)], [says("done")])
    agent = Agent("operator", model=model, tools=tools.all)
    result = await asyncio.wait_for(run_with_approvals(agent, "Go.", client=gate.client), 20)
    return tools, outputs(result)


HALF = next(case for case in CASES if case.name == "half a pair")


@pytest.mark.parametrize("strict", [True, False], ids=["strict", "lax"])
@pytest.mark.parametrize(
    "case", [one for one in CASES if one is not HALF], ids=lambda case: case.name
)
async def test_what_is_shown_is_called_or_the_model_is_told(gate, case, strict):
    gate.approve_next()

    tools, (told,) = await run(gate, case, strict_mode=strict)

    if case.told:
        assert (gate.asked(), tools.called) == ([], [])
        assert case.told in told
        assert "Nobody was asked and nothing was run. Call the tool again" in told
    else:
        assert gate.asked() == [{"tool": case.tool, "arguments": case.asked}]
        assert tools.called == [case.asked]


async def test_half_a_surrogate_pair_ends_the_run_in_the_sdk_itself_and_nothing_is_called(gate):
    with pytest.raises(UnicodeEncodeError):
        await run(gate, HALF)

    assert gate.asked() == []


async def test_what_the_model_wrote_stands_beside_what_the_tool_is_called_with(gate):
    gate.approve_next()

    await run(gate, Case("", '{"n": "5"}', tool="count"))

    assert gate.asked()[0]["arguments"] == {"n": 5}
    assert gate.evidence()[0]["written_by_the_model"] == '{"n": "5"}'


async def test_the_schema_of_the_tool_goes_with_the_question(gate):
    gate.approve_next()

    await run(gate, Case("", '{"n": 5}', tool="count"))

    assert gate.evidence()[0]["tool_schema"]["properties"]["n"]["type"] == "integer"


async def test_what_is_right_is_not_shown_twice(gate):
    gate.approve_next()

    await run(gate, Case("", '{"n": 5}', tool="count"))

    assert "written_by_the_model" not in gate.evidence()[0]


async def test_a_tool_that_reads_its_text_itself_gets_what_was_shown(gate):
    gate.approve_next()
    read = []

    async def invoke(_, text):
        read.append(text)
        return "done"

    schema = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
    schema["additionalProperties"] = False
    own = FunctionTool("own", "Own.", schema, invoke, needs_approval=True)
    turns = [written('{"b": 1}', "c1", "own")], [written('{"a": "x"}', "c2", "own")]
    agent = Agent("operator", model=Script(*turns, [says("done")]), tools=[own])

    result = await run_with_approvals(agent, "Go.", client=gate.client)

    assert gate.asked() == [{"tool": "own", "arguments": {"a": "x"}}]
    assert read == ['{"a": "x"}']
    assert "does not take 'b'. It takes 'a'." in outputs(result)[0]


async def test_a_call_that_cannot_be_asked_leaves_the_others_of_its_response(gate):
    gate.approve_next()
    tools = Tools(partial(function_tool, needs_approval=True))
    both = [written('{"n": NaN}', "c1", "count"), written('{"n": 2}', "c2", "count")]
    agent = Agent("operator", model=Script(both, [says("done")]), tools=tools.all)

    result = await run_with_approvals(agent, "Go.", client=gate.client)

    assert tools.called == [{"n": 2}]
    assert [told[:30] for told in outputs(result)] == ["The arguments cannot be read: ", "done"]


async def test_arguments_that_change_after_the_approval_stop_the_call(gate):
    gate.approve_next()
    tools = Tools(partial(function_tool, needs_approval=True))
    model = Script([written('{"n": 2}', tool="count")], [says("done")])
    agent = Agent("operator", model=model, tools=tools.all)

    class Changing(RunHooks):
        async def on_tool_start(self, context, *_):
            context.tool_arguments = '{"n": 3}'

    with pytest.raises(DigestMismatch, match="called with something else than what was approved"):
        await run_with_approvals(agent, "Go.", client=gate.client, hooks=Changing())
    assert tools.called == []
    assert gate.finished() == [
        {"exit_code": 1, "error": "It was not run: it had other arguments by then."}
    ]


async def test_a_call_that_is_too_large_is_told_and_the_others_are_asked(gate):
    gate.approve_next()
    tools = Tools(partial(function_tool, needs_approval=True))
    both = [written(LARGE, "c1", "purge"), written('{"n": 2}', "c2", "count")]
    agent = Agent("operator", model=Script(both, [says("done")]), tools=tools.all)

    result = await run_with_approvals(agent, "Go.", client=gate.client)

    assert tools.called == [{"n": 2}]
    assert is_told_to_write_less(outputs(result)[0])


async def test_beside_a_validator_the_defaults_are_shown(gate):
    gate.approve_next()
    called = []

    def act(path: Annotated[str, AfterValidator(str.lower)], force: bool = True) -> str:  # noqa: FBT001, FBT002
        called.append((path, force))
        return "done"

    model = Script([written('{"path": "A"}', tool="act")], [says("done")])
    agent = Agent("operator", model=model, tools=[function_tool(act, needs_approval=True)])

    await run_with_approvals(agent, "Go.", client=gate.client)

    assert gate.asked()[0]["arguments"] == {"path": "A", "force": True}
    assert called == [("a", True)]
