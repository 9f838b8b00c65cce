"""Nothing but an approval that was started ends with 0."""

import pytest

import approval_client as library
from approval_client import DashboardError, RequestRefused
from approval_client.command.codes import Code, code_of_error, code_of_status
from approval_client.wire import Status

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
