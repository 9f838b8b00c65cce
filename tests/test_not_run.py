"""What was skipped is told in a line each; where nothing may be skipped it fails the run."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.not_run import ENGINES as ENGINES_OF
from tests.not_run import NotRun

ROOT = Path(__file__).resolve().parents[1]
SKIPS = """
import pytest

@pytest.mark.parametrize("n", range(3))
def test_skipped(n):
    pytest.skip("no such thing")

def test_run():
    pass
"""


@pytest.fixture
def run(tmp_path):
    """Run a test file of a room with the plugin; returns the exit status and the lines."""

    def run(room, text=SKIPS, **variables):
        file = tmp_path / "tests" / room / "test_it.py"
        file.parent.mkdir(parents=True)
        file.write_text(text)
        options = ["-q", "-p", "tests.not_run", "-p", "no:cacheprovider"]
        command = [sys.executable, "-m", "pytest", *options, f"--rootdir={tmp_path}", file]
        unset = {"CI", "FRAMEWORKS", "DATABASE_URL", "REDIS_URL", "PYTEST_ADDOPTS"}
        kept = {k: v for k, v in os.environ.items() if k not in unset}
        alone = {"PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        environment = kept | alone | variables
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        return done.returncode, [
            line for line in done.stdout.splitlines() if line.startswith(("Not run", "FAILED"))
        ]

    return run


ENGINES = "Not run here: PostgreSQL and Redis (set DATABASE_URL and REDIS_URL)"
BROWSER = "Not run here: browser (install Debian's chromium, or name one in CHROMIUM)"
FRAMEWORKS = "Not run here: frameworks (tests/frameworks/conftest.py says how to install them)"


def test_what_a_room_skips_is_one_line_and_no_failure(run):
    assert run("browser") == (0, [BROWSER, ENGINES])


def test_what_has_no_remedy_of_its_own_tells_the_reason(run):
    line = "Not run here: tests/sandbox/test_it.py (no such thing)"

    assert run("sandbox") == (0, [line, ENGINES])


def test_where_nothing_may_be_skipped_the_run_fails(run):
    failed = "FAILED browser: with CI=true nothing is skipped"

    assert run("browser", CI="true") == (1, [BROWSER, ENGINES, failed])


def test_frameworks_that_run_elsewhere_do_not_fail_it(run):
    assert run("frameworks", CI="true", FRAMEWORKS="0") == (0, [FRAMEWORKS, ENGINES])


def test_frameworks_that_are_forgotten_do(run):
    assert run("frameworks", CI="true")[0] == 1


def test_where_nothing_is_skipped_there_is_nothing_to_tell_but_the_engines(run):
    passes = "def test_run(): pass"

    assert run("browser", passes, CI="true") == (0, [ENGINES])


@pytest.mark.parametrize(
    ("variables", "lines"),
    [
        ({"DATABASE_URL": "x", "REDIS_URL": "y"}, []),
        ({"DATABASE_URL": "x"}, ["Redis (set REDIS_URL)"]),
        ({"REDIS_URL": "y"}, ["PostgreSQL (set DATABASE_URL)"]),
    ],
)
def test_the_engine_that_is_missing_is_named(monkeypatch, variables, lines):
    for name in ENGINES_OF:
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)

    assert list(NotRun().lines()) == lines
