"""The page about the command: nothing that can be given or ended with is missing."""

import re

import pytest
import typer

from approval_client.command.codes import Code
from approval_client.command.commands import app
from tests.docs.reading import ROOT, cells

PAGE = ROOT / "docs" / "command.md"
TEXT = PAGE.read_text()
COMMANDS = typer.main.get_command(app).commands


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
