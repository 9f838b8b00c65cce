"""People are told of what happens to their account, wherever they are told of anything."""

from datetime import timedelta
from functools import partial

import pytest
from django.utils import timezone

from dashboard.accounts.models import BrowserSession, Passkey, UnknownIdentity
from dashboard.accounts.provider.metadata import provider_id
from dashboard.accounts.services import browsers, factors, identity, passkeys, signing_in
from dashboard.accounts.services.people import set_active, set_password
from dashboard.approvals.services import place_hold
from dashboard.audit.models import AuditEntry
from dashboard.audit.services import OPERATOR, Actor
from dashboard.notifications.errors import ChannelRefused
from dashboard.notifications.models import ACCOUNT_EVENTS, Channel, Message, NoticeEvent, State
from dashboard.notifications.queries import message_counts
from dashboard.notifications.services import (
    add_own,
    forget_messages,
    queue_notices,
    remove_own,
    switch_own,
)
from dashboard.notifications.services.telling import drop_what_is_over
from tests import make
from tests.authenticator import HOUSE, Device
from tests.notifications.test_own_channels import SIGNED, proved, subjects

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("mails")]

FIRST = b"a challenge of thirty-two bytes."


@pytest.fixture(autouse=True)
def _named(settings):
    settings.PUBLIC_URL = HOUSE


@pytest.fixture
def reached(alice, tell, mails):
    """Alice has two addresses that she proved."""
    channels = [proved(alice, address=f"alice{number}@example.org") for number in (1, 2)]
    tell()
    mails.clear()
    return channels


def by(person):
    return Actor.of_user(person.username, "session:password")


def add_passkey(alice):
    made = Device().make(passkeys.creation_options(alice, FIRST))
    passkeys.add(alice, name="Phone", made=made, challenge=FIRST, by=by(alice))


def confirm_passkey(alice):
    add_passkey(alice)
    root = make.person("root", admin=True)
    passkeys.confirm(Passkey.objects.get(), admin=root, by=by(root))


def remove_passkey(alice):
    add_passkey(alice)
    passkeys.remove(Passkey.objects.get(), remover=alice, by=by(alice))


def remove_app(alice):
    factors.new_recovery_codes(alice, by=by(alice))
    from allauth.mfa.models import Authenticator  # noqa: PLC0415 - needs the registry

    Authenticator.objects.create(user=alice, type="totp", data={})
    factors.remove_app(alice, by=by(alice))


def link(alice):
    unknown = UnknownIdentity.objects.create(
        provider=provider_id(), subject="1", reason="", last_at=timezone.now()
    )
    identity.link_unknown(unknown, alice, by=by(alice))


def unlink(alice):
    link(alice)
    browsers.unlink(alice, by=by(alice))


def reactivate(alice):
    for active in (False, True):
        set_active(alice, active=active, by=OPERATOR)


def remember(alice):
    BrowserSession.objects.create(
        session_key="1", person=alice, began_at=timezone.now(), used_at=timezone.now()
    )
    browsers.note_remembered("1", by=by(alice))


def first_of(alice):
    return alice.channels.order_by("pk").first().pk


HAPPENS = {
    NoticeEvent.PASSKEY_ADDED: add_passkey,
    NoticeEvent.PASSKEY_CONFIRMED: confirm_passkey,
    NoticeEvent.PASSKEY_REMOVED: remove_passkey,
    NoticeEvent.FACTOR_ADDED: lambda alice: factors.new_recovery_codes(alice, by=by(alice)),
    NoticeEvent.FACTOR_REMOVED: remove_app,
    NoticeEvent.PASSWORD_CHANGED: lambda alice: set_password(
        alice, password="another long password", by=by(alice)
    ),
    NoticeEvent.LINK_MADE: lambda alice: signing_in.make_link(alice, by=OPERATOR),
    NoticeEvent.LINKED: link,
    NoticeEvent.UNLINKED: unlink,
    NoticeEvent.REACTIVATED: reactivate,
    NoticeEvent.REMEMBERED: remember,
    NoticeEvent.ADDRESS_PAUSED: lambda alice: switch_own(
        person=alice, channel_id=first_of(alice), on=False, **SIGNED
    ),
    NoticeEvent.ADDRESS_REMOVED: lambda alice: remove_own(
        person=alice, channel_id=first_of(alice), **SIGNED
    ),
}


@pytest.mark.parametrize("event", HAPPENS)
def test_it_is_told_at_every_address_at_once(alice, reached, tell, mails, event):
    HAPPENS[event](alice)
    for _ in range(3):  # each in a message of its own
        tell()

    last = [mail for mail in mails if mail.to == ["alice1@example.org"]][-1]
    assert {mail.to[0] for mail in mails} == {"alice1@example.org", "alice2@example.org"}
    assert Message.objects.filter(event=event).count() == 2
    assert f"{HOUSE}/account/" in last.body
    assert "tell an admin at once" in last.body


def test_each_event_is_tried_here():
    assert set(HAPPENS) | {NoticeEvent.KEPT_ADMIN_USED} == set(ACCOUNT_EVENTS)


def test_a_message_about_a_link_says_until_when_it_signs_in(alice, reached, tell, mails):
    signing_in.make_link(alice, by=OPERATOR)
    made_at = AuditEntry.objects.latest("seq").at
    tell()

    assert f"once, until {made_at + timedelta(hours=1):%Y-%m-%d %H:%M} UTC." in mails[0].body


def test_nobody_is_told_of_somebody_elses_account(bob, reached, tell, mails):
    signing_in.make_link(bob, by=OPERATOR)
    tell()

    assert subjects(mails) == []


pause = partial(switch_own, on=False)


@pytest.fixture(params=["paused", "removed"])
def silenced(request, alice, reached, tell, mails):
    """Both of her addresses are paused or removed, as somebody who got in would do first."""
    for channel in reached:
        if request.param == "paused":
            switch_own(person=alice, channel_id=channel.pk, on=False, **SIGNED)
        else:
            remove_own(person=alice, channel_id=channel.pk, **SIGNED)
    for _ in range(3):
        tell()
    assert len(mails) == 4  # of both, at both
    mails.clear()
    return request.param


def test_an_address_that_is_off_goes_on_being_told(alice, silenced, tell, mails):
    signing_in.make_link(alice, by=OPERATOR)
    tell()

    assert {mail.to[0] for mail in mails} == {"alice1@example.org", "alice2@example.org"}


def test_of_requests_and_holds_it_is_not_told(alice, ada, token, silenced, tell, mails):
    make.pending(token)
    place_hold(by=ada, auth="session:password", reason="Look.")
    tell()

    assert mails == []


def test_after_a_day_a_removed_address_is_gone(alice, reached, tell, mails):
    remove_own(person=alice, channel_id=reached[0].pk, **SIGNED)
    Channel.objects.filter(pk=reached[0].pk).update(
        removed_at=timezone.now() - timedelta(hours=25)
    )

    forget_messages()

    assert list(Channel.objects.all()) == [reached[1]]


def test_a_removed_address_can_be_kept(alice, reached, tell, mails):
    remove_own(person=alice, channel_id=reached[0].pk, **SIGNED)
    with pytest.raises(ChannelRefused, match="Keep it"):
        add_own(person=alice, kind="email", address="alice1@example.org", choice="all", **SIGNED)

    switch_own(person=alice, channel_id=reached[0].pk, on=True, **SIGNED)

    kept = Channel.objects.get(pk=reached[0].pk)
    assert (kept.is_active, kept.removed_at) == (True, None)


@pytest.mark.parametrize("read", [True, False], ids=["queued", "not read yet"])
@pytest.mark.parametrize("stop", [pause, remove_own])
def test_going_on_with_an_address_hides_nothing_that_was_done_to_the_account(
    alice, reached, tell, mails, stop, read
):
    stop(person=alice, channel_id=reached[0].pk, **SIGNED)
    add_passkey(alice)
    if read:
        queue_notices()
    switch_own(person=alice, channel_id=reached[0].pk, on=True, **SIGNED)
    for _ in range(3):
        tell()

    told = [mail.subject for mail in mails if mail.to == ["alice1@example.org"]]
    assert "A passkey was added to your account for Approvals" in told


def test_no_more_are_kept_than_there_may_be(alice, reached):
    remove_own(person=alice, channel_id=reached[0].pk, **SIGNED)
    for number in range(3, 7):
        proved(alice, address=f"alice{number}@example.org")

    with pytest.raises(ChannelRefused, match="5 addresses already"):
        switch_own(person=alice, channel_id=reached[0].pk, on=True, **SIGNED)


def test_what_happens_to_a_deactivated_account_is_told_when_it_is_back(
    alice, bob, reached, tell, mails
):
    proved(bob)  # so that the log is read on meanwhile
    set_active(alice, active=False, by=OPERATOR)
    remove_app(alice)
    for _ in range(3):
        tell()
    mails.clear()

    set_active(alice, active=True, by=OPERATOR)
    for _ in range(4):
        tell()

    told = {mail.subject for mail in mails if mail.to == ["alice1@example.org"]}
    assert "The second factor of your account for Approvals was removed" in told
    assert "Your account for Approvals was activated again" in told


def test_what_waits_for_somebody_deactivated_is_no_trouble_and_is_dropped_after_a_month(
    alice, bob, reached, tell
):
    proved(bob)
    set_active(alice, active=False, by=OPERATOR)
    remove_app(alice)
    for _ in range(3):
        tell()

    of_alice = Message.objects.filter(channel__in=reached, state=State.WAITING)
    assert of_alice.exists()
    assert message_counts()["people", "waiting"] == 0
    of_alice.update(made_at=timezone.now() - timedelta(days=31))
    drop_what_is_over()
    assert not of_alice.exists()


def test_who_lost_every_role_is_told_of_no_hold(alice, ada, reached, tell, mails):
    Channel.objects.update(choice="all")
    type(alice).objects.filter(pk=alice.pk).update(is_reviewer=False)

    place_hold(by=ada, auth="session:password", reason="Look.")
    tell()

    assert mails == []


def test_all_admins_are_told_that_the_kept_admin_signed_in(alice, ada, tell, mails, settings):
    settings.KEPT_ADMIN = "Kept"
    kept = make.person("kept", admin=True)
    for person in (alice, ada, kept):
        proved(person, address=f"{person}@example.org")
    tell()
    mails.clear()

    signing_in.signed_in(kept, "password+totp", address="10.0.0.7")
    signing_in.signed_in(alice, "password", address="10.0.0.7")
    tell()

    assert sorted(mail.to[0] for mail in mails) == ["ada@example.org", "kept@example.org"]
    assert subjects(mails)[0] == "The kept admin signed in to Approvals"
