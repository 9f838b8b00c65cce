"""What the docs show, Claude Code's page too, passes two type checkers."""

from tests.frameworks.typed import problems, shown, write

PROMISED = """
from claude_agent_sdk import ClaudeAgentOptions

from approval_client.adapters.claude_code import can_use_tool

ClaudeAgentOptions(can_use_tool=can_use_tool())
"""


def test_what_the_docs_show_is_typed(tmp_path):
    assert problems(tmp_path, shown(tmp_path)) == []


def test_the_sdk_takes_what_is_returned(tmp_path):
    assert problems(tmp_path, [write(tmp_path / "promised.py", PROMISED)]) == []
