"""``approvals mcp`` where it cannot work; what it does is in tests/frameworks/mcp."""

import asyncio
from contextlib import suppress

import pytest

from approval_client.adapters.mcp import Desk
from approval_client.testing import FakeDashboard


@pytest.mark.parametrize("missing", ["mcp_types", "typer"])
def test_without_the_extra_it_says_so_in_a_sentence_and_serves_nothing(unreachable, missing):
    place = unreachable.folder / "broken"
    place.mkdir()
    (place / f"{missing}.py").write_text("raise ImportError")
    path = f"{place}:{unreachable.environment['PYTHONPATH']}"

    done = unreachable("mcp", env=unreachable.environment | {"PYTHONPATH": path})

    assert (done.code, done.output) == (98, "")
    assert "pip install -e './client[mcp]'" in done.errors


@pytest.mark.parametrize("wrong", [("--timeout", "4"), ("--wait", "0"), ("--port", "80")])
def test_a_wrong_option_serves_nothing(unreachable, wrong):
    done = unreachable("mcp", *wrong)

    assert (done.code, done.output) == (2, "")


async def test_a_limit_that_is_over_while_an_approval_is_used_loses_nothing(monkeypatch):
    fake, limits, wait_s = FakeDashboard.approving("Fine."), {}, 1234.5
    on_time, make = fake._route, asyncio.timeout

    def timeout(seconds):
        limits[seconds] = make(None if seconds == wait_s else seconds)
        return limits[seconds]

    def at_the_limit(call):
        if call.url.path.endswith("/outcome"):
            with suppress(RuntimeError):  # it is over
                limits[wait_s].reschedule(0)
            yield
        return (yield from on_time(call))

    monkeypatch.setattr(asyncio, "timeout", timeout)
    fake._route = at_the_limit

    desk = Desk(fake.async_client(), wait_s=wait_s)
    told = await desk.call("request_approval", {"kind": "code", "content": {"code": "pay()"}})

    assert wait_s in limits
    assert (told.fields["approved"], told.fields["reason"]) == (True, "Fine.")
