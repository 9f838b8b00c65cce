"""An agent reads what was decided of its requests."""

from datetime import UTC, datetime
from urllib.parse import quote
from uuid import UUID, uuid4

import pytest

from dashboard.approvals.models import ApprovalRequest
from tests import make


@pytest.fixture
def decided(api, alice):
    """The ids of two requests that were decided in this order."""
    ids = [api.submit().json()["id"] for _ in range(2)]
    for pk in ids:
        make.decided(ApprovalRequest.objects.get(pk=pk), alice)
    return ids


def ids(response):
    return [answer["id"] for answer in response.json()["decisions"]]


def test_an_answer_is_the_one_that_looking_gives(api, decided):
    told = api.get("/decisions").json()["decisions"][0]
    looked = api.get(f"/approvals/{decided[0]}").json()

    assert told | {"now": 0} == looked | {"now": 0}


def test_reading_on_from_next_finds_the_rest(api, decided):
    first = api.get("/decisions?limit=1")
    second = api.get(f"/decisions?after={first.json()['next']}")

    assert (ids(first), first.json()["more"]) == (decided[:1], True)
    assert (ids(second), second.json()["more"]) == (decided[1:], False)


def test_what_nobody_decided_is_not_there(api):
    api.submit()

    assert api.get("/decisions").json() == {"decisions": [], "next": None, "more": False}


def test_what_was_started_says_so(api, decided):
    digest = api.get(f"/approvals/{decided[0]}").json()["digest"]
    api.post(f"/approvals/{decided[0]}/outcome", {"state": "started", "digest": digest})

    started = [a["outcome"]["started_at"] for a in api.get("/decisions").json()["decisions"]]
    assert [bool(at) for at in started] == [True, False]


def test_a_moment_with_its_zone_is_where_it_begins(api, decided):
    since = quote(datetime.now(UTC).isoformat())

    assert api.get(f"/decisions?since={since}").json() == {
        "decisions": [],
        "next": decided[1],
        "more": False,
    }


def test_another_agent_sees_nothing_of_it(stranger, decided):
    assert ids(stranger.get("/decisions")) == []


@pytest.mark.parametrize("whose", ["anothers", "nobodys"])
def test_a_place_that_is_not_the_agents_own_is_not_found(stranger, decided, whose):
    response = stranger.get(f"/decisions?after={decided[0] if whose == 'anothers' else uuid4()}")

    assert (response.status_code, response.json()["code"]) == (404, "not_found")


@pytest.mark.parametrize(
    "query",
    [
        "after=1",
        "since=2026-01-01T00:00:00",
        "since=soon",
        "limit=0",
        "limit=101",
        "sinse=2026-01-01T00:00:00Z",
        "=",
    ],
)
def test_what_means_nothing_is_refused(api, query):
    response = api.get(f"/decisions?{query}")

    assert (response.status_code, response.json()["code"]) == (422, "invalid")


@pytest.mark.parametrize(
    ("since", "found"), [("0001-01-01T00:00:00%2B23:00", 2), ("9999-12-31T23:59:59-23:00", 0)]
)
def test_the_ends_of_the_calendar_are_moments_too(api, decided, since, found):
    assert len(ids(api.get(f"/decisions?since={since}"))) == found


def test_next_is_the_id_of_a_request(api, decided):
    assert UUID(api.get("/decisions").json()["next"]) == UUID(decided[1])


@pytest.mark.parametrize("count", [1, 30])
def test_a_page_costs_as_many_queries_for_any_number(
    api, token, alice, count, django_assert_num_queries
):
    for _ in range(count):
        make.approved(token, alice)

    with django_assert_num_queries(6):
        assert len(ids(api.get("/decisions"))) == count
