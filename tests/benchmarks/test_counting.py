"""The counts that fail the checks must not pass because nothing was counted."""

import sqlite3

import pytest
from django.db import connection

from tests.benchmarks import counting
from tests.benchmarks.counting import Counts, Most, judged, with_fsyncs

LIMITS = {"submit": Most(statements=3, commits=1, hops=2, fsyncs=5)}
REACHED = {"statements": 3, "commits": 1, "hops": 2, "fsyncs": 5}
PAGES = dict.fromkeys(counting.PAGES, 100)


def found(**counts):
    return {"verbs": {"submit": REACHED | counts}, "pages": PAGES, "traced": True}


def test_what_is_within_its_limits_passes():
    assert judged(found(), LIMITS) == []


def test_less_than_the_limit_passes():
    assert judged(found(statements=2, fsyncs=1), LIMITS) == []


def test_a_statement_too_many_fails():
    assert judged(found(statements=4), LIMITS) == ["submit: 4 statements, the limit is 3."]


@pytest.mark.parametrize("kind", ["statements", "commits", "hops", "fsyncs"])
def test_none_counted_where_some_are_expected_fails(kind):
    assert judged(found(**{kind: 0}), LIMITS) == [
        f"submit: no {kind} were counted, so the benchmark measures nothing."
    ]


def test_a_commit_where_none_is_allowed_fails():
    limits = {"submit": Most(statements=3, commits=0, hops=2, fsyncs=5)}

    assert judged(found(), limits) == ["submit: 1 commits, the limit is 0."]


def test_a_verb_that_was_not_counted_fails():
    assert len(judged({"verbs": {}, "pages": PAGES, "traced": True}, LIMITS)) == 4


def test_fsyncs_are_not_judged_where_they_cannot_be_seen():
    assert judged(found(fsyncs=0) | {"traced": False}, LIMITS) == []


@pytest.mark.parametrize("size", [0, 100_000_000])
def test_a_page_that_is_too_large_or_was_not_drawn_fails(size):
    assert len(judged(found() | {"pages": PAGES | {"queue": size}}, LIMITS)) == 1


def test_every_verb_has_a_limit_on_each_engine():
    assert counting.LIMITS["SQLite"].keys() == counting.LIMITS["PostgreSQL"].keys()
    assert counting.ASKED.keys() <= counting.LIMITS["SQLite"].keys()


def test_fsyncs_are_those_between_the_marks_of_a_verb():
    trace = [
        "1 fsync(3) = 0",
        '1 mkdir("/nonexistent/submit", 0777) = -1 ENOENT',
        "1 fdatasync(3) = 0",
        "2 fsync(3 <unfinished ...>",
        "2 <... fsync resumed>) = 0",
        '1 mkdir("/nonexistent/nobody", 0777) = -1 ENOENT',
        "1 fdatasync(3) = 0",
    ]

    assert with_fsyncs({"submit": {}}, trace) == {"submit": {"fsyncs": 2}}


@pytest.fixture
def counts(monkeypatch):
    """Counts of every SQLite connection that the test opens through Django's driver."""
    from django.db.backends.sqlite3 import base  # noqa: PLC0415 - SQLite alone

    monkeypatch.setattr(base.Database, "connect", base.Database.connect)  # put back afterwards
    counts = Counts()
    counts._watch_sqlite()
    return counts


@pytest.fixture
def database(counts):
    opened = sqlite3.dbapi2.connect(":memory:", isolation_level=None)
    opened.execute("CREATE TABLE one (a)")
    opened.execute("CREATE TABLE two (a)")
    counts.clear()
    yield opened
    opened.close()


@pytest.mark.engine("sqlite")
def test_statements_are_counted_however_they_are_sent(counts, database):
    database.execute("SELECT 1")
    database.cursor().execute("SELECT 1")
    database.cursor(sqlite3.Cursor).execute("SELECT ?", (1,))
    database.executemany("INSERT INTO one VALUES (?)", [(1,), (2,)])

    assert counts["statements"] == 4


@pytest.mark.engine("sqlite")
def test_what_a_trigger_does_is_not_another_statement(counts, database):
    database.execute(
        "CREATE TRIGGER t AFTER INSERT ON one BEGIN INSERT INTO two VALUES (NEW.a); END"
    )
    database.execute("INSERT INTO one VALUES (1)")

    assert counts["statements"] == 2


@pytest.mark.engine("sqlite")
@pytest.mark.parametrize("by_hand", [True, False])
def test_a_transaction_is_one_commit_and_its_ends_are_no_statements(counts, database, by_hand):
    database.execute("BEGIN IMMEDIATE")
    database.execute("INSERT INTO one VALUES (1)")
    if by_hand:
        database.execute("COMMIT")
    else:
        database.commit()

    assert dict(counts) == {"statements": 1, "commits": 1}


@pytest.mark.engine("postgresql")
@pytest.mark.django_db(transaction=True)
def test_statements_and_commits_are_counted_on_postgresql(monkeypatch):
    import psycopg  # noqa: PLC0415 - not installed where only SQLite is used

    for owner, name in (
        ("Cursor", "execute"),
        ("Cursor", "executemany"),
        ("Connection", "commit"),
    ):
        original = getattr(getattr(psycopg, owner), name)
        monkeypatch.setattr(getattr(psycopg, owner), name, original)
    connection.ensure_connection()
    counts = Counts()
    counts._watch_postgresql()
    connection.set_autocommit(False)
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    connection.connection.execute("SELECT 1")
    connection.commit()
    connection.set_autocommit(True)

    assert dict(counts) == {"statements": 2, "commits": 1}
