"""Decisions that are recorded at once, or late: who reads on misses none and sees none twice."""

from threading import Event

import pytest
from django.db import transaction

from approval_client.wire import Source, Status
from dashboard.approvals.models import ApprovalRequest, Decision
from dashboard.approvals.queries.closing import decided
from dashboard.approvals.services.closing import close
from dashboard.audit.services import Actor
from dashboard.clock import database_now
from tests import make
from tests.faults.test_races import at_once

pytestmark = pytest.mark.django_db(transaction=True)
WITHIN_S = 5
DEADLINE = Actor("deadline")


def ids(page):
    return [answerable.approval.pk for answerable in page.answers]


def no_to(approval):
    """A decision of this moment, without the agent's lock, which would put all in one row."""
    return Decision(
        approval=ApprovalRequest.objects.select_for_update(of=("self",)).get(pk=approval.pk),
        status=Status.EXPIRED,
        source=Source.DEADLINE,
        decided_at=database_now(),
    )


@pytest.mark.engine("postgresql")  # the other one has one writer at a time
def test_a_decision_that_commits_late_comes_after_what_was_read(agent, token):
    late, early = make.pending(token), make.pending(token)
    taken, read = Event(), Event()
    seen = []

    def decide_slowly():
        with transaction.atomic():
            decision = no_to(late)
            taken.set()
            assert read.wait(WITHIN_S)
            close(decision, actor=DEADLINE)

    def decide_quickly_and_read():
        assert taken.wait(WITHIN_S)
        with transaction.atomic():
            close(no_to(early), actor=DEADLINE)
        seen.append(decided(agent.pk))
        read.set()

    at_once(decide_slowly, decide_quickly_and_read)

    assert Decision.objects.get(approval=late).decided_at < early.decision.decided_at
    assert (ids(seen[0]), ids(decided(agent.pk, after=seen[0].last))) == ([early.pk], [late.pk])


@pytest.mark.engine("postgresql")
def test_nothing_is_read_before_what_was_recorded_first(agent, token):
    first, second = make.pending(token), make.pending(token)
    recorded, looked = Event(), Event()

    def record_and_hold():
        with transaction.atomic():
            close(no_to(first), actor=DEADLINE)
            recorded.set()
            assert looked.wait(WITHIN_S)

    def record_second():
        assert recorded.wait(WITHIN_S)
        with transaction.atomic():
            close(no_to(second), actor=DEADLINE)  # waits for the head of the log

    def look():
        assert recorded.wait(WITHIN_S)
        looks = [ids(decided(agent.pk)) for _ in range(5)]
        looked.set()
        return looks

    assert at_once(record_and_hold, record_second, look)[2] == [[]] * 5
    assert ids(decided(agent.pk)) == [first.pk, second.pk]


def test_many_who_decide_at_once_are_read_once_each(agent, token, alice):
    approvals = [make.pending(token) for _ in range(20)]
    bases = {approval.pk: make.basis(approval) for approval in approvals}

    def decide(some):
        for approval in some:
            make.decided(approval, alice, basis=bases[approval.pk])

    def read_on():
        found, after = [], None
        while len(found) < len(approvals):
            page = decided(agent.pk, after=after, limit=3)
            found, after = found + ids(page), page.last or after
        return found

    found = at_once(lambda: decide(approvals[::2]), lambda: decide(approvals[1::2]), read_on)[2]

    assert sorted(found) == sorted(approval.pk for approval in approvals)
