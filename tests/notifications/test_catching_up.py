"""Whoever may be told of more than before is told of what is still ahead of what waits."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from dashboard.accounts.models import Group
from dashboard.accounts.services.groups import set_members
from dashboard.accounts.services.people import change_roles, set_active
from dashboard.approvals.services import hand_over
from dashboard.audit.services import OPERATOR
from dashboard.notifications.models import Choice, Message, NoticeEvent, State
from dashboard.notifications.services import (
    Wish,
    add_channel,
    change_channel,
    change_own,
    queue_notices,
    reading,
    switch_channel,
    switch_own,
    telling,
)
from tests import make
from tests.notifications.test_own_channels import proved

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("mails")]

SIGNED = {"auth": "session:password"}
ASKS, HALF, LAST_MINUTE = NoticeEvent.ASKS, NoticeEvent.HALF, NoticeEvent.LAST_MINUTE


@pytest.fixture
def house(ada):
    """A channel of the house that is told everything."""
    return add_channel(kind="email", wish=wish(), by=ada, **SIGNED)[0]


def wish(**changes):
    return Wish(name="Ops", address="ops@example.org", **changes)


def pause(channel, by, *, on=False):
    switch_channel(channel_id=channel.pk, on=on, by=by, **SIGNED)


def pause_own(channel, *, on=False):
    switch_own(person=channel.person, channel_id=channel.pk, on=on, **SIGNED)


def ahead(channel):
    """Return what still waits to be told of requests, the first first."""
    queue_notices()
    telling.drop_what_is_over()
    rows = Message.objects.filter(channel=channel, state=State.WAITING).exclude(approval=None)
    return list(rows.order_by("due_at").values_list("event", flat=True))


# A channel that is switched off and on.


def test_a_channel_of_the_house_that_goes_on_is_told_what_is_ahead(house, ada, token):
    make.pending(token)
    queue_notices()
    pause(house, ada)
    assert ahead(house) == []
    pause(house, ada, on=True)

    assert ahead(house) == [HALF, LAST_MINUTE]


def test_a_pause_that_nobody_read_of_loses_nothing_ahead(house, ada, token):
    make.pending(token)
    queue_notices()
    pause(house, ada)
    pause(house, ada, on=True)

    assert ahead(house) == [HALF, LAST_MINUTE]


def test_an_assignee_who_goes_on_is_told_what_is_ahead(alice, bob, token):
    channel = proved(bob, Choice.ASSIGNED, "bob@example.org")
    approval = make.pending(token)
    hand_over(approval_id=approval.pk, person=alice, to=bob, **SIGNED)
    queue_notices()
    pause_own(channel)
    ahead(channel)
    pause_own(channel, on=True)

    assert ahead(channel) == [HALF, LAST_MINUTE]


def test_what_was_asked_during_a_pause_is_told_of_what_is_ahead_alone(house, ada, token):
    pause(house, ada)
    make.pending(token)
    assert ahead(house) == []
    pause(house, ada, on=True)

    assert ahead(house) == [HALF, LAST_MINUTE]


def test_what_was_due_during_a_pause_is_never_told(house, ada, token):
    make.half_over(token)
    pause(house, ada)
    queue_notices()
    pause(house, ada, on=True)

    assert HALF not in ahead(house)


def test_what_was_told_before_a_pause_is_not_told_again(house, ada, token):
    make.pending(token)
    queue_notices()
    Message.objects.filter(event=HALF).update(state=State.DELIVERED)
    pause(house, ada)
    ahead(house)
    pause(house, ada, on=True)

    assert ahead(house) == [LAST_MINUTE]


def test_of_what_is_over_nothing_is_made_after_a_pause(house, ada, alice, token):
    approval = make.pending(token)
    queue_notices()
    pause(house, ada)
    make.decided(approval, alice)
    pause(house, ada, on=True)

    assert ahead(house) == []


# Somebody who may approve, or chooses, later.


@pytest.fixture
def of_laser(alice, bob, token):
    """A channel of Bob's, and a request that a group may approve which he is not in."""
    make.group("laser", alice)
    make.in_force({"name": "r", "effect": "review", "demands": {"groups": ["laser"]}})
    channel = proved(bob, Choice.ALL, "bob@example.org")
    make.pending(token)
    assert ahead(channel) == []
    return channel


def test_who_joins_a_group_is_told_what_is_ahead(of_laser, alice, bob):
    set_members(Group.objects.get(name="laser"), members=[alice, bob], by=OPERATOR)

    assert ahead(of_laser) == [HALF, LAST_MINUTE]


def test_where_somebody_else_joins_nothing_is_made(of_laser, alice, ada):
    set_members(Group.objects.get(name="laser"), members=[alice, ada], by=OPERATOR)

    assert ahead(of_laser) == []


def test_who_joins_and_leaves_again_is_not_told(of_laser, alice, bob):
    for members in ([alice, bob], [alice]):
        set_members(Group.objects.get(name="laser"), members=members, by=OPERATOR)

    assert ahead(of_laser) == []


def test_who_chooses_all_later_is_told_what_is_ahead(bob, token):
    channel = proved(bob, Choice.ASSIGNED, "bob@example.org")
    make.pending(token)
    assert ahead(channel) == []
    change_own(person=bob, channel_id=channel.pk, choice=Choice.ALL, **SIGNED)

    assert ahead(channel) == [HALF, LAST_MINUTE]


def test_who_confirms_an_address_later_is_told_what_is_ahead(bob, token):
    make.pending(token)
    queue_notices()

    assert ahead(proved(bob, Choice.ALL, "bob@example.org")) == [HALF, LAST_MINUTE]


def test_who_becomes_a_reviewer_again_is_told_what_is_ahead(bob, token):
    channel = proved(bob, Choice.ALL, "bob@example.org")
    make.pending(token)
    queue_notices()
    change_roles(bob, roles={"auditor": True}, by=OPERATOR)
    assert ahead(channel) == []
    change_roles(bob, roles={"reviewer": True}, by=OPERATOR)

    assert ahead(channel) == [HALF, LAST_MINUTE]


def test_who_is_active_again_is_told_what_is_ahead(bob, token):
    channel = proved(bob, Choice.ALL, "bob@example.org")
    make.pending(token)
    queue_notices()
    set_active(bob, active=False, by=OPERATOR)
    assert ahead(channel) == []
    set_active(bob, active=True, by=OPERATOR)

    assert ahead(channel) == [HALF, LAST_MINUTE]


def test_a_channel_that_is_to_be_told_more_is_told_what_is_ahead(ada, token):
    channel, _ = add_channel(kind="email", wish=wish(events=[HALF]), by=ada, **SIGNED)
    make.pending(token)
    assert ahead(channel) == [HALF]
    change_channel(channel_id=channel.pk, wish=wish(), by=ada, **SIGNED)

    assert ahead(channel) == [HALF, LAST_MINUTE]


def test_who_may_approve_only_later_is_asked_then_though_they_chose_it_after(bob, ada, token):
    demands = {"groups": ["operators"], "escalate_to": "directors", "time_limit_s": 1800}
    make.in_force({"name": "r", "effect": "review", "demands": demands})
    make.group("directors", bob)
    channel = proved(bob, Choice.ASSIGNED, "bob@example.org")
    make.pending(token)
    queue_notices()
    change_own(person=bob, channel_id=channel.pk, choice=Choice.ALL, **SIGNED)

    assert sorted(ahead(channel)) == sorted([ASKS, HALF, LAST_MINUTE])


# What it costs.


def test_what_waits_is_not_read_where_nobody_may_be_told_of_more(house, token, monkeypatch):
    queue_notices()
    monkeypatch.setattr(reading, "facts_of_pending", lambda: pytest.fail("It was read."))
    make.pending(token)

    assert queue_notices() > 0


def test_many_requests_take_no_more_statements_to_catch_up_with(bob, token):
    channel = proved(bob, Choice.ASSIGNED, "bob@example.org")
    counts = []
    for more, choice in ((1, Choice.ALL), (9, Choice.HIGH), (0, Choice.ALL)):
        for _ in range(more):
            make.pending(token)
        queue_notices()
        change_own(person=bob, channel_id=channel.pk, choice=choice, **SIGNED)
        with CaptureQueriesContext(connection) as statements:
            queue_notices()
        counts.append(len(statements))

    assert counts[0] == counts[2]
