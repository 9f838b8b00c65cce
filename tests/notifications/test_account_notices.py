"""People are told of what happens to their account, wherever they are told of anything."""

import pytest

from dashboard.accounts.models import Passkey
from dashboard.accounts.services import factors, passkeys, signing_in
from dashboard.accounts.services.people import OPERATOR, set_password
from dashboard.audit.services import Actor
from dashboard.notifications.models import ACCOUNT_EVENTS, Message, NoticeEvent
from dashboard.notifications.services import switch_own
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
    assert "If this was not you" in last.body


def test_each_event_is_tried_here():
    assert set(HAPPENS) | {NoticeEvent.KEPT_ADMIN_USED} == set(ACCOUNT_EVENTS)


def test_nobody_is_told_of_somebody_elses_account(bob, reached, tell, mails):
    signing_in.make_link(bob, by=OPERATOR)
    tell()

    assert subjects(mails) == []


def test_a_paused_address_is_not_told(alice, reached, tell, mails):
    switch_own(person=alice, channel_id=reached[0].pk, on=False, **SIGNED)

    signing_in.make_link(alice, by=OPERATOR)
    tell()

    assert [mail.to for mail in mails] == [["alice2@example.org"]]


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
