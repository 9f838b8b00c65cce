"""Snoozing a request: hidden from one person, and back in time."""

from datetime import timedelta

import pytest
from django.utils import timezone

from dashboard.approvals import services
from dashboard.approvals.errors import NotAllowed
from dashboard.approvals.queries.assignment import assignment_of
from dashboard.approvals.rules.snooze import SnoozeLength, choices, snoozed_by, until
from dashboard.audit.models import AuditEntry
from tests import make

pytestmark = pytest.mark.django_db

AUTH = "session:password"


@pytest.fixture
def asked(token):
    return make.pending(token)


def claim(approval, person, over=""):
    return services.assign(approval_id=approval.pk, person=person, auth=AUTH, over=over)


def put_off(approval, person, later=SnoozeLength.LONGEST):
    return services.snooze(approval_id=approval.pk, person=person, auth=AUTH, length=later)


def actions():
    return list(AuditEntry.objects.order_by("seq").values_list("action", flat=True))


def test_what_is_put_off_is_hidden_from_one_person_until_half_of_the_time(asked, alice, bob):
    before = timezone.now()

    made = put_off(asked, alice)

    now = timezone.now()
    assert before < made.until <= now + (asked.expires_at - now) / 2 + timedelta(seconds=1)
    assert (set(snoozed_by(alice, now)), set(snoozed_by(bob, now))) == ({asked.pk}, set())
    assert snoozed_by(alice, made.until) == {}


def test_who_puts_off_what_they_are_on_is_not_on_it_any_more(asked, alice):
    claim(asked, alice)

    put_off(asked, alice)

    assert assignment_of(asked) is None
    assert actions()[-2:] == ["approval.released", "approval.put_off"]


def test_what_a_new_policy_shortens_is_put_off_no_more(asked, alice):
    make.in_force({"name": "Quick", "effect": "review", "demands": {"time_limit_s": 120}})
    put_off(asked, alice)

    services.judge_pending_again()

    assert snoozed_by(alice, timezone.now()) == {}


def test_what_was_put_off_can_be_brought_back(asked, alice):
    put_off(asked, alice)

    assert services.unsnooze(approval_id=asked.pk, person=alice, auth=AUTH) is True
    assert services.unsnooze(approval_id=asked.pk, person=alice, auth=AUTH) is False
    assert snoozed_by(alice, timezone.now()) == {}


def test_near_its_end_nothing_is_put_off(token, alice):
    made = make.half_over(token)

    with pytest.raises(NotAllowed, match="too little time left"):
        put_off(made, alice)


@pytest.mark.parametrize(
    ("left", "offered"),
    [
        (timedelta(seconds=100), []),
        (timedelta(minutes=20), ["longest"]),
        (timedelta(hours=1), ["15min", "longest"]),
        (timedelta(days=20), ["15min", "1h", "morning", "longest"]),
    ],
)
def test_only_what_ends_in_time_is_offered(left, offered):
    now = timezone.now().replace(hour=12)

    assert [str(choice.length) for choice in choices(now, now + left)] == offered


@pytest.mark.parametrize("later", list(SnoozeLength))
@pytest.mark.parametrize("left_s", [130, 3600, 90_000, 2_000_000])
def test_whatever_is_chosen_half_of_the_time_left_remains(later, left_s):
    now = timezone.now()
    ends = now + timedelta(seconds=left_s)

    assert now < until(later, now, ends) <= now + (ends - now) / 2
