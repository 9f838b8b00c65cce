"""Counts what each verb does: statements, commits, fsyncs, hops to threads; and bytes of a page.

A count is the same on every machine and under every load, so the checks fail on counts and never
on times. The dashboard's own ASGI application is called in a process without a socket, in the same
way as an agent and a reviewer's browser call it. Statements are counted at the driver's cursor,
below anything that the dashboard prepares, caches or sends past Django.
"""

import asyncio
import json
import shutil
import subprocess
import sys
from collections import Counter, defaultdict
from contextlib import contextmanager, suppress
from functools import wraps
from pathlib import Path
from typing import NamedTuple

from tests import serving
from tests.benchmarks.callers import Agent, Called, Reviewer
from tests.benchmarks.figures import middle

WARM, ROUNDS = 3, 5
QUIET_S = 0.05
CLOCKS = ["TICK_S", "FLUSH_EVERY_S", "WATCH_EVERY_S"]
"""What the hub does by the clock is none of the verbs'."""
MARK, NOBODY = "/nonexistent/", "nobody"
"""A folder that cannot be made says in strace's log which verb comes."""
STRACE = ["strace", "-f", "-qq", "--seccomp-bpf", "-e", "trace=fsync,fdatasync,mkdir", "-o"]


class Most(NamedTuple):
    """The most that a verb may do."""

    statements: int
    commits: int
    hops: int
    fsyncs: int = 0


ASKED = {"wait": 2, "page": 15} | dict.fromkeys(["submit", "decide", "started", "finished"], 12)
"""How many statements issue 13 asks for. The bar that a browser is shown comes on top."""

LIMITS = {
    "SQLite": {
        "submit": Most(11, 1, 1, fsyncs=5),
        "wait": Most(2, 0, 2),
        "decide": Most(12, 1, 1, fsyncs=5),
        "decide and draw": Most(18, 1, 1, fsyncs=5),
        "decide, draw and tell": Most(18, 1, 1, fsyncs=5),
        "started": Most(9, 1, 1, fsyncs=5),
        "finished": Most(9, 1, 1, fsyncs=5),
        "page": Most(15, 0, 1),
    },
    "PostgreSQL": {
        "submit": Most(14, 1, 1),
        "wait": Most(4, 0, 2),
        "decide": Most(15, 1, 1),
        "decide and draw": Most(21, 1, 1),
        "decide, draw and tell": Most(21, 1, 1),
        "started": Most(12, 1, 1),
        "finished": Most(11, 1, 1),
        "page": Most(16, 0, 1),
    },
}
"""What is reached. Lower a number as soon as less is reached.

PostgreSQL's statements include those that ask whether a connection still works. Its fsyncs are
made by processes of its own and are not counted.
"""

PAGES = {"queue": 16_000, "list": 4_000, "request": 32_000, "bar after a decision": 2_500}
"""The most bytes of a page, where the queue holds one request or a few."""


def counted():
    """Count in a separate process.

    Returns:
        Figures to print, and a sentence for each limit that is not kept.
    """
    with serving.serve() as house:
        house.server.end()
        found = _count(house)
    limits = LIMITS["PostgreSQL" if serving.POSTGRESQL else "SQLite"]
    figures = [(verb, _said(verb, counts)) for verb, counts in found["verbs"].items()]
    figures += [(f"page: {page}", f"{size:,} bytes") for page, size in found["pages"].items()]
    if not found["traced"]:
        figures.append(("fsyncs", found["why_not_traced"]))
    return figures, judged(found, limits)


def judged(found, limits):
    """Return a sentence for each limit that is not kept, or that judged nothing."""
    return [
        *_of_verbs(found, limits),
        *(
            f"{page} has {found['pages'].get(page, 0):,} bytes, the limit is {most:,}."
            for page, most in PAGES.items()
            if not 0 < found["pages"].get(page, 0) <= most
        ),
    ]


def _of_verbs(found, limits):
    for verb, most in limits.items():
        counts = found["verbs"].get(verb, {})
        for kind, limit in most._asdict().items():
            count = counts.get(kind, 0)
            if kind == "fsyncs" and not found["traced"]:
                continue
            if limit and not count:
                yield f"{verb}: no {kind} were counted, so the benchmark measures nothing."
            elif count > limit:
                yield f"{verb}: {count} {kind}, the limit is {limit}."


def _said(verb, counts):
    said = ", ".join(f"{count} {kind}" for kind, count in counts.items())
    return f"{said} (asked: {ASKED[verb]} statements)" if verb in ASKED else said


def _count(house):
    known = {"url": house.url, "token": house.tokens[0], "person": house.headers_of("alice")}
    command = [sys.executable, "-m", "tests.benchmarks.counting", json.dumps(known)]
    log = house.folder / "strace"
    if serving.POSTGRESQL:
        why_not = "made by PostgreSQL's own processes, not counted"
    elif not shutil.which("strace"):
        why_not = "not counted: strace is not installed"
    elif (said := _run(house, [*STRACE, str(log), *command])).returncode:
        why_not = f"not counted: under strace, {said.stderr.strip()[-200:]!r}"
    else:
        found = _read(said)
        with log.open() as lines:
            return found | {"verbs": with_fsyncs(found["verbs"], lines), "traced": True}
    return _read(_run(house, command)) | {"traced": False, "why_not_traced": why_not}


def _run(house, command):
    return subprocess.run(
        command,
        cwd=serving.ROOT,
        env=house.environment,
        check=False,
        capture_output=True,
        text=True,
    )


def _read(said):
    assert said.returncode == 0, said.stderr
    return json.loads(said.stdout.rpartition("COUNTED ")[2])


def with_fsyncs(verbs, trace):
    """Add to the counts of each verb the middle of its fsyncs, read from strace's log."""
    rounds, verb = defaultdict(list), NOBODY
    for line in trace:
        if MARK in line:
            verb = line.partition(MARK)[2].partition('"')[0]
            rounds[verb].append(0)
        elif "sync(" in line and rounds:
            rounds[verb][-1] += 1
    return {
        verb: counts | {"fsyncs": middle(rounds[verb][-ROUNDS:])} for verb, counts in verbs.items()
    }


# --- in the process that counts ------------------------------------------------------------------


class Counts(Counter):
    """What this process did so far, by kind."""

    def watch(self):
        """Count from now on, on connections that are opened from now on."""
        loop = asyncio.BaseEventLoop
        loop.run_in_executor = self.counting("hops", loop.run_in_executor)
        if serving.POSTGRESQL:
            self._watch_postgresql()
        else:
            self._watch_sqlite()

    def _watch_sqlite(self):
        from django.db.backends.sqlite3 import base  # noqa: PLC0415 - needs Django's settings

        connect, counts = base.Database.connect, self

        class Connection(base.Database.Connection):
            """Has everything go through cursors that count."""

            def cursor(self, factory=base.Database.Cursor):
                return super().cursor(counts.counting_cursor(factory))

            def execute(self, *arguments):
                return self.cursor().execute(*arguments)

            def executemany(self, *arguments):
                return self.cursor().executemany(*arguments)

        @wraps(connect)
        def connected(*arguments, **options):
            connection = connect(*arguments, **{"factory": Connection} | options)
            connection.set_trace_callback(self.of_trace)
            return connection

        base.Database.connect = connected

    def _watch_postgresql(self):
        import psycopg  # noqa: PLC0415 - not installed where only SQLite is used

        for owner, name, kind in (
            (psycopg.Cursor, "execute", "statements"),
            (psycopg.Cursor, "executemany", "statements"),
            (psycopg.Connection, "commit", "commits"),
        ):
            setattr(owner, name, self.counting(kind, getattr(owner, name)))

    def of_trace(self, statement):
        """Note a commit. Statements are not counted here: they come again for each trigger."""
        self["commits"] += statement.startswith("COMMIT")

    def counting_cursor(self, factory):
        """Return a class of cursors like ``factory`` that counts."""

        def execute(cursor, statement, *values):
            self["statements"] += statement.split(None, 1)[0].upper() not in {"BEGIN", "COMMIT"}
            return factory.execute(cursor, statement, *values)

        def executemany(cursor, statement, *values):
            self["statements"] += 1
            return factory.executemany(cursor, statement, *values)

        return type("Counting", (factory,), {"execute": execute, "executemany": executemany})

    def counting(self, kind, work):
        """Return ``work`` so that each call counts."""

        @wraps(work)
        def counted(*args, **kwargs):
            self[kind] += 1
            return work(*args, **kwargs)

        return counted


class Rounds:
    """What each verb did in each round."""

    def __init__(self, counts):
        self.counts, self.verbs = counts, {}

    @contextmanager
    def of(self, verb):
        """Count what is done in here as this verb's."""
        _mark(verb)
        before = self.counts.copy()
        yield
        _mark(NOBODY)
        did = {
            kind: self.counts[kind] - before[kind] for kind in ("statements", "commits", "hops")
        }
        self.verbs.setdefault(verb, []).append(did)

    def middles(self):
        """Return the middle of the last rounds, by verb and kind."""
        return {
            verb: {kind: middle([did[kind] for did in rounds[-ROUNDS:]]) for kind in rounds[0]}
            for verb, rounds in self.verbs.items()
        }


def _mark(verb):
    with suppress(OSError):
        Path(MARK + verb).mkdir()


async def _rounds(known):
    """Take requests from the question to the end of what was asked, one after the other."""
    counts = Counts()
    counts.watch()
    from dashboard.asgi import application  # noqa: PLC0415 - after the driver is watched
    from dashboard.live import hub  # noqa: PLC0415 - the same

    for name in CLOCKS:
        assert hasattr(hub, name), f"The hub has no {name}, so what it does by the clock counts."
        setattr(hub, name, 3600)
    over, rounds = Called(application, known["url"]), Rounds(counts)
    agent, reviewer = Agent(over, known["token"]), Reviewer(over, known["person"])
    pages = {}
    for _ in range(WARM + ROUNDS):
        with rounds.of("submit"):
            asked = [await agent.submit()]
        pages["queue"] = len(await reviewer.get("/"))
        pages["list"] = len(await reviewer.get("/queue"))
        with rounds.of("page"):
            pages["request"] = len(await reviewer.get(f"/approvals/{asked[0]['id']}"))
        asked += [await agent.submit() for _ in range(2)]
        for approval in asked:
            await reviewer.read(approval)
        with rounds.of("decide"):
            await reviewer.decide(asked[0], draws=False)
        with rounds.of("decide and draw"):
            pages["bar after a decision"] = len(await reviewer.decide(asked[1]))
        with rounds.of("wait"):
            waits = asyncio.create_task(agent.wait(asked[2]))
            await _until_quiet(counts)
        with rounds.of("decide, draw and tell"):
            await reviewer.decide(asked[2])
            assert (await waits)["status"] == "approved"
            await _until_quiet(counts)
        for state in ("started", "finished"):
            with rounds.of(state):
                await agent.report(asked[2], state)
    return {"verbs": rounds.middles(), "pages": pages}


async def _until_quiet(counts):
    before, quiet = None, 0
    while quiet < 4:
        await asyncio.sleep(QUIET_S)
        quiet = quiet + 1 if counts == before else 0
        before = counts.copy()


if __name__ == "__main__":
    print("COUNTED", json.dumps(asyncio.run(_rounds(json.loads(sys.argv[1])))))  # noqa: T201
