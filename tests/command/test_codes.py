"""Nothing but an approval that was started ends with 0."""

import pytest
import typer

import approval_client as library
from approval_client import DashboardError, RequestRefused
from approval_client.command.codes import Code, code_of_error, code_of_status
from approval_client.command.commands import app
from approval_client.wire import Status

COMMANDS = typer.main.get_command(app).commands
ERRORS = [
    e for e in vars(library).values() if isinstance(e, type) and issubclass(e, DashboardError)
]


@pytest.mark.parametrize("status", [None, *Status])
def test_no_status_is_enough_by_itself(status):
    assert code_of_status(status) is not Code.APPROVED


@pytest.mark.parametrize("kind", ERRORS, ids=lambda kind: kind.__name__)
def test_no_error_opens(kind):
    error = kind("x", code="invalid") if kind is RequestRefused else kind("x")

    assert code_of_error(error) not in {Code.APPROVED, Code.PENDING}


@pytest.mark.parametrize("error", [ValueError("x"), TypeError("x"), RuntimeError("x")])
def test_anything_else_does_not_open_either(error):
    assert code_of_error(error) is Code.REFUSED


def test_every_code_is_its_own_and_is_not_one_that_usage_has():
    assert len({*Code}) == len(Code.__members__)
    assert {1, 2} & {*map(int, Code)} == set()


@pytest.mark.parametrize("name", sorted(COMMANDS.keys() - {"hook"}))  # which answers with a denial
def test_no_help_of_a_command_opens(unreachable, name):
    done = unreachable(name, "--help")

    assert (done.code, "usage: " in done.output.lower()) == (2, True)


@pytest.mark.parametrize(("words", "code"), [(["--help"], 0), (["--help", "wait"], 2)])
def test_only_the_help_of_all_commands_ends_with_0(unreachable, words, code):
    assert unreachable(*words).code == code


@pytest.mark.parametrize("name", ["wait", "show", "cancel"])
def test_behind_two_dashes_a_help_is_an_id_that_nobody_has(approving, name):
    assert approving(name, "--", "--help").code == 96
