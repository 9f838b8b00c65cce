"""Two who claim at once, and a claim beside an answer: one is on it, and nothing is lost."""

from contextlib import suppress
from threading import Barrier

import pytest

from approval_client.wire import Status
from dashboard.approvals import services
from dashboard.approvals.errors import AlreadyClosed, AssignedToAnother
from dashboard.approvals.models import Assignment, Decision, Viewing
from dashboard.audit.models import AuditEntry
from dashboard.audit.services import verify
from tests import make
from tests.faults.test_races import at_once

AUTH = "session:password"


@pytest.fixture
def how_many(in_full, settings):
    settings.PENDING_PER_TOKEN = 1000
    return 100 if in_full else 10


@pytest.mark.django_db(transaction=True)
def test_of_two_who_claim_at_once_exactly_one_is_on_it(token, alice, bob, how_many):
    approvals = [make.pending(token) for _ in range(how_many)]
    pace = Barrier(2)

    def claim_all(person):
        late = 0
        for approval in approvals:
            pace.wait()
            try:
                services.assign(approval_id=approval.pk, person=person, auth=AUTH)
            except AssignedToAnother:
                late += 1
        return late

    late = at_once(lambda: claim_all(alice), lambda: claim_all(bob))

    assert (sum(late), Assignment.objects.count()) == (how_many, how_many)
    assert AuditEntry.objects.filter(action="approval.claimed").count() == how_many
    assert verify() is None


@pytest.mark.django_db(transaction=True)
def test_a_claim_beside_a_rejection_leaves_a_decision_and_no_claim(token, alice, bob, how_many):
    approvals = [make.pending(token) for _ in range(how_many)]
    pace = Barrier(2)

    def claim_all():
        for approval in approvals:
            pace.wait()
            with suppress(AlreadyClosed):
                services.assign(approval_id=approval.pk, person=alice, auth=AUTH)

    def reject_all():
        for approval in approvals:
            pace.wait()
            make.decided(approval, bob, Status.REJECTED)

    at_once(claim_all, reject_all)

    assert (Decision.objects.count(), Assignment.objects.count()) == (how_many, 0)
    assert verify() is None


@pytest.mark.django_db(transaction=True)
def test_two_who_add_time_at_once_add_it_once(token, alice, bob, how_many):
    approvals = [make.pending(token, time_limit_s=50) for _ in range(how_many)]
    pace = Barrier(2)

    def extend_all(person):
        for approval in approvals:
            pace.wait()
            ends = approval.expires_at
            services.extend(approval_id=approval.pk, person=person, auth=AUTH, ends=ends)

    at_once(lambda: extend_all(alice), lambda: extend_all(bob))

    assert AuditEntry.objects.filter(action="approval.extended").count() == how_many


@pytest.mark.django_db(transaction=True)
def test_a_person_who_looks_from_two_pages_is_one_who_looks(token, alice, how_many):
    approvals = [make.pending(token) for _ in range(how_many)]

    def look():
        for approval in approvals:
            services.note_viewing(approval_id=approval.pk, person=alice)

    at_once(look, look)

    assert Viewing.objects.count() == how_many
