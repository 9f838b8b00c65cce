"""The house's channels are told what waits for people, at least once, and nothing that is over."""

import json
from datetime import timedelta

import pytest
from django.db.models import F

from approval_client.webhooks import OtherEvent, verify
from dashboard.approvals.models import View
from dashboard.approvals.services import (
    cancel,
    expire,
    judge_pending_again,
    lift_hold,
    place_hold,
)
from dashboard.approvals.services.extension import extend
from dashboard.audit.models import AuditEntry
from dashboard.clock import database_now
from dashboard.notifications.errors import (
    AddressRefused,
    ChangeNotAllowed,
    ChannelRefused,
    ReceiverNotFound,
)
from dashboard.notifications.models import Channel, LogReading, Message, NoticeEvent, State
from dashboard.notifications.queries import failing_channels
from dashboard.notifications.sending import Sent
from dashboard.notifications.services import (
    Wish,
    add_channel,
    attempts,
    change_channel,
    new_channel_secret,
    queue_notices,
    remove_channel,
    switch_channel,
    telling,
    try_channel,
)
from dashboard.notifications.services.telling import Turns, settle_telling
from tests import make
from tests.notifications.host import FOR_THE_EARLIER_ADDRESS, hosted

pytestmark = pytest.mark.django_db


def rule(effect, **demands):
    return {"name": effect, "effect": effect, **({"demands": demands} if demands else {})}


SIGNED = {"auth": "session:password"}
TAKEN, REFUSED = Sent(taken=True, said="It answered 200."), Sent(taken=False, said="No.")


@pytest.fixture
def channel(host, ada):
    """A channel that is told everything; ``secret`` verifies it."""
    return added(host.url, ada)


def added(url, ada, **wish):
    wish = {"name": "Ops", **wish}
    found, found.shown = add_channel(
        kind="webhook", wish=Wish(address=url, **wish), by=ada, **SIGNED
    )
    return found


def told(host):
    return [json.loads(call.body)["type"] for call in host.calls]


def waiting():
    rows = Message.objects.filter(state=State.WAITING).order_by("due_at")
    return list(rows.values_list("event", flat=True))


def hurry(event=None):
    rows = Message.objects.filter(state=State.WAITING)
    (rows.filter(event=event) if event else rows).update(due_at=database_now())


# What is told.


def test_a_request_that_waits_for_people_is_told_and_convinces_the_client(
    channel, host, tell, token
):
    approval = make.pending(token)
    tell()

    [call] = host.calls
    event = verify(call.headers, call.body, channel.shown)
    assert isinstance(event, OtherEvent)
    assert (event.type, event.data["id"], event.data["agent"]) == (
        "approval.submitted",
        str(approval.pk),
        "beamline",
    )
    assert event.data["url"].endswith(f"/approvals/{approval.pk}")
    assert event.data.keys() == {"id", "kind", "agent", "severity", "expires_at", "url"}


def test_nothing_that_an_agent_wrote_is_told(channel, host, tell, token):
    make.pending(
        token,
        kind="tool_call",
        content={"tool": "SECRET_tool", "arguments": {"SECRET_name": "SECRET_value"}},
        objective="SECRET_purpose",
        evidence={"SECRET_claim": "SECRET_claim"},
        run_id="SECRET_run",
    )
    tell()

    assert host.calls
    assert b"SECRET" not in b"".join(call.body for call in host.calls)


def test_what_a_policy_answered_is_not_told(channel, host, tell, token):
    make.in_force(rule("approve"), modes={"capabilities": {"python_execution": None}})
    make.pending(token, content={"code": "print(1)", "language": "python"})
    tell()

    assert (host.calls, Message.objects.count()) == ([], 0)


def test_half_of_the_time_and_the_last_minute_are_told_when_they_come(channel, host, tell, token):
    approval = make.pending(token)
    tell()
    half, last = Message.objects.filter(state=State.WAITING).order_by("due_at")

    assert (half.event, last.event) == (NoticeEvent.HALF, NoticeEvent.LAST_MINUTE)
    whole = approval.expires_at - approval.submitted_at
    assert half.due_at == approval.submitted_at + whole / 2
    assert last.due_at == approval.expires_at - timedelta(minutes=1)
    hurry(NoticeEvent.HALF)
    tell()
    assert told(host) == ["approval.submitted", "approval.half_time"]


def test_a_request_that_expired_and_that_nobody_saw_is_told(channel, host, tell, token):
    expire(make.overdue(token).pk)
    tell()

    assert told(host) == ["approval.expired_unseen"]


def test_a_request_that_expired_after_somebody_saw_it_is_not_told(
    channel, host, tell, token, alice
):
    approval = make.overdue(token)
    View.objects.create(approval=approval, person=alice, seen_at=database_now())
    expire(approval.pk)
    tell()

    assert told(host) == []


def test_a_hold_and_its_end_are_told(channel, host, tell, ada):
    place_hold(by=ada, reason="SECRET", **SIGNED)
    tell()
    lift_hold(by=ada, **SIGNED)
    tell()

    assert told(host) == ["hold.placed", "hold.lifted"]
    assert b"SECRET" not in b"".join(call.body for call in host.calls)


# What is over is not told.


def decide(approval, token, alice):
    make.decided(approval, alice)


def withdraw(approval, token, alice):
    cancel(approval_id=approval.pk, token=token)


@pytest.mark.parametrize("end", [decide, withdraw])
def test_what_ended_before_it_was_sent_is_not_told(channel, host, tell, token, alice, end):
    approval = make.pending(token)
    queue_notices()
    end(approval, token, alice)
    hurry()
    tell()

    assert (host.calls, waiting()) == ([], [])


def test_what_ends_while_it_is_taken_is_not_sent(channel, token, alice, monkeypatch):
    approval = make.pending(token)
    queue_notices()

    def in_between(name):
        monkeypatch.setattr(attempts, "F", F)
        make.allow_durable()
        make.decided(approval, alice)
        return F(name)

    monkeypatch.setattr(attempts, "F", in_between)

    assert Turns().begin(channel.pk) is None


def test_during_a_hold_nobody_is_asked_and_afterwards_whoever_still_waits_is(
    channel, host, tell, token, ada
):
    make.pending(token)
    queue_notices()
    place_hold(by=ada, **SIGNED)
    tell()
    assert told(host) == ["hold.placed"]

    lift_hold(by=ada, **SIGNED)
    tell()

    assert sorted(told(host)) == ["approval.submitted", "hold.lifted", "hold.placed"]


def test_an_extension_moves_what_is_told_at_a_time(channel, tell, token, alice):
    approval = make.half_over(token)
    queue_notices()
    until = extend(approval_id=approval.pk, person=alice, ends=approval.expires_at, **SIGNED)
    queue_notices()

    last = Message.objects.get(event=NoticeEvent.LAST_MINUTE)
    assert last.due_at == until - timedelta(minutes=1)


def test_after_an_extension_the_last_minute_is_told_again(channel, host, tell, token, alice):
    approval = make.half_over(token)
    queue_notices()
    Message.objects.filter(event=NoticeEvent.LAST_MINUTE).update(state=State.DELIVERED, attempts=1)
    until = extend(approval_id=approval.pk, person=alice, ends=approval.expires_at, **SIGNED)
    queue_notices()

    last = Message.objects.get(event=NoticeEvent.LAST_MINUTE)
    assert (last.state, last.due_at) == (State.WAITING, until - timedelta(minutes=1))


@pytest.mark.parametrize("outcome", [TAKEN, REFUSED], ids=["arrived", "failed"])
def test_extended_while_the_last_minute_is_being_told_it_is_told_again(
    channel, token, alice, outcome
):
    approval = make.half_over(token)
    queue_notices()
    Message.objects.exclude(event=NoticeEvent.LAST_MINUTE).delete()
    hurry()
    begun = Turns().begin(channel.pk)
    until = extend(approval_id=approval.pk, person=alice, ends=approval.expires_at, **SIGNED)
    queue_notices()
    settle_telling(begun, outcome)

    last = Message.objects.get(event=NoticeEvent.LAST_MINUTE)
    assert (last.state, last.due_at) == (State.WAITING, until - timedelta(minutes=1))
    assert last.attempts == 0
    assert last.pk not in begun.ids


def test_a_last_minute_that_was_told_is_not_told_again_as_the_policy_changes(channel, token):
    approval = make.pending(token)
    queue_notices()
    make.in_force({"name": "All", "effect": "review"})
    judge_pending_again()
    told_at = approval.expires_at - timedelta(minutes=1)
    last_minutes = Message.objects.filter(event=NoticeEvent.LAST_MINUTE)
    last_minutes.update(state=State.DELIVERED, attempts=1, tried_at=told_at)
    queue_notices()

    assert last_minutes.get().state == State.DELIVERED


def test_a_last_minute_that_is_no_longer_the_last_waits(channel, host, tell, token):
    make.pending(token)
    tell()
    hurry(NoticeEvent.LAST_MINUTE)
    tell()

    assert told(host) == ["approval.submitted"]
    assert NoticeEvent.LAST_MINUTE in waiting()


# Who is told.


@pytest.mark.parametrize(
    ("code", "least", "expected"),
    [
        ("print(1)", "high", 0),
        ("import os; os.system('rm -rf /')", "high", 1),
        ("print(1)", "", 1),
    ],
)
def test_a_channel_is_told_from_its_least_severity_on(
    host, tell, token, ada, code, least, expected
):
    added(host.url, ada, least=least)
    make.pending(token, content={"code": code, "language": "python"})
    tell()

    assert len(host.calls) == expected


def test_a_request_whose_inspection_is_missing_counts_as_high(host, tell, token, ada, monkeypatch):
    added(host.url, ada, least="high")
    make.pending(token, content={"code": "print(1)", "language": "klingon"})
    tell()

    assert [json.loads(call.body)["data"]["severity"] for call in host.calls] == ["high"]


@pytest.mark.parametrize(("of", "expected"), [("laser", 1), ("vacuum", 0)])
def test_a_channel_of_a_group_is_told_what_its_members_may_approve(
    host, tell, token, ada, alice, of, expected
):
    make.group("laser", alice)
    make.group("vacuum", alice)
    make.in_force(rule("review", groups=["laser"]))
    added(host.url, ada, groups=[of])
    make.pending(token)
    tell()

    assert len(host.calls) == expected


def test_only_chosen_events_are_told(host, tell, token, ada):
    added(host.url, ada, events=[NoticeEvent.HELD])
    make.pending(token)
    place_hold(by=ada, **SIGNED)
    tell()

    assert (told(host), waiting()) == (["hold.placed"], [])


def test_history_is_not_told(host, tell, token, ada):
    make.pending(token)
    added(host.url, ada)
    tell()

    assert host.calls == []


# At least once, and in order.


def test_the_log_is_read_once(channel, token):
    make.pending(token)

    assert queue_notices() > 0
    assert queue_notices() == 0
    assert LogReading.objects.get().seq == AuditEntry.objects.order_by("-seq")[0].seq


def test_what_is_read_again_after_a_crash_makes_no_second_message(channel, token):
    make.pending(token)
    queue_notices()
    before = Message.objects.count()
    LogReading.objects.update(seq=0)

    queue_notices()

    assert Message.objects.count() == before


def test_what_failed_is_sent_again_with_the_same_id(ada, tell, token):
    with hosted(500, 204) as host:
        added(host.url, ada)
        make.pending(token)
        tell()
        assert Channel.objects.get().failures == 1
        hurry(NoticeEvent.ASKS)
        tell()

        first, second = host.calls
        assert first.headers["webhook-id"] == second.headers["webhook-id"]
        assert Channel.objects.get().failures == 0


def test_a_message_of_a_killed_process_is_sent_after_a_minute(channel, host, tell, token):
    make.pending(token)
    queue_notices()
    Turns().begin(channel.pk)
    tell()
    assert host.calls == []

    Message.objects.filter(event=NoticeEvent.ASKS).update(due_at=database_now())
    tell()

    assert told(host) == ["approval.submitted"]


def test_who_settles_too_late_changes_nothing(channel, token):
    make.pending(token)
    queue_notices()
    first = Turns().begin(channel.pk)
    Message.objects.filter(event=NoticeEvent.ASKS).update(due_at=database_now())
    second = Turns().begin(channel.pk)

    assert settle_telling(second, TAKEN) is True
    assert settle_telling(first, REFUSED) is False


def test_a_channel_that_is_gone_is_switched_off(ada, tell, token):
    with hosted(410) as host:
        added(host.url, ada)
        make.pending(token)
        tell()

    assert Channel.objects.get().is_active is False
    assert waiting() == []
    assert AuditEntry.objects.filter(action="channel.switched_off").exists()
    assert failing_channels() == [Channel.objects.get().name]


def test_a_channel_that_an_admin_paused_does_not_fail(channel, ada):
    switch_channel(channel_id=channel.pk, on=False, by=ada, **SIGNED)

    assert failing_channels() == []


def test_a_key_that_was_changed_is_told_and_nothing_is_sent(channel, host, tell, token, settings):
    settings.SECRET_KEY = "x" * 50
    make.pending(token)
    tell()

    assert host.calls == []
    assert "SECRET_KEY has changed" in Message.objects.get(event=NoticeEvent.ASKS).said


def test_old_messages_are_forgotten(channel, tell, token):
    make.pending(token)
    tell()
    Message.objects.update(made_at=database_now() - timedelta(days=31))

    telling.forget_messages()

    assert set(waiting()) == {NoticeEvent.HALF, NoticeEvent.LAST_MINUTE}
    assert Message.objects.count() == 2


# What admins do.


def test_a_channel_that_is_off_is_not_told_and_begins_anew(channel, host, tell, token, ada):
    make.pending(token)
    queue_notices()
    switch_channel(channel_id=channel.pk, on=False, by=ada, **SIGNED)
    make.pending(token)
    tell()
    switch_channel(channel_id=channel.pk, on=True, by=ada, **SIGNED)
    new = make.pending(token)
    tell()

    assert [json.loads(call.body)["data"]["id"] for call in host.calls] == [str(new.pk)]


def test_off_and_on_again_what_is_under_way_tells_what_came_of_it(channel, token, ada):
    make.pending(token)
    queue_notices()
    begun = Turns().begin(channel.pk)
    for on in (False, True):
        switch_channel(channel_id=channel.pk, on=on, by=ada, **SIGNED)
    settle_telling(begun, TAKEN)

    assert Message.objects.get(event=NoticeEvent.ASKS).state == State.DELIVERED


@pytest.mark.parametrize("wish", [{"events": [NoticeEvent.HELD]}, {"least": "high"}])
def test_what_an_admin_no_longer_wants_told_is_not_sent(host, tell, token, ada, wish):
    channel = added(host.url, ada)
    make.pending(token, content={"code": "print(1)", "language": "python"})
    queue_notices()
    narrower = Wish(name="Ops", address=host.url, **wish)
    change_channel(channel_id=channel.pk, wish=narrower, by=ada, **SIGNED)
    tell()

    assert host.calls == []
    assert Message.objects.get(event=NoticeEvent.ASKS).state == State.DROPPED


@pytest.mark.parametrize("how", ["address", "on again", "test"])
def test_who_asked_to_be_left_alone_is_told_again_after(ada, tell, token, how):
    with hosted(503, 204) as host:
        host.more = {"Retry-After": "3600"}
        channel = added(host.url, ada)
        make.pending(token)
        tell()
        assert Channel.objects.get().rests_until > database_now()
        if how == "address":
            wish = Wish(name="Ops", address=f"{host.url}/new")
            change_channel(channel_id=channel.pk, wish=wish, by=ada, **SIGNED)
        elif how == "on again":
            switch_channel(channel_id=channel.pk, on=False, by=ada, **SIGNED)
            switch_channel(channel_id=channel.pk, on=True, by=ada, **SIGNED)
        else:
            try_channel(channel_id=channel.pk, by=ada, **SIGNED)
            tell()
        make.pending(token)
        tell()

        assert told(host)[-1] == "approval.submitted"
        assert len(host.calls) == (3 if how == "test" else 2)


def test_what_is_under_way_is_left_to_whoever_sends_it(channel, token, alice):
    approval = make.pending(token)
    queue_notices()
    telling_now = Turns().begin(channel.pk)
    make.decided(approval, alice)
    telling.drop_what_is_over()
    settle_telling(telling_now, TAKEN)

    assert Message.objects.get(event=NoticeEvent.ASKS).state == State.DELIVERED


def test_a_channel_of_a_kind_that_is_not_known_fails_and_stops_no_other(
    channel, host, tell, token, ada
):
    other = added(host.url, ada, name="Other")
    Channel.objects.filter(pk=other.pk).update(kind="pigeon")
    make.pending(token)
    tell()

    assert told(host) == ["approval.submitted"]
    message = Message.objects.get(channel=other, event=NoticeEvent.ASKS)
    assert message.said.startswith("This release does not know this kind of channel.")
    assert Channel.objects.get(pk=other.pk).failures == 1


def test_a_message_that_cannot_be_made_is_tried_later_and_stops_no_other(
    channel, token, monkeypatch, caplog
):
    make.pending(token)
    queue_notices()
    monkeypatch.setattr(telling, "notices_of", lambda *_: 1 / 0)

    assert Turns().begin(channel.pk) is None
    message = Message.objects.get(event=NoticeEvent.ASKS)
    assert (message.attempts, message.said) == (1, telling._NOT_MADE)
    assert "ZeroDivisionError" in caplog.text


def test_a_channel_with_another_address_is_not_switched_off_for_the_earlier_one(
    channel, token, ada
):
    make.pending(token)
    queue_notices()
    begun = Turns().begin(channel.pk)
    wish = Wish(name="Ops", address="https://other.example.org/")
    change_channel(channel_id=channel.pk, wish=wish, by=ada, **SIGNED)
    settle_telling(begun, Sent(taken=False, is_gone=True, said="It answered 410."))

    assert Channel.objects.get().is_active


@FOR_THE_EARLIER_ADDRESS
def test_what_the_earlier_address_answers_delays_nothing_at_the_new_one(
    channel, token, ada, outcome
):
    make.pending(token)
    queue_notices()
    begun = Turns().begin(channel.pk)
    wish = Wish(name="Ops", address="https://other.example.org/")
    change_channel(channel_id=channel.pk, wish=wish, by=ada, **SIGNED)
    settle_telling(begun, outcome)

    changed, message = Channel.objects.get(), Message.objects.get(event=NoticeEvent.ASKS)
    assert (changed.rests_until, changed.failures) == (None, 0)
    assert message.state == State.WAITING
    assert message.due_at < database_now() + timedelta(seconds=10)


def test_a_channel_that_was_removed_meanwhile_is_no_error(channel, token, ada):
    make.pending(token)
    queue_notices()
    begun = Turns().begin(channel.pk)
    remove_channel(channel_id=channel.pk, by=ada, **SIGNED)

    assert settle_telling(begun, Sent(taken=False, is_gone=True, said="Gone.")) is False


def test_a_new_secret_signs_beside_the_earlier_one(channel, host, tell, token, ada):
    secret = new_channel_secret(channel_id=channel.pk, at_once=False, by=ada, **SIGNED)
    make.pending(token)
    tell()

    [call] = host.calls
    assert verify(call.headers, call.body, secret) == verify(
        call.headers, call.body, channel.shown
    )


def test_what_waits_goes_to_the_new_address(channel, tell, token, ada):
    make.pending(token)
    queue_notices()
    with hosted() as other:
        wish = Wish(name="Ops", address=other.url)
        change_channel(channel_id=channel.pk, wish=wish, by=ada, **SIGNED)
        tell()

        assert told(other) == ["approval.submitted"]


def test_what_an_admin_does_is_in_the_log_without_the_path(channel, ada, host):
    change_channel(
        channel_id=channel.pk,
        wish=Wish(name="Ops", address=f"{host.url}/SECRET"),
        by=ada,
        **SIGNED,
    )

    entries = AuditEntry.objects.filter(action__startswith="channel.").order_by("seq")
    assert [entry.action for entry in entries] == ["channel.added", "channel.changed"]
    assert all("SECRET" not in entry.details for entry in entries)
    assert json.loads(entries[1].details)["where"] == host.url.removesuffix("/hook")


def test_what_changes_nothing_is_not_recorded(channel, ada, host):
    before = AuditEntry.objects.count()

    change_channel(
        channel_id=channel.pk, wish=Wish(name="Ops", address=host.url), by=ada, **SIGNED
    )
    switch_channel(channel_id=channel.pk, on=True, by=ada, **SIGNED)

    assert AuditEntry.objects.count() == before


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"name": " "}, "Give the channel a name"),
        ({"name": "Ops"}, "There is a channel called Ops already"),
        ({"name": "a\nb"}, "in one line"),
        ({"events": []}, "Choose what is told"),
        ({"events": ["approval.approved"]}, "Choose what is told"),
        ({"least": "grave"}, "Choose a severity"),
        ({"groups": ["nobody"]}, "There is no group called nobody"),
    ],
)
def test_what_is_wrong_with_a_channel_is_said_and_nothing_is_added(
    channel, host, ada, changes, why
):
    with pytest.raises(ChannelRefused, match=why):
        added(host.url, ada, **{"name": "Other", **changes})
    assert Channel.objects.count() == 1


@pytest.mark.parametrize("url", ["", "ftp://a.example/", "http://10.0.0.1/", "https://10.0.0.1/"])
def test_an_address_that_may_not_be_called_is_refused(ada, url):
    with pytest.raises(AddressRefused):
        added(url, ada)


def test_a_kind_that_is_not_known_is_refused(ada, host):
    with pytest.raises(ChannelRefused, match="no kind of channel"):
        add_channel(kind="pigeon", wish=Wish(name="x", address=host.url), by=ada, **SIGNED)


def test_only_admins_may(channel, alice, host):
    wish = Wish(name="Ops", address=host.url)
    for verb in (
        lambda: add_channel(kind="webhook", wish=wish, by=alice, **SIGNED),
        lambda: change_channel(channel_id=channel.pk, wish=wish, by=alice, **SIGNED),
        lambda: switch_channel(channel_id=channel.pk, on=False, by=alice, **SIGNED),
        lambda: new_channel_secret(channel_id=channel.pk, at_once=True, by=alice, **SIGNED),
    ):
        with pytest.raises(ChangeNotAllowed):
            verb()


def test_what_is_not_there_is_not_found(ada):
    with pytest.raises(ReceiverNotFound):
        switch_channel(channel_id=99, on=True, by=ada, **SIGNED)
