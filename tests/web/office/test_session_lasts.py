"""How long a session lasts: while its person uses it, and never longer than a day."""

from datetime import timedelta

import pytest
from django.contrib.sessions.models import Session
from django.utils import timezone

from tests import make

IDLE_S, LONGEST_S = 8 * 3600, 24 * 3600
MINUTE_S = 60
ELSEWHERE = "http://127.0.0.1:8888/"  # such as an agent's own page, which the session reaches
FROM_OURS = {"Accept": "text/html", "Referer": "http://127.0.0.1:8000/"}


class Clock:
    """What time it is for sessions, in seconds since now."""

    def __init__(self, monkeypatch):
        self._began, self.passed_s = timezone.now(), 0
        monkeypatch.setattr("dashboard.web.middleware.time.time", self.time)
        monkeypatch.setattr("django.utils.timezone.now", self.now)
        monkeypatch.setattr("django.contrib.sessions.backends.base.timezone.now", self.now)

    def now(self):
        return self._began + timedelta(seconds=self.passed_s)

    def time(self):
        return self.now().timestamp()

    def passes(self, seconds):
        self.passed_s += seconds


@pytest.fixture
def clock(monkeypatch):
    return Clock(monkeypatch)


@pytest.fixture
def person(alice, browser, clock):
    """The browser of somebody who has just signed in."""
    client = browser()
    client.post("/sign-in", {"username": "alice", "password": "a long password"})
    return client


def is_in(client):
    """Whether the session is still known; asking is no use of it."""
    headers = {"HX-Request": "true", "HX-Target": "list"}
    return client.get("/queue", headers=headers).status_code == 200


def presses(client):
    return client.post("/session/used")


def test_a_session_that_nobody_uses_ends_after_eight_hours(person, clock):
    clock.passes(IDLE_S - MINUTE_S)
    assert is_in(person)

    clock.passes(2 * MINUTE_S)
    assert not is_in(person)


@pytest.mark.parametrize(
    "use",
    [
        presses,
        lambda client: client.get("/history", headers=FROM_OURS),
        lambda client: client.get(
            "/history", headers={"Sec-Fetch-Mode": "navigate", "Sec-Fetch-User": "?1"}
        ),
        lambda client: client.get("/", headers={"HX-Request": "true", "HX-Target": "pane"}),
    ],
    ids=["a key", "a page", "a page that a person opened", "a request opened from the list"],
)
def test_a_use_gives_it_eight_hours_more(person, clock, use):
    clock.passes(IDLE_S - MINUTE_S)
    use(person)

    clock.passes(IDLE_S - MINUTE_S)

    assert is_in(person)


@pytest.mark.parametrize(
    "poll",
    [
        lambda client, _: is_in(client),
        lambda client, pk: client.get(f"/approvals/{pk}/state", headers={"HX-Request": "true"}),
        lambda client, pk: client.post(f"/approvals/{pk}/seen"),
        lambda client, _: client.get("/", headers={"Sec-Fetch-Mode": "navigate"}),
        lambda client, _: client.get("/mine", headers=FROM_OURS | {"Accept": "*/*"}),
        lambda client, _: client.get("/history", headers=FROM_OURS | {"Referer": ELSEWHERE}),
    ],
    ids=[
        "the list",
        "the bar",
        "a seen post",
        "a page that a script loaded again",
        "a count",
        "another page",
    ],
)
def test_what_a_page_does_by_itself_does_not_prolong_it(person, clock, token, poll):
    approval = make.pending(token)
    clock.passes(IDLE_S - MINUTE_S)
    assert poll(person, approval.pk)

    clock.passes(2 * MINUTE_S)

    assert not is_in(person)


def test_it_ends_a_day_after_signing_in_whatever_is_done(person, clock):
    while clock.passed_s < LONGEST_S - 10 * MINUTE_S:
        clock.passes(5 * MINUTE_S)
        presses(person)
    assert is_in(person)

    clock.passes(11 * MINUTE_S)

    assert not is_in(person)


def test_it_is_written_every_five_minutes_at_most(person, clock, django_assert_num_queries):
    clock.passes(6 * MINUTE_S)
    presses(person)
    ends = Session.objects.get().expire_date
    clock.passes(4 * MINUTE_S)

    with django_assert_num_queries(2):  # the session and the person
        presses(person)

    assert Session.objects.get().expire_date == ends


def test_a_form_that_is_refused_for_its_origin_does_not_prolong_it(person, clock):
    clock.passes(IDLE_S - MINUTE_S)
    refused = person.post("/session/used", headers={"Origin": "https://elsewhere.example"})
    assert refused.status_code == 403

    clock.passes(2 * MINUTE_S)

    assert not is_in(person)


def test_a_session_of_an_earlier_release_ends_when_it_was_going_to(alice, browser, clock):
    client = browser()
    client.force_login(alice)
    clock.passes(IDLE_S - MINUTE_S)
    presses(client)

    clock.passes(2 * MINUTE_S)

    assert not is_in(client)
