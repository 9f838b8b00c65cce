"""Runs ``approvals`` as a process of its own, against a dashboard in memory or a real one."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from approval_client.testing import FakeDashboard
from tests.client.conftest import _served
from tests.frameworks.live import Person, live_house

ROOT = Path(__file__).resolve().parents[2]
WITHIN_S = 30


class Approvals:
    """The command, and the environment it is run in."""

    def __init__(self, url, token, folder):
        modules = os.pathsep.join((str(ROOT / "client"), str(ROOT)))  # of this checkout
        own = {"DASHBOARD_URL": url, "DASHBOARD_TOKEN": token, "PYTHONPATH": modules}
        own |= {"TERM": "dumb", "COLUMNS": "100", "XDG_STATE_HOME": str(folder / "state")}
        self.environment = os.environ | own
        self.folder = folder

    def start(self, *arguments, **options):
        command = [sys.executable, "-m", "approval_client.command", *map(str, arguments)]
        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        return subprocess.Popen(
            command, **{"cwd": self.folder, "env": self.environment} | pipes | options
        )

    def __call__(self, *arguments, given="", **options):
        process = self.start(*arguments, **options)
        given = given if isinstance(given, bytes) else given.encode()
        return ended(process, given)


class Done:
    """What came of it, as text."""

    def __init__(self, process, output, errors):
        self.code = process.returncode
        self.output, self.errors = (output or b"").decode(), (errors or b"").decode()

    @property
    def json(self):
        """The one document on standard output."""
        return json.loads(self.output)


def ended(process, given=None):
    """Wait for the end of a process."""
    try:
        return Done(process, *process.communicate(given, timeout=WITHIN_S))
    finally:
        process.kill()


@contextmanager
def in_front_of(fake, folder):
    with _served(fake) as url:
        yield Approvals(url, fake.token, folder)


@pytest.fixture
def approvals_of(tmp_path):
    """Give the command of a FakeDashboard, as a context."""
    return lambda fake: in_front_of(fake, tmp_path)


@pytest.fixture
def approving(approvals_of):
    """Give the command of a dashboard that approves everything, which it has as ``fake``."""
    fake = FakeDashboard.approving("Fine.")
    with approvals_of(fake) as approvals:
        approvals.fake = fake
        yield approvals


@pytest.fixture
def unreachable(tmp_path):
    """Give the command of a dashboard that is not there."""
    return Approvals("http://127.0.0.1:9", "dash_any", tmp_path)


@pytest.fixture(scope="session")
def house():
    with live_house() as house:
        yield house
        assert house.audit_is_whole() is True
        assert house.errors() == []


@pytest.fixture
def person(house):
    with Person(house) as person:
        yield person


@pytest.fixture
def live(house, tmp_path):
    """Give the command of a real dashboard."""
    return Approvals(house.url, house.tokens[0], tmp_path)


def soon(condition, within_s=WITHIN_S):
    """Wait until something holds, and return it."""
    gives_up_at = time.monotonic() + within_s
    while time.monotonic() < gives_up_at:
        if found := condition():
            return found
        time.sleep(0.01)
    raise AssertionError("It did not come to that.")


@contextmanager
def gathering(stream):
    """Read a stream on the side; gives a function that tells what has come so far."""
    found = bytearray()

    def read():
        with suppress(OSError):  # a terminal whose other end is closed
            while chunk := os.read(stream.fileno(), 4096):
                found.extend(chunk)

    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    yield found.decode
    thread.join(WITHIN_S)


def interrupt(process):
    """Press Ctrl-C, as far as that process is concerned."""
    process.send_signal(signal.SIGINT)
