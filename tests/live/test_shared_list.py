"""Open pages that hear the same news share one read of what waits."""

from datetime import timedelta

import pytest
from django.conf import settings
from django.test import Client

from dashboard.web.desk import queue
from tests import make
from tests.live.conftest import in_thread

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def reads(monkeypatch):
    """The moments at which all that waits was read."""
    moments, read = [], queue.open_queue
    monkeypatch.setattr(queue, "open_queue", lambda now: moments.append(now) or read(now))
    monkeypatch.setattr(queue, "_shared", queue._SharedQueue())
    return moments


@pytest.fixture
def look(alice, bob):
    """Fetch the list as the script of an open page does."""
    host = settings.PUBLIC_URL.partition("://")[2]
    browsers = {person: Client(headers={"host": host}) for person in (alice, bob)}
    for person, browser in browsers.items():
        browser.force_login(person)
    return in_thread(lambda person: browsers[person].get("/queue").content.decode())


async def test_pages_that_heard_the_same_share_a_read(hub, token, alice, bob, look, reads):
    approval = await in_thread(make.pending)(token)

    lists = [await look(person) for person in (alice, bob, alice)]

    assert len(reads) == 1
    assert all(str(approval.pk) in one for one in lists)


async def test_what_was_heard_of_is_in_the_next_list(hub, token, alice, bob, look, reads):
    for number in range(5):
        approval = await in_thread(make.pending)(token)
        assert str(approval.pk) in await look(alice)
        assert str(approval.pk) in await look(bob)
        await in_thread(make.decided)(approval, alice)
        assert str(approval.pk) not in await look(alice)
        assert len(reads) == 2 * (number + 1)


async def test_a_read_is_not_shared_for_long(hub, token, alice, look, reads, monkeypatch):
    monkeypatch.setattr(queue, "SHARED_FOR", timedelta(microseconds=1))

    for _ in range(2):
        await look(alice)

    assert len(reads) == 2


async def test_a_clock_that_was_set_back_keeps_nothing(hub, alice, look, reads, monkeypatch):
    await look(alice)
    [now] = reads
    monkeypatch.setattr(queue, "database_now", lambda: now - timedelta(hours=1))

    await look(alice)

    assert len(reads) == 2


async def test_where_nothing_is_heard_nothing_is_shared(alice, look, reads):
    for _ in range(2):
        await look(alice)

    assert len(reads) == 2
