"""An admin accepts a clock that was set back, or an older database: nothing comes back by it."""

from datetime import timedelta

import pytest
from django.contrib.sessions.backends.db import SessionStore
from django.contrib.sessions.models import Session
from django.utils import timezone

from approval_client.wire import Status
from dashboard.accounts import tokens
from dashboard.accounts.models import SignInLink
from dashboard.accounts.services.signing_in import make_link
from dashboard.approvals import services
from dashboard.approvals.errors import (
    ClockBehind,
    DatabaseInDoubt,
    NotAllowed,
    OnHold,
    TakenBack,
)
from dashboard.approvals.models import Grant, Outcome
from dashboard.approvals.queries.hold import active_hold, doubt_database, present_stop
from dashboard.audit.actions import Action
from dashboard.audit.heads import Head
from dashboard.audit.models import AuditEntry
from tests import make

pytestmark = pytest.mark.django_db

KEPT = Head(900, "a" * 64)
PYTHON = {"code": "print(1)", "language": "python"}


def recorded(action):
    return [(entry.actor, entry.auth) for entry in AuditEntry.objects.filter(action=action)]


def test_a_clock_that_was_not_set_back_is_not_accepted(token, alice, ada):
    approval = make.approved(token, alice)

    assert services.accept_clock(admin=ada) is None
    make.report(approval, token)


def test_only_an_admin_accepts(token, alice):
    make.clock_set_back(hours=1)

    with pytest.raises(NotAllowed):
        services.accept_clock(admin=alice)
    with pytest.raises(NotAllowed):
        services.accept_database(KEPT, admin=alice)
    assert isinstance(present_stop(), ClockBehind)


def test_nothing_is_approved_while_the_clock_is_behind(token, alice):
    approval = make.pending(token)
    make.clock_set_back(hours=1)

    with pytest.raises(ClockBehind, match="nothing is approved or started"):
        make.decided(approval, alice)
    approval.refresh_from_db()
    assert approval.status == Status.PENDING


@pytest.fixture
def doubted():
    doubt_database("The database lacks 1 guard (request_final): run `migrate`.")
    yield
    doubt_database("")


def test_nothing_is_approved_in_a_database_that_is_in_doubt(token, alice, doubted):
    approval = make.pending(token)

    with pytest.raises(DatabaseInDoubt, match="Nothing is approved or started until"):
        make.decided(approval, alice)
    approval.refresh_from_db()
    assert approval.status == Status.PENDING
    assert isinstance(present_stop(), DatabaseInDoubt)
    make.decided(approval, alice, Status.REJECTED)


def test_nor_is_anything_started_in_it(token, alice):
    approval = make.approved(token, alice)
    doubt_database("The log lacks the entry 7.")
    try:
        with pytest.raises(DatabaseInDoubt):
            make.report(approval, token)
    finally:
        doubt_database("")
    make.report(approval, token)


def test_the_policy_approves_nothing_in_it(token, doubted):
    make.in_force({"name": "All", "effect": "approve"})

    assert make.pending(token).status == Status.PENDING


def test_it_is_rejected_all_the_same(token, alice):
    approval = make.pending(token)
    make.clock_set_back(hours=1)
    make.decided(approval, alice, Status.REJECTED)

    approval.refresh_from_db()
    assert approval.status == Status.REJECTED


def test_the_policy_approves_nothing_while_the_clock_is_behind(token):
    make.in_force({"name": "All", "effect": "approve"})
    make.clock_set_back(hours=1)

    assert make.pending(token).status == Status.PENDING


def test_after_it_approving_goes_on(token, alice, ada):
    approval = make.pending(token, time_limit_s=7200)
    make.clock_set_back(hours=1)
    services.accept_clock(admin=ada)
    make.decided(approval, alice)
    make.report(approval, token)

    assert Outcome.objects.count() == 1
    assert recorded(Action.CLOCK_ACCEPTED) == [("user:ada", "command")]


def test_it_is_accepted_once(token, ada):
    make.clock_set_back(hours=1)
    services.accept_clock(admin=ada)
    make.clock_set_back(hours=1)

    assert isinstance(present_stop(), ClockBehind)


def test_what_was_approved_before_never_starts(token, alice, ada):
    approval = make.approved(token, alice)
    make.clock_set_back(hours=1)
    voided = services.accept_clock(admin=ada)

    assert voided.approvals == 1
    with pytest.raises(TakenBack, match="clock was set back"):
        make.report(approval, token)


def test_what_was_started_before_stays_started(token, alice, ada):
    approval = make.approved(token, alice)
    make.report(approval, token)
    make.clock_set_back(hours=1)

    assert services.accept_clock(admin=ada).approvals == 0


def test_what_is_remembered_ends(token, alice, ada):
    make.in_force(make.REMEMBERS)
    grant = make.granted(token, alice, content=PYTHON)
    make.clock_set_back(hours=1)
    services.accept_clock(admin=ada)

    assert Grant.objects.get(pk=grant.pk).ended_because.startswith("The server's clock was set")


def test_what_was_overdue_by_the_clock_before_is_closed(token, ada):
    late, in_time = make.pending(token, time_limit_s=60), make.pending(token, time_limit_s=7200)
    make.clock_set_back(hours=1)
    services.accept_clock(admin=ada)

    late.refresh_from_db()
    in_time.refresh_from_db()
    assert (late.status, in_time.status) == (Status.CANCELLED, Status.PENDING)


def test_tokens_sessions_and_links_that_were_over_stay_over(agent, alice, ada):
    _, secret = tokens.issue(agent, by=make.BY, life=timedelta(minutes=30))
    _, lasting = tokens.issue(agent, by=make.BY, life=timedelta(hours=2))
    make_link(alice, by=make.BY)
    SignInLink.objects.update(expires_at=timezone.now() + timedelta(minutes=30))
    for seconds in (1800, 7200):
        session = SessionStore()
        session.set_expiry(seconds)
        session.create()
    make.clock_set_back(hours=1)
    services.accept_clock(admin=ada)

    assert (tokens.find(secret), bool(tokens.find(lasting))) == (None, True)
    assert (SignInLink.objects.count(), Session.objects.count()) == (0, 1)


def test_an_older_database_is_on_hold_and_nothing_in_it_can_be_used(token, alice, ada):
    make.in_force(make.REMEMBERS)
    make.granted(token, alice, content=PYTHON)
    approval, pending = make.approved(token, alice), make.pending(token)
    SessionStore().create()
    voided = services.accept_database(KEPT, admin=ada)

    pending.refresh_from_db()
    assert (voided.approvals, voided.pending, voided.grants) == (2, 1, 1)
    assert active_hold().placed_by == ada
    assert pending.status == Status.CANCELLED
    assert not Session.objects.exists()
    with pytest.raises(TakenBack):
        make.report(approval, token)
    with pytest.raises(OnHold):
        make.decided(make.pending(token), alice)
    assert recorded(Action.DATABASE_ACCEPTED) == [("user:ada", "command")]
