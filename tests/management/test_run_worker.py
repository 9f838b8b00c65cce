"""``run_worker`` closes what nobody answered in time, until it is stopped."""

import asyncio
import os
import signal

import pytest
from django.core.management import CommandError

from dashboard import pages, sandbox
from dashboard.management import background, preflight
from dashboard.management.commands import run_worker

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_works_until_it_is_told_to_stop(command, number, monkeypatch):
    async def sweep():
        swept.append(True)
        os.kill(os.getpid(), number)
        await asyncio.sleep(3600)

    swept = []
    monkeypatch.setattr(run_worker, "EVERYTHING", [sweep])

    assert command("run_worker") == "The worker runs. Stop it with Ctrl-C.\n"
    assert swept == [True]


def test_without_its_database_it_says_so_and_does_not_start(command, monkeypatch):
    gone = "The database does not answer: connection refused."
    monkeypatch.setattr(preflight, "obstacles", lambda **_: [gone])

    with pytest.raises(CommandError, match=f"^Nothing was started.\n{gone}$"):
        command("run_worker")


def test_it_starts_while_a_server_collects_the_files_of_pages(command, monkeypatch):
    async def sweep():
        os.kill(os.getpid(), signal.SIGTERM)
        await asyncio.sleep(3600)

    monkeypatch.setattr(pages, "missing", lambda: ["The data folder lacks a file."])
    monkeypatch.setattr(run_worker, "EVERYTHING", [sweep])

    assert command("run_worker") == "The worker runs. Stop it with Ctrl-C.\n"


class FailingHub:
    """Fails twice and is then stopped."""

    def __init__(self):
        self.failures = [asyncio.CancelledError, ConnectionError, ConnectionError]

    async def work(self, _):
        raise self.failures.pop()


async def test_a_sweep_that_fails_is_tried_again(monkeypatch, caplog):
    hub = FailingHub()
    monkeypatch.setattr(background, "current_hub", lambda: hub)
    monkeypatch.setattr(background, "SWEEP_EVERY_S", 0.001)

    with pytest.raises(asyncio.CancelledError):
        await background.sweep_for_ever()

    said = "Background work failed; it is tried again in 0.001 s."
    assert caplog.messages == [said] * 2


async def test_one_worker_has_loaded_the_inspectors_before_anybody_asks(monkeypatch):
    pool = sandbox._Pool(2)
    monkeypatch.setattr(sandbox, "_pool", pool)

    await background.load_the_inspectors()

    assert [worker._loaded for worker in pool.workers] == [{"dashboard.inspection.inspector"}]
    pool.close()
