"""The page about the command: nothing that can be given or ended with is missing."""

import json
import re

import pytest
import typer

from dashboard.cli.codes import Code
from dashboard.cli.commands import app
from dashboard.cli.hook import DEFAULT_S, LONGEST_S, SHORTEST_S
from tests.docs.reading import ROOT, cells

PAGE = ROOT / "docs" / "command.md"
TEXT = PAGE.read_text()
COMMANDS = typer.main.get_command(app).commands
SETTINGS = json.loads(re.search(r"^```json\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)[1])
[GROUP] = SETTINGS["hooks"]["PreToolUse"]
[HOOK] = GROUP["hooks"]


def test_every_command_is_named():
    assert [name for name in COMMANDS if f"approvals {name}" not in TEXT] == []


@pytest.mark.parametrize("command", COMMANDS.values(), ids=list(COMMANDS))
def test_every_option_is_named(command):
    named = set(re.findall(r"--[a-z-]+", TEXT))
    options = {text for param in command.params for text in param.opts if text[:2] == "--"}

    assert options - named == set()


def test_every_exit_code_has_a_line():
    documented = {int(name) for name in cells(PAGE) if name.isdigit()}

    assert documented == {*map(int, Code), 2}


def test_the_hook_of_the_settings_answers_before_its_own_time_is_over():
    answers_after_s = int(re.search(r"--timeout (\d+)", HOOK["command"])[1])

    assert SHORTEST_S <= answers_after_s <= HOOK["timeout"] - 10
    assert HOOK["command"].endswith("|| exit 2")


def test_the_settings_name_the_tools_that_change_something():
    matched = re.compile(GROUP["matcher"])

    for tool in ("Bash", "Write", "Edit", "NotebookEdit", "mcp__controls__channel_write"):
        assert matched.fullmatch(tool)


def test_the_limits_of_the_hook_are_those_that_are_told():
    assert f"({DEFAULT_S} if you do\n  not say; {SHORTEST_S} to {LONGEST_S:,})" in TEXT
