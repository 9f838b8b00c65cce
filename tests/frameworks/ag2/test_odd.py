"""AG2: what is shown is what is called, whatever a model writes."""

import asyncio
from typing import Annotated

import pytest
from ag2 import Agent, Context, Depends, tool
from ag2.events import ToolCallEvent, ToolResultEvent
from ag2.middleware import approval_required as upstream
from ag2.testing import TestConfig
from pydantic import AfterValidator

from approval_client.adapters.ag2 import approval_required, hitl_hook
from approval_client.adapters.ag2 import gate as dashboard_gate
from tests.frameworks.odd import CASES, LARGE, Case, Tools, is_told_to_write_less


def by_tool(gate):
    asks = approval_required(client=gate.client)
    return Tools(lambda one: tool(one, middleware=[asks])), {}


def by_gate(gate):
    return Tools(tool), {"middleware": [dashboard_gate(client=gate.client)]}


def by_hook(gate):
    tools = Tools(lambda one: tool(one, middleware=[upstream()]))
    return tools, {"hitl_hook": hitl_hook(client=gate.client)}


async def run(case, tools, options):
    """Have a model make the call of a case; returns what it read."""
    asks = ToolCallEvent(case.tool, arguments=case.written)
    model = TestConfig(asks, "done", "again", raise_tool_errors=False)
    agent = Agent("runner", "Do it.", config=model, tools=tools, **options)
    reply = await asyncio.wait_for(agent.ask("Go."), 20)
    events = await reply.context.stream.history.get_events()
    results = [event for event in events if isinstance(event, ToolResultEvent)]
    return [part.content for event in results for part in event.result.parts]


@pytest.mark.parametrize("way", [by_tool, by_gate, by_hook], ids=lambda way: way.__name__)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
async def test_what_is_shown_is_called_or_the_model_is_told(gate, way, case):
    gate.approve_next()
    tools, options = way(gate)

    (told,) = await run(case, tools.all, options)

    if case.told:
        assert (gate.asked(), tools.called) == ([], [])
        assert way is by_hook or case.told in told
        assert way is by_hook or "Nobody was asked and nothing was run. Call the tool" in told
    else:
        assert gate.asked() == [{"tool": case.tool, "arguments": case.asked}]
        assert tools.called == [case.asked]


async def test_what_a_hook_cannot_tell_the_model_is_logged(gate, caplog):
    tools, options = by_hook(gate)

    await run(Case("", '{"dry_run": true}'), tools.all, options)

    assert "A call of purge was denied: The tool does not take 'dry_run'." in caplog.text


async def test_what_the_model_wrote_stands_beside_what_the_tool_is_called_with(gate):
    gate.approve_next()
    tools, options = by_tool(gate)

    await run(Case("", '{"n": "5"}', tool="count"), tools.all, options)

    assert gate.asked()[0]["arguments"] == {"n": 5}
    assert gate.evidence()[0]["written_by_the_model"] == '{"n": "5"}'


async def test_the_schema_of_the_tool_goes_with_the_question(gate):
    gate.approve_next()
    tools, options = by_tool(gate)

    await run(Case("", '{"n": 5}', tool="count"), tools.all, options)

    assert gate.evidence()[0]["tool_schema"]["properties"]["n"]["type"] == "integer"


def injected(called):
    @tool
    def pay(amount: int, context: Context, user: Annotated[str, Depends(lambda: "ada")]) -> str:
        """Pay."""
        called.append((amount, user))
        return "paid"

    return pay


async def test_what_agtwo_injects_is_not_shown(gate):
    gate.approve_next()
    called = []
    asks = {"middleware": [dashboard_gate(client=gate.client)]}

    await run(Case("", '{"amount": 1}', tool="pay"), [injected(called)], asks)

    assert gate.asked() == [{"tool": "pay", "arguments": {"amount": 1}}]
    assert called == [(1, "ada")]


@pytest.mark.parametrize("name", ["user", "context", "__ctx__"])
async def test_a_model_cannot_write_what_agtwo_injects(gate, name):
    called = []
    asks = {"middleware": [dashboard_gate(client=gate.client)]}
    written = '{"amount": 1, "' + name + '": "eve"}'

    (told,) = await run(Case("", written, tool="pay"), [injected(called)], asks)

    assert f"does not take {name!r}. It takes 'amount'." in told
    assert (gate.asked(), called) == ([], [])


async def test_a_model_is_told_that_a_person_changed_its_arguments(gate):
    gate.edit_next({"tool": "count", "arguments": {"n": 9}})
    tools, options = by_tool(gate)

    told = await run(Case("", '{"n": 5}', tool="count"), tools.all, options)

    assert told[0] == "done"
    assert (
        'It was run with {"n":9} and not with yours. Do not make your own call again.' in told[1]
    )
    assert tools.called == [{"n": 9}]


async def test_an_edit_with_a_name_that_the_tool_does_not_take_runs_nothing_and_is_told(gate):
    gate.edit_next({"tool": "count", "arguments": {"n": 5, "dry_run": True}})
    tools, options = by_tool(gate)

    (told,) = await run(Case("", '{"n": 5}', tool="count"), tools.all, options)

    assert "does not take 'dry_run'" in told
    assert tools.called == []
    assert "does not take the changed call" in gate.finished()[0]["error"]


@pytest.mark.parametrize("way", [by_tool, by_gate], ids=lambda way: way.__name__)
async def test_a_call_that_is_too_large_is_told(gate, way):
    tools, options = way(gate)

    (told,) = await run(Case("", LARGE), tools.all, options)

    assert tools.called == []
    assert is_told_to_write_less(told)


async def test_a_model_cannot_write_what_agtwo_injects_into_a_tool_with_kwargs(gate):
    called = []

    @tool
    def pay(amount: int, user: Annotated[str, Depends(lambda: "ada")], **more: str) -> str:
        """Pay."""
        called.append((amount, user))
        return "paid"

    asks = {"middleware": [dashboard_gate(client=gate.client)]}
    case = Case("", '{"amount": 1, "user": "eve"}', tool="pay")

    (told,) = await run(case, [pay], asks)

    assert "does not take 'user'" in told
    assert (gate.asked(), called) == ([], [])


@pytest.mark.parametrize("way", [by_tool, by_gate, by_hook], ids=lambda way: way.__name__)
async def test_a_default_that_no_model_may_write_is_shown(gate, way):
    gate.approve_next()
    called = []

    def act(a: int, _mode: str = "hard", _client: object = object()) -> str:
        """Act."""
        called.append((a, _mode))
        return "done"

    has = way(gate)[1]
    made = {
        by_tool: lambda: tool(act, middleware=[approval_required(client=gate.client)]),
        by_gate: lambda: tool(act),
        by_hook: lambda: tool(act, middleware=[upstream()]),
    }[way]()

    await run(Case("", '{"a": "1"}', tool="act"), [made], has)

    assert gate.asked()[0]["arguments"] == {"a": 1, "_mode": "hard"}
    assert called == [(1, "hard")]


async def test_beside_a_validator_the_defaults_are_shown(gate):
    gate.approve_next()
    called = []

    @tool(middleware=[approval_required(client=gate.client)])
    def act(path: Annotated[str, AfterValidator(str.lower)], force: bool = True) -> str:  # noqa: FBT001, FBT002
        """Act."""
        called.append((path, force))
        return "done"

    await run(Case("", '{"path": "A"}', tool="act"), [act], {})

    assert gate.asked()[0]["arguments"] == {"path": "A", "force": True}
    assert called == [("a", True)]


def by_position(a: int, /) -> str:
    """Act."""
    return "done"


def with_more(a: int, *rest) -> str:
    """Act."""
    return "done"


def with_others(a: int, **more) -> str:
    """Act."""
    return "done"


def with_texts(**more: str) -> str:
    """Act."""
    return "done"


@pytest.mark.parametrize("way", [by_tool, by_gate, by_hook], ids=lambda way: way.__name__)
@pytest.mark.parametrize(
    ("function", "written", "told"),
    [
        (by_position, '{"a": 1}', "'a'"),
        (with_more, '{"a": 1, "rest": [2]}', "does not take 'rest'. It takes 'a'."),
        (with_others, '{"a": 1}', "arguments.a: Field required"),  # AG2 puts it in **more
        (with_texts, '{"b": "x"}', "arguments.more"),  # AG2 reads them as one text
    ],
    ids=["by position", "more of them", "others", "typed others"],
)
async def test_a_call_that_would_fail_after_the_approval_is_not_asked(
    gate, way, function, written, told
):
    gate.approve_next()
    has = way(gate)[1]
    made = {
        by_tool: lambda: tool(
            function, name="act", middleware=[approval_required(client=gate.client)]
        ),
        by_gate: lambda: tool(function, name="act"),
        by_hook: lambda: tool(function, name="act", middleware=[upstream()]),
    }[way]()

    (said,) = await run(Case("", written, tool="act"), [made], has)

    assert gate.asked() == []
    assert way is by_hook or told in said


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ('{"a": "1", "b": "x", "more": {"c": 2}}', {"a": 1, "n": 3, "b": "x", "more": {"c": 2}}),
        ('{"a": 1, "n": "4"}', {"a": 1, "n": 4}),
    ],
)
async def test_a_tool_with_kwargs_is_asked_with_conversions_and_defaults(gate, written, shown):
    gate.approve_next()
    called = []

    @tool(middleware=[approval_required(client=gate.client)])
    def act(*, a: int, n: int = 3, **more) -> str:
        """Act."""
        more.pop("__ctx__")  # which AG2 hands on too
        called.append({"a": a, "n": n, **more})
        return "done"

    told = await run(Case("", written, tool="act"), [act], {})

    assert gate.asked()[0]["arguments"] == shown, told
    assert called == [shown], told
