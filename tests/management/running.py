"""Runs ``manage.py`` for real, on a data folder of its own and always on SQLite."""

import os
import re
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MANAGE = ROOT / "manage.py"
READY = "Stop it with Ctrl-C."
OURS = {
    "ALLOWED_HOSTS",
    "DASHBOARD_TOKEN",
    "DASHBOARD_URL",
    "DATABASE_URL",
    "DEBUG",
    "DJANGO_SETTINGS_MODULE",
    "PUBLIC_URL",
    "REDIS_URL",
    "SECRET_KEY",
}


class Run:
    """A server that was started, and what it has said so far."""

    def __init__(self, process, said):
        self.process = process
        self.said = said

    @property
    def url(self):
        return self.find(r"The dashboard is at (\S+)")

    @property
    def link(self):
        return self.find(r"(http\S+/sign-in/\S+)")

    @property
    def token(self):
        return self.find(r"DASHBOARD_TOKEN=(\S+)")

    def find(self, pattern):
        found = re.search(pattern, self.said)
        return found and found[1]

    def stop(self, number=signal.SIGTERM):
        """Stop it; returns the exit status. Everything that it said is in ``said`` then."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        self.said += self.process.communicate(timeout=30)[0]
        return self.process.returncode


@contextmanager
def running(folder, *arguments, cwd=ROOT, until=READY, **options):
    """Have ``manage.py start`` serve as long as the block runs, on any free port."""
    port = [] if {"--port", "--fd"} & set(arguments) else ["--port", "0"]
    process = subprocess.Popen(
        [sys.executable, MANAGE, "start", *port, *arguments],
        cwd=cwd,
        env=environment(folder),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        **options,
    )
    run = Run(process, "")
    try:
        _listen(run, until)
        yield run
    finally:
        run.stop()


def manage(folder, *arguments, **variables):
    """Run a command to its end."""
    return subprocess.run(
        [sys.executable, MANAGE, *arguments],
        env=environment(folder) | variables,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def environment(folder):
    """Return our environment without what would tell the program where to be."""
    kept = {name: value for name, value in os.environ.items() if name not in OURS}
    return {**kept, "DASHBOARD_DATA_DIR": str(folder), "PYTHONUNBUFFERED": "1"}


def _listen(run, until):
    for line in run.process.stdout:
        run.said += line
        if until in line:
            return
    run.process.wait(timeout=30)
