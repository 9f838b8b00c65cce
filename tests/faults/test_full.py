"""The disk is full, or the log cannot be written: nothing is decided, and nothing is half done."""

import resource
from contextlib import contextmanager

import pytest
from django.db import DatabaseError, connection
from django.db.models import F

from approval_client.wire import Status
from dashboard.approvals.models import Decision
from dashboard.approvals.rules.readiness import obstacles
from dashboard.audit.models import AuditHead
from dashboard.audit.services import verify
from tests import make
from tests.serving import serve

MUCH = {"view": "x" * 100_000}


@pytest.fixture
def approval(token):
    return make.pending(token)


@pytest.fixture
def nothing_happened(approval):
    def check():
        approval.refresh_from_db()
        assert (approval.status, Decision.objects.count()) == (Status.PENDING, 0)

    return check


@pytest.mark.engine("sqlite")
@pytest.mark.django_db(transaction=True)
def test_on_a_full_disk_nothing_is_decided(approval, alice, nothing_happened):
    with full_disk():
        for status in (Status.APPROVED, Status.REJECTED):
            with pytest.raises(DatabaseError, match="full"):
                make.decided(approval, alice, status, shown=MUCH)
            nothing_happened()
    assert verify() is None
    assert make.decided(approval, alice, shown=MUCH).status == Status.APPROVED


@contextmanager
def full_disk():
    """Have the database take up no more pages than it has."""
    with connection.cursor() as cursor:
        cursor.execute("VACUUM")
        cursor.execute("PRAGMA page_count")
        cursor.execute(f"PRAGMA max_page_count = {cursor.fetchone()[0]}")
        try:
            yield
        finally:
            cursor.execute("PRAGMA max_page_count = 1073741823")


@pytest.mark.django_db(transaction=True)
def test_what_the_log_cannot_take_is_not_decided(approval, alice, nothing_happened):
    AuditHead.objects.update(seq=F("seq") + 1)

    with pytest.raises(DatabaseError, match="an entry follows the one before it"):
        make.decided(approval, alice)

    nothing_happened()
    assert "The end of the audit log is not where it should be" in obstacles()[0]


@pytest.mark.engine("sqlite")
def test_a_server_that_cannot_write_says_so_and_goes_on_when_it_can():
    with serve() as house, house.agent() as agent, house.browser() as alice:
        approval = house.submit(agent)
        form = house.form(alice, approval)
        with no_room_for(house.server):
            refused = house.decide(alice, approval, form=form)
            looked = agent.get(f"/api/v1/approvals/{approval['id']}")
            assert alice.get(f"/approvals/{approval['id']}").status_code == 200
        assert refused.status_code == 503
        assert "it says whether your decision was recorded" in refused.text
        assert looked.json()["status"] == "pending"

        assert house.decide(alice, approval, form=form).status_code == 303
        assert house.rows("SELECT count(*) FROM dashboard_decision") == [(1,)]


@contextmanager
def no_room_for(server):
    """Let a server write no further than the first kilobytes of any file."""
    pid, what = server.process.pid, resource.RLIMIT_FSIZE
    before = resource.prlimit(pid, what)
    resource.prlimit(pid, what, (8192, before[1]))
    try:
        yield
    finally:
        resource.prlimit(pid, what, before)
