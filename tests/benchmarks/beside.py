"""How soon DBOS and LangGraph's server tell who waits, in turns with the dashboard.

Each is installed from PyPI into an environment of its own in ``.venv-benchmarks/``. If one cannot
be installed or started, the output says why. Both do less than the dashboard: nobody signs in, no
page is drawn and no log is kept, and DBOS is called in its own process, without HTTP.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit
from uuid import uuid4

import httpx2

from tests import serving
from tests.benchmarks.figures import middle, milliseconds, times
from tests.benchmarks.pressing import Side

OTHERS = Path(__file__).parent / "others"
ENVIRONMENTS = serving.ROOT / ".venv-benchmarks"
UV = Path(sys.executable).parent / "uv"
DBOS, LANGGRAPH = "DBOS", "LangGraph's server"
PACKAGES = {DBOS: ["dbos", "psycopg[binary]"], LANGGRAPH: ["langgraph-cli[inmem]"]}
IN_A_ROUND = {DBOS: 20, LANGGRAPH: 5}
CYCLES = 20
POSTGRESQL_URL = serving.DATABASE_URL or "postgres://postgres@127.0.0.1:5432/postgres"
STARTS_WITHIN_S = 60


class CannotRun(Exception):
    """It is not installed, or does not start; the message says why."""


class Other:
    """A program that answers so many workflows at a time and says what each took."""

    def __init__(self, name, process):
        self.name, self.process, self.rounds = name, process, []

    def turn(self):
        self.process.stdin.write(f"{IN_A_ROUND[self.name]}\n")
        self.process.stdin.flush()
        for line in self.process.stdout:
            if line.startswith("TOOK "):
                self.rounds.append(json.loads(line[5:]))
                return
        raise CannotRun("it ended")


async def in_turns(house, rounds):
    """Let the dashboard and the others take turns; returns figures."""
    ours, figures = Side(house), []
    with ExitStack() as ends:
        others = []
        for name, start in ((DBOS, _dbos), (LANGGRAPH, _langgraph)):
            try:
                other = Other(name, ends.enter_context(start()))
                other.turn()  # warm
                other.rounds.clear()
                others.append(other)
            except (CannotRun, OSError, subprocess.CalledProcessError) as error:
                figures.append((f"{name}: not measured", str(error)[-300:]))
        await ours.cycle(1, 4)
        ours.rounds.clear()
        for _ in range(rounds):
            await ours.cycle(1, CYCLES)
            for other in others:
                other.turn()
    figures.append(("press → agent, beside others", milliseconds(ours.pressed(1))))
    mine = ours.of_rounds(1, lambda took: middle(took.pressed))
    for other in others:
        figures.append(
            (f"  {other.name}", milliseconds([s for took in other.rounds for s in took]))
        )
        figures.append(("  ours to theirs", times(mine, [middle(took) for took in other.rounds])))
    return figures


@contextmanager
def _dbos():
    with _database() as url:
        yield from _program(DBOS, "with_dbos.py", url)


@contextmanager
def _langgraph():
    python, port = _installed(LANGGRAPH), serving._free_port()
    command = [python.parent / "langgraph", "dev", "--no-browser", "--no-reload", "--port"]
    environment = os.environ | {"LANGSMITH_TRACING": "false", "LANGGRAPH_CLI_NO_ANALYTICS": "1"}
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as log:
        shutil.copytree(OTHERS, folder, dirs_exist_ok=True)  # it keeps files beside its graph
        server = subprocess.Popen(
            [*command, str(port)], cwd=folder, env=environment, stdout=log, stderr=log
        )
        try:
            url = f"http://127.0.0.1:{port}"
            _until_answers(f"{url}/ok", server)
            yield from _program(LANGGRAPH, "with_langgraph.py", url)
        finally:
            server.terminate()
            server.wait()


def _program(name, file, *arguments):
    process = subprocess.Popen(
        [_installed(name), OTHERS / file, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            process.wait(10)
        process.kill()
        process.wait()
        process.stdout.close()


def _installed(name):
    """Return the Python of its environment, made at the first time."""
    place = ENVIRONMENTS / PACKAGES[name][0].partition("[")[0]
    python = place / "bin" / "python"
    if not python.exists():
        _run([UV, "venv", "-q", place])
        try:
            _run([UV, "pip", "install", "-q", "--python", python, *PACKAGES[name]])
        except CannotRun:
            python.unlink()
            raise
    return python


def _run(command):
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        raise CannotRun(done.stderr.strip())


@contextmanager
def _database():
    """Make a database of PostgreSQL where one answers; DBOS asks SQLite every second."""
    import psycopg  # noqa: PLC0415 - not installed where only SQLite is used

    name = f"beside_{uuid4().hex}"
    try:
        connection = psycopg.connect(POSTGRESQL_URL, autocommit=True, connect_timeout=5)
    except psycopg.OperationalError as error:
        raise CannotRun(f"it needs PostgreSQL: {error}") from None
    with connection:
        connection.execute(f"CREATE DATABASE {name}")
        try:
            parts = urlsplit(POSTGRESQL_URL)
            yield urlunsplit(parts._replace(scheme="postgresql", path=f"/{name}"))
        finally:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


def _until_answers(url, process):
    gives_up_at = time.monotonic() + STARTS_WITHIN_S
    while time.monotonic() < gives_up_at and process.poll() is None:
        with suppress(httpx2.TransportError):
            if httpx2.get(url, trust_env=False).is_success:
                return
        time.sleep(0.2)
    raise CannotRun("it did not start")
