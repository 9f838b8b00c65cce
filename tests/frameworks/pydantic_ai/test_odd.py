"""Pydantic AI: what is shown is what is called, whatever a model writes."""

import asyncio
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Annotated

import pytest
from pydantic import BaseModel, ConfigDict, Field
from pydantic_ai import Agent, Tool
from pydantic_ai.messages import ModelResponse, RetryPromptPart, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.toolsets import FunctionToolset

from approval_client import DigestMismatch
from approval_client.adapters.pydantic_ai import run_with_approvals
from tests.frameworks.odd import CASES, LARGE, Case, Tools, is_told_to_write_less
from tests.frameworks.pydantic_ai.test_adapter import returned


def gated(function):
    return Tool(function, requires_approval=True)


async def run(gate, agent):
    """Have a model make the call of a case; returns what it read."""
    work = run_with_approvals(agent, "Go.", client=gate.client)
    result = await asyncio.wait_for(work, 20)
    parts = [part for message in result.all_messages() for part in message.parts]
    retries = [part.model_response() for part in parts if isinstance(part, RetryPromptPart)]
    return [*returned(result), *retries]


def agent_of(case, **agent):
    turns = [[ToolCallPart(case.tool, case.written, "c1")]]

    def answer(*_):
        return ModelResponse(parts=turns.pop(0) if turns else [TextPart("done")])

    return Agent(FunctionModel(answer), **agent)


# Of a tool that takes one model, the fields of that are the arguments.
OTHERS = {"a model", "an extra name inside"}


@pytest.mark.parametrize("toolset", [False, True], ids=["tools", "toolset"])
@pytest.mark.parametrize(
    "case", [case for case in CASES if case.name not in OTHERS], ids=lambda case: case.name
)
async def test_what_is_shown_is_called_or_the_model_is_told(gate, case, toolset):
    gate.approve_next()
    tools = Tools(gated)
    has = {"toolsets": [FunctionToolset(tools.all)]} if toolset else {"tools": tools.all}

    told = await run(gate, agent_of(case, **has))

    if case.told:
        assert (gate.asked(), tools.called) == ([], [])
        assert len(told) == 1  # in its own words, where Pydantic AI refuses it before
    else:
        assert gate.asked() == [{"tool": case.tool, "arguments": case.asked}]
        assert tools.called == [case.asked]


async def test_a_tool_that_takes_one_model_is_shown_with_all_its_fields(gate):
    gate.approve_next()
    tools = Tools(gated)

    await run(gate, agent_of(Case("", '{"host": "a"}', tool="move"), tools=tools.all))

    assert gate.asked() == [{"tool": "move", "arguments": {"host": "a", "port": 1}}]
    assert tools.called == [{"where": {"host": "a", "port": 1}}]


async def test_a_name_that_such_a_model_would_drop_is_not_asked(gate):
    gate.approve_next()
    tools = Tools(gated)
    case = Case("", '{"host": "a", "Port": 2}', tool="move")

    (told,) = await run(gate, agent_of(case, tools=tools.all))

    assert "Port" in told
    assert (gate.asked(), tools.called) == ([], [])


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
async def test_a_number_that_is_not_finite_is_not_asked_where_it_comes_as_a_value(gate, number):
    gate.approve_next()
    called = []

    def limit(n: float | None = None) -> str:
        """Limit."""
        called.append(n)
        return "done"

    agent = agent_of(Case("", {"n": number}, tool="limit"), tools=[gated(limit)])

    (told,) = await run(gate, agent)

    assert "NaN, Infinity and numbers beyond the range of a double are not JSON" in told
    assert (gate.asked(), called) == ([], [])


async def test_what_the_model_wrote_stands_beside_what_the_tool_is_called_with(gate):
    gate.approve_next()

    await run(gate, agent_of(Case("", '{"n": "5"}', tool="count"), tools=Tools(gated).all))

    assert gate.asked()[0]["arguments"] == {"n": 5}
    assert gate.evidence()[0]["written_by_the_model"] == '{"n": "5"}'


async def test_the_schema_of_the_tool_goes_with_the_question(gate):
    gate.approve_next()

    await run(gate, agent_of(Case("", '{"n": 5}', tool="count"), tools=Tools(gated).all))

    assert gate.evidence()[0]["tool_schema"]["properties"]["n"]["type"] == "integer"


async def test_a_call_that_is_too_large_is_told_and_the_others_are_asked(gate):
    gate.approve_next()
    tools = Tools(gated)
    turns = [[ToolCallPart("purge", LARGE, "c1"), ToolCallPart("count", '{"n": 2}', "c2")]]

    def answer(*_):
        return ModelResponse(parts=turns.pop(0) if turns else [TextPart("done")])

    told = await run(gate, Agent(FunctionModel(answer), tools=tools.all))

    assert tools.called == [{"n": 2}]
    assert [is_told_to_write_less(one) for one in told].count(True) == 1


class Strict(BaseModel):
    model_config = ConfigDict(strict=True)
    day: date
    n: int = 1


async def test_a_name_that_a_strict_model_would_drop_is_not_asked(gate):
    gate.approve_next()
    called = []

    def plan(when: Strict, z: int) -> str:
        called.append(when)
        return "done"

    written = '{"when": {"day": "2026-01-31", "dry_run": true}, "z": 1}'

    (told,) = await run(gate, agent_of(Case("", written, tool="plan"), tools=[gated(plan)]))

    assert "arguments.when.dry_run would be dropped" in told
    assert (gate.asked(), called) == ([], [])


async def test_of_a_union_the_type_that_the_tool_gets_is_shown(gate):
    gate.approve_next()
    called = []

    def wait(until: datetime | str) -> str:
        called.append(until)
        return "done"

    asks = Case("", '{"until": "1767225600"}', tool="wait")

    await run(gate, agent_of(asks, tools=[gated(wait)]))

    assert called == [datetime(2026, 1, 1, tzinfo=UTC)]
    assert gate.asked()[0]["arguments"] == {"until": "2026-01-01T00:00:00Z"}


async def test_a_default_that_a_model_may_not_write_is_shown(gate):
    gate.approve_next()

    def mark(n: int, tag: str = None, mode: str = "hard") -> str:  # noqa: RUF013 - as people do
        return "done"

    await run(gate, agent_of(Case("", '{"n": "5"}', tool="mark"), tools=[gated(mark)]))

    assert gate.asked()[0]["arguments"] == {"n": 5, "tag": None, "mode": "hard"}


@pytest.mark.parametrize("written", ['{"from": "a", "n": 1}', {"from": "a", "n": 1}])
async def test_a_parameter_with_an_alias_is_asked_called_and_edited_under_it(gate, written):
    called = []

    def send(n: int, source: Annotated[str, Field(alias="from")] = "x", mode: str = "hard") -> str:
        called.append((n, source, mode))
        return "done"

    case = Case("", written, tool="send")
    gate.approve_next()
    await run(gate, agent_of(case, tools=[gated(send)]))
    gate.edit_next({"tool": "send", "arguments": {"n": 1, "from": "b", "mode": "hard"}})
    await run(gate, agent_of(case, tools=[gated(send)]))

    assert gate.asked()[0]["arguments"] == {"n": 1, "from": "a", "mode": "hard"}
    assert called == [(1, "a", "hard"), (1, "b", "hard")]


def toolsets(calls):
    """Two toolsets with a tool of the same name, whose defaults differ."""

    def toolset(where, default):
        def delete(path: str, keep_days: int = default) -> str:
            """Delete."""
            calls.append((where, path, keep_days))
            return "deleted"

        return FunctionToolset([Tool(delete, requires_approval=True)])

    return toolset("staging", 30), toolset("prod", 0)


DELETE = Case("", '{"path": "x"}', tool="delete")


@pytest.mark.parametrize("way", ["of the run", "of a function"])
async def test_the_defaults_of_a_prefixed_tool_are_not_shown_for_one_of_the_run(gate, way):
    calls = []
    gate.approve_next()
    staging, prod = toolsets(calls)
    agent = agent_of(DELETE, toolsets=[staging.prefixed("staging")])
    if way == "of a function":
        agent.toolset(lambda _: prod)
    options = {"toolsets": [prod]} if way == "of the run" else {}

    await asyncio.wait_for(run_with_approvals(agent, "Go.", client=gate.client, **options), 20)

    assert gate.asked() == [{"tool": "delete", "arguments": {"path": "x"}}]
    assert "may ignore arguments" in gate.evidence()[0]["tool_out_of_sight"]
    assert calls == [("prod", "x", 0)]


async def test_a_tool_with_another_name_is_asked_with_its_own_defaults(gate):
    calls = []
    gate.approve_next()
    staging, prod = toolsets(calls)
    prefixed = staging.prefixed("old")
    renamed = prod.renamed({"purge": "delete"}).renamed({"delete": "purge"})

    await run(gate, agent_of(DELETE, toolsets=[prefixed, renamed]))

    assert gate.asked() == [{"tool": "delete", "arguments": {"path": "x", "keep_days": 0}}]
    assert calls == [("prod", "x", 0)]


async def test_what_was_asked_about_another_tool_is_not_called(gate):
    calls = []
    gate.approve_next()
    staging, prod = toolsets(calls)

    def named(toolset, own, shown):
        async def prepare(_, definition):
            return replace(definition, name=shown)

        function = toolset.tools["delete"].function
        return Tool(function, name=own, requires_approval=True, prepare=prepare)

    crosswise = [named(staging, "delete", "purge"), named(prod, "purge", "delete")]

    with pytest.raises(DigestMismatch):
        await run(gate, agent_of(DELETE, tools=crosswise))

    assert calls == []
