import asyncio
import csv
import io
import json
import time
from datetime import datetime, timedelta
from uuid import uuid4

import pytest
from asgiref.sync import ThreadSensitiveContext, async_to_sync
from django.db import connection
from django.http import QueryDict
from django.utils import timezone

from approval_client.wire import OutcomeState, Status, parse_json
from dashboard.approvals.models import ApprovalRequest
from dashboard.approvals.rules import history
from dashboard.approvals.rules.history import EXPORTED
from dashboard.audit.models import AuditEntry
from tests import make

FORMULAS = [
    "=1+1",
    "+1",
    "-1",
    "@SUM(1)",
    "\t=1",
    "\r=1",
    "\n=1",
    " =1",
    "\uff1d1+1",
    "\u200b=1",
    "\ufeff+1",
]


def export(browser, query):
    """Press a button of the page whose filters are in ``query``, beside ``format``."""
    sent = QueryDict(query.removeprefix("?"), mutable=True)
    form = {"format": sent.pop("format")[0]}
    return browser.post(f"/history/export?{sent.urlencode()}", form)


def exported(browser, query="?format=jsonl"):
    response = export(browser, query)
    assert response.status_code == 200

    async def collect():
        return [part async for part in response.streaming_content]

    return b"".join(async_to_sync(collect)()).decode()


async def taken_by_many(responses):
    """Have each response taken in a thread of its own, as the server does."""

    async def take(response):
        async with ThreadSensitiveContext():
            async for _ in response.streaming_content:
                pass

    await asyncio.gather(*map(take, responses))


def rows_of(text):
    return [json.loads(line) for line in text.splitlines()]


def test_an_export_holds_exactly_what_the_filter_finds(browser, ask, bob):
    ask()
    wanted = ask(run_id="week")
    make.decided(wanted, bob, Status.REJECTED, reason="No,\nreally.")

    (row,) = rows_of(exported(browser, "?format=jsonl&status=rejected"))

    assert list(row) == list(EXPORTED)
    assert (row["id"], row["decided_by"], row["reason"]) == (
        str(wanted.pk),
        "bob",
        "No,\nreally.",
    )
    assert datetime.fromisoformat(row["asked_at"]) == wanted.submitted_at
    assert row["asked_at"].endswith("+00:00")


def test_who_said_yes_and_what_ran_are_in_an_export(browser, token, alice):
    approval = make.approved(token, alice)
    make.report(approval, token)
    make.report(approval, token, OutcomeState.FINISHED, exit_code=-9)

    (row,) = rows_of(exported(browser))

    assert (row["approved_by"], row["exit_code"], row["policy_revision"]) == (["alice"], -9, 1)
    assert row["started_at"] <= row["finished_at"]


def test_an_export_names_what_was_asked_and_what_was_approved_instead(browser, ask, alice, bob):
    approval = ask(accepts_edits=True)
    edit = make.edited(approval, alice)
    make.decided(approval, bob, basis=make.basis(approval, edit))

    (row,) = rows_of(exported(browser))

    assert (row["digest"], row["decided_digest"]) == (approval.digest, edit.digest)


def test_csv_and_json_lines_hold_the_same(browser, ask):
    ask(run_id='a,"b"\r\nc')

    (row,) = csv.DictReader(io.StringIO(exported(browser, "?format=csv"), newline=""))
    (same,) = rows_of(exported(browser))

    assert list(row) == list(EXPORTED)
    assert (row["run_id"], row["id"]) == (same["run_id"], same["id"])
    assert (row["decided_by"], same["decided_by"]) == ("", None)


@pytest.mark.parametrize("formula", FORMULAS)
def test_no_cell_can_be_a_formula_and_json_stays_as_it_was(browser, ask, formula):
    ask(run_id=formula)

    (row,) = csv.DictReader(io.StringIO(exported(browser, "?format=csv"), newline=""))
    (same,) = rows_of(exported(browser))

    assert (row["run_id"], same["run_id"]) == (f"'{formula}", formula)


def test_an_export_is_a_file_that_nobody_keeps(browser):
    response = export(browser, "?format=csv")
    response.close()

    assert response["Content-Type"] == "text/csv; charset=utf-8"
    assert response["Content-Disposition"].startswith('attachment; filename="history-2')
    assert response["Cache-Control"] == "no-store"


def test_many_exports_at_once_take_one_connection(browser, monkeypatch):
    responses = [export(browser, "?format=csv") for _ in range(4)]
    reading, most = [], []

    def batch(*_):
        reading.append(1)
        most.append(len(reading))
        time.sleep(0.02)
        reading.pop()
        return []

    monkeypatch.setattr(history, "batch", batch)
    asyncio.run(taken_by_many(responses))

    assert most == [1, 1, 1, 1]


def test_an_export_in_no_known_format_is_not_found(browser):
    assert export(browser, "?format=xls").status_code == 404


def test_an_export_is_recorded_with_its_filter_and_how_many_rows(browser, ask):
    ask(run_id="r")
    exported(browser, "?format=csv&run=r&since=2026-01-01&after=")

    entry = AuditEntry.objects.latest("seq")

    assert (entry.actor, entry.auth, entry.action) == (
        "user:alice",
        "session:password",
        "history.exported",
    )
    assert parse_json(entry.details) == {
        "format": "csv",
        "filters": {"run": True, "since": "2026-01-01"},  # the name is an agent's
        "rows": 1,
    }


def test_what_is_asked_during_an_export_is_not_in_it(ask):
    first, at = ask(), timezone.now()
    ask()

    rows = history.batch(history.HistoryFilter(), at, None)

    assert [row["id"] for row in rows] == [first.pk]


@pytest.fixture
def five_thousand(ask):
    """As many requests, made by copying one."""
    one = ask(run_id="r")
    ApprovalRequest.objects.bulk_create(
        ApprovalRequest(
            **{
                **{f.attname: getattr(one, f.attname) for f in one._meta.concrete_fields},
                "id": uuid4(),
                "idempotency_key": f"copy {number}",
                "submitted_at": one.submitted_at - timedelta(seconds=number // 7),
            }
        )
        for number in range(1, 5000)
    )


def test_five_thousand_rows_leave_in_batches(browser, five_thousand):
    response = export(browser, "?format=jsonl")

    async def collect():
        return [part async for part in response.streaming_content]

    parts = async_to_sync(collect)()

    assert [part.count(b"\n") for part in parts] == [0, *[history.BATCH] * 25]
    assert len({row["id"] for part in parts for row in rows_of(part.decode())}) == 5000


def test_nothing_is_read_before_somebody_takes_it(browser, five_thousand, count_queries):
    response = None

    def begin():
        nonlocal response
        response = export(browser, "?format=jsonl")

    begun = count_queries(begin)
    response.close()

    assert begun < 15
    assert connection.in_atomic_block
