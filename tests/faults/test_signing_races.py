"""People who sign at once, and factors that are added at once: each counts once, none is lost."""

import json
import time
from contextlib import suppress
from threading import Barrier

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value

from approval_client.wire import Status
from dashboard.accounts.models import Passkey
from dashboard.accounts.services import factors, passkeys
from dashboard.approvals.errors import (
    AlreadyClosed,
    NotAllowed,
    SignatureMissing,
    SignatureRefused,
)
from dashboard.approvals.models import Decision, Signature, Vote
from dashboard.audit.models import AuditEntry
from dashboard.audit.services import Actor, verify
from tests import make
from tests.approvals.test_signature import FIRST, asked, said, signed_by, with_device
from tests.authenticator import HOUSE, Device
from tests.faults.test_races import at_once

WITHIN_S = 30
"""Where one thread fails, the others do not wait for it."""

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def how_many(in_full, settings):
    settings.PENDING_PER_TOKEN = 1000
    return 100 if in_full else 8


@pytest.fixture(autouse=True)
def _signed_here(settings):
    settings.PUBLIC_URL = HOUSE


@pytest.fixture
def root(db):
    return make.person("root", admin=True)


def nonce_of(approval, device):
    return f"{approval.pk} {device.person.pk}"


def answers(approval, device, signed):
    nonce = nonce_of(approval, device)
    return make.decided(approval, device.person, nonce=nonce, signed=signed)


def test_of_three_who_sign_at_once_exactly_two_are_needed(token, root, how_many):
    make.in_force(signed_by(people=2))
    people = [make.person(f"signer{n}", reviewer=True) for n in range(3)]
    devices = [with_device(person, root) for person in people]
    approvals = [make.pending(token) for _ in range(how_many)]
    signatures = {
        (approval.pk, device.person.pk): device.sign(
            asked(approval, device.person, nonce_of(approval, device))
        )
        for approval in approvals
        for device in devices
    }
    pace = Barrier(len(devices), timeout=WITHIN_S)

    def sign_all(device):
        late = 0
        for approval in approvals:
            signed = signatures[approval.pk, device.person.pk]
            pace.wait()
            try:
                answers(approval, device, signed)
            except AlreadyClosed:
                late += 1
        return late

    late = at_once(*(lambda device=device: sign_all(device) for device in devices))

    assert sum(late) == how_many
    assert (Signature.objects.count(), Vote.objects.count()) == (2 * how_many, 2 * how_many)
    assert Decision.objects.filter(status=Status.APPROVED).count() == how_many
    assert verify() is None
    assert not said()


def test_one_signature_that_comes_four_times_counts_once(token, alice, root, how_many):
    make.in_force(signed_by(people=2))
    device = with_device(alice, root)
    approvals = [make.pending(token) for _ in range(how_many)]
    signatures = {
        approval.pk: device.sign(asked(approval, alice, nonce_of(approval, device)))
        for approval in approvals
    }
    pace = Barrier(4, timeout=WITHIN_S)

    def sign_all():
        for approval in approvals:
            pace.wait()
            with suppress(SignatureRefused):
                answers(approval, device, signatures[approval.pk])

    at_once(*[sign_all] * 4)

    assert (Signature.objects.count(), Vote.objects.count()) == (how_many, how_many)
    assert not Decision.objects.exists()
    assert verify() is None
    assert not said()


def test_a_signature_beside_the_removal_of_its_passkey_is_of_before_or_refused(
    token, root, how_many
):
    make.in_force(signed_by())
    people = [make.person(f"signer{n}", reviewer=True) for n in range(how_many)]
    devices = [with_device(person, root) for person in people]
    work = [(make.pending(token), device) for device in devices]
    signatures = [
        device.sign(asked(approval, device.person, nonce_of(approval, device)))
        for approval, device in work
    ]
    pace = Barrier(2, timeout=WITHIN_S)

    def sign_all():
        refused = 0
        for (approval, device), signed in zip(work, signatures, strict=True):
            pace.wait()
            try:
                answers(approval, device, signed)
            except (NotAllowed, SignatureMissing, SignatureRefused):
                refused += 1
        return refused

    def remove_all():
        for device in devices:
            pace.wait()
            by = Actor.of_user("root", "session:password")
            passkeys.remove(device.passkey, remover=root, by=by)

    refused, _ = at_once(sign_all, remove_all)

    approved = Decision.objects.filter(status=Status.APPROVED)
    assert approved.count() == Signature.objects.count() == how_many - refused
    order = {
        (entry.action, json.loads(entry.details).get("passkey")): entry.seq
        for entry in AuditEntry.objects.filter(action__in=["approval.approved", "passkey.removed"])
    }
    for device in devices:
        signed = order.get(("approval.approved", device.passkey.pk))
        assert signed is None or signed < order["passkey.removed", device.passkey.pk]
    assert verify() is None
    assert not said()


def test_two_first_factors_at_once_give_one_set_of_recovery_codes(alice, how_many):
    by = Actor.of_user("alice", "session:password")
    people = [make.person(f"person{n}", reviewer=True) for n in range(how_many)]
    pace = Barrier(2, timeout=WITHIN_S)

    def add_passkeys():
        codes = []
        for person in people:
            device = Device(b"a credential of " + person.username.encode(), count=1)
            made = device.make(passkeys.creation_options(person, FIRST))
            pace.wait()
            codes.append(
                factors.add_passkey(person, name="Key", made=made, challenge=FIRST, by=by)
            )
        return codes

    def add_apps():
        codes = []
        for person in people:
            secret = factors.new_secret()
            counter = int(time.time()) // factors.PERIOD_S
            code = format_hotp_value(hotp_value(secret, counter))
            pace.wait()
            codes.append(factors.add_app(person, secret, code, by=by))
        return codes

    of_passkeys, of_apps = at_once(add_passkeys, add_apps)

    assert all(bool(a) != bool(b) for a, b in zip(of_passkeys, of_apps, strict=True))
    assert Passkey.objects.count() == how_many
    assert Authenticator.objects.filter(type=factors.TOTP).count() == how_many
    assert Authenticator.objects.filter(type=factors.RECOVERY).count() == how_many
    assert verify() is None


def test_new_recovery_codes_that_are_asked_for_twice_at_once_are_one_set(alice, how_many):
    by = Actor.of_user("alice", "session:password")
    pace = Barrier(2, timeout=WITHIN_S)

    def renew():
        codes = []
        for _ in range(how_many):
            pace.wait()
            codes.append(factors.new_recovery_codes(alice, by=by))
        return codes

    renewed = at_once(renew, renew)

    assert Authenticator.objects.filter(user=alice, type=factors.RECOVERY).count() == 1
    assert factors.factors_of(alice).codes_left == 10
    assert all(len(codes) == 10 for codes in [*renewed[0], *renewed[1]])
    assert verify() is None
