"""The log and the tables are verified beside traffic, and nobody is accused."""

from threading import Event

import pytest

from approval_client.wire import OutcomeState, Status
from dashboard.approvals import services
from dashboard.audit import services as audit
from tests import make
from tests.faults.test_races import at_once

pytestmark = pytest.mark.django_db(transaction=True)
PACE_S = 0.05
"""Each verification reads all that there is, so it must not grow without an end."""


def traffic(token, person, done):
    """Submit, decide, start, finish and cancel until the other one has seen enough."""
    count = 0
    while not done.wait(PACE_S + count / 100):
        count += 1
        approval = make.pending(token)
        if count % 5 == 0:
            services.cancel(approval_id=approval.pk, token=token)
            continue
        if count % 5 == 1:
            make.decided(approval, person, Status.REJECTED, reason="No.")
            continue
        make.decided(approval, person)
        make.report(approval, token, key=f"s{count}")
        make.report(approval, token, OutcomeState.FINISHED, key=f"f{count}")
    return count


def problems():
    broken = audit.verify()
    found = [one.said for _, some in services.compare() for one in some]
    return [broken.reason, *found] if broken else found


def test_no_verification_beside_traffic_finds_anything(token, alice, bob, request):
    runs = 200 if request.config.getoption("--long") else 5
    other = make.token(make.agent("second"))
    done = Event()

    def verify():
        try:
            return [said for _ in range(runs) for said in problems()]
        finally:
            done.set()

    found, *counts = at_once(
        verify, lambda: traffic(token, alice, done), lambda: traffic(other, bob, done)
    )

    print(f"{runs} verifications beside {sum(counts)} requests: {len(found)} false alarms")  # noqa: T201
    assert found == []
