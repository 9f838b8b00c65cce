"""Passkeys: what makes one, when it counts, and what a device has to have signed."""

import json
import random
from contextlib import suppress
from datetime import timedelta

import pytest
from django.db import DatabaseError, transaction
from django.utils import timezone

from dashboard.accounts import webauthn
from dashboard.accounts.errors import NotPermitted, NotSigned
from dashboard.accounts.models import Passkey, PasskeyConfirmation
from dashboard.accounts.services import factors, passkeys, ways_in
from dashboard.accounts.services.signing_in import make_link, signed_in
from dashboard.audit.models import AuditEntry
from dashboard.audit.services import OPERATOR, Actor, AuditEvent, record
from tests import make
from tests.authenticator import HOST, HOUSE, UP, UV, Device

CHALLENGE = b"thirty-two bytes that are random"


@pytest.fixture(autouse=True)
def public_url(settings):
    settings.PUBLIC_URL = HOUSE


@pytest.fixture
def root(db):
    return make.person("root", admin=True)


def by(person, auth="session:password"):
    return Actor.of_user(person.username, auth)


def added(person, device, name="Phone", auth="session:password", **lies):
    made = device.make(passkeys.creation_options(person, CHALLENGE), **lies)
    return passkeys.add(person, name=name, made=made, challenge=CHALLENGE, by=by(person, auth))


def signs_in(person, device, **lies):
    options = passkeys.request_options(passkeys.usable(person), CHALLENGE)
    return passkeys.sign_in(person, device.sign(options, **lies), CHALLENGE)


def recorded(action):
    rows = AuditEntry.objects.filter(action=action)
    return list(rows.values_list("actor", "auth", "subject"))


# --- where they can be had -----------------------------------------------------------------------


@pytest.mark.parametrize("url", [HOUSE, "http://localhost:8000", "https://approvals"])
def test_a_browser_makes_them_at_such_an_address(settings, url):
    settings.PUBLIC_URL = url
    assert not webauthn.why_unavailable()


@pytest.mark.parametrize(
    ("url", "remedy"),
    [
        ("http://127.0.0.1:8000", "http://localhost:8000"),
        ("https://10.0.0.7", "https://approvals.example.org"),
        ("https://[::1]:8443", "https://approvals.example.org"),
        ("http://approvals.example.org", "https"),
    ],
)
def test_at_another_the_remedy_is_said(settings, url, remedy):
    settings.PUBLIC_URL = url
    assert remedy in webauthn.why_unavailable()


# --- adding --------------------------------------------------------------------------------------


def test_one_is_added_and_stands_in_the_log(alice):
    device = Device(synced=True, count=3)

    key = added(alice, device, name=" Phone ")

    assert (key.name, key.host, key.is_synced, key.sign_count) == ("Phone", HOST, True, 3)
    assert json.loads(key.transports) == ["hybrid", "internal"]
    assert recorded("passkey.added") == [("user:alice", "session:password", "user:alice")]
    assert signs_in(alice, device) == key


@pytest.mark.parametrize(
    "lies",
    [
        {"origin": "https://elsewhere.example.org"},
        {"origin": "http://approvals.example.org"},
        {"host": "example.org"},
        {"flags": UP},
        {"flags": UV},
        {"kind": "webauthn.get"},
        {"crossOrigin": True},
    ],
    ids=str,
)
def test_what_is_wrong_adds_none(alice, lies):
    with pytest.raises(NotSigned, match="No passkey was added"):
        added(alice, Device(), **lies)
    assert not Passkey.objects.exists()


def test_another_challenge_adds_none(alice):
    made = Device().make(passkeys.creation_options(alice, b"another challenge of another page"))
    with pytest.raises(NotSigned, match="Something else was signed"):
        passkeys.add(alice, name="x", made=made, challenge=CHALLENGE, by=by(alice))


def test_one_key_is_not_of_two_people(alice, root):
    device = Device()
    added(alice, device)

    with pytest.raises(NotSigned, match="known here already"):
        added(root, device)


def test_the_number_of_one_person_has_an_end(alice, monkeypatch):
    monkeypatch.setattr(passkeys, "MOST", 1)
    added(alice, Device())

    with pytest.raises(NotPermitted, match="Remove one first"):
        added(alice, Device(b"another name of another key"))


def test_an_odd_kind_of_key_is_not_added(alice, monkeypatch):
    monkeypatch.setattr(webauthn, "ALGORITHMS", (-8,))
    with pytest.raises(NotSigned, match="of a kind that is not accepted"):
        added(alice, Device())


def test_nothing_that_is_mutilated_raises_anything_else(alice):
    dice = random.Random(31)  # noqa: S311 - the same at each run
    device = Device()
    made = device.make(passkeys.creation_options(alice, CHALLENGE))
    signed = device.sign(passkeys.request_options([], CHALLENGE))
    for _ in range(1500):
        for text, read in ((made, _new), (signed, _assertion)):
            characters = list(text)
            for _ in range(dice.randint(1, 4)):
                place = dice.randrange(len(characters))
                characters[place] = dice.choice('AZaz09_-{}[]",:\\ \u20ac')
            with suppress(NotSigned):
                read("".join(characters))


def _new(text):
    webauthn.read_new_key(text, CHALLENGE)


def _assertion(text):
    assertion = webauthn.read_assertion(text)
    webauthn.check(assertion, challenge=CHALLENGE, public_key="o2ExYTI", key_host=HOST)


@pytest.mark.parametrize("name", ["id", "authenticatorData", "clientDataJSON", "signature"])
@pytest.mark.parametrize("junk", ["\x00", "=", " ", "\u20ac"], ids=repr)
def test_a_text_that_is_not_exactly_base64url_is_refused(name, junk):
    """PostgreSQL keeps no NUL, and a text has to be what was checked."""
    answer = json.loads(Device().sign(passkeys.request_options([], CHALLENGE)))
    part = answer if name == "id" else answer["response"]
    part[name] = junk + part[name]

    with pytest.raises(NotSigned, match="cannot be read"):
        webauthn.read_assertion(json.dumps(answer))


@pytest.mark.parametrize("text", ["", "null", "[]", "{}", "7", '"x"', "[" * 5000, "x" * 20_000])
def test_what_is_no_answer_of_a_browser_is_refused(text):
    for read in (_new, _assertion):
        with pytest.raises(NotSigned, match="cannot be read"):
            read(text)


# --- as the second proof -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lies", "reason"),
    [
        ({"origin": "https://elsewhere.example.org"}, "a page that this key is not for"),
        ({"origin": "https://evil.approvals.example.org"}, "a page that this key is not for"),
        ({"origin": "http://approvals.example.org"}, "another page"),
        ({"host": "example.org"}, "another host"),
        ({"flags": UP}, "did not check that it is you"),
        ({"flags": UV}, "Nobody touched"),
        ({"kind": "webauthn.create"}, "another kind"),
        ({"crossOrigin": True}, "inside a page of somebody else"),
    ],
    ids=str,
)
def test_what_is_wrong_does_not_sign_in(alice, lies, reason):
    device = Device()
    added(alice, device)

    with pytest.raises(NotSigned, match=reason):
        signs_in(alice, device, **lies)


def test_the_signature_of_another_key_does_not_sign_in(alice):
    device = Device()
    added(alice, device)

    with pytest.raises(NotSigned, match="not of this key"):
        signs_in(alice, device, key=Device().key)


def test_somebody_elses_does_not_sign_in(alice, root):
    device = Device()
    added(root, device)

    with pytest.raises(NotSigned, match="not a passkey of yours"):
        signs_in(alice, device)


def test_a_count_that_does_not_go_on_betrays_a_copy(alice):
    device = Device(count=5)
    added(alice, device)
    signs_in(alice, device)
    device.count -= 1

    with pytest.raises(NotSigned, match="may be a copy"):
        signs_in(alice, device)


def test_a_removed_one_does_not_sign_in(alice):
    device = Device()
    passkeys.remove(added(alice, device), remover=alice, by=by(alice))

    with pytest.raises(NotSigned):
        signs_in(alice, device)


def test_one_that_is_removed_while_it_signs_does_not_count(alice):
    """As on PostgreSQL, where the other transaction has just committed."""
    key = added(alice, Device())
    passkeys.remove(key, remover=alice, by=by(alice))

    with pytest.raises(NotSigned, match="was removed"):
        passkeys.note_use(key, 1)


# --- when it counts for approvals ----------------------------------------------------------------


def test_a_new_one_counts_after_a_day(alice):
    key = added(alice, Device())
    now = timezone.now()

    assert not passkeys.counting(alice, now)
    assert "is new and counts from" in passkeys.why_none_counts(alice, now)
    assert passkeys.counting(alice, now + timedelta(hours=24, seconds=1)) == [key]
    assert not passkeys.why_none_counts(alice, now + timedelta(hours=24, seconds=1))


def test_another_admin_confirms_it(alice, root):
    key = added(alice, Device())

    passkeys.confirm(key, admin=root, by=by(root))

    assert passkeys.counting(alice, timezone.now()) == [key]
    assert recorded("passkey.confirmed") == [("user:root", "session:password", "user:alice")]


def test_nobody_confirms_their_own(root):
    key = added(root, Device())
    with pytest.raises(NotPermitted, match="Another admin"):
        passkeys.confirm(key, admin=root, by=by(root))
    assert not PasskeyConfirmation.objects.exists()


def letting_in():
    """What an admin does to come in as somebody, or to let them in: of (person, admin)."""
    return {
        "a link": lambda person, root: make_link(person, by=by(root)),
        "single sign-on": lambda person, root: record(
            by(root), AuditEvent("person.linked", f"user:{person.username}")
        ),
        "no second factor": lambda person, root: record(
            by(root), AuditEvent("factor.removed", f"user:{person.username}")
        ),
    }


@pytest.mark.parametrize("how", letting_in())
def test_a_passkey_of_somebody_who_was_let_in_anew_needs_an_admin(alice, root, how):
    """Or an admin who comes in as alice, and chooses a password for her, had one after a day."""
    signed_in(alice, "password", address="10.0.0.7")
    with transaction.atomic():
        letting_in()[how](alice, root)

    key = added(alice, Device())

    assert passkeys.counts_from(key) is None


def test_a_passkey_of_somebody_who_is_new_counts_after_a_day(alice, root):
    make_link(alice, by=by(root))
    signed_in(alice, "link", address="10.0.0.7")

    assert passkeys.counts_from(added(alice, Device())) is not None


def test_what_the_operator_or_they_themselves_did_needs_no_admin(alice):
    signed_in(alice, "password", address="10.0.0.7")
    make_link(alice, by=OPERATOR)
    make_link(alice, by=by(alice))

    assert passkeys.counts_from(added(alice, Device())) is not None


@pytest.mark.parametrize("how", letting_in())
def test_who_let_somebody_in_does_not_confirm(alice, root, how):
    with transaction.atomic():
        letting_in()[how](alice, root)
    key = added(alice, Device())

    with pytest.raises(NotPermitted, match="you gave alice a way in"):
        passkeys.confirm(key, admin=root, by=by(root))
    other = make.person("olga", admin=True)
    passkeys.confirm(key, admin=other, by=by(other))


@pytest.fixture
def olga(db):
    """An admin who was here before."""
    olga = make.person("olga", admin=True)
    signed_in(olga, "password", address="10.0.0.7")
    return olga


@pytest.mark.parametrize("auth", ["session:link", "session:password"])
@pytest.mark.parametrize("how", letting_in())
def test_who_was_let_in_anew_does_not_confirm(alice, root, olga, how, auth):
    """Or one admin gives herself a passkey for alice, comes in as olga and confirms it."""
    key = added(alice, Device())
    with transaction.atomic():
        letting_in()[how](olga, root)

    with pytest.raises(NotPermitted, match=r"root could sign in as you.*Nothing was changed"):
        passkeys.confirm(key, admin=olga, by=by(olga, auth))
    assert not PasskeyConfirmation.objects.exists()


def test_who_was_let_in_anew_a_month_ago_confirms(alice, root, olga, monkeypatch):
    make_link(olga, by=by(root))
    key = added(alice, Device())
    now = timezone.now() + timedelta(days=30)
    monkeypatch.setattr(ways_in, "database_now", lambda: now)

    passkeys.confirm(key, admin=olga, by=by(olga))

    assert PasskeyConfirmation.objects.exists()


def test_who_is_invited_confirms_once_they_signed_in_with_their_own_password(alice, root):
    key, ines = added(alice, Device()), make.person("ines", admin=True)
    make_link(ines, by=by(root))
    signed_in(ines, "link", address="10.0.0.7")

    with pytest.raises(NotPermitted, match=r"link that somebody else made.*Nothing was changed"):
        passkeys.confirm(key, admin=ines, by=by(ines, "session:link"))
    passkeys.confirm(key, admin=ines, by=by(ines))

    assert PasskeyConfirmation.objects.exists()


@pytest.mark.parametrize("auth", ["session:link", "session:password"])
def test_who_came_in_by_a_link_of_the_operator_confirms(alice, olga, auth):
    key = added(alice, Device())
    make_link(olga, by=OPERATOR)

    passkeys.confirm(key, admin=olga, by=by(olga, auth))

    assert PasskeyConfirmation.objects.exists()


def test_who_came_in_as_whoever_let_somebody_in_does_not_confirm(alice, root, olga):
    make_link(olga, by=by(root))
    make_link(alice, by=by(olga, "session:link"))
    key = added(alice, Device(), auth="session:link")

    with pytest.raises(NotPermitted, match="or gave one to an admin who did"):
        passkeys.confirm(key, admin=root, by=by(root))
    other = make.person("ines", admin=True)
    passkeys.confirm(key, admin=other, by=by(other))


def test_who_invited_whoever_let_somebody_in_confirms(alice, root):
    ines = make.person("ines", admin=True)
    make_link(ines, by=by(root))
    signed_in(ines, "link", address="10.0.0.7")
    make_link(alice, by=by(ines))
    key = added(alice, Device(), auth="session:link")

    passkeys.confirm(key, admin=root, by=by(root))

    assert PasskeyConfirmation.objects.exists()


def test_who_let_somebody_in_after_it_was_added_confirms(alice, root):
    key = added(alice, Device())
    make_link(alice, by=by(root))

    passkeys.confirm(key, admin=root, by=by(root))

    assert PasskeyConfirmation.objects.exists()


def test_who_let_in_whoever_let_somebody_in_after_they_did_confirms(alice, root, olga):
    make_link(alice, by=by(olga))
    make_link(olga, by=by(root))
    key = added(alice, Device(), auth="session:link")

    passkeys.confirm(key, admin=root, by=by(root))

    assert PasskeyConfirmation.objects.exists()


def test_who_let_in_whoever_let_somebody_in_before_one_of_the_ways_does_not_confirm(
    alice, root, olga
):
    make_link(alice, by=by(olga))
    make_link(olga, by=by(root))
    make_link(alice, by=by(olga, "session:link"))
    key = added(alice, Device(), auth="session:link")

    with pytest.raises(NotPermitted, match="or gave one to an admin who did"):
        passkeys.confirm(key, admin=root, by=by(root))


def test_two_admins_who_let_each_other_in_read_who_makes_a_third(alice, root, olga):
    key = added(alice, Device())
    signed_in(root, "password", address="10.0.0.7")
    make_link(olga, by=by(root))
    make_link(root, by=by(olga))

    for admin in (root, olga):
        with pytest.raises(NotPermitted, match="approval-dashboard createsuperuser"):
            passkeys.confirm(key, admin=admin, by=by(admin))


@pytest.mark.parametrize("auth", ["session:link", "session:link+totp"])
def test_one_that_was_added_after_a_link_needs_an_admin(alice, root, auth):
    key = added(alice, Device(), auth=auth)
    later = timezone.now() + timedelta(days=400)

    assert not passkeys.counting(alice, later)
    assert "has to confirm" in passkeys.why_none_counts(alice, later)
    passkeys.confirm(key, admin=root, by=by(root))
    assert passkeys.counting(alice, later) == [key]


def test_who_can_sign_is_told_by_group(alice, bob, root, settings):
    make.group("ops", alice, bob)
    make.group("night", bob)
    assert passkeys.signers() == {"": set()}

    passkeys.confirm(added(alice, Device()), admin=root, by=by(root))
    added(bob, Device(b"a key of bob that is long enough"))  # does not count yet
    eve = make.person("eve", admin=True)
    passkeys.confirm(
        added(root, Device(b"a key of root that is long enough")), admin=eve, by=by(eve)
    )  # reviews nothing

    assert passkeys.signers() == {"": {"alice"}, "ops": {"alice"}}
    settings.PUBLIC_URL = "https://elsewhere.example.org"
    assert passkeys.signers() == {"": set()}


def test_one_for_another_address_does_not_count(alice, settings):
    added(alice, Device())
    settings.PUBLIC_URL = "https://other.example.org"

    assert "no passkey yet" in passkeys.why_none_counts(alice, timezone.now() + timedelta(days=2))


# --- kept ----------------------------------------------------------------------------------------


def test_its_rows_never_change(alice, root):
    key = added(alice, Device())
    passkeys.confirm(key, admin=root, by=by(root))
    passkeys.remove(key, remover=root, by=by(root))
    for rows in (Passkey.objects.all(), PasskeyConfirmation.objects.all()):
        with pytest.raises(DatabaseError), transaction.atomic():
            rows.update(id=99)
        with pytest.raises(DatabaseError), transaction.atomic():
            rows._raw_delete(using="default")


def test_removing_the_last_one_takes_the_recovery_codes_along(alice):
    device = Device()
    made = device.make(passkeys.creation_options(alice, CHALLENGE))
    codes = factors.add_passkey(alice, name="Phone", made=made, challenge=CHALLENGE, by=by(alice))
    assert len(codes) == 10
    assert factors.has_factor(alice)

    factors.remove_passkey(Passkey.objects.get(), remover=alice, by=by(alice))

    assert factors.factors_of(alice) == (False, 0)
    assert not factors.has_factor(alice)
