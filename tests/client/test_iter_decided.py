"""A host that stopped reads what was decided since."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from approval_client import ApprovalRequest, DigestMismatch, RequestRefused, Unreachable
from approval_client._flow import Reading
from approval_client.testing import FakeDashboard, approve, reject
from approval_client.wire import Status

OTHER = ApprovalRequest.code("print('something else')")


@pytest.fixture
def fake():
    return FakeDashboard.approving("Fine.")


def submitted(fake, question, times=1):
    return [fake.client().submit(question).id for _ in range(times)]


def found(fake, *args, **more):
    return [answer.id for answer in fake.client().iter_decided(*args, **more)]


def test_everything_decided_comes_in_order(question):
    fake = FakeDashboard.scripted(reject("No."), None, approve())
    first, _, last = submitted(fake, question, 3)

    answers = list(fake.client().iter_decided())

    assert [(a.id, a.status) for a in answers] == [
        (first, Status.REJECTED),
        (last, Status.APPROVED),
    ]


def test_it_goes_on_after_the_last_one_that_was_dealt_with(fake, question):
    ids = submitted(fake, question, 3)

    assert found(fake, ids[0]) == ids[1:]
    assert found(fake, ids[2]) == []


def test_it_reads_page_after_page(fake, question):
    ids = submitted(fake, question, 120)

    assert found(fake) == ids
    assert fake.calls.count("GET /api/v1/decisions") == 3


def test_it_begins_with_a_moment(fake, question):
    submitted(fake, question)
    found(fake)
    fake.advance(60)
    late = submitted(fake, question)

    assert found(fake, fake._now() - timedelta(seconds=1)) == late


async def test_the_asynchronous_twin_reads_the_same(fake, question):
    ids = await asyncio.to_thread(submitted, fake, question, 60)

    assert [answer.id async for answer in fake.async_client().iter_decided()] == ids


def test_an_answer_is_what_get_gives(fake, question):
    submitted(fake, question)
    [answer] = fake.client().iter_decided()

    assert answer == fake.client().get(answer.id)


def test_nothing_is_used_up(fake, question):
    submitted(fake, question)
    found(fake)

    assert fake.approvals[0].started == 0


def test_what_is_known_is_compared(fake, question):
    ids = submitted(fake, question)

    assert found(fake, about={ids[0]: question}.get) == ids


def test_an_answer_about_something_else_is_refused_and_can_be_passed(fake, question):
    wrong, right = submitted(fake, question, 2)

    with pytest.raises(DigestMismatch, match=f"Pass since='{wrong}' to go on after it"):
        found(fake, about={wrong: OTHER}.get)
    assert found(fake, wrong, about={wrong: OTHER}.get) == [right]


def test_an_edit_that_nobody_takes_is_refused(question):
    fake = FakeDashboard.scripted(approve(content={"code": "edited()"}))
    ids = submitted(fake, question)

    with pytest.raises(DigestMismatch, match="does not accept edits"):
        found(fake, about={ids[0]: question}.get)


def test_an_id_of_another_agent_is_refused(fake):
    with pytest.raises(RequestRefused, match="not_found"):
        found(fake, "00000000-0000-4000-8000-000000000000")


def test_a_dashboard_that_is_away_is_unreachable():
    with pytest.raises(Unreachable):
        found(FakeDashboard.unreachable())


@pytest.mark.parametrize("since", [datetime(2026, 1, 1), "", "a b", "../x"])  # noqa: DTZ001
def test_what_is_no_place_is_refused_before_anything_is_read(fake, since):
    with pytest.raises(ValueError, match="Nothing was read"):
        fake.client().iter_decided(since)
    assert fake.calls == []


def page(say, *ids, more=False, last="", **changes):
    decision = say.decision("rejected", valid_until=None)
    told = [say.fields("rejected", decision=decision, id=one) | changes for one in ids]
    last = last or (ids[-1] if ids else None)
    return say.json({"decisions": told, "next": last, "more": more})


def test_a_page_that_holds_no_nonsense_is_read(stage, say):
    player = stage(page(say, "a1", "a2"))

    assert [a.id for a in player.play(Reading(None, None).page(player.timing))] == ["a1", "a2"]


@pytest.mark.parametrize(
    "wrong",
    [
        lambda say: page(say, "a1", "a1"),
        lambda say: page(say, "a1", last="a2"),
        lambda say: page(say, more=True),
        lambda say: page(say, "a1", status="pending", decision=None),
        lambda say: page(say, "a0"),
        lambda say: say.json({"next": None, "more": False}),
        lambda say: say.json([]),
    ],
    ids=["twice", "another end", "endless", "undecided", "read before", "missing", "no object"],
)
def test_a_page_that_cannot_be_is_no_page(stage, say, wrong):
    player = stage(wrong(say))

    with pytest.raises(Unreachable, match="the answer cannot be used"):
        player.play(Reading("a0", None).page(player.timing))


def test_a_moment_is_sent_in_utc(stage, say):
    player = stage(page(say, "a1"))
    player.play(Reading(datetime(2026, 1, 2, tzinfo=UTC), None).page(player.timing))

    assert player.paths == ["GET /api/v1/decisions?since=2026-01-02T00%3A00%3A00%2B00%3A00"]
