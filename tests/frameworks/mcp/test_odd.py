"""MCP: what is shown is what comes back, whatever a model writes."""

import json

import pytest
from mcp import Client

from approval_client.adapters.mcp import Desk
from approval_client.command.mcp_server import server
from approval_client.wire import canonical_json
from tests.frameworks.odd import is_told_to_write_less


def nested(levels):
    return {"a": nested(levels - 1)} if levels else 1


async def call(gate, tool, arguments):
    """Have a host call a tool; return what the tool says."""
    async with Client(server(Desk(gate.client, prompt_s=60))) as client:
        result = await client.call_tool(tool, arguments)
    return json.loads(result.content[0].text)


def asks(kind, content, **more):
    return {"kind": kind, "content": content} | more


def tool_call(value):
    return asks("tool_call", {"tool": "act", "arguments": {"x": value}})


AS_THEY_CAME = {
    "code": asks("code", {"code": "a\r\n\u202e", "language": "python"}),
    "no arguments": asks("tool_call", {"tool": "act", "arguments": {}}),
    "a plan": asks("plan", {"steps": [{"capability": "read", "objective": "Read."}]}),
    "a memory": asks(
        "memory", {"operation": "add", "user_id": "u", "content": "c", "existing": None}
    ),
    "null": tool_call(None),
    "text with JSON": tool_call('{"a": 1}'),
    "20 digits": tool_call(2**64 + 1),
    "4,000 digits": tool_call(10**3999),
    "a double": tool_call(0.1),
    "a name that objects have": tool_call({"__proto__": {}, "": 0, "A ": 1, "a": 2}),
    "nested": tool_call({"a": {"b": [{"c": [[]]}, {}]}}),
    "a pair": tool_call("\U0001f600"),
}
OBJECT = "content must be of type object. It was"
CAUSES = {
    "no content": ({"kind": "code"}, "needs kind, content"),
    "no kind": ({"content": {}}, "needs kind, content"),
    "null": (asks("code", None), f"{OBJECT} null"),
    "a list": (asks("code", ["a"]), f"{OBJECT} a list"),
    "JSON in a text": (asks("code", '{"code": "a"}'), f"{OBJECT} a text: pass the value itself."),
    "cut JSON in a text": (asks("code", '{"code": '), f"{OBJECT} a text"),
    "an empty text": (asks("code", ""), f"{OBJECT} a text"),
    "an empty object": (asks("code", {}), "body.content.code"),
    "evidence in a text": (
        asks("code", {"code": "a"}, evidence='{"a": 1}'),
        "evidence must be of type object. It was a text",
    ),
    "another kind": (asks("Code", {"code": "a"}), "kind must be one of code, tool_call, plan"),
    "the content of another kind": (asks("code", {"steps": []}), "body.content"),
    "another spelling": (asks("code", {"Code": "a"}), "body.content"),
    "a name too many": (asks("code", {"code": "a"}, dry_run=True), "request_approval takes"),
    "code that is a list": (asks("code", {"code": ["a"]}), "body.content.code"),
    "arguments in a text": (
        asks("tool_call", {"tool": "act", "arguments": "{}"}),
        "body.content.arguments",
    ),
    "5,000 digits": (tool_call(10**4999), "content cannot be read: a number has too many digits"),
    "half a pair": (tool_call("\ud800"), "content cannot be read: a text holds half of"),
    "NUL": (tool_call("a\0"), "content cannot be read: a text holds a NUL character"),
    "40 levels": (tool_call(nested(40)), "content cannot be read: something is nested deeper"),
}


@pytest.mark.parametrize("arguments", AS_THEY_CAME.values(), ids=AS_THEY_CAME)
async def test_odd_content_is_shown_as_it_came_and_comes_back_as_it_was_shown(gate, arguments):
    gate.approve_next()

    told = await call(gate, "request_approval", arguments)

    assert told["approved"] is True
    assert list(map(canonical_json, gate.asked())) == [canonical_json(arguments["content"])]
    assert canonical_json(told["content"]) == canonical_json(gate.asked()[0])


@pytest.mark.parametrize(("arguments", "cause"), CAUSES.values(), ids=CAUSES)
async def test_what_cannot_be_asked_is_told_with_its_name_and_cause(gate, arguments, cause):
    told = await call(gate, "request_approval", arguments)

    assert (told["approved"], gate.asked()) == (False, [])
    assert cause in told["reason"]
    assert "again" in told["reason"]
    assert "Do not retry" not in told["reason"]


# The SDK's client writes null for them; other hosts write what they are.
@pytest.mark.parametrize("number", ["NaN", "-Infinity", "1e400"])
async def test_numbers_that_are_not_finite_are_told_with_their_place(gate, number):
    wrong = json.loads(number)
    tools = {
        "content": ("request_approval", tool_call(wrong)),
        "wait_s": ("request_approval", asks("code", {"code": "a"}, wait_s=wrong)),
        "input": ("permission_prompt", {"tool_name": "act", "input": {"a": wrong}}),
    }

    for name, asked in tools.items():
        told = (await Desk(gate.client).call(*asked)).text
        assert f"{name} cannot be read: NaN, Infinity and numbers beyond" in told
    assert gate.asked() == []


async def test_content_that_is_too_large_is_told(gate):
    told = await call(gate, "request_approval", tool_call("x" * 1_200_000))

    assert (told["approved"], gate.asked()) == (False, [])
    assert is_told_to_write_less(told["reason"])


# Claude Code's permission prompt.

INPUT = "input must be of type object. It was"
PROMPTS = {
    "null": (None, f"{INPUT} null"),
    "a list": (["a"], f"{INPUT} a list"),
    "JSON in a text": ('{"a": 1}', f"{INPUT} a text"),
    "20 digits": ({"a": 2**64 + 1}, "arguments.a would become 1.84"),
    "400 digits": ({"a": 10**399 + 1}, "NaN, Infinity and numbers beyond"),
    "5,000 digits": ({"a": 10**4999}, "input cannot be read: a number has too many digits"),
    "half a pair": ({"a": "\ud800"}, "input cannot be read: a text holds half of"),
    "NUL": ({"a": "a\0"}, "input cannot be read: a text holds a NUL"),
    "40 levels": (nested(40), "input cannot be read: something is nested deeper"),
    "1.2 MB": ({"a": "x" * 1_200_000}, "the limit is 1,048,576"),
}


@pytest.mark.parametrize(
    "given", [{}, {"a": None, "A ": '{"b": 1}', "__proto__": [{}]}, {"a": 2**53, "b": 1e21}]
)
async def test_an_odd_input_is_permitted_as_it_was_shown(gate, given):
    gate.approve_next()

    told = await call(gate, "permission_prompt", {"tool_name": "act", "input": given})

    assert canonical_json(told["updatedInput"]) == canonical_json(given)
    assert canonical_json(gate.asked()[0]["arguments"]) == canonical_json(given)


@pytest.mark.parametrize(("given", "cause"), PROMPTS.values(), ids=PROMPTS)
async def test_an_input_that_cannot_be_shown_is_not_permitted(gate, given, cause):
    told = await call(gate, "permission_prompt", {"tool_name": "act", "input": given})

    assert (told["behavior"], gate.asked()) == ("deny", [])
    assert cause in told["message"]


async def test_a_call_without_an_input_is_not_permitted(gate):
    told = await call(gate, "permission_prompt", {"tool_name": "act"})

    assert (told["behavior"], gate.asked()) == ("deny", [])
    assert "needs tool_name, input" in told["message"]
