"""LangChain: what is shown is what is called, whatever a model writes."""

import json
from typing import Annotated

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain.tools import InjectedState, InjectedToolCallId, tool
from langchain_core.messages import AIMessage
from langchain_core.tools import StructuredTool, Tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from pydantic import AfterValidator, BaseModel

from tests.frameworks.langchain.test_adapter import MODES, PER_CALL, Model, read, resume
from tests.frameworks.langgraph.test_adapter import THREAD
from tests.frameworks.odd import CASES, LARGE, Case, Tools, is_told_to_write_less


def _read(case):
    try:
        return json.loads(case.written or "{}")
    except ValueError:
        return None


# LangChain itself reads the text, and makes no call of what is no JSON object. Of a name that
# stands there twice it keeps one, and of 1e-400 zero.
# LangGraph's checkpoint holds no integer of more than 64 bits, and "?" for half a pair.
OTHERS = {"a name twice", "64 bits", "half a pair", "too small"}
READ = [one for one in CASES if isinstance(_read(one), dict) and one.name not in OTHERS]


def agent_of(case, tools, **mode):
    """An agent whose model has made the call of a case, and that waits for the answer."""
    names = [getattr(one, "name", None) or one.__name__ for one in tools]
    asks = HumanInTheLoopMiddleware(interrupt_on=dict.fromkeys(names, True), **mode)
    call = {"name": case.tool, "args": _read(case), "id": "c1", "type": "tool_call"}
    model = Model(messages=iter([AIMessage("", tool_calls=[call]), AIMessage("done")]))
    agent = create_agent(model, tools, middleware=[asks], checkpointer=InMemorySaver())
    agent.invoke({"messages": [("user", "Go.")]}, THREAD)
    return agent


@MODES
@pytest.mark.parametrize("case", READ, ids=lambda case: case.name)
def test_what_is_shown_is_called_or_the_model_is_told(gate, case, mode):
    gate.approve_next()
    tools = Tools(tool)

    (told,) = read(resume(agent_of(case, tools.all, **mode), gate))

    if case.told:
        assert (gate.asked(), tools.called) == ([], [])
        assert case.told in told
        assert "Nobody was asked and nothing was run. Call the tool again" in told
    else:
        assert gate.asked() == [{"tool": case.tool, "arguments": case.asked}]
        assert tools.called == [case.asked]


def test_of_a_batch_the_call_that_cannot_be_asked_is_told_and_the_others_are_asked(gate):
    gate.approve_next()
    tools = Tools(tool)
    calls = [
        {"name": "count", "args": {"m": 1}, "id": "c1", "type": "tool_call"},
        {"name": "count", "args": {"n": 2}, "id": "c2", "type": "tool_call"},
    ]
    agent = batch_of(calls, tools.all, "count")

    told = read(resume(agent, gate))

    assert tools.called == [{"n": 2}]
    assert any("does not take 'm'" in one for one in told)
    assert "done" in told


def batch_of(calls, tools, *names):
    model = Model(messages=iter([AIMessage("", tool_calls=calls), AIMessage("done")]))
    asks = HumanInTheLoopMiddleware(interrupt_on=dict.fromkeys(names, True))
    agent = create_agent(model, tools, middleware=[asks], checkpointer=InMemorySaver())
    agent.invoke({"messages": [("user", "Go.")]}, THREAD)
    return agent


def test_what_the_model_wrote_stands_beside_what_the_tool_is_called_with(gate):
    gate.approve_next()

    resume(agent_of(Case("", '{"n": "5"}', tool="count"), Tools(tool).all), gate)

    assert gate.asked()[0]["arguments"] == {"n": 5}
    assert gate.evidence()[0]["written_by_the_model"] == {"n": "5"}


def test_the_schema_and_the_hints_of_the_tool_go_with_the_question(gate):
    gate.approve_next()

    @tool
    def count(n: int) -> str:
        """Count."""
        return str(n)

    count.metadata = {"readOnlyHint": True, "_meta": {}}  # as langchain-mcp-adapters keeps them

    resume(agent_of(Case("", '{"n": 5}', tool="count"), [count]), gate)

    schema = gate.evidence()[0]["tool_schema"]
    assert schema["properties"]["n"]["type"] == "integer"
    assert gate.evidence()[0]["tool_annotations"] == {"readOnlyHint": True}


def paying(called):
    @tool
    def pay(
        amount: int,
        state: Annotated[dict, InjectedState],
        call: Annotated[str, InjectedToolCallId],
    ) -> str:
        """Pay."""
        called.append((amount, call, len(state["messages"])))
        return "paid"

    return pay


def test_what_langchain_injects_is_not_shown(gate):
    gate.approve_next()
    called = []

    resume(agent_of(Case("", '{"amount": 1}', tool="pay"), [paying(called)]), gate)

    assert gate.asked() == [{"tool": "pay", "arguments": {"amount": 1}}]
    assert called == [(1, "c1", 2)]


@pytest.mark.parametrize("name", ["state", "call"])
def test_a_model_cannot_write_what_langchain_injects(gate, name):
    called = []
    case = Case("", '{"amount": 1, "' + name + '": "eve"}', tool="pay")

    (told,) = read(resume(agent_of(case, [paying(called)]), gate))

    assert f"does not take {name!r}. It takes 'amount'." in told
    assert (gate.asked(), called) == ([], [])


def test_a_tool_of_an_agent_within_a_graph_is_bound_too(gate):
    gate.approve_next()
    tools = Tools(tool)
    call = {"name": "purge", "args": {"dry_run": True}, "id": "c1", "type": "tool_call"}
    model = Model(messages=iter([AIMessage("", tool_calls=[call]), AIMessage("done")]))
    asks = HumanInTheLoopMiddleware(interrupt_on={"purge": True})
    inner = create_agent(model, tools.all, middleware=[asks])
    graph = StateGraph(MessagesState).add_node("agent", inner).add_edge(START, "agent")
    graph = graph.compile(checkpointer=InMemorySaver())
    graph.invoke({"messages": [("user", "Go.")]}, THREAD)

    (told,) = read(resume(graph, gate))

    assert "does not take 'dry_run'" in told
    assert (gate.asked(), tools.called) == ([], [])


def deleting(calls, keep_days, args=None, **mode):
    """An agent that wants to delete, by a tool with a default of its own."""

    def delete(path: str, keep_days: int = keep_days) -> str:
        """Delete."""
        calls.append((path, keep_days))
        return "deleted"

    call = {"name": "delete", "args": args or {"path": "x"}, "id": "i1", "type": "tool_call"}
    model = Model(messages=iter([AIMessage("", tool_calls=[call]), AIMessage("done")]))
    asks = HumanInTheLoopMiddleware(interrupt_on={"delete": True}, **mode)
    return create_agent(model, [delete], middleware=[asks])


def with_a_helper(helper, keep_days, **mode):
    """An agent that has such a tool too, and the helper behind another tool."""

    def delete(path: str, keep_days: int = keep_days) -> str:
        """Delete."""
        raise AssertionError(path)

    def research(query: str) -> str:
        """Research."""
        return helper.invoke({"messages": [("user", query)]})["messages"][-1].content

    call = {"name": "research", "args": {"query": "x"}, "id": "o1", "type": "tool_call"}
    model = Model(messages=iter([AIMessage("", tool_calls=[call]), AIMessage("done")]))
    asks = HumanInTheLoopMiddleware(interrupt_on={"delete": True}, **mode)
    saver = InMemorySaver()
    agent = create_agent(model, [delete, research], middleware=[asks], checkpointer=saver)
    agent.invoke({"messages": [("user", "Go.")]}, THREAD)
    return agent


@MODES
def test_the_defaults_of_another_tool_of_that_name_are_not_shown(gate, mode):
    calls = []
    gate.approve_next()

    resume(with_a_helper(deleting(calls, 7, **mode), 30, **mode), gate)

    shown = gate.asked()[0]["arguments"]
    assert calls == [("x", 7)]
    assert shown == ({"path": "x", "keep_days": 7} if mode else {"path": "x"})
    assert "may ignore arguments" in gate.evidence()[0]["tool_out_of_sight"]


@pytest.mark.parametrize("mode", [PER_CALL])
def test_a_name_that_the_tool_of_a_hidden_agent_drops_is_not_asked(gate, mode):
    calls = []
    helper = deleting(calls, 7, {"path": "x", "dry_run": True}, **mode)

    resume(with_a_helper(helper, 30, **mode), gate)

    assert (gate.asked(), calls) == ([], [])


@MODES
def test_of_two_agents_each_is_asked_with_the_defaults_of_its_own_tool(gate, mode):
    calls = []
    graph = StateGraph(MessagesState)
    graph.add_node("a", deleting(calls, 7, **mode)).add_node("b", deleting(calls, 30, **mode))
    graph = graph.add_edge(START, "a").add_edge("a", "b").compile(checkpointer=InMemorySaver())
    graph.invoke({"messages": [("user", "Go.")]}, THREAD)
    gate.approve_next()
    gate.approve_next()

    resume(graph, gate)

    assert calls == [("x", 7), ("x", 30)]
    assert [one["arguments"]["keep_days"] for one in gate.asked()] == [7, 30]
    assert not any("tool_out_of_sight" in evidence for evidence in gate.evidence())


def test_a_call_that_is_too_large_is_told_and_the_others_are_asked(gate):
    gate.approve_next()
    tools = Tools(tool)
    calls = [
        {"name": "purge", "args": json.loads(LARGE), "id": "c1"},
        {"name": "count", "args": {"n": 2}, "id": "c2"},
    ]
    calls = [{**call, "type": "tool_call"} for call in calls]

    told = read(resume(batch_of(calls, tools.all, "count", "purge"), gate))

    assert tools.called == [{"n": 2}]
    assert [is_told_to_write_less(one) for one in told].count(True) == 1


class Known(BaseModel):
    a: int


def test_a_default_that_the_authors_schema_leaves_out_is_shown(gate):
    gate.approve_next()
    called = []

    def act(a: int, mode: str = "hard") -> str:
        """Act."""
        called.append((a, mode))
        return "done"

    made = StructuredTool.from_function(act, args_schema=Known)

    resume(agent_of(Case("", '{"a": 1}', tool="act"), [made]), gate)

    assert gate.asked()[0]["arguments"] == {"a": 1, "mode": "hard"}
    assert called == [(1, "hard")]


def test_an_edit_leaves_a_default_that_nobody_changed_to_the_tool(gate):
    gate.edit_next({"tool": "act", "arguments": {"a": 2, "tag": None}})
    called = []

    @tool
    def act(a: int, tag: str = None) -> str:  # noqa: RUF013 - as people write it
        """Act."""
        called.append((a, tag))
        return "done"

    resume(agent_of(Case("", '{"a": 1}', tool="act"), [act]), gate)

    assert called == [(2, None)]


def various(called):
    @tool
    def act(a: int, *, mode: str = "soft", **kwargs: str) -> str:
        """Act."""
        called.append((a, mode, kwargs))
        return "done"

    return act


def test_a_name_that_langchain_would_drop_before_kwargs_is_not_asked(gate):
    gate.approve_next()
    called = []
    case = Case("", '{"a": 1, "dry_run": true}', tool="act")

    (told,) = read(resume(agent_of(case, [various(called)]), gate))

    assert "does not take 'dry_run'" in told
    assert (gate.asked(), called) == ([], [])


def test_a_tool_with_kwargs_is_asked_with_its_defaults(gate):
    gate.approve_next()
    called = []

    resume(agent_of(Case("", '{"a": 1}', tool="act"), [various(called)]), gate)

    assert gate.asked()[0]["arguments"] == {"a": 1, "mode": "soft"}
    assert called == [(1, "soft", {})]


def test_a_client_that_the_author_gave_as_a_default_is_not_shown(gate):
    gate.approve_next()

    def act(a: int, client: object = object()) -> str:
        """Act."""
        return "done"

    made = StructuredTool.from_function(act, args_schema=Known)

    (told,) = read(resume(agent_of(Case("", '{"a": 1}', tool="act"), [made]), gate))

    assert (told, gate.asked()[0]["arguments"]) == ("done", {"a": 1})


def test_beside_a_validator_the_defaults_are_shown(gate):
    gate.approve_next()
    called = []

    @tool
    def act(
        path: Annotated[str, AfterValidator(str.lower)],
        *,
        force: bool = True,
        **kwargs: str,
    ) -> str:
        """Act."""
        called.append((path, force, kwargs))
        return "done"

    resume(agent_of(Case("", '{"path": "A"}', tool="act"), [act]), gate)

    assert gate.asked()[0]["arguments"] == {"path": "A", "force": True}
    assert called == [("a", True, {})]


def with_more(a: int, *rest: int) -> str:
    """Act."""
    return "done"


def with_self(self: str, a: int) -> str:
    """Act."""
    return "done"


def by_position(a: int, /) -> str:
    """Act."""
    return "done"


def by_number(a: float) -> str:
    """Act."""
    return "done"


OPEN = {"type": "object", "properties": {"a": {"type": "number"}}}


@pytest.mark.parametrize(
    ("function", "schema", "args"),
    [
        (with_more, None, {"a": 1, "rest": [2]}),
        (with_self, None, {"self": "s", "a": 1}),
        (by_position, None, {"a": 1}),
        (by_number, OPEN, {"A": 1}),
        (by_number, OPEN, {}),
    ],
    ids=["more of them", "self", "by position", "another name", "missing"],
)
def test_a_call_that_would_end_the_run_after_the_approval_is_not_asked(
    gate, function, schema, args
):
    gate.approve_next()
    made = tool("act", args_schema=schema)(function) if schema else tool("act")(function)
    case = Case("", json.dumps(args), tool="act")

    (told,) = read(resume(agent_of(case, [made]), gate))

    assert gate.asked() == []
    assert "Nobody was asked and nothing was run." in told


@pytest.mark.parametrize(
    ("args", "asked"),
    [
        ({"__arg1": "ls"}, {"max_wait_s": 5, "__arg1": "ls"}),
        ({"a": "ls", "b": "-l"}, None),
        ({}, None),
    ],
    ids=["one", "two", "none"],
)
def test_a_tool_that_takes_one_text_is_asked_with_one(gate, args, asked):
    gate.approve_next()
    called = []

    def run(command, max_wait_s=5):
        called.append((command, max_wait_s))
        return "done"

    made = Tool("act", run, "Run a command.")

    resume(agent_of(Case("", json.dumps(args), tool="act"), [made]), gate)

    assert [one["arguments"] for one in gate.asked()] == ([asked] if asked else [])
    assert called == ([("ls", 5)] if asked else [])
