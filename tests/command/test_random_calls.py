"""Random calls of Claude Code's tools: what was shown and approved is what runs."""

import asyncio
import io
import json
import os
from types import SimpleNamespace

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from approval_client.adapters.mcp import Desk
from approval_client.command import hook
from approval_client.testing import FakeDashboard
from approval_client.wire import canonical_json
from tests.frameworks.random_calls import EXAMPLES

NAMES = st.sampled_from(["command", "description", "timeout", "file_path", "Command", "a ", ""])
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | st.text(max_size=5)
    # half a pair and NUL
    | st.sampled_from(["\ud800", "a\0", "{}", "null", 10**400]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(NAMES, inner, max_size=2),
    max_leaves=4,
)
COMMANDS = st.fixed_dictionaries(
    {"command": st.text(max_size=5)},
    optional={"description": st.text(max_size=5) | VALUES, "timeout": st.integers(0, 9) | VALUES},
)
INPUTS = COMMANDS | st.dictionaries(NAMES, VALUES, max_size=3) | VALUES
TOOLS = st.sampled_from(["Bash", "Write", "mcp__a__b", "bash"]) | st.text(max_size=5)


def check(run):
    """Try many calls; ``run`` returns what Claude Code runs of one, or None if it is denied."""
    count = {"allowed": 0, "denied": 0}

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        derandomize="EXAMPLES" not in os.environ,  # so that a check does not fail by chance
        suppress_health_check=list(HealthCheck),
    )
    @given(TOOLS, INPUTS)
    def what_is_shown_is_what_runs(tool, written):
        fake = FakeDashboard.approving()
        runs = run(fake, tool, written)
        count["denied" if runs is None else "allowed"] += 1
        if runs is not None:
            (approval,) = fake.approvals
            name, arguments = shown(approval)
            assert (tool, saying(runs)) == (name, saying(arguments))

    what_is_shown_is_what_runs()
    assert min(count.values()) > EXAMPLES / 10, count  # it tries both
    print(count)  # noqa: T201 - shown with -s


def shown(approval):
    """Return the tool and the input that people see, a command with what stands beside it."""
    content, evidence = approval.content, approval.body.get("evidence", {})
    if approval.body["kind"] == "tool_call":
        return [content["tool"], content["arguments"]]
    assert content["language"] == "bash"
    limit = {"timeout": evidence["timeout_ms"]} if "timeout_ms" in evidence else {}
    said = approval.body.get("objective", "")
    return ["Bash", {"command": content["code"], "description": said, **limit}]


def saying(arguments):
    """Return an input as text, without a description that says nothing."""
    empty = ("description", "")
    return canonical_json(
        {name: arguments[name] for name in arguments if (name, arguments[name]) != empty}
    )


def test_the_hook(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))

    def run(fake, tool, written):
        event = {"hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": written}
        text = json.dumps(event).encode()
        monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(text)))
        try:
            with fake.installed():
                answer = asyncio.run(hook._answer(50, hook.Question()))
        except Exception as error:  # noqa: BLE001 - main() makes a denial of whatever it is
            answer = hook.claude_code.deny(hook._why(error))
        told = answer["hookSpecificOutput"]
        assert told.get("updatedInput") is None
        assert told["permissionDecisionReason"]
        if told["permissionDecision"] == "deny":
            assert "failed" not in told["permissionDecisionReason"]
            return None
        return written

    check(run)


def test_the_permission_prompt():
    def run(fake, tool, written):
        desk = Desk(fake.async_client())
        arguments = {"tool_name": tool, "input": written}
        told = json.loads(asyncio.run(desk.call("permission_prompt", arguments)).text)
        if told["behavior"] == "deny":
            assert told["message"]
            assert "failed" not in told["message"]
            return None
        return told["updatedInput"]

    check(run)
