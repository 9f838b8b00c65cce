"""A process that is forked has connections of its own, and the one that it came from keeps its."""

import asyncio
import os
import threading
import warnings
from contextlib import contextmanager

import pytest

from approval_client import AsyncClient, Client
from approval_client.testing import FakeDashboard

WAIT_S = 30  # which none of this takes


def forked(work):
    """Return what ``work`` returns in a process that was forked here: a small number."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # that other threads run here
        process = os.fork()
    if process == 0:
        code = 255
        try:
            code = work()
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


@contextmanager
def held(lock):
    """Have another thread hold a lock."""
    taken, over = threading.Event(), threading.Event()

    def hold():
        with lock:
            taken.set()
            over.wait(WAIT_S)

    thread = threading.Thread(target=hold)
    thread.start()
    taken.wait(WAIT_S)
    try:
        yield
    finally:
        over.set()
        thread.join()


@pytest.fixture
def client(served):
    fake = FakeDashboard.approving()
    with served(fake) as url:
        yield Client(url, fake.token)


def test_a_forked_process_asks_over_a_connection_of_its_own(client, question):
    with client:
        client.check()
        connections = client._http

        def ask():
            with client:
                is_approved = client.request_approval(question).approved is True
                return int(is_approved and client._http is not connections)

        assert forked(ask) == 1
        assert client._http is connections
        assert client.request_approval(question).approved is True


def test_a_forked_process_leaves_the_with_that_it_was_forked_in(client, question):
    def ask():
        approved = client.request_approval(question).approved
        client.__exit__()
        return int(approved is True and (client._http, client._users) == (None, 0))

    with client:
        assert forked(ask) == 1


def test_a_lock_that_was_held_while_it_was_forked_holds_up_nobody(client):
    with held(client._lock):
        assert forked(lambda: int(client._lock.acquire(timeout=0))) == 1


def test_what_tells_of_a_client_is_forked_like_it(client):
    teller = client.telling(on_decided=print)

    with held(teller._lock):
        assert forked(lambda: int(teller._lock.acquire(timeout=0))) == 1


def test_an_event_loop_that_was_forked_asks_over_connections_of_its_own(served, question):
    fake = FakeDashboard.approving()
    with served(fake) as url, asyncio.Runner() as runner:
        client = AsyncClient(url, fake.token)
        runner.run(client.__aenter__())

        async def ask():
            response = await client.request_approval(question)
            await client.__aexit__()
            return int(response.approved is True and not client._shared)

        assert forked(lambda: runner.run(ask())) == 1
        assert len(client._shared) == 1
        runner.run(client.__aexit__())
