"""How many statements each verb sends while agents wait for it; agents wait for each of them."""

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from approval_client.wire import OutcomeState, Status
from dashboard.api import waiting
from dashboard.approvals import services
from tests import make

pytestmark = pytest.mark.django_db

CONTROL = re.compile("BEGIN|COMMIT|ROLLBACK|SAVEPOINT|RELEASE")
TOGETHER = re.compile(r"(\d+) times: ")  # how Django logs executemany


def statements(work):
    """Count what is sent: before a transaction begins, and in it."""
    with CaptureQueriesContext(connection) as sent:
        work()
    before, inside, begun = 0, 0, False
    for sql in (query["sql"] for query in sent):
        together = TOGETHER.match(sql)
        count = int(together[1]) if together else 1
        if CONTROL.match(sql):
            begun = True
        elif begun:
            inside += count
        else:
            before += count
    return before, inside


def on(*, sqlite, postgresql):
    """PostgreSQL locks the agent by itself, and the policy with the hold."""
    return postgresql if connection.vendor == "postgresql" else sqlite


@pytest.fixture
def warm(token, alice):
    """What is read once in a process was read."""
    make.report(make.approved(token, alice), token)


def test_submit(warm, token):
    assert statements(lambda: make.pending(token)) == (1, on(sqlite=10, postgresql=12))


def test_submit_again(warm, token):
    make.pending(token, key="k")

    assert statements(lambda: make.pending(token, key="k")) == (2, 0)


def test_wait(warm, agent, token):
    secret, approval = make.secret(agent), make.pending(token)

    def enter():
        asker = waiting._who_asks(secret, approval.pk)
        waiting._look(approval.pk, asker.agent_id)

    assert statements(enter) == (2, 0)


@pytest.mark.parametrize("status", [Status.APPROVED, Status.REJECTED])
def test_decide(warm, token, alice, status):
    approval = make.pending(token)
    services.note_viewing(approval_id=approval.pk, person=alice)
    basis = make.basis(approval)
    counts = statements(lambda: make.decided(approval, alice, status, basis=basis, reason="-"))

    vote = status is Status.APPROVED
    assert counts == (0, on(sqlite=9, postgresql=11) + vote)


def test_decide_and_view(warm, token, alice):
    """The person's first view is recorded with the answer: a row, and an entry of the log."""
    approval = make.pending(token)
    basis = make.basis(approval)
    counts = statements(lambda: make.decided(approval, alice, basis=basis, viewed=True))

    assert counts == (0, on(sqlite=10, postgresql=12) + 2)


@pytest.mark.parametrize(
    ("state", "shared"), [(OutcomeState.STARTED, 1), (OutcomeState.FINISHED, 0)]
)
def test_report(warm, token, alice, state, shared):
    approval = make.approved(token, alice)
    if state is OutcomeState.FINISHED:
        make.report(approval, token)
    counts = statements(lambda: make.report(approval, token, state))

    assert counts == (0, on(sqlite=8, postgresql=9 + shared))
