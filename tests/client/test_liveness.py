"""A question that nobody waits for starts nothing; who comes back finds it under its key."""

import pytest

from approval_client import (
    ApprovalRequest,
    DashboardError,
    RequestRefused,
)
from approval_client.testing import FakeDashboard

KEY = "magnets-1"


@pytest.fixture
def fake():
    return FakeDashboard.manual()


@pytest.fixture
def left(fake):
    """Asks and goes away; returns how to come back, as another process."""
    question = ApprovalRequest.code("caput('MAG:1', 3.5)", "python")
    fake.client().submit(question, idempotency_key=KEY)

    def come_back():
        client = fake.client()
        return client.wait(client.submit(question, idempotency_key=KEY))

    return come_back


def test_a_yes_that_nobody_waits_for_starts_nothing(fake, left):
    fake.approve_next()

    assert [(one.started, one.finished) for one in fake.approvals] == [(0, {})]


def test_who_comes_back_finds_the_yes_and_uses_it(fake, left):
    fake.approve_next("Fine.")

    response = left()

    assert (response.approved, response.reason) == (True, "Fine.")
    assert [one.started for one in fake.approvals] == [1]


def test_who_comes_back_finds_the_no(fake, left):
    fake.reject_next("Not on a Sunday.")

    assert (left().approved, len(fake.approvals)) == (False, 1)


def test_of_two_who_come_back_one_may_run_it(fake, left):
    fake.approve_next()
    left()

    with pytest.raises(DashboardError):
        left()

    assert [one.started for one in fake.approvals] == [1]


def test_who_comes_back_after_the_time_limit_is_told_so_and_runs_nothing(fake, left):
    fake.advance(100_000)
    fake.approve_next()

    assert (left().approved, fake.approvals[0].status) == (False, "expired")
    assert fake.approvals[0].started == 0


def test_who_comes_back_too_late_for_the_yes_runs_nothing(fake, left):
    fake.approve_next()
    heard(fake)
    fake.advance(601)  # a yes is good for ten minutes

    with pytest.raises(DashboardError):
        left()

    assert fake.approvals[0].started == 0


def heard(fake):
    """Have it decided now, by a call that starts nothing."""
    fake._find(fake.approvals[0].id).tick(fake._now(), heard=True)


def test_the_key_of_one_question_does_not_open_another(fake, left):
    fake.approve_next()
    other = ApprovalRequest.code("caput('SR:ALL', 0)", "python")

    with pytest.raises(RequestRefused, match="another"):
        fake.client().submit(other, idempotency_key=KEY)
