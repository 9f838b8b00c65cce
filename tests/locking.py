"""Finds transactions that wait for a row while they have the head of the audit log.

Whoever records has the head until they commit, and everybody else who records waits for them. If
they then wait for a row of somebody who waits for the head, PostgreSQL ends one of the two. So
each row is locked before the first entry (``dashboard.approvals.services.closing.lock`` gives the
order). A table that was locked before may be locked again.
"""

import re
from contextlib import contextmanager

import pytest
from django.db import connection
from django.db.transaction import Atomic

_LOCKS = re.compile(r"\bFOR (?:NO KEY )?UPDATE\b")
_TABLE = re.compile(r'FROM "(\w+)"')
_HEAD = "dashboard_audithead"


@contextmanager
def watched():
    """Yield a list that fills with the tables which this thread locks too late."""
    late, locked, leave = [], set(), Atomic.__exit__

    def is_over():
        return all(block._from_testcase for block in connection.atomic_blocks)

    def watch(execute, sql, params, many, context):
        if _LOCKS.search(str(sql)) and not is_over():
            table = _HEAD if _HEAD in str(sql) else _TABLE.search(str(sql))[1]
            if _HEAD in locked and table not in locked:
                late.append(table)
            locked.add(table)
        return execute(sql, params, many, context)

    def leave_and_forget(atomic, *error):
        try:
            return leave(atomic, *error)
        finally:
            if is_over():
                locked.clear()

    with pytest.MonkeyPatch.context() as patch, connection.execute_wrapper(watch):
        patch.setattr(Atomic, "__exit__", leave_and_forget)
        yield late
