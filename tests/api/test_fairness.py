"""A token that asks too much of a process is told when to come again; others are not slowed."""

import json

import pytest

from dashboard.api import fairness
from dashboard.api.fairness import FairShare

SUBMIT = ("POST", "/api/v1/approvals")
LOOK = ("GET", "/api/v1/decisions")
MIB = 1024 * 1024


class Door:
    """The middleware with a clock that stands still, and an application that reads its body."""

    def __init__(self):
        self.now = 0.0
        self.reached = 0
        self.fair = FairShare(self._app, lambda: self.now, slow_s=0)

    async def _app(self, _scope, receive, send):
        self.reached += 1
        await receive()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"{}"})

    async def ask(self, what=SUBMIT, token="one", size=100, scheme="Bearer"):
        """Ask as a token does; returns the status, when to come again, and the problem."""
        sent = []

        async def receive():
            return {"type": "http.request", "body": b"x" * size, "more_body": False}

        async def send(message):
            sent.append(message)

        headers = [(b"authorization", f"{scheme} {token}".encode())] if token else []
        method, path = what
        scope = {"type": "http", "method": method, "path": path, "headers": headers}
        await self.fair(scope, receive, send)
        start, body = sent
        retry_after = dict(start["headers"]).get(b"retry-after")
        return start["status"], retry_after and int(retry_after), json.loads(body["body"])

    async def passed(self, times, *args, **kwargs):
        return [(await self.ask(*args, **kwargs))[0] for _ in range(times)].count(200)


@pytest.fixture
def door(settings):
    settings.REQUESTS_PER_MINUTE = 300
    settings.KIB_PER_MINUTE = 2048
    return Door()


async def test_a_submission_costs_five_of_a_minutes_requests(door):
    assert await door.passed(100) == 60
    assert door.reached == 60


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "bEaReR"])
async def test_a_token_has_one_share_however_its_scheme_is_spelled(door, scheme):
    await door.passed(60)

    assert (await door.ask(scheme=scheme))[0] == 429


async def test_what_is_over_the_share_is_told_what_was_not_done_and_when_to_come_again(door):
    await door.passed(60)

    status, retry_after_s, problem = await door.ask()

    assert (status, retry_after_s, problem["code"]) == (429, 1, "too_many_requests")
    assert problem["detail"].startswith("This token has used up its share of this server. Nothing")


async def test_a_refusal_takes_as_long_as_the_share_needs_but_not_for_ever(door, monkeypatch):
    slept = []

    async def sleep(seconds):
        slept.append(seconds)

    monkeypatch.setattr(fairness.asyncio, "sleep", sleep)
    door.fair = FairShare(door._app, lambda: door.now, slow_s=0.5)
    await door.passed(62)

    assert slept == [0.5, 0.5]


async def test_the_share_comes_back_at_an_even_rate(door):
    await door.passed(60)

    door.now = 6  # seconds: a tenth of a minute, a tenth of the share
    assert await door.passed(60) == 6


async def test_more_than_a_share_is_never_saved_up(door):
    door.now = 3600

    assert await door.passed(100) == 60


async def test_another_token_is_not_slowed(door):
    await door.passed(100)

    assert await door.passed(60, token="other") == 60


async def test_who_sends_large_bodies_waits_for_what_they_took(door):
    assert await door.passed(10, size=MIB) == 2

    status, retry_after_s, _ = await door.ask(size=1)
    assert (status, retry_after_s) == (429, 1)
    door.now = 31
    assert (await door.ask(size=1))[0] == 200


async def test_one_request_of_any_other_kind_costs_one(door):
    assert await door.passed(400, LOOK) == 300


async def test_people_and_who_shows_no_token_are_not_counted(door):
    assert await door.passed(400, ("GET", "/")) == 400
    assert await door.passed(400, LOOK, token="") == 400


async def test_no_more_shares_are_kept_than_a_server_can_hold(door):
    for number in range(10_100):
        await door.ask(token=str(number))

    assert len(door.fair._kept) == 10_000
