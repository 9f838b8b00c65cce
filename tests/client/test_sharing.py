"""Clients that are copied, pickled, or used where they would stop an event loop."""

import copy
import pickle
import warnings

import pytest

from approval_client import AsyncClient, Client
from approval_client.testing import FakeDashboard

MAKES = pytest.mark.parametrize("make", [Client, AsyncClient])
TOKEN = "dash_secret"


@pytest.fixture
def environment(monkeypatch):
    monkeypatch.setenv("DASHBOARD_URL", "http://localhost:8765")
    monkeypatch.setenv("DASHBOARD_TOKEN", TOKEN)


@MAKES
def test_a_client_of_the_environment_is_pickled_without_its_token(make, environment, monkeypatch):
    written = pickle.dumps(make())
    monkeypatch.setenv("DASHBOARD_URL", "http://localhost:9999")

    assert TOKEN.encode() not in written
    assert repr(pickle.loads(written)) == f"{make.__name__}('http://localhost:9999')"  # noqa: S301 - our own


@MAKES
@pytest.mark.parametrize(
    "given", [{"token": "dash_x"}, {"url": "http://localhost:1"}, {"on_pending": print}]
)
def test_one_that_was_given_something_says_why_it_is_not(make, environment, given):
    with pytest.raises(
        TypeError, match=r"a token must not end up in a file\. Nothing was written"
    ):
        pickle.dumps(make(**given))


@MAKES
def test_one_that_tells_is_not_pickled_either(make, environment):
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(make().telling(on_decided=print))


@MAKES
@pytest.mark.parametrize("how", [copy.copy, copy.deepcopy])
def test_a_copy_is_the_same_client(make, environment, how):
    client = make()

    assert how({"client": client})["client"] is client


async def test_a_blocking_client_in_a_running_loop_warns_and_names_the_callers_line(question):
    fake = FakeDashboard.approving()

    with pytest.warns(RuntimeWarning, match=r"Use AsyncClient") as caught:
        assert fake.client().request_approval(question).approved is True

    assert [one.filename for one in caught] == [__file__]


def test_without_a_loop_it_does_not(question):
    with warnings.catch_warnings():
        warnings.simplefilter("error")

        assert FakeDashboard.approving().client().request_approval(question).approved is True
