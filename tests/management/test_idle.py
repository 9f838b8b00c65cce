"""What a server does while nobody asks it anything."""

from types import SimpleNamespace

import pytest
from django.db.models.sql.compiler import SQLCompiler

from dashboard.management import background

BUILT_AT_MOST = 3
"""Statements that Django builds in a second: each takes longer than a prepared one is answered."""
EACH_SECOND_AT_LEAST = 9


def done(coroutine):
    """Run what waits for nothing, without a loop: Django allows no database inside of one."""
    with pytest.raises(StopIteration):
        coroutine.send(None)


@pytest.fixture
def each_second(monkeypatch, db):
    """What is done every second beside the requests."""
    works = []

    async def work(function, *args):
        return function(*args)

    async def keep(job, every_s):
        if every_s == background.SWEEP_EVERY_S:
            works.append(job)

    monkeypatch.setattr(background, "current_hub", lambda: SimpleNamespace(work=work))
    monkeypatch.setattr(background, "_keep_at", keep)
    for job in background.EVERYTHING:
        done(job())
    return works


def test_a_second_in_which_nothing_happens_builds_few_statements(each_second, monkeypatch):
    built, as_sql = [], SQLCompiler.as_sql

    def counting(compiler, *args, **options):
        built.append(compiler.query.model.__name__)
        return as_sql(compiler, *args, **options)

    for work in each_second:
        done(work())
    monkeypatch.setattr(SQLCompiler, "as_sql", counting)
    for work in each_second:
        done(work())

    assert len(each_second) >= EACH_SECOND_AT_LEAST
    assert len(built) <= BUILT_AT_MOST, built
