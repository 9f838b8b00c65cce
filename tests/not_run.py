"""Says at the end of a run, in a line each, what could not be run here and how to have it run.

Where ``CI=true`` nothing may be skipped: then the run fails. The engines are no such case, for
there the same tests run a second time, on PostgreSQL and Redis. Nor are the frameworks where
``FRAMEWORKS=0`` says that they run elsewhere.
"""

import os
from pathlib import PurePosixPath

import pytest

CHROMIUM = "install Debian's chromium, or name one in CHROMIUM"
REMEDIES = {
    "browser": CHROMIUM,
    "frameworks": "tests/frameworks/conftest.py says how to install them",
    "journeys": CHROMIUM,
}
ENGINES = {"DATABASE_URL": "PostgreSQL", "REDIS_URL": "Redis"}


def pytest_configure(config):
    config.pluginmanager.register(NotRun(), "not-run")


class NotRun:
    """Remembers what was skipped, and why."""

    def __init__(self):
        self.areas = {}

    def pytest_runtest_logreport(self, report):
        self._note(report)

    def pytest_collectreport(self, report):
        self._note(report)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session):
        if self.forbidden() and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter):
        for line in self.lines():
            terminalreporter.write_line(f"Not run here: {line}")
        for area in self.forbidden():
            terminalreporter.write_line(
                f"FAILED {area}: with CI=true nothing is skipped", red=True
            )

    def lines(self):
        """Return a line for each area that was left out."""
        for area, reasons in sorted(self.areas.items()):
            yield f"{area} ({REMEDIES.get(area) or '; '.join(sorted(reasons))})"
        if absent := [name for name in ENGINES if not os.environ.get(name)]:
            engines = " and ".join(ENGINES[name] for name in absent)
            yield f"{engines} (set {' and '.join(absent)})"

    def forbidden(self):
        """Return the areas that had to be run."""
        if os.environ.get("CI") != "true":
            return []
        elsewhere = {"frameworks"} if os.environ.get("FRAMEWORKS") == "0" else set()
        return sorted(self.areas.keys() - elsewhere)

    def _note(self, report):
        if report.skipped and not hasattr(report, "wasxfail"):
            reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
            area = _area(report.nodeid)
            self.areas.setdefault(area, set()).add(str(reason).removeprefix("Skipped: "))


def _area(nodeid):
    path = PurePosixPath(nodeid.partition("::")[0])
    room = path.parts[1] if len(path.parts) > 1 else path.name
    return room if room in REMEDIES else str(path)
