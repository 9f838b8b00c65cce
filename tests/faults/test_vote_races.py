"""Many who vote at once, and many requests that one grant could answer: each is counted once."""

from contextlib import suppress
from threading import Barrier

import pytest

from approval_client.wire import Source, Status
from dashboard.approvals.errors import AlreadyClosed
from dashboard.approvals.models import Decision, Grant, Vote
from dashboard.approvals.rules.grant import GrantScope, GrantTerms
from dashboard.audit.models import AuditEntry
from dashboard.audit.services import verify
from tests import make
from tests.faults.test_races import at_once

CODE = {"code": "print(1)", "language": "python"}


@pytest.fixture
def how_many(in_full, settings):
    settings.PENDING_PER_TOKEN = 1000
    return 100 if in_full else 10


def put_in_force(**demands):
    make.in_force({"name": "Careful", "effect": "review", "demands": demands})


@pytest.mark.django_db(transaction=True)
def test_of_four_who_vote_at_once_exactly_two_are_needed(token, how_many):
    put_in_force(approvals=2)
    voters = [make.person(f"voter{n}", reviewer=True) for n in range(4)]
    approvals = [make.pending(token) for _ in range(how_many)]
    bases = {approval.pk: make.basis(approval) for approval in approvals}
    pace = Barrier(len(voters))

    def vote_on_all(person):
        late = 0
        for approval in approvals:
            pace.wait()
            try:
                make.decided(approval, person, basis=bases[approval.pk])
            except AlreadyClosed:
                late += 1
        return late

    late = at_once(*(lambda person=person: vote_on_all(person) for person in voters))

    assert sum(late) == 2 * how_many
    assert (Vote.objects.count(), Decision.objects.count()) == (2 * how_many, how_many)
    assert AuditEntry.objects.filter(action="approval.voted").count() == how_many
    assert verify() is None


@pytest.mark.django_db(transaction=True)
def test_one_person_in_four_places_is_one_vote(token, alice, how_many):
    put_in_force(approvals=2)
    approvals = [make.pending(token) for _ in range(how_many)]

    def vote_on_all():
        for approval in approvals:
            make.decided(approval, alice)

    at_once(*[vote_on_all] * 4)

    assert (Vote.objects.count(), Decision.objects.count()) == (how_many, 0)


@pytest.mark.django_db(transaction=True)
def test_a_no_beside_the_last_yes_leaves_one_decision(token, alice, bob, how_many):
    put_in_force(approvals=2)
    carol = make.person("carol", reviewer=True)
    approvals = [make.pending(token) for _ in range(how_many)]
    for approval in approvals:
        make.decided(approval, alice)
    pace = Barrier(2)

    def answer_all(person, status):
        for approval in approvals:
            pace.wait()
            with suppress(AlreadyClosed):
                make.decided(approval, person, status)

    at_once(lambda: answer_all(bob, Status.APPROVED), lambda: answer_all(carol, Status.REJECTED))

    assert Decision.objects.count() == how_many
    assert verify() is None


@pytest.mark.django_db(transaction=True)
def test_a_grant_answers_no_more_often_than_was_said(token, alice, how_many):
    put_in_force(grants_allowed=True)
    asked = {"content": CODE, "accepts_grants": True}
    terms = GrantTerms(scope=GrantScope.CONTENT, this_run=False, most_uses=how_many)
    make.decided(make.pending(token, **asked), alice, remember=terms)

    def ask():
        for _ in range(how_many // 2):
            make.pending(token, **asked)

    at_once(*[ask] * 4)

    assert Grant.objects.get().uses == how_many
    assert Decision.objects.filter(source=Source.GRANT).count() == how_many
    assert verify() is None
