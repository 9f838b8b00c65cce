"""``run_worker`` closes what nobody answered in time, until it is stopped."""

import asyncio
import os
import signal

import pytest
from django.core.management import CommandError

from dashboard import pages, sandbox
from dashboard.management import background
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


def test_without_its_database_it_says_so_once_and_tries_until_it_is_there(
    command, monkeypatch, capsys
):
    async def sweep():
        os.kill(os.getpid(), signal.SIGTERM)
        await asyncio.sleep(3600)

    gone = ["The database does not answer: connection refused."]
    looks = iter([gone, gone, gone, []])
    monkeypatch.setattr(run_worker, "obstacles", lambda **_: next(looks))
    monkeypatch.setattr(run_worker, "TRIES_AGAIN_S", 0.01)
    monkeypatch.setattr(run_worker, "EVERYTHING", [sweep])

    assert command("run_worker") == "The worker runs. Stop it with Ctrl-C.\n"
    assert capsys.readouterr().err == f"{gone[0]}\nThe worker waits and tries again.\n"


def test_a_worker_that_waits_for_its_database_is_stopped_at_once(command, monkeypatch):
    def look(**_):
        os.kill(os.getpid(), signal.SIGTERM)
        return ["The database does not answer."]

    monkeypatch.setattr(run_worker, "obstacles", look)

    assert command("run_worker") == ""


def test_settings_that_are_wrong_stop_it(command, settings):
    settings.REDIS_URL = "foo"

    with pytest.raises(CommandError, match=r"^Nothing was started\.\nREDIS_URL is 'foo'"):
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

    said = "Background work failed and is tried again in 0.001 s (ConnectionError)."
    assert caplog.messages == [said] * 2


async def test_one_worker_has_loaded_the_inspectors_before_anybody_asks(monkeypatch):
    pool = sandbox._Pool(2)
    monkeypatch.setattr(sandbox, "_pool", pool)

    await background.load_the_inspectors()

    assert [worker._loaded for worker in pool.workers] == [{"dashboard.inspection.inspector"}]
    pool.close()
