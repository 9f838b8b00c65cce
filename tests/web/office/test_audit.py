from datetime import UTC, timedelta
from io import StringIO

import pytest
from django.core.management import call_command
from django.db import transaction
from django.utils import timezone

from dashboard.accounts.models import User
from dashboard.accounts.services.groups import set_members
from dashboard.approvals import services
from dashboard.audit import queries
from dashboard.audit.actions import Action
from dashboard.audit.models import AuditEntry, AuditVerification
from dashboard.audit.queries import BACKUP
from dashboard.audit.services import OPERATOR, Actor, AuditEvent, record, verify_on
from tests import make


def entries(count, actor="agent:robot"):
    with transaction.atomic():
        record(Actor(actor), *(AuditEvent("test.event", f"test:{n}") for n in range(count)))


def numbers(reply):
    return [row.entry.seq for row in reply.context["rows"]]


def test_the_newest_entry_stands_first(auditor):
    entries(3)
    newest = AuditEntry.objects.latest("seq").seq

    assert numbers(auditor.get("/audit"))[:3] == [newest, newest - 1, newest - 2]


def test_an_entry_shows_who_how_what_and_to_whom(admin, read):
    admin.post("/hold", {"reason": "drill"})

    row = read(admin.get("/audit"), f"entry-{AuditEntry.objects.latest('seq').seq}")
    assert "ada put everything on hold: “drill”" in row
    assert "Actor user:ada session:password Action hold.placed reason drill Hash" in row


@pytest.mark.parametrize("name", ["since", "until"])
@pytest.mark.parametrize("day", ["0001-01-01", "9999-12-31"])
def test_the_first_and_the_last_day_there_is_are_days(auditor, name, day):
    assert auditor.get(f"/audit?{name}={day}").status_code == 200


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
    make.agent("robot")
    first = auditor.get("/audit?agent=robot")
    second = auditor.get(f"/audit?{first.context['older']}")

    assert len(numbers(second)) == 51  # with the one that says that it was added
    assert {row.entry.actor for row in second.context["rows"][:50]} == {"agent:robot"}


def actions(reply):
    return [row.entry.action for row in reply.context["rows"]]


def test_a_person_is_picked_and_what_was_done_to_them_counts(admin):
    ben = make.person("ben")
    admin.post(f"/people/{ben.pk}/roles", {"roles": ["reviewer"], "shown": ""})
    admin.post("/hold", {"reason": "drill"})

    assert actions(admin.get("/audit?person=ben"))[0] == "person.roles_changed"
    assert "hold.placed" not in actions(admin.get("/audit?person=ben"))
    assert actions(admin.get("/audit?person=ada"))[0] == "hold.placed"


def test_what_people_did_with_the_requests_of_an_agent_counts(auditor, token, alice):
    approval = make.pending(token)
    make.decided(approval, alice)
    make.pending(make.token(make.agent("other")))

    found = auditor.get(f"/audit?agent={token.agent.name}").context["rows"]
    assert found[0].entry.action == "approval.approved"
    assert {row.entry.subject for row in found} >= {str(approval.pk)}
    assert "agent:other" not in {row.entry.actor for row in found}


def test_what_is_about_an_agent_or_a_person_by_the_way_counts(auditor, token, alice, ada):
    name = token.agent.name
    by = Actor("retention")
    with transaction.atomic():
        record(by, AuditEvent(Action.NOTEBOOK_DELETED, name, "0" * 64))
        record(by, AuditEvent(Action.TOOL_CLASSED, "tool:1", details={"agent": f"agent:{name}"}))
        record(
            by, AuditEvent(Action.GRANT_MADE, "grant:1", details={"agent": name, "kind": "code"})
        )
    set_members(make.group("ops"), members=[alice], by=by)

    seen = actions(auditor.get(f"/audit?agent={name}"))
    assert {Action.NOTEBOOK_DELETED, Action.TOOL_CLASSED, Action.GRANT_MADE} <= set(seen)
    assert "group.members_changed" in actions(auditor.get("/audit?person=alice"))
    assert "group.members_changed" not in actions(auditor.get("/audit?person=ada"))


def test_a_kind_of_event_is_picked(auditor, token, alice):
    make.decided(make.pending(token), alice)

    assert set(actions(auditor.get("/audit?kind=decisions"))) == {"approval.approved"}


def test_days_are_picked(auditor):
    today = timezone.now().astimezone(UTC).date()
    entries(3)

    def count(**days):
        query = "&".join(f"{name}={day}" for name, day in days.items())
        return len(numbers(auditor.get(f"/audit?{query}")))

    assert count(since=today, until=today) == AuditEntry.objects.count()
    assert count(until=today - timedelta(days=1)) == 0
    assert count(since=today + timedelta(days=1)) == 0


def test_the_first_entry_of_a_moment_is_found_by_halves(db):
    for _ in range(5):
        entries(1)
    moments = list(AuditEntry.objects.order_by("seq").values_list("seq", "at"))

    for seq, at in moments:
        found = queries.newest(queries.LogFilter(since=at), 100)
        assert found[-1].seq == seq


@pytest.mark.parametrize(
    "query",
    [
        "before=0",
        "before=x",
        "before=99999999999999999999",
        "person=%00",
        "agent=nobody",
        "kind=x",
        "since=yesterday",
        "since=2026-03-02&until=2026-03-01",
    ],
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


def test_it_says_when_the_last_backup_was_made(auditor):
    assert b"The log names no backup yet." in auditor.get("/audit").content

    with transaction.atomic():
        record(OPERATOR, AuditEvent(Action.BACKUP_MADE, BACKUP, details={"head": "1:f"}))

    assert b"The last backup was made and verified" in auditor.get("/audit").content


def test_verifying_tells_how_far_it_is_and_what_it_found(auditor, read):
    auditor.post("/audit/verify")

    said = read(auditor.get("/audit/verification"), "verification")
    assert said.startswith("Verifying… entry 0 of")
    seq = AuditEntry.objects.latest("seq").seq

    assert verify_on() is False
    assert f"Whole up to entry {seq}" in read(auditor.get("/audit"), "verification")
    assert actions(auditor.get("/audit"))[0] == "audit.verified"


def test_a_page_that_waits_for_the_verification_asks_again_until_it_ended(auditor):
    auditor.post("/audit/verify")
    assert b"hx-trigger" in auditor.get("/audit/verification").content
    verify_on()

    assert b"hx-trigger" not in auditor.get("/audit/verification").content


def test_a_head_that_was_kept_and_is_another_one_breaks_it(auditor, read):
    auditor.post("/audit/verify", {"head": f"1:{'0' * 64}"})
    verify_on()

    said = read(auditor.get("/audit"), "verification")
    assert "The log and the database do not fit together: entry 1 is not the one" in said


def test_the_tables_are_compared_after_the_log_was_walked(auditor, read):
    auditor.post("/audit/verify")
    services.verify_on()
    assert "row 0 of" in read(auditor.get("/audit/verification"), "verification")

    while services.verify_on():
        pass
    assert "and the database says the same" in read(auditor.get("/audit"), "verification")


def test_a_table_that_was_changed_by_hand_is_told_on_every_page(auditor, reviewer, read):
    person = User.objects.earliest("pk")
    User.objects.filter(pk=person.pk).update(is_admin=not person.is_admin)
    auditor.post("/audit/verify")
    while services.verify_on():
        pass

    named = f"person {person.username}: their roles are"
    for page in ("/", "/history", "/policies", "/account"):
        said = read(reviewer.get(page), "gate")
        assert "The audit log and the database do not fit together." in said
        assert named not in said  # only those who may read the log learn what it is
        assert named in read(auditor.get(page), "gate")
    User.objects.filter(pk=person.pk).update(is_admin=person.is_admin)
    auditor.post("/audit/verify")
    while services.verify_on():
        pass
    assert "do not fit together" not in read(reviewer.get("/"), "gate")


def test_what_is_no_head_is_refused(auditor, read):
    reply = auditor.post("/audit/verify", {"head": "yesterday's"})

    assert reply.status_code == 422
    assert "This is not a head" in read(reply)
    assert not AuditVerification.objects.exists()


def test_a_verification_that_nobody_takes_up_says_what_is_missing(auditor, read):
    auditor.post("/audit/verify")
    AuditVerification.objects.update(asked_at=timezone.now() - timedelta(minutes=1))

    assert "run_worker" in read(auditor.get("/audit"), "verification")


def test_reviewers_cannot_verify(reviewer):
    assert reviewer.post("/audit/verify").status_code == 403
    assert reviewer.get("/audit/verification").status_code == 403


def test_nothing_that_somebody_wrote_can_hide_or_act(auditor):
    with transaction.atomic():
        record(Actor("agent:x"), AuditEvent("test", details={"said": "a\u202eb<script>\u200b"}))

    page = auditor.get("/audit").content.decode()
    assert "\u202e" not in page
    assert "<script>\u200b" not in page
    assert "&lt;script&gt;" in page


def test_details_that_are_no_text_are_shown_as_json(auditor, read):
    with transaction.atomic():
        record(Actor("agent:x"), AuditEvent("test", details={"a": [1, None], "b": True}))

    row = read(auditor.get("/audit"), f"entry-{AuditEntry.objects.latest('seq').seq}")
    assert "a [1,null] b true Hash" in row


def test_a_hundred_entries_cost_as_many_queries_as_one(auditor, cost):
    before = cost(auditor, "/audit")
    entries(150)

    assert cost(auditor, "/audit") == before


def test_that_heads_are_not_kept_is_said(auditor, read, settings, tmp_path):
    assert "Heads of the log are not kept" not in read(auditor.get("/audit"), "main")

    settings.AUDIT_HEADS = str(tmp_path / "gone" / "heads")
    assert "Heads of the log are not kept" in read(auditor.get("/audit"), "main")
