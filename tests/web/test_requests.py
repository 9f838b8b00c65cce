"""Each request has an id, and one line in the log."""

import logging
from importlib import import_module

import pytest

from tests.web.raw import ask

pytestmark = pytest.mark.django_db


@pytest.fixture
def lines(caplog):
    """What was logged of requests."""
    import_module("dashboard.asgi")  # it sets logging up anew
    caplog.set_level(logging.INFO, logger="dashboard.requests")
    return lambda: [
        record.getMessage() for record in caplog.records if record.name == "dashboard.requests"
    ]


async def test_a_request_has_a_line_without_its_query_and_an_id(lines):
    status, headers, _ = await ask("/api/v1/nothing")

    assert status == 404
    [line] = lines()
    assert line.startswith("GET /api/v1/nothing 404 ")
    assert len(headers[b"x-request-id"]) == 16


async def test_whoever_watches_leaves_no_line(lines):
    await ask("/healthz")

    assert lines() == []


async def test_a_path_with_a_line_break_is_one_line(lines):
    await ask("/api/v1/a\nGET /evil 200")

    assert lines()[0].startswith("GET /api/v1/a\\nGET /evil 200 404 ")


@pytest.mark.parametrize(("proxies", "is_kept"), [(0, False), (1, True)])
async def test_the_id_of_a_trusted_proxy_is_kept(settings, proxies, is_kept):
    settings.PROXY_COUNT = proxies
    _, headers, _ = await ask("/healthz", headers={"X-Request-ID": "from-the-proxy.1"})

    assert (headers[b"x-request-id"] == b"from-the-proxy.1") is is_kept


@pytest.mark.parametrize("sent", ["", "a b", "x" * 65, "\u00e9"])
async def test_an_id_that_could_not_be_one_is_replaced(settings, sent):
    settings.PROXY_COUNT = 1
    _, headers, _ = await ask("/healthz", headers={"X-Request-ID": sent})

    assert len(headers[b"x-request-id"]) == 16


async def test_a_long_path_is_cut(lines):
    await ask("/api/v1/" + "a" * 5000)

    assert len(lines()[0]) < 400
