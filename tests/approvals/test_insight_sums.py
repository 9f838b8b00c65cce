"""The sums that a sweep keeps for the insight page say what the rows say, at every moment."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from django.db import transaction

from approval_client.wire import Status
from dashboard.approvals.models import (
    ApprovalRequest,
    Closing,
    InsightDispute,
    InsightHead,
    InsightSum,
)
from dashboard.approvals.rules import insight
from dashboard.approvals.rules.insight import PARTS, Period
from dashboard.approvals.services import expire_overdue, mark_viewed, sum_up
from dashboard.approvals.services import insight as services
from tests import make
from tests.benchmarks.filling import fill

pytestmark = pytest.mark.django_db
LOOK = {"kind": "tool_call", "capability": "look", "content": {"tool": "look", "arguments": {}}}
APPROVES_LOOKING = {
    "name": "Looks",
    "effect": "approve",
    "when": {"kinds": ["tool_call"], "tools": ["look"]},
}
EVER = Period(datetime(2000, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC))


@pytest.fixture
def history(token, alice, bob):
    """A bit of everything: answered, expired, cancelled, disputed and pending requests."""
    for number in range(4):
        approval = make.pending(token, content={"code": f"print({number % 2})"})
        mark_viewed(approval_id=approval.pk, person=alice, auth="test")
        status = Status.REJECTED if number == 3 else Status.APPROVED
        shown = {"lines": 3, "in_view": {"spans": [[1, 3, number]]}}
        person = bob if number == 3 else alice
        make.decided(approval, person, status, reason="Because.", shown=shown)
    make.overdue(token)
    expire_overdue()
    make.in_force(APPROVES_LOOKING)
    make.pending(token, **LOOK)
    voted = make.pending(token, capability="other")
    mark_viewed(approval_id=voted.pk, person=alice, auth="test")
    return token


def said(found):
    """All sums of what was found, and the disputes."""
    sums = {
        (day, part): json.loads(one.stored(part))
        for day, one in found.days.items()
        for part in PARTS
    }
    return sums, found.disputed


def now():
    return said(insight.found_in(EVER, *PARTS))


def directly():
    """The same from the rows of all requests."""
    ever = ApprovalRequest.objects.order_by()
    days = insight.by_day(insight.asked(ever), insight.counted_votes(ever))
    return said(insight.PeriodSums(days, []))[0]


def test_the_figures_are_the_same_before_while_and_after_they_are_summed_up(history, monkeypatch):
    monkeypatch.setattr(services, "BATCH", 2)
    before = now()
    assert before[0] == directly()
    assert len(before[1]) == 1

    steps = 0
    while sum_up():
        steps += 1
        assert now() == before

    assert steps == (Closing.objects.count() + 1) // 2 > 2
    assert sum_up() == 0


def test_what_is_closed_later_is_added_to_the_day_on_which_it_was_asked(history, alice):
    sum_up()
    pending = ApprovalRequest.objects.pending().get()

    make.decided(pending, alice)
    before = now()
    assert sum_up() == 1

    assert now() == before
    assert now()[0] == directly()


def test_thousands_of_requests_are_summed_up_as_they_are_counted_directly(token):
    fill(kept=1200, pending=7)
    while sum_up():
        pass

    assert now()[0] == directly()
    assert Closing.objects.filter(seq__gt=insight.head_seq()).count() == 0


def test_a_crash_midway_stores_nothing_and_the_next_sweep_does_it_all(history, monkeypatch):
    before = now()

    def crash(*_, **__):
        raise RuntimeError

    with monkeypatch.context() as broken:
        broken.setattr(InsightDispute.objects, "bulk_create", crash)
        with pytest.raises(RuntimeError), transaction.atomic():
            sum_up()

    assert (InsightSum.objects.count(), insight.head_seq()) == (0, 0)
    assert now() == before
    sum_up()
    assert now() == before


def test_of_two_processes_that_sum_up_at_once_one_writes(history, monkeypatch):
    before, votes = now(), insight.counted_votes

    def overtaken(requests):
        monkeypatch.setattr(insight, "counted_votes", votes)
        assert sum_up() > 0
        return votes(requests)

    monkeypatch.setattr(insight, "counted_votes", overtaken)

    assert sum_up() == 0
    assert now() == before


def test_a_sweep_while_the_page_is_read_counts_nothing_twice(history, monkeypatch):
    before, votes = now(), insight.counted_votes

    def overtaken(requests):
        monkeypatch.setattr(insight, "counted_votes", votes)
        assert sum_up() > 0
        return votes(requests)

    monkeypatch.setattr(insight, "counted_votes", overtaken)

    assert now() == before


def test_sums_that_are_lost_are_made_anew(history):
    before = now()
    sum_up()
    for model in (InsightSum, InsightHead, InsightDispute):
        model.objects.all().delete()

    assert now() == before
    sum_up()
    assert now() == before


def test_a_view_after_the_decision_is_not_its_first_view(token, alice, bob):
    approval = make.overdue(token)
    expire_overdue()
    mark_viewed(approval_id=approval.pk, person=bob, auth="test")

    (one,) = insight.asked(insight.these([approval.pk]))

    assert one.viewed_s is None


def test_only_the_days_of_the_period_are_read(history):
    sum_up()
    today = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)

    found = insight.found_in(Period(today - timedelta(days=9), today - timedelta(days=2)), *PARTS)

    assert (found.days, found.disputed) == ({}, [])
