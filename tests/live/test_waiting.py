import asyncio
import threading
from datetime import UTC, datetime, timedelta

import pytest
from django.db import OperationalError
from django.test import Client

from dashboard.accounts.queries import tokens_that_work
from dashboard.approvals import services
from dashboard.approvals.models import Poll
from dashboard.approvals.queries import closing
from dashboard.live import hub as hub_module
from dashboard.live import push
from dashboard.live.seen import LastSeen, seen
from dashboard.management import background
from dashboard.notifications.services import outbox, reading
from tests import make
from tests.live.conftest import in_thread, wait_for

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def secret(agent):
    return make.secret(agent)


@pytest.fixture
def approval(token):
    return make.pending(token)


async def until_waiting(hub, count=1):
    async with asyncio.timeout(60):  # two hundred take a while on a busy machine
        while sum(hub._waits_of.values()) < count:
            await asyncio.sleep(0.01)
    await asyncio.sleep(0.05)


async def test_a_decision_answers_who_waits(hub, approval, secret, alice):
    async with wait_for(approval.pk, secret) as answer:
        await until_waiting(hub)
        await in_thread(make.decided)(approval, alice)
        status, body = await answer(within_s=1)

    assert (status, body["status"], body["decision"]["decided_by"]) == (200, "approved", "alice")


async def test_what_is_decided_already_is_answered_at_once(hub, approval, secret, alice):
    await in_thread(make.decided)(approval, alice)

    async with wait_for(approval.pk, secret) as answer:
        assert (await answer(within_s=1))[1]["status"] == "approved"


async def test_a_lost_bell_costs_a_tick_and_not_the_answer(
    hub, approval, secret, alice, monkeypatch
):
    monkeypatch.setattr(push, "ring", lambda *_: None)
    async with wait_for(approval.pk, secret) as answer:
        await until_waiting(hub)
        await in_thread(make.decided)(approval, alice)
        status, body = await answer(within_s=1)

    assert (status, body["status"]) == (200, "approved")


async def test_what_could_not_be_read_is_read_again(hub, approval, secret, alice, monkeypatch):
    monkeypatch.setattr(push, "ring", lambda *_: None)
    failures = iter([OperationalError("gone")] * 3)

    def fails_at_first(ids, read=closing.closed):
        for failure in failures:
            raise failure
        return read(ids)

    async with wait_for(approval.pk, secret) as answer:
        await until_waiting(hub)
        await asyncio.sleep(2 * hub_module.TICK_S)
        monkeypatch.setattr(closing, "closed", fails_at_first)
        await in_thread(make.decided)(approval, alice)
        status, body = await answer(within_s=5)

    assert (status, body["status"]) == (200, "approved")
    assert next(failures, None) is None


async def test_what_could_not_be_written_is_written_the_next_time(approval, token, monkeypatch):
    def write():
        fresh = LastSeen()
        fresh.polled([approval.pk])
        fresh.token_used(token.pk)
        with monkeypatch.context() as broken:
            broken.setattr("dashboard.live.seen.note_polls", fails)
            with pytest.raises(OperationalError):
                fresh.flush()
        fresh.flush()
        token.refresh_from_db()
        return Poll.objects.filter(approval=approval).exists(), token.last_used_at

    def fails(_):
        raise OperationalError("database is locked")

    is_noted, used_at = await in_thread(write)()

    assert is_noted
    assert used_at


async def test_who_waits_is_noted_as_waiting(hub, approval, secret, monkeypatch):
    long_ago = datetime(2026, 1, 1, tzinfo=UTC)
    monkeypatch.setattr(hub_module, "WAITING_NOTED_EVERY_S", 0.1)
    await in_thread(services.note_polls)({approval.pk: long_ago})
    hub._start(hub._note_waiting_for_ever())

    async with wait_for(approval.pk, secret), asyncio.timeout(5):
        noted_at = long_ago
        while noted_at == long_ago:
            await asyncio.sleep(0.05)
            noted_at = (await in_thread(Poll.objects.get)(approval=approval)).last_polled_at

    assert datetime.now(UTC) - noted_at < timedelta(seconds=5)


async def test_after_the_hold_the_answer_is_pending(hub, approval, secret):
    async with wait_for(approval.pk, secret, hold=0.1) as answer:
        assert (await answer())[1]["status"] == "pending"


@pytest.mark.parametrize(
    ("hold", "status"),
    [
        ("0", 200),
        ("x&hold=0", 200),
        ("0&hold=x", 422),
        ("0&hold=51", 422),
        ("nan", 422),
        ("0&more=1", 422),
        ("", 422),
        ("%D9%A1", 422),  # an Arabic 1
    ],
)
async def test_both_doors_read_the_same_parameters(hub, approval, secret, hold, status):
    path = f"/api/v1/approvals/{approval.pk}/wait?hold={hold}"
    headers = {"Authorization": f"Bearer {secret}"}
    client = Client(SERVER_NAME="127.0.0.1", SERVER_PORT="8000")

    async with wait_for(approval.pk, secret, hold=hold) as answer:
        assert (await answer(within_s=5))[0] == status
    django = await in_thread(client.get)(path, headers=headers)
    assert django.status_code == status


async def test_a_wait_ends_with_the_time_limit_also_when_nobody_sweeps(hub, token, secret):
    approval = await in_thread(make.overdue)(token)

    async with wait_for(approval.pk, secret) as answer:
        status, body = await answer(within_s=1)

    assert (status, body["status"], body["decision"]["source"]) == (200, "expired", "deadline")


async def test_when_the_server_stops_waits_are_answered_pending(hub, approval, secret):
    async with wait_for(approval.pk, secret) as answer:
        await until_waiting(hub)
        await hub.close()
        assert (await answer(within_s=1))[1]["status"] == "pending"


async def test_revoking_a_token_ends_its_waits_within_a_tick(hub, approval, secret, agent):
    token = await in_thread(lambda: agent.tokens.get(prefix=secret[:11]))()
    async with wait_for(approval.pk, secret) as answer:
        await until_waiting(hub)
        await in_thread(services.revoke_token)(token, by=make.BY)
        status, body = await answer(within_s=1)

    assert (status, body["code"]) == (401, "unauthorized")


@pytest.mark.parametrize("secret", ["", "dash_wrong", "x"])
async def test_without_a_token_nobody_waits(hub, approval, secret):
    async with wait_for(approval.pk, secret) as answer:
        status, body = await answer()

    assert (status, body["code"]) == (401, "unauthorized")


async def test_another_agents_request_is_not_found(hub, approval):
    stranger = await in_thread(lambda: make.secret(make.agent("stranger")))()

    async with wait_for(approval.pk, stranger) as answer:
        status, body = await answer()

    assert (status, body["code"]) == (404, "not_found")


async def test_a_token_may_not_open_more_waits_than_its_share(hub, approval, secret, settings):
    settings.WAITS_PER_TOKEN = 1
    async with wait_for(approval.pk, secret):
        await until_waiting(hub)
        async with wait_for(approval.pk, secret) as answer:
            status, body = await answer()

    assert (status, body["code"]) == (429, "too_many_waits")


async def test_an_agent_that_hangs_up_is_forgotten(hub, approval, secret):
    async with wait_for(approval.pk, secret) as answer:
        await until_waiting(hub)
        await answer.talk.send_input({"type": "http.disconnect"})
        await answer.talk.wait(1)

    assert (dict(hub._waits), dict(hub._waits_of)) == ({}, {})


async def test_an_agent_may_hang_up_in_the_moment_of_the_answer(hub, approval, secret):
    faults = []
    asyncio.get_running_loop().set_exception_handler(lambda _, fault: faults.append(fault))
    async with wait_for(approval.pk, secret) as answer:
        await until_waiting(hub)
        [wait] = hub._waits[approval.pk]
        answer.talk.input_queue.put_nowait({"type": "http.disconnect"})
        wait.closed.set_result(None)  # in one turn of the loop with the hang-up
        await answer.talk.wait(1)

    assert faults == []


async def test_when_an_agent_last_waited_is_remembered(hub, approval, secret):
    async with wait_for(approval.pk, secret, hold=0) as answer:
        await answer()
    await in_thread(seen.flush)()

    assert await in_thread(lambda: Poll.objects.get().approval_id)() == approval.pk


def readers():
    return [t for t in threading.enumerate() if t.name.startswith("hub-reader")]


async def test_two_hundred_who_wait_hold_one_thread_and_are_all_answered(
    hub, approval, agent, alice, settings
):
    settings.WAITS_PER_TOKEN = 200
    secret = await in_thread(lambda: make.secret(agent))()
    others = set(readers())  # such as those of a hub whose loop has ended
    waits = [wait_for(approval.pk, secret) for _ in range(200)]
    answers = [await wait.__aenter__() for wait in waits]
    await until_waiting(hub, 200)
    count = len(set(readers()) - others)
    await in_thread(make.decided)(approval, alice)

    bodies = [(await answer())[1]["status"] for answer in answers]

    assert set(bodies) == {"approved"}
    assert count <= 1
    for wait in waits:
        await wait.__aexit__(None, None, None)


async def test_who_comes_while_tokens_are_checked_is_not_turned_away(
    hub, approval, secret, agent, monkeypatch
):
    """The check is about those who waited when it began."""
    another = await in_thread(lambda: make.secret(agent))()
    began, go_on, read = asyncio.Event(), asyncio.Event(), hub.read

    async def read_slowly(work, *args):
        result = await read(work, *args)
        if work is tokens_that_work:
            began.set()
            await go_on.wait()
        return result

    monkeypatch.setattr(hub, "read", read_slowly)
    async with wait_for(approval.pk, secret), asyncio.timeout(3):
        await began.wait()
        async with wait_for(approval.pk, another, hold=0.5) as answer:
            await until_waiting(hub, 2)
            go_on.set()
            status, body = await answer()
    monkeypatch.setattr(hub, "read", read)

    assert (status, body["status"]) == (200, "pending")


@pytest.fixture
def lasts(monkeypatch):
    """Have a piece of work last until the test is over; returns what waits for its beginning."""
    began, go_on = threading.Event(), threading.Event()

    def work(*_):
        began.set()
        go_on.wait()

    async def until_it_began():
        async with asyncio.timeout(3):
            while not began.is_set():
                await asyncio.sleep(0.01)

    def lasts(place, name):
        monkeypatch.setattr(place, name, work)
        return until_it_began

    yield lasts
    go_on.set()


@pytest.mark.parametrize(
    ("loop", "place", "name"),
    [
        (background.sweep_for_ever, background, "expire_overdue"),
        (background.release_for_ever, background, "release_lost_assignments"),
        (background.follow_the_policy, background, "judge_pending_again"),
        (background.tidy_for_ever, background, "forget_expired"),
        (background.deliver_for_ever, outbox, "queue_decided"),
        (background.tell_for_ever, reading, "queue_notices"),
    ],
    ids=["sweeping", "releasing", "following", "tidying", "delivering", "telling"],
)
async def test_background_work_that_lasts_holds_up_nobody_who_waits(
    loop, place, name, hub, approval, secret, alice, lasts
):
    until_it_began = lasts(place, name)
    work = asyncio.create_task(loop())
    await until_it_began()

    async with wait_for(approval.pk, secret) as answer:
        await until_waiting(hub)
        await in_thread(make.decided)(approval, alice)
        status, body = await answer(within_s=1)

    assert (status, body["status"]) == (200, "approved")
    work.cancel()


@pytest.fixture
def flushes_often(monkeypatch):
    monkeypatch.setattr(hub_module, "FLUSH_EVERY_S", 0.01, raising=False)


async def test_writing_down_who_was_seen_holds_up_no_tick(
    flushes_often, hub, approval, secret, alice, lasts, monkeypatch
):
    """Without bells, so that only a tick can tell the agent."""
    monkeypatch.setattr(push, "ring", lambda *_: None)
    until_it_began = lasts(LastSeen, "flush")

    async with wait_for(approval.pk, secret) as answer:
        await until_it_began()
        await until_waiting(hub)
        await in_thread(make.decided)(approval, alice)
        status, body = await answer(within_s=1)

    assert (status, body["status"]) == (200, "approved")
