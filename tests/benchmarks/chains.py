"""What one chained log allows a whole installation, and what a sequencer would. PostgreSQL alone.

Several writers commit as fast as they can, each transaction with a row and one audit entry:

- *head*: as today. The transaction locks the head row last, chains its entry, and moves the head.
- *sequencer*: the transaction only inserts its entry. One process reads what is committed, gives
  it numbers, chains it in batches and moves the head, each batch in one transaction.

Raw SQL and nothing of the dashboard, so that it measures the log and not the rest. At the end the
chain is walked, and every entry that was committed must stand in it once. ``docs/scaling.md`` says
what was decided by it.
"""

import hashlib
import multiprocessing
import time
from contextlib import contextmanager
from uuid import uuid4

from tests.benchmarks.beside import CannotRun, _database
from tests.benchmarks.figures import part_of

WRITERS, LASTS_S, BATCH = 4, 5, 500
GENESIS = "0" * 64
TABLES = """
CREATE TABLE thing (id uuid PRIMARY KEY, at timestamptz NOT NULL);
CREATE TABLE head (id int PRIMARY KEY, seq bigint NOT NULL, hash text NOT NULL);
INSERT INTO head VALUES (1, 0, '{genesis}');
CREATE TABLE chained (
    seq bigint PRIMARY KEY, id uuid NOT NULL UNIQUE, prev text NOT NULL, hash text NOT NULL,
    late_s double precision NOT NULL
);
CREATE TABLE inbox (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    written_in xid8 NOT NULL DEFAULT pg_current_xact_id(),
    id uuid NOT NULL,
    at timestamptz NOT NULL DEFAULT clock_timestamp()
);
"""
COMMITTED = """
SELECT number, id, at FROM inbox
WHERE written_in < pg_snapshot_xmin(pg_current_snapshot()) ORDER BY written_in, number LIMIT %s
"""
"""Of transactions that ended before every one that still runs: nothing can come before them."""


def compared():
    """Measure both in turns; returns figures."""
    try:
        with _database() as url:
            return _figures(url.replace("postgresql://", "postgres://", 1))
    except CannotRun as error:
        return [("chains: not measured", str(error)[-300:])]


def _figures(url):
    figures = []
    for name, write, sequences in (("head", _by_head, False), ("sequencer", _by_inbox, True)):
        with _connection(url) as connection:
            connection.execute("DROP TABLE IF EXISTS thing, head, chained, inbox")
            connection.execute(TABLES.format(genesis=GENESIS))
        took, lasted = _run(url, write, sequences=sequences)
        late = _walked(url, len(took))
        rate = len(took) / lasted
        figures += [
            (f"{name}: {WRITERS} writers", f"{rate:,.0f} audited transactions a second"),
            ("  a transaction", f"p50 {_ms(took, 0.5)}, p99 {_ms(took, 0.99)}"),
            ("  from the entry to its place", f"p50 {_ms(late, 0.5)}, p99 {_ms(late, 0.99)}"),
        ]
    return figures


def _ms(seconds, part):
    return f"{part_of(seconds, part) * 1000:.1f} ms"


def _run(url, write, *, sequences):
    """Let the writers write, and the sequencer chain; returns what each transaction took."""
    context = multiprocessing.get_context("spawn")
    ready, told = context.Barrier(WRITERS + 1), context.Queue()
    writers = [
        context.Process(target=_write, args=(url, write, ready, told)) for _ in range(WRITERS)
    ]
    stop = context.Event()
    sequencer = context.Process(target=_sequence, args=(url, stop))
    for one in [*writers, *([sequencer] if sequences else [])]:
        one.start()
    ready.wait()
    took = [one for _ in writers for one in told.get()]
    for one in writers:
        one.join()
    stop.set()
    if sequences:
        sequencer.join()
        assert sequencer.exitcode == 0
    return took, LASTS_S


def _write(url, write, ready, told):
    took = []
    with _connection(url) as connection:
        ready.wait()
        ends = time.perf_counter() + LASTS_S
        while (began := time.perf_counter()) < ends:
            with connection.transaction():
                write(connection, uuid4())
            took.append(time.perf_counter() - began)
    told.put(took)


def _by_head(connection, thing):
    connection.execute("INSERT INTO thing VALUES (%s, clock_timestamp())", [thing])
    [[seq, prev]] = connection.execute("SELECT seq, hash FROM head WHERE id = 1 FOR UPDATE")
    hash_ = _hash(prev, seq + 1, thing)
    connection.execute(
        "INSERT INTO chained VALUES (%s, %s, %s, %s, 0)", [seq + 1, thing, prev, hash_]
    )
    connection.execute("UPDATE head SET seq = %s, hash = %s WHERE id = 1", [seq + 1, hash_])


def _by_inbox(connection, thing):
    connection.execute("INSERT INTO thing VALUES (%s, clock_timestamp())", [thing])
    connection.execute("INSERT INTO inbox (id) VALUES (%s)", [thing])


def _sequence(url, stop):
    """Chain what is committed until told to stop, and then the rest."""
    with _connection(url) as connection:
        while True:
            stops = stop.is_set()
            if not _chain_a_batch(connection):
                if stops:
                    return
                time.sleep(0.002)


def _chain_a_batch(connection):
    with connection.transaction():
        [[seq, prev]] = connection.execute("SELECT seq, hash FROM head WHERE id = 1 FOR UPDATE")
        batch = connection.execute(COMMITTED, [BATCH]).fetchall()
        if not batch:
            return False
        links = []
        for _, thing, at in batch:
            seq, before = seq + 1, prev
            prev = _hash(before, seq, thing)
            links.append((seq, thing, before, prev, at))
        with connection.cursor() as cursor:
            cursor.executemany(
                "INSERT INTO chained VALUES"
                " (%s, %s, %s, %s, extract(epoch FROM clock_timestamp() - %s))",
                links,
            )
        connection.execute(
            "DELETE FROM inbox WHERE number = ANY(%s)", [[number for number, _, _ in batch]]
        )
        connection.execute("UPDATE head SET seq = %s, hash = %s WHERE id = 1", [seq, prev])
    return True


def _walked(url, count):
    """Check that the chain is whole and holds every entry once; returns how late each came."""
    with _connection(url) as connection:
        links = connection.execute(
            "SELECT seq, id, prev, hash, late_s FROM chained ORDER BY seq"
        ).fetchall()
        [[things]] = connection.execute("SELECT count(*) FROM thing").fetchall()
        [[left]] = connection.execute("SELECT count(*) FROM inbox").fetchall()
    prev = GENESIS
    for number, (seq, thing, before, hash_, _) in enumerate(links, 1):
        assert (seq, before, hash_) == (number, prev, _hash(prev, seq, thing)), number
        prev = hash_
    assert (len(links), things, left) == (count, count, 0)
    return [late_s for *_, late_s in links]


def _hash(prev, seq, thing):
    return hashlib.sha256(f"{prev}{seq}{thing}".encode()).hexdigest()


@contextmanager
def _connection(url):
    import psycopg  # noqa: PLC0415 - not installed where only SQLite is used

    with psycopg.connect(url, autocommit=True) as connection:
        yield connection
