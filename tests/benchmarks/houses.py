"""The servers that are measured: the dashboard, and the floor on a database like its own."""

import sys
from contextlib import contextmanager

from tests import serving

LIMITS = dict.fromkeys(["PENDING_PER_TOKEN", "WAITS_PER_TOKEN", "WAITS_PER_PROCESS"], "100000")
"""So that one token may ask and wait for a crowd."""
FILL = "from tests.benchmarks.filling import fill_fast; fill_fast(kept={kept}, pending={pending})"


@contextmanager
def dashboard(*, kept=0, pending=0):
    """Serve a dashboard that holds so many closed and open requests."""
    with serving.serve(environment=LIMITS) as house:
        if kept or pending:
            filled(house, kept, pending)
        yield house


@contextmanager
def floor(*, pending=0):
    """Serve the floor on a database that the dashboard made; its log must be whole at the end."""
    with serving.serve(environment=LIMITS) as house:
        house.server.end()
        if pending:
            _fill(house, 0, pending)
        fileno = house.listener.fileno()
        command = [sys.executable, "-m", "tests.benchmarks.floor", str(fileno)]
        log = house.folder / "floor.log"
        house.servers = [serving.Server(command, log, house.environment, [fileno])]
        house.start()
        yield house
        house.server.kill()
        # Its chain: the floor writes no fingerprints of rows, which the command compares too.
        said = house.manage(
            "shell",
            "-v0",
            "-c",
            "from dashboard.audit import services as s; assert s.verify() is None",
        )
        assert said.returncode == 0, "the floor does not write the log as it should"


def filled(house, kept, pending):
    """Add so many closed and open requests while nobody serves the database."""
    house.server.end()
    _fill(house, kept, pending)
    house.start()


def _fill(house, kept, pending):
    done = house.manage("shell", "-v0", "-c", FILL.format(kept=kept, pending=pending))
    assert done.returncode == 0, done.stderr
