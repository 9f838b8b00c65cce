"""Two reviewers at once: one decides, the other is told so, and the record shows one decision."""

import asyncio
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, BrokenBarrierError

import pytest
from django.db import connection

from approval_client.wire import Status
from dashboard.approvals.errors import AlreadyClosed
from dashboard.approvals.models import Decision
from dashboard.approvals.services import note_polls
from dashboard.audit.models import AuditEntry
from dashboard.audit.services import verify
from tests import make
from tests.faults.conftest import IN_CHECKS
from tests.faults.talking import talking
from tests.serving import serve

RECORDED = "What you sent was not recorded."


@pytest.fixture
def how_many(in_full, settings):
    settings.PENDING_PER_TOKEN = 1000
    return 1000 if in_full else 50 if IN_CHECKS else 15


def at_once(*works):
    """Run functions in threads of their own, each with its own connection; returns results."""
    start = Barrier(len(works))

    def run(work):
        try:
            start.wait()
            return work()
        finally:
            connection.close()

    with ThreadPoolExecutor(len(works)) as pool:
        threads = [pool.submit(run, work) for work in works]
    failures = [thread.exception() for thread in threads if thread.exception()]
    # Where one fails, those that wait for it do too, and tell nothing.
    for failure in sorted(failures, key=lambda error: isinstance(error, BrokenBarrierError)):
        raise failure
    return [thread.result() for thread in threads]


@pytest.mark.django_db(transaction=True)
def test_of_two_reviewers_at_once_exactly_one_decides(token, alice, bob, how_many):
    approvals = [make.pending(token) for _ in range(how_many)]
    bases = {approval.pk: make.basis(approval) for approval in approvals}
    pace = Barrier(2)

    def decide_all(person, status):
        won = set()
        for approval in approvals:
            pace.wait()
            try:
                make.decided(approval, person, status, basis=bases[approval.pk])
                won.add(approval.pk)
            except AlreadyClosed:
                pass
        return won

    hers, his = at_once(
        lambda: decide_all(alice, Status.APPROVED), lambda: decide_all(bob, Status.REJECTED)
    )

    assert (hers | his, hers & his) == ({approval.pk for approval in approvals}, set())
    assert Decision.objects.count() == how_many
    assert AuditEntry.objects.filter(action__startswith="approval.approved").count() == len(hers)
    assert verify() is None
    print(f"At once: {len(hers)} and {len(his)} won")  # noqa: T201 - a figure for the report


@pytest.mark.django_db(transaction=True)
def test_servers_that_note_the_same_polls_do_not_lock_each_other_out(token, how_many):
    approvals = [make.pending(token) for _ in range(2 * how_many)]
    seen = {approval.pk: approval.submitted_at for approval in approvals}
    backwards = dict(reversed(seen.items()))

    def note(polls):
        for _ in range(how_many):
            note_polls(polls)

    at_once(lambda: note(seen), lambda: note(backwards))


@pytest.mark.django_db(transaction=True)
def test_a_request_can_be_decided_while_polls_are_noted(token, alice):
    approvals = [make.pending(token) for _ in range(20)]
    seen = {approval.pk: approval.submitted_at for approval in approvals}

    def note():
        for _ in range(30):
            note_polls(seen)

    at_once(note, lambda: [make.decided(approval, alice) for approval in approvals])

    assert Decision.objects.count() == len(approvals)


async def test_of_two_reviewers_on_two_servers_exactly_one_decides(how_many):
    room = {"PENDING_PER_TOKEN": "1000"}
    with serve(processes=2, environment=room) as house:
        async with talking(house) as (asker, decider):
            agent = await asker()
            with house.only(house.servers[0]):
                await (alice := await decider("alice")).ask("GET", "/healthz")
            with house.only(house.servers[1]):
                await (bob := await decider("bob")).ask("GET", "/healthz")
            outcomes = [await contest(await agent.submit(), alice, bob) for _ in range(how_many)]

        decided = house.rows(
            "SELECT count(*), count(DISTINCT approval_id) FROM dashboard_decision"
        )
        assert outcomes == [(303, 409)] * how_many
        assert [tuple(row) for row in decided] == [(how_many, how_many)]
        assert house.audit_is_whole() is True
        assert house.errors() == []


async def contest(approval, alice, bob):
    """Have both answer at once; returns the statuses, the winner's first."""
    await asyncio.gather(alice.read(approval), bob.read(approval))
    alice.decide("approve")
    bob.decide("reject")
    answers = await asyncio.gather(alice.answer(), bob.answer())
    assert Counter(RECORDED in page.decode() for _, _, page in answers) == {True: 1, False: 1}
    return tuple(sorted(status for status, _, _ in answers))
