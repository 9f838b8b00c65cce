"""Microsoft Agent Framework: what is shown is what is called, whatever a model writes."""

import asyncio
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Annotated

import pytest
from agent_framework import (
    Agent,
    Content,
    ContextProvider,
    MiddlewareFailure,
    WorkflowBuilder,
    function_middleware,
    tool,
)
from pydantic import BaseModel, Field

from approval_client.adapters.agent_framework import gate as dashboard_gate
from approval_client.adapters.agent_framework import (
    reasons,
    resume_workflow,
    run_with_approvals,
)
from tests.frameworks.agent_framework.kit import OLD, Model
from tests.frameworks.odd import CASES as ALL
from tests.frameworks.odd import LARGE, Case, Tools, is_told_to_write_less

# The framework leaves a model's defaults out of what it hands over.
CASES = [
    replace(one, asked={"where": {"host": "a"}}) if one.name == "a model" else one for one in ALL
]


def tools_of(mode):
    return Tools(partial(tool, approval_mode=mode))


async def by_run(gate, tools, model):
    agent = Agent(model, "Do.", tools=tools.all)
    session = agent.create_session()
    await run_with_approvals(agent, "Do it.", session=session, client=gate.client)


async def by_gate(gate, tools, model):
    middleware = [dashboard_gate(client=gate.client)]
    await Agent(model, "Do.", tools=tools.all, middleware=middleware).run("Do it.")


async def by_both(gate, tools, model):
    middleware = [dashboard_gate(client=gate.client)]
    agent = Agent(model, "Do.", tools=tools.all, middleware=middleware)
    session = agent.create_session()
    await run_with_approvals(agent, "Do it.", session=session, client=gate.client)


async def by_workflow(gate, tools, model):
    agent = Agent(model, "Do.", tools=tools.all, middleware=[reasons()])
    workflow = WorkflowBuilder(start_executor=agent).build()
    await resume_workflow(workflow, await workflow.run("Do it."), client=gate.client)


ENUM = next(case for case in CASES if case.name == "an enum")
TRIED = [(way, case) for way in (by_run, by_both, by_workflow) for case in CASES]
TRIED.remove((by_both, ENUM))


@pytest.mark.parametrize(("way", "case"), TRIED, ids=lambda one: getattr(one, "name", ""))
async def test_what_is_shown_is_called_or_the_model_is_told(gate, way, case):
    gate.approve_next()
    tools, model = tools_of("always_require"), asking(case)

    await asyncio.wait_for(way(gate, tools, model), 20)

    if case.told:
        assert (gate.asked(), tools.called) == ([], [])
        assert case.told in model.told()[0]
        assert "Nobody was asked and nothing was run. Call the tool again" in model.told()[0]
    else:
        assert gate.asked() == [{"tool": case.tool, "arguments": case.asked}]
        assert tools.called == [case.asked]


async def test_where_a_gate_stands_behind_an_approval_the_framework_calls_no_tool_with_an_enum(
    gate,
):
    gate.approve_next()
    tools = tools_of("always_require")

    with suppress(MiddlewareFailure):
        await by_both(gate, tools, asking(ENUM))

    assert tools.called in ([], [ENUM.asked])


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
async def test_behind_a_gate_what_the_framework_has_read_is_shown_and_called(gate, case):
    gate.approve_next()
    tools = tools_of("never_require")

    with suppress(ValueError):  # an integer that Python itself does not read
        await asyncio.wait_for(by_gate(gate, tools, asking(case)), 20)

    assert [one["arguments"] for one in gate.asked()] == tools.called
    assert case.told or tools.called == [case.asked]


async def test_what_the_model_wrote_stands_beside_what_the_tool_is_called_with(gate):
    gate.approve_next()

    await by_run(gate, tools_of("always_require"), asking(Case("", '{"n": "5"}', tool="count")))

    assert gate.asked()[0]["arguments"] == {"n": 5}
    assert gate.evidence()[0]["written_by_the_model"] == '{"n": "5"}'


async def test_the_schema_of_the_tool_goes_with_the_question(gate):
    gate.approve_next()

    await by_run(gate, tools_of("always_require"), asking(Case("", '{"n": 5}', tool="count")))

    assert gate.evidence()[0]["tool_schema"]["properties"]["n"]["type"] == "integer"


async def test_behind_a_gate_the_schema_goes_with_the_question_too(gate):
    gate.approve_next()

    await by_gate(gate, tools_of("never_require"), asking(Case("", '{"n": 5}', tool="count")))

    assert gate.evidence()[0]["tool_schema"]["properties"]["n"]["type"] == "integer"


async def test_a_tool_of_a_context_provider_is_bound_too(gate):
    class More(ContextProvider):
        async def before_run(self, *, context, **_):
            context.extend_tools("more", tools.all)

    gate.approve_next()
    tools, model = tools_of("always_require"), asking(Case("", '{"dry_run": true}'))
    agent = Agent(model, "Do.", context_providers=[More("more")])
    session = agent.create_session()

    await run_with_approvals(agent, "Do it.", session=session, client=gate.client)

    assert (gate.asked(), tools.called) == ([], [])
    assert "does not take 'dry_run'" in model.told()[0]


def asking(case):
    call = Content.from_function_call(call_id="c1", name=case.tool, arguments=case.written)
    return Model([call])


@pytest.mark.parametrize("way", [by_run, by_workflow, by_gate], ids=lambda way: way.__name__)
async def test_a_call_that_is_too_large_is_told(gate, way):
    tools = tools_of("never_require" if way is by_gate else "always_require")
    model = asking(Case("", LARGE))

    await asyncio.wait_for(way(gate, tools, model), 20)

    assert tools.called == []
    assert is_told_to_write_less(model.told()[0])


class Known(BaseModel):
    a: int


async def test_a_client_that_the_author_gave_as_a_default_is_not_shown(gate):
    gate.approve_next()
    called = []

    def act(a: int, mode: str = "hard", client: object = object()) -> str:
        called.append((a, mode))
        return "done"

    made = tool(act, schema=Known, approval_mode="always_require")
    agent = Agent(asking(Case("", '{"a": 1}', tool="act")), "Do.", tools=[made])
    session = agent.create_session()

    await run_with_approvals(agent, "Do it.", session=session, client=gate.client)

    assert gate.asked()[0]["arguments"] == {"a": 1, "mode": "hard"}
    assert called == [(1, "hard")]


class Sent(BaseModel):
    source: str = Field(alias="from")


@pytest.mark.parametrize("way", [by_run, by_gate], ids=lambda way: way.__name__)
async def test_a_field_with_an_alias_is_asked_and_called(gate, way):
    """Until 1.22 the framework cannot call it: it reads what it has dumped by other names."""
    gate.approve_next()
    called = []

    @tool(approval_mode="never_require" if way is by_gate else "always_require")
    def send(mail: Sent) -> str:
        called.append(mail)
        return "done"

    tools = Tools(lambda one: one)
    tools.all = [send]

    await way(gate, tools, asking(Case("", '{"mail": {"from": "a"}}', tool="send")))

    if OLD:
        assert (gate.asked(), called) == ([], [])
        return
    assert gate.asked()[0]["arguments"] == {"mail": {"source": "a"}}
    assert called == [Sent(**{"from": "a"})] or called == [{"source": "a"}]


@pytest.mark.parametrize(
    ("written", "asked", "told"),
    [
        ('{"x": 1.10}', {"x": 1.1}, ""),
        ('{"x": 1e-400}', None, "arguments.x would become 0.0"),
        ('{"x": 9007199254740993.0}', None, "arguments.x would become"),
    ],
)
async def test_a_tool_with_a_schema_gets_the_numbers_that_are_shown(gate, written, asked, told):
    gate.approve_next()
    called = []

    def act(x):
        called.append({"x": x})
        return "done"

    schema = {"type": "object", "properties": {"x": {"type": "number"}}}
    tools, model = Tools(lambda one: one), asking(Case("", written, tool="act"))
    tools.all = [tool(act, name="act", schema=schema, approval_mode="always_require")]

    await by_run(gate, tools, model)

    assert repr(called) == repr([asked] if asked else [])
    assert [str(one["arguments"]) for one in gate.asked()] == list(map(str, called))
    assert told in model.told()[0]


def typed(x):
    return "done"


def by_position(x, /):
    return "done"


def with_a_factory(x: Annotated[list[str], Field(default_factory=list)]):
    return "done"


OPEN = {"type": "object", "properties": {"x": {"type": "number"}}}


@pytest.mark.parametrize("way", [by_run, by_gate, by_workflow], ids=lambda way: way.__name__)
@pytest.mark.parametrize(
    ("function", "schema", "written", "told"),
    [
        (typed, OPEN, '{"X": 1}', "argument"),
        (typed, OPEN, "{}", "'x'"),
        (typed, OPEN, '{"x": "5"}', "'x'"),
        (typed, {**OPEN, "required": ["x"]}, "{}", "x"),
        (by_position, OPEN, '{"x": 1}', "'x'"),
        (with_a_factory, None, "{}", "'x'"),
    ],
    ids=["another name", "missing", "a text", "required", "by position", "a factory"],
)
async def test_a_call_that_would_fail_after_the_approval_is_not_asked(
    gate, way, function, schema, written, told
):
    gate.approve_next()
    tools, model = Tools(lambda one: one), asking(Case("", written, tool="act"))
    mode = "never_require" if way is by_gate else "always_require"
    tools.all = [tool(function, name="act", schema=schema, approval_mode=mode)]

    await way(gate, tools, model)

    assert gate.asked() == []
    assert way is by_gate or told in model.told()[0]


class Shell:
    @tool(approval_mode="always_require")
    def act(self, command: str, max_wait_s: int = 5) -> str:
        """Run a command."""
        self.called = (command, max_wait_s)
        return "done"


async def test_a_method_is_asked_and_called(gate):
    gate.approve_next()
    shell, tools = Shell(), Tools(lambda one: one)
    tools.all = [shell.act]

    await by_run(gate, tools, asking(Case("", '{"command": "ls"}', tool="act")))

    assert gate.asked() == [{"tool": "act", "arguments": {"command": "ls", "max_wait_s": 5}}]
    assert shell.called == ("ls", 5)


@pytest.mark.skipif(OLD, reason="until 1.22 the framework reads what it has read again")
async def test_behind_a_gate_json_in_a_text_is_shown_as_it_was_read(gate):
    gate.approve_next()
    tools = tools_of("never_require")

    await by_gate(gate, tools, asking(Case("", '{"data": "[1, 2]"}', tool="load")))

    assert gate.asked() == [{"tool": "load", "arguments": {"data": [1, 2]}}]
    assert tools.called == [{"data": [1, 2]}]


async def test_what_a_middleware_before_the_gate_adds_in_place_is_not_shown_and_dropped(gate):
    gate.approve_next()
    tools = tools_of("never_require")

    @function_middleware
    async def adds(context, call_next):
        context.arguments["where"]["dry_run"] = True  # which the framework drops
        await call_next()

    middleware = [adds, dashboard_gate(client=gate.client)]
    model = asking(Case("", '{"where": {"host": "a"}}', tool="move"))
    with suppress(ValueError):
        await Agent(model, "Do.", tools=tools.all, middleware=middleware).run("Do it.")

    assert (gate.asked(), tools.called) == ([], [])
