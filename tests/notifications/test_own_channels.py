"""People are told where they said, once they proved that the address is theirs."""

from datetime import timedelta

import pytest

from dashboard.accounts.models import Group, User
from dashboard.accounts.services.groups import set_members
from dashboard.accounts.services.people import change_roles, set_active
from dashboard.approvals.services import assign, hand_over, place_hold
from dashboard.audit.models import AuditEntry
from dashboard.audit.services import OPERATOR
from dashboard.clock import database_now
from dashboard.notifications.errors import (
    AddressRefused,
    ChangeNotAllowed,
    ChannelRefused,
    CodeRefused,
    NotSent,
    ReceiverNotFound,
)
from dashboard.notifications.models import Channel, Choice, Message, NoticeEvent, State
from dashboard.notifications.secrets import code_of
from dashboard.notifications.services import (
    add_own,
    change_own,
    confirm_own,
    own_channels,
    queue_notices,
    remove_own,
    send_code_again,
    switch_own,
    try_own,
)
from tests import make

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("mails")]

SIGNED = {"auth": "session:password"}
GRAVE = {"code": "import os; os.system('rm -rf /')", "language": "python"}
QUIET = {"code": "print(1)", "language": "python"}


def added(person, choice=Choice.ALL, address="alice@example.org"):
    return add_own(person=person, kind="email", address=address, choice=choice, **SIGNED)


def proved(person, choice=Choice.ALL, address="alice@example.org"):
    channel = added(person, choice, address)
    code = code_of(channel)
    confirm_own(person=person, channel_id=channel.pk, code=code, **SIGNED)
    channel.refresh_from_db()
    return channel


def long_ago(channel):
    Channel.objects.filter(pk=channel.pk).update(
        code_made_at=database_now() - timedelta(minutes=2)
    )


def subjects(mails):
    return [one.subject for one in mails]


def waiting(person):
    rows = Message.objects.filter(channel__person=person, state=State.WAITING)
    return list(rows.exclude(approval=None).order_by("due_at").values_list("event", flat=True))


# Proving an address.


def test_a_code_is_sent_and_nothing_else_until_it_was_entered(alice, token, tell, mails):
    channel = added(alice)
    make.pending(token)
    tell()

    assert subjects(mails) == [f"Your code for Approvals: {code_of(channel)}"]


def test_the_code_opens_the_channel_for_what_happens_from_then_on(alice, token, tell, mails):
    make.pending(token)
    proved(alice)
    make.pending(token)
    tell()

    assert subjects(mails) == ["Code of beamline waits for approval"]


@pytest.mark.parametrize("code", ["", "0000 0000", "x", "1" * 200, "１２３４５６７８"])
def test_another_code_proves_nothing(alice, code):
    channel = added(alice)

    with pytest.raises(CodeRefused, match="This is not the code"):
        confirm_own(person=alice, channel_id=channel.pk, code=code, **SIGNED)
    assert Channel.objects.get().confirmed_at is None


def test_after_five_tries_the_right_code_is_refused_too(alice):
    channel = added(alice)
    for _ in range(own_channels.MOST_TRIES):
        with pytest.raises(CodeRefused):
            confirm_own(person=alice, channel_id=channel.pk, code="1", **SIGNED)

    with pytest.raises(CodeRefused, match="no longer valid"):
        confirm_own(person=alice, channel_id=channel.pk, code=code_of(channel), **SIGNED)


def test_a_code_ends_after_an_hour(alice):
    channel = added(alice)
    Channel.objects.update(code_made_at=database_now() - timedelta(minutes=61))

    with pytest.raises(CodeRefused, match="no longer valid"):
        confirm_own(person=alice, channel_id=channel.pk, code=code_of(channel), **SIGNED)


def test_a_code_of_another_address_proves_nothing(alice, bob):
    mine, theirs = added(alice), added(bob, address="bob@example.org")

    with pytest.raises(CodeRefused):
        confirm_own(person=alice, channel_id=mine.pk, code=code_of(theirs), **SIGNED)


def test_nobody_confirms_the_address_of_another_person(alice, bob):
    channel = added(alice)

    with pytest.raises(ReceiverNotFound):
        confirm_own(person=bob, channel_id=channel.pk, code=code_of(channel), **SIGNED)


def test_a_new_code_ends_the_earlier_one(alice):
    channel = added(alice)
    earlier = code_of(channel)
    long_ago(channel)
    send_code_again(person=alice, channel_id=channel.pk, **SIGNED)

    with pytest.raises(CodeRefused):
        confirm_own(person=alice, channel_id=channel.pk, code=earlier, **SIGNED)


@pytest.mark.parametrize(
    "verb",
    [
        lambda alice, channel: send_code_again(person=alice, channel_id=channel.pk, **SIGNED),
        lambda alice, channel: remove_own(person=alice, channel_id=channel.pk, **SIGNED),
        lambda alice, _: added(alice, address="other@example.org"),
    ],
    ids=["again", "remove", "add"],
)
def test_codes_are_a_minute_apart(alice, verb):
    channel = added(alice)

    with pytest.raises(ChannelRefused, match="less than a minute ago"):
        verb(alice, channel)


def test_ten_codes_a_day_are_the_most(alice):
    for number in range(own_channels.MOST_CODES):
        channel = added(alice, address=f"a{number}@example.org")
        long_ago(channel)
        remove_own(person=alice, channel_id=channel.pk, **SIGNED)

    with pytest.raises(ChannelRefused, match="10 codes were sent within a day"):
        added(alice)


def test_the_code_leads_to_the_page_where_it_is_entered(alice, tell, mails):
    added(alice)
    tell()

    assert "/account/told\n" in mails[0].body


def test_the_code_says_until_when_it_is_valid(alice, tell, mails):
    channel = added(alice)
    tell()

    ends_at = channel.code_made_at + timedelta(hours=1)
    assert f"It is valid until {ends_at:%Y-%m-%d %H:%M} UTC." in mails[0].body


@pytest.mark.parametrize(
    "over",
    [
        lambda: {"code_made_at": database_now() - timedelta(minutes=61)},
        lambda: {"code_tries": own_channels.MOST_TRIES},
    ],
    ids=["late", "tried"],
)
def test_a_code_that_is_no_longer_valid_is_not_sent(alice, tell, mails, over):
    channel = added(alice)
    Channel.objects.filter(pk=channel.pk).update(**over())
    tell()

    message = Message.objects.get()
    assert mails == []
    assert message.state == State.DROPPED
    assert "no longer valid" in message.said


def test_a_code_is_sent_though_the_address_asked_to_be_left_alone(alice, tell, mails):
    channel = added(alice)
    Channel.objects.update(rests_until=database_now() + timedelta(hours=1))
    tell()

    assert subjects(mails) == [f"Your code for Approvals: {code_of(channel)}"]


def test_the_code_is_not_in_the_log(alice, tell):
    channel = added(alice)
    tell()

    entries = AuditEntry.objects.filter(action__startswith="person.channel")
    assert [one.action for one in entries] == ["person.channel_added"]
    assert code_of(channel) not in entries[0].details
    assert "alice@example.org" not in entries[0].details


# Who is told of what.


def test_by_default_only_what_is_handed_to_a_person_is_told_to_them(
    alice, bob, token, tell, mails
):
    proved(alice, Choice.ASSIGNED)
    approval = make.pending(token)
    make.pending(token, content=GRAVE)
    tell()
    assert mails == []

    hand_over(approval_id=approval.pk, person=bob, to=alice, **SIGNED)
    tell()

    assert subjects(mails) == ["Assigned to you: Code of beamline"]


def test_who_assigned_it_to_themselves_is_told_of_its_time_only(alice, token, tell, mails):
    proved(alice, Choice.ASSIGNED)
    approval = make.pending(token)
    assign(approval_id=approval.pk, person=alice, **SIGNED)
    tell()

    assert mails == []
    waiting = Message.objects.filter(state=State.WAITING).order_by("due_at")
    assert [one.event for one in waiting] == [NoticeEvent.HALF, NoticeEvent.LAST_MINUTE]


def test_what_was_handed_on_is_not_told_to_the_one_before(alice, bob, token, tell, mails):
    proved(alice, Choice.ASSIGNED)
    approval = make.pending(token)
    hand_over(approval_id=approval.pk, person=bob, to=alice, **SIGNED)
    queue_notices()
    hand_over(approval_id=approval.pk, person=alice, to=bob, **SIGNED)
    tell()

    assert mails == []
    assert Message.objects.get(event=NoticeEvent.ASSIGNED).state == State.DROPPED


@pytest.mark.parametrize(("content", "expected"), [(GRAVE, 1), (QUIET, 0)])
def test_high_only(alice, token, tell, mails, content, expected):
    proved(alice, Choice.HIGH)
    make.pending(token, content=content)
    tell()

    assert len(mails) == expected


def test_who_chose_high_is_told_of_the_time_of_what_is_assigned_to_them(alice, bob, token):
    proved(alice, Choice.HIGH)
    proved(bob, Choice.HIGH, "bob@example.org")
    approval = make.pending(token, content=QUIET)
    assign(approval_id=approval.pk, person=alice, **SIGNED)
    queue_notices()

    assert waiting(alice) == [NoticeEvent.HALF, NoticeEvent.LAST_MINUTE]
    assert waiting(bob) == []


def test_of_two_minutes_an_assignee_is_told_at_half_time_alone(alice, token):
    proved(alice, Choice.ASSIGNED)
    approval = make.pending(token, time_limit_s=120)
    assign(approval_id=approval.pk, person=alice, **SIGNED)
    queue_notices()

    assert waiting(alice) == [NoticeEvent.HALF]


@pytest.mark.parametrize(("of", "expected"), [("laser", 1), ("vacuum", 0)])
def test_a_person_is_told_what_their_groups_may_approve(alice, token, tell, mails, of, expected):
    for name in ("laser", "vacuum"):
        make.group(name, *[alice] * (name == of))
    make.in_force({"name": "r", "effect": "review", "demands": {"groups": ["laser"]}})
    proved(alice)
    make.pending(token)
    tell()

    assert len(mails) == expected


def test_the_owner_of_an_agent_is_not_told_what_they_may_not_approve(alice, tell, mails):
    proved(alice)
    make.pending(make.token(make.agent("theirs", owner=alice)))
    tell()

    assert mails == []


def test_holds_are_told(alice, ada, tell, mails):
    proved(alice)
    place_hold(by=ada, **SIGNED)
    tell()

    assert subjects(mails) == ["Approvals are on hold"]


def lose_the_role(alice):
    change_roles(alice, roles={"auditor": True}, by=OPERATOR)


def be_deactivated(alice):
    set_active(alice, active=False, by=OPERATOR)


def leave_the_group(alice):
    set_members(Group.objects.get(name="laser"), members=[], by=OPERATOR)


@pytest.mark.parametrize("lose", [lose_the_role, be_deactivated, leave_the_group])
def test_who_may_no_longer_decide_gets_nothing_that_waited(alice, token, tell, mails, lose):
    make.group("laser", alice)
    make.in_force({"name": "r", "effect": "review", "demands": {"groups": ["laser"]}})
    proved(alice)
    make.pending(token)
    queue_notices()
    lose(alice)
    tell()

    assert mails == []
    assert Message.objects.get(event=NoticeEvent.ASKS).state == State.DROPPED


def test_a_test_says_nothing_but_that_it_works(alice, tell, mails):
    channel = proved(alice)
    try_own(person=alice, channel_id=channel.pk, **SIGNED)
    tell()

    assert subjects(mails) == ["Test message from Approvals"]


# What people say.


def test_another_choice_counts_from_then_on(alice, token, tell, mails):
    channel = proved(alice, Choice.ASSIGNED)
    change_own(person=alice, channel_id=channel.pk, choice=Choice.ALL, **SIGNED)
    make.pending(token)
    tell()

    assert len(mails) == 1


def test_a_channel_that_is_off_is_not_told(alice, token, tell, mails):
    channel = proved(alice)
    switch_own(person=alice, channel_id=channel.pk, on=False, **SIGNED)
    make.pending(token)
    tell()
    switch_own(person=alice, channel_id=channel.pk, on=True, **SIGNED)
    tell()

    assert subjects(mails) == ["An address where you are told by Approvals was paused"]


def test_a_channel_that_is_off_cannot_be_tried(alice):
    channel = proved(alice)
    switch_own(person=alice, channel_id=channel.pk, on=False, **SIGNED)
    with pytest.raises(NotSent, match="The channel is off"):
        try_own(person=alice, channel_id=channel.pk, **SIGNED)


def test_a_removed_address_is_gone_with_what_waited(alice, token, tell, mails):
    channel = proved(alice)
    make.pending(token)
    queue_notices()
    remove_own(person=alice, channel_id=channel.pk, **SIGNED)
    tell()

    assert subjects(mails) == ["An address where you are told by Approvals was removed"]
    waited = Message.objects.exclude(approval=None)
    assert {message.state for message in waited} == {State.DROPPED}


def test_what_changes_nothing_is_not_recorded(alice):
    channel = proved(alice)
    before = AuditEntry.objects.count()

    change_own(person=alice, channel_id=channel.pk, choice=channel.choice, **SIGNED)
    switch_own(person=alice, channel_id=channel.pk, on=True, **SIGNED)
    confirm_own(person=alice, channel_id=channel.pk, code="", **SIGNED)

    assert AuditEntry.objects.count() == before


@pytest.mark.parametrize(
    "address", ["", "alice", "a@b\nBcc: x@example.org", "Alice <a@example.org>", "ä@example.org"]
)
def test_what_is_no_address_is_refused(alice, address):
    with pytest.raises(AddressRefused):
        added(alice, address=address)
    assert Channel.objects.count() == 0


@pytest.mark.parametrize(
    ("wish", "why"),
    [
        ({"kind": "pigeon"}, "no kind of channel"),
        ({"kind": "webhook", "address": "https://a.example/"}, "for the whole house"),
        ({"choice": "everything"}, "Choose what you are told"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_added(alice, wish, why):
    wish = {"kind": "email", "address": "a@example.org", "choice": "all", **wish}
    with pytest.raises(ChannelRefused, match=why):
        add_own(person=alice, **wish, **SIGNED)
    assert Channel.objects.count() == 0


def test_the_same_address_is_kept_once(alice):
    proved(alice)
    with pytest.raises(ChannelRefused, match="told there already"):
        added(alice)


def test_a_sixth_address_is_refused(alice):
    for number in range(own_channels.MOST_OWN):
        proved(alice, address=f"a{number}@example.org")
    with pytest.raises(ChannelRefused, match="5 addresses"):
        added(alice)


def test_who_has_no_role_is_not_told(ada):
    User.objects.update(is_admin=False)
    with pytest.raises(ChangeNotAllowed, match="Only people with a role"):
        added(ada)


def test_who_does_not_decide_is_told_of_no_request(token, ada, tell, mails):
    proved(ada, address="ada@example.org")
    tell()
    mails.clear()

    make.pending(token, content=GRAVE)
    tell()

    assert subjects(mails) == []
