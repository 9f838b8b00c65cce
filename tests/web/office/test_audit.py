from io import StringIO

import pytest
from django.core.management import call_command
from django.db import transaction

from dashboard.audit.models import AuditEntry
from dashboard.audit.services import Actor, Event, record
from tests import make


def entries(count, actor="agent:robot"):
    with transaction.atomic():
        record(Actor(actor), *(Event("test.event", f"test:{n}") for n in range(count)))


def numbers(reply):
    return [row.entry.seq for row in reply.context["rows"]]


def test_the_newest_entry_stands_first(auditor):
    entries(3)
    newest = AuditEntry.objects.latest("seq").seq

    assert numbers(auditor.get("/audit"))[:3] == [newest, newest - 1, newest - 2]


def test_an_entry_shows_who_how_what_and_to_whom(admin, read):
    admin.post("/hold", {"reason": "drill"})

    row = read(admin.get("/audit"), f"entry-{AuditEntry.objects.latest('seq').seq}")
    assert row.endswith("UTC user:ada session:password hold.placed reason drill")


def test_a_hundred_entries_are_a_page_and_older_ones_follow(auditor):
    entries(250)
    newest = AuditEntry.objects.latest("seq").seq
    first = auditor.get("/audit")
    second = auditor.get(f"/audit?{first.context['older']}")

    assert numbers(first) == list(range(newest, newest - 100, -1))
    assert numbers(second) == list(range(newest - 100, newest - 200, -1))


def test_the_last_page_has_no_older_one(auditor):
    assert auditor.get("/audit").context["older"] == ""


def test_paging_keeps_the_filter(auditor):
    entries(150)
    entries(20, actor="agent:other")
    first = auditor.get("/audit?actor=agent:robot")
    second = auditor.get(f"/audit?{first.context['older']}")

    assert len(numbers(second)) == 50
    assert {row.entry.actor for row in second.context["rows"]} == {"agent:robot"}


def test_subjects_are_found_by_how_they_begin(auditor):
    entries(12)

    rows = auditor.get("/audit?subject=test:1").context["rows"]
    assert [row.entry.subject for row in rows] == ["test:11", "test:10", "test:1"]


@pytest.mark.parametrize(
    "query", ["before=0", "before=x", "before=99999999999999999999", "actor=%00"]
)
def test_a_question_that_makes_no_sense_finds_nothing(auditor, query, read):
    assert "No such entry" in read(auditor.get(f"/audit?{query}"), "main")


def test_the_head_that_is_shown_verifies(auditor, read):
    head = read(auditor.get("/audit"), "head")
    said = StringIO()
    call_command("verify_audit", expect=head, stdout=said)

    assert said.getvalue().startswith("The audit log is whole.")


def test_a_request_is_linked(auditor, token):
    approval = make.pending(token)

    assert f'href="/approvals/{approval.pk}"'.encode() in auditor.get("/audit").content


def test_nothing_that_somebody_wrote_can_hide_or_act(auditor):
    with transaction.atomic():
        record(Actor("agent:x"), Event("test", details={"said": "a\u202eb<script>\u200b"}))

    page = auditor.get("/audit").content.decode()
    assert "\u202e" not in page
    assert "<script>\u200b" not in page
    assert "&lt;script&gt;" in page


def test_details_that_are_no_text_are_shown_as_json(auditor, read):
    with transaction.atomic():
        record(Actor("agent:x"), Event("test", details={"a": [1, None], "b": True}))

    row = read(auditor.get("/audit"), f"entry-{AuditEntry.objects.latest('seq').seq}")
    assert row.endswith("a [1,null] b true")


def test_a_hundred_entries_cost_as_many_queries_as_one(auditor, cost):
    before = cost(auditor, "/audit")
    entries(150)

    assert cost(auditor, "/audit") == before
