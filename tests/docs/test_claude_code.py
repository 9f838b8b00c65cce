"""The page about Claude Code: its settings are such that the hook can do its work."""

import json
import re

from approval_client.adapters.mcp import DEFAULT_PROMPT_S, PROMPT
from approval_client.command.hook import DEFAULT_S, LONGEST_S, SHORTEST_S
from tests.docs.reading import ROOT

TEXT = (ROOT / "docs" / "frameworks" / "claude_code.md").read_text()
SETTINGS, SERVERS = map(
    json.loads, re.findall(r"^```json\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)
)
[GROUP] = SETTINGS["hooks"]["PreToolUse"]
[HOOK] = GROUP["hooks"]


def test_the_hook_of_the_settings_answers_before_its_own_time_is_over():
    answers_after_s = int(re.search(r"--timeout (\d+)", HOOK["command"])[1])

    assert SHORTEST_S <= answers_after_s <= HOOK["timeout"] - 10
    assert HOOK["command"].endswith("|| exit 2")


def test_the_settings_name_the_tools_that_change_something():
    matched = re.compile(GROUP["matcher"])

    for tool in ("Bash", "Write", "Edit", "NotebookEdit", "mcp__controls__channel_write"):
        assert matched.fullmatch(tool)


def test_the_limits_of_the_hook_are_those_that_are_told():
    limits = f"(the default is {DEFAULT_S}; {SHORTEST_S} to {LONGEST_S:,})"
    assert limits in " ".join(TEXT.split())


def test_the_permission_prompt_is_called_by_its_name():
    [name] = SERVERS["mcpServers"]

    assert f"--permission-prompt-tool mcp__{name}__{PROMPT}\n" in TEXT
    assert SERVERS["mcpServers"][name]["args"] == ["mcp", "--timeout", str(DEFAULT_PROMPT_S)]
