"""MCP: whatever is approved comes back as it was shown."""

import asyncio
import json
import math
import os

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mcp import Client

from approval_client.adapters.mcp import Desk
from approval_client.command.mcp_server import server
from approval_client.testing import FakeDashboard, approve
from approval_client.wire import EDITABLE, Kind, canonical_json
from tests.frameworks.random_calls import EXAMPLES, ODD, TEXTS

VALUES = st.recursive(
    ODD | st.sampled_from(["\ud800", "\0", 10**400]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXTS, inner, max_size=2),
    max_leaves=4,
)
GOOD = {
    Kind.CODE: st.fixed_dictionaries({"code": st.text(max_size=8)}, optional={"language": TEXTS}),
    Kind.TOOL_CALL: st.fixed_dictionaries(
        {"tool": TEXTS, "arguments": st.dictionaries(TEXTS, VALUES, max_size=3)}
    ),
    Kind.PLAN: st.fixed_dictionaries(
        {"steps": st.lists(st.fixed_dictionaries({"capability": TEXTS, "objective": TEXTS}))}
    ),
    Kind.MEMORY: st.fixed_dictionaries(
        {"operation": st.sampled_from(["add", "Add"]), "user_id": TEXTS, "content": TEXTS},
        optional={"existing": st.none() | TEXTS},
    ),
}
EDITS = {
    Kind.CODE: TEXTS.filter(bool),
    Kind.TOOL_CALL: st.dictionaries(TEXTS, st.floats(0, 1) | st.integers(0, 2**70), max_size=2),
    Kind.MEMORY: TEXTS.filter(bool),
}


@st.composite
def calls(draw):
    """Draw what a model writes, and what a person makes of it or None."""
    kind = draw(st.sampled_from(list(Kind)))
    content = draw(GOOD[kind])
    spoilt = st.sampled_from([json.dumps(content), None, [content], content | {"x": 1}])
    written = draw(spoilt if draw(st.integers(0, 7)) == 0 else st.just(content))
    edit = draw(EDITS[kind]) if kind in EDITS and draw(st.booleans()) else None
    return kind, written, None if edit is None else {**content, EDITABLE[kind]: edit}


def test_what_is_shown_is_what_comes_back():
    count = {"approved": 0, "told": 0}

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        derandomize="EXAMPLES" not in os.environ,  # so that a check does not fail by chance
        suppress_health_check=list(HealthCheck),
    )
    @given(calls())
    def what_is_shown_is_what_comes_back(call):
        kind, written, edit = call
        fake = FakeDashboard.scripted(approve(content=edit))
        told = asyncio.run(ask(fake, kind, written, accepts_edits=edit is not None))
        count["approved" if told["approved"] else "told"] += 1
        if not told["approved"]:
            assert told["reason"]
            assert "failed" not in told["reason"]
            return
        (approval,) = fake.approvals
        assert canonical_json(approval.body["content"]) == canonical_json(sent(written))
        shown = edit if told["edited"] else approval.content
        assert canonical_json(told["content"]) == canonical_json(shown)
        assert ("A person changed this" in told["next"]) is told["edited"]

    what_is_shown_is_what_comes_back()
    assert min(count.values()) > EXAMPLES / 10, count  # it tries both
    print(count)  # noqa: T201 - shown with -s


def sent(value):
    """Return what the SDK's client sends: null for numbers that are not finite."""
    match value:
        case dict():
            return {name: sent(item) for name, item in value.items()}
        case list():
            return list(map(sent, value))
        case float() if not math.isfinite(value):
            return None
    return value


async def ask(fake, kind, content, **more):
    async with Client(server(Desk(fake.async_client()))) as client:
        arguments = {"kind": str(kind), "content": content} | more
        result = await client.call_tool("request_approval", arguments)
    return json.loads(result.content[0].text)
