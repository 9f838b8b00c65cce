"""Approvals that a person's device signs: what is signed, what counts, what is found later."""

import json
from datetime import timedelta
from importlib import import_module

import pytest
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from approval_client.wire import Status
from dashboard.accounts.services import groups, passkeys, throttle
from dashboard.approvals.errors import (
    AlreadyClosed,
    GrantRefused,
    NotAllowed,
    SignatureMissing,
    SignatureRefused,
    StaleBasis,
)
from dashboard.approvals.guards import remove as take_guards_off
from dashboard.approvals.models import Decision, Signature, Vote
from dashboard.approvals.rules.grant import GrantScope, GrantTerms
from dashboard.approvals.services.closing import OutOfDate
from dashboard.approvals.services.proof import compare
from dashboard.audit.models import AuditEntry
from dashboard.audit.services import Actor
from tests import make
from tests.authenticator import HOUSE, UP, UV, Device, challenge

SIGNED = {"name": "Signed", "effect": "review", "when": {}, "demands": {"proof": "passkey"}}
FIRST = b"a challenge of thirty-two bytes."


def signed_by(*, people=1, **more):
    return SIGNED | {"demands": {"proof": "passkey", "approvals": people, **more}}


@pytest.fixture(autouse=True)
def _signed_here(db, settings):
    """A dashboard with a name, and a policy that has everything signed."""
    settings.PUBLIC_URL = HOUSE
    make.in_force(SIGNED)


@pytest.fixture
def root(db):
    return make.person("root", admin=True)


def with_device(person, root, *, name=b"a name of a key that is long enough", confirmed=True):
    """A device of a person, whose passkey counts."""
    device = Device(name + person.username.encode(), count=1)
    made = device.make(passkeys.creation_options(person, FIRST))
    by = Actor.of_user(person.username, "session:password")
    key = passkeys.add(person, name="Phone", made=made, challenge=FIRST, by=by)
    if confirmed:
        passkeys.confirm(key, admin=root, by=Actor.of_user("root", "session:password"))
    device.person, device.passkey = person, key
    return device


@pytest.fixture
def device(alice, root):
    """Alice's, which counts."""
    return with_device(alice, root)


def asked(approval, person, nonce="n1", **more):
    """What a device has to sign for an answer."""
    with pytest.raises(SignatureMissing) as missing:
        make.decided(approval, person, nonce=nonce, **more)
    assert missing.value.nonce == nonce
    return challenge(missing.value.challenge)


def approves(approval, device, nonce="n1", lies=None, **more):
    options = asked(approval, device.person, nonce, **more)
    signed = device.sign(options, **(lies or {}))
    return make.decided(approval, device.person, nonce=nonce, signed=signed, **more)


def said():
    """What the tables and the log say differently, in words; tests publish without the log."""
    sentences = [each.said for _, several in compare() for each in several]
    return " ".join(each for each in sentences if not each.startswith("policy revision"))


# --- what is signed is approved ------------------------------------------------------------------


def test_an_approval_is_signed_and_stands_in_the_log(token, device):
    approval = make.pending(token)

    decision = approves(approval, device, reason="Looks fine.")

    signature = Signature.objects.get()
    entry = AuditEntry.objects.get(action="approval.approved")
    assert decision.status == Status.APPROVED
    assert signature.vote == Vote.objects.get()
    assert signature.passkey == device.passkey
    assert json.loads(entry.details)["passkey"] == device.passkey.pk
    assert not said()


def test_before_it_is_signed_nothing_is_recorded(token, device):
    approval = make.pending(token)
    before = AuditEntry.objects.count()

    asked(approval, device.person)

    approval.refresh_from_db()
    assert approval.status == Status.PENDING
    assert not Vote.objects.exists()
    assert AuditEntry.objects.count() == before


def test_a_rejection_needs_no_signature(token, alice):
    assert make.decided(make.pending(token), alice, Status.REJECTED).status == Status.REJECTED


def test_where_no_rule_asks_for_it_nothing_is_signed(token, alice):
    make.in_force({"name": "Plain", "effect": "review", "when": {}})

    assert make.decided(make.pending(token), alice).status == Status.APPROVED
    assert not Signature.objects.exists()


def test_two_people_sign_with_keys_of_their_own(token, device, bob, root):
    make.in_force(signed_by(people=2))
    approval = make.pending(token)

    approves(approval, device)
    decision = approves(approval, with_device(bob, root), nonce="n2")

    assert json.loads(decision.counted) == ["alice", "bob"]
    assert Signature.objects.count() == 2
    assert not said()


def test_an_edit_is_signed_as_what_it_is(token, device, bob):
    approval = make.pending(token, accepts_edits=True)
    basis = make.basis(approval, make.edited(approval, bob))
    of_the_request = asked(approval, device.person)

    with pytest.raises(SignatureRefused, match="Something else was signed"):
        make.decided(
            approval, device.person, basis=basis, nonce="n1", signed=device.sign(of_the_request)
        )

    assert approves(approval, device, basis=basis).edit is not None
    assert not said()


# --- who cannot ----------------------------------------------------------------------------------


def test_nobody_approves_without_a_passkey(token, alice):
    with pytest.raises(NotAllowed, match="You have no passkey yet"):
        make.decided(make.pending(token), alice, nonce="n1")


def test_a_new_passkey_does_not_count(token, alice, root):
    device = with_device(alice, root, confirmed=False)
    approval = make.pending(token)

    with pytest.raises(NotAllowed, match="is new and counts from"):
        make.decided(approval, alice, nonce="n1", signed=device.sign(challenge(FIRST)))


def test_a_new_passkey_does_not_count_beside_one_that_does(token, alice, root, device):
    another = with_device(alice, root, name=b"another name of a key", confirmed=False)
    approval = make.pending(token)
    options = asked(approval, alice)

    with pytest.raises(SignatureRefused, match="does not count for approvals yet"):
        make.decided(approval, alice, nonce="n1", signed=another.sign(options))


def test_who_approved_with_a_removed_passkey_is_told_why_they_cannot_again(
    token, device, alice, root
):
    make.in_force(signed_by(people=2))
    approval = make.pending(token)
    approves(approval, device)
    with_device(alice, root, name=b"another name of a key")
    passkeys.remove(device.passkey, remover=alice, by=Actor.of_user("alice", "x"))

    with pytest.raises(NotAllowed, match="no longer counts, and you cannot give it again"):
        make.decided(approval, alice, nonce="n2")


def test_attempts_are_counted_and_forgotten_once_one_counts(token, device):
    approval = make.pending(token)
    options = asked(approval, device.person)
    for _ in range(throttle.LIMITS["signature"] - 1):
        refused(approval, device.person, "{}")
    make.decided(approval, device.person, nonce="n1", signed=device.sign(options))

    other = make.pending(token)
    options = asked(other, device.person, "n2")
    for _ in range(throttle.LIMITS["signature"]):
        refused(other, device.person, "{}", nonce="n2")
    with pytest.raises(NotAllowed, match="Too many attempts"):
        make.decided(other, device.person, nonce="n2", signed=device.sign(options))
    throttle.begin(throttle.factor("alice"))  # and they can still sign in


def test_who_is_always_second_is_not_kept_from_signing(token, device, bob):
    """What was refused for another reason than the signature is no wrong attempt."""
    for number in range(throttle.LIMITS["signature"] + 1):
        nonce, approval = f"late {number}", make.pending(token)
        options = asked(approval, device.person, nonce)
        basis = make.basis(approval)
        make.decided(approval, bob, Status.REJECTED)
        with pytest.raises(AlreadyClosed):
            make.decided(
                approval, device.person, nonce=nonce, signed=device.sign(options), basis=basis
            )
    approves(make.pending(token), device)


def test_nor_is_who_signs_while_the_policy_moves_at_each_try(token, device, monkeypatch):
    approval = make.pending(token)
    signed = device.sign(asked(approval, device.person))

    def move(*_, **__):
        raise OutOfDate

    monkeypatch.setattr(import_module("dashboard.approvals.services.answer"), "_decide", move)
    for _ in range(throttle.LIMITS["signature"] + 1):
        with pytest.raises(StaleBasis):
            make.decided(approval, device.person, nonce="n1", signed=signed)


def test_where_no_page_can_ask_a_device_nothing_is_approved(token, device):
    with pytest.raises(NotAllowed, match="on the page of the request"):
        make.decided(make.pending(token), device.person)


def test_at_an_address_without_passkeys_nothing_is_approved(token, device, settings):
    settings.PUBLIC_URL = "http://127.0.0.1:8000"

    with pytest.raises(NotAllowed, match="PUBLIC_URL"):
        make.decided(make.pending(token), device.person, nonce="n1")


# --- what does not count -------------------------------------------------------------------------

LIES = {
    "signed elsewhere": {"origin": "https://elsewhere.example.org"},
    "signed on a page below": {"origin": "https://evil.approvals.example.org"},
    "signed without TLS": {"origin": "http://approvals.example.org"},
    "signed for another host": {"host": "example.org"},
    "the person was not verified": {"flags": UP},
    "nobody was there": {"flags": UV},
    "a key was made": {"kind": "webauthn.create"},
    "inside another page": {"crossOrigin": True},
    "by another key": {"key": Device().key},
}


@pytest.mark.parametrize("lies", LIES.values(), ids=LIES)
def test_what_is_not_as_it_has_to_be_is_refused_and_recorded(token, device, lies):
    approval = make.pending(token)

    with pytest.raises(SignatureRefused, match="was not recorded"):
        approves(approval, device, lies=lies)

    assert not Vote.objects.exists()
    entry = AuditEntry.objects.get(action="approval.signature_refused")
    assert (entry.actor, entry.subject) == ("user:alice", str(approval.pk))
    assert not said()


def refused(approval, person, signed, nonce="n1", **more):
    with pytest.raises(SignatureRefused):
        make.decided(approval, person, nonce=nonce, signed=signed, **more)
    assert not Signature.objects.filter(vote__approval=approval).exists()


def test_what_was_signed_for_another_request_is_refused(token, device):
    one, other = make.pending(token), make.pending(token)

    refused(other, device.person, device.sign(asked(one, device.person)))


def test_what_was_signed_before_is_refused_again(token, device):
    one, other = make.pending(token), make.pending(token)
    signed = device.sign(asked(one, device.person))
    make.decided(one, device.person, nonce="n1", signed=signed)

    refused(other, device.person, signed)


def test_with_another_nonce_it_is_refused(token, device):
    approval = make.pending(token)

    refused(approval, device.person, device.sign(asked(approval, device.person)), nonce="n2")


@pytest.mark.parametrize("changed", [{"reason": "Another."}, {"shown": {"lines": 3}}], ids=str)
def test_with_another_answer_it_is_refused(token, device, changed):
    """What was shown, and what was said."""
    approval = make.pending(token)

    refused(approval, device.person, device.sign(asked(approval, device.person)), **changed)


def test_somebody_elses_signature_is_refused(token, device, bob, root):
    approval = make.pending(token)
    bobs = with_device(bob, root)

    refused(approval, device.person, bobs.sign(asked(approval, device.person)))


def test_what_the_same_device_signed_for_somebody_else_is_refused(token, device, bob, root):
    make.in_force(signed_by(people=2))
    approval = make.pending(token)
    with_device(bob, root)

    refused(approval, bob, device.sign(asked(approval, device.person)))


def test_a_signature_under_an_earlier_policy_is_refused(token, device):
    approval = make.pending(token)
    signed = device.sign(asked(approval, device.person))
    shown = make.basis(approval)
    make.in_force(signed_by(reason_required=True))

    with pytest.raises(StaleBasis):
        make.decided(approval, device.person, nonce="n1", signed=signed, reason="So.", basis=shown)
    refused(approval, device.person, signed, reason="So.")


def test_a_removed_passkey_signs_nothing(token, device, alice, root):
    approval = make.pending(token)
    with_device(alice, root, name=b"another name of a key")
    options = asked(approval, alice)
    passkeys.remove(device.passkey, remover=alice, by=Actor.of_user("alice", "x"))

    refused(approval, alice, device.sign(options))


def test_a_copy_of_a_key_is_noticed(token, device):
    approval = make.pending(token)
    options = asked(approval, device.person)
    device.count -= 1

    refused(approval, device.person, device.sign(options))


@pytest.mark.parametrize("text", ["{}", "null", "x", '{"id": 7}', "[" * 9000])
def test_what_is_no_answer_of_a_browser_is_refused(token, device, text):
    refused(make.pending(token), device.person, text)


# --- what a signature rules out ------------------------------------------------------------------


def test_what_is_signed_is_never_remembered(token, device):
    make.in_force(signed_by(grants_allowed=True))
    approval = make.pending(token, accepts_grants=True)
    terms = GrantTerms(scope=GrantScope.CONTENT, this_run=False)

    with pytest.raises(GrantRefused, match="has to be signed"):
        make.decided(approval, device.person, remember=terms, nonce="n1")


def test_a_remembered_approval_does_not_answer_what_has_to_be_signed(token, alice):
    readable = {"code": "print(2)", "language": "python"}
    make.granted(token, alice, content=readable)
    assert make.pending(token, accepts_grants=True, content=readable).status == Status.APPROVED
    make.in_force(SIGNED)

    approval = make.pending(token, accepts_grants=True, content=readable)

    assert approval.status == Status.PENDING


def test_a_vote_of_before_does_not_count_once_it_has_to_be_signed(token, device, bob, root):
    make.in_force({"name": "Two", "effect": "review", "when": {}, "demands": {"approvals": 2}})
    approval = make.pending(token)
    make.decided(approval, bob)
    make.in_force(signed_by(people=2))
    with pytest.raises(StaleBasis):  # the page has to show the policy that holds now
        make.decided(approval, device.person, nonce="n1")

    vote = approves(approval, device)

    approval.refresh_from_db()
    assert isinstance(vote, Vote)
    assert approval.status == Status.PENDING
    approves(approval, with_device(bob, root), nonce="n2")
    approval.refresh_from_db()
    assert approval.status == Status.APPROVED
    assert not said()


def test_a_vote_does_not_count_any_more_once_its_passkey_is_removed(token, device, bob, root):
    make.in_force(signed_by(people=2))
    approval = make.pending(token)
    approves(approval, device)
    passkeys.remove(device.passkey, remover=root, by=Actor.of_user("root", "x"))

    approves(approval, with_device(bob, root), nonce="n2")

    approval.refresh_from_db()
    assert approval.status == Status.PENDING


def test_what_was_signed_is_what_is_recorded_with_the_decision(token, device, bob, root):
    """Where an approval that was given before closes the request without another press."""
    ops = make.group("ops", device.person, bob)
    make.in_force(signed_by(people=2, groups=["ops"]))
    approval = make.pending(token)
    approves(approval, device, reason="Mine.")
    groups.set_members(ops, members=[bob], by=make.BY)
    approves(approval, with_device(bob, root), nonce="n2", reason="Bob's.")
    groups.set_members(ops, members=[device.person, bob], by=make.BY)

    decision = make.decided(approval, device.person, reason="Never signed.")

    assert decision.status == Status.APPROVED
    assert decision.reason == "Mine."
    assert not said()


# --- what is found later -------------------------------------------------------------------------


def test_a_signature_never_changes(token, device):
    approves(make.pending(token), device)

    for change in (lambda rows: rows.update(value="x"), lambda rows: rows._raw_delete("default")):
        with pytest.raises(DatabaseError), transaction.atomic():
            change(Signature.objects.all())


FORGED = {
    "its signature": "UPDATE dashboard_signature SET value = 'AAAA'",
    "what the device said": "UPDATE dashboard_signature SET authenticator_data = 'AAAA'",
    "the nonce": "UPDATE dashboard_signature SET nonce = 'x'",
    "no signature": "DELETE FROM dashboard_signature",
    "who approved": "UPDATE dashboard_vote SET person_id = person_id + 1",
    "what was shown": "UPDATE dashboard_vote SET shown = '{}'",
    "the reason": "UPDATE dashboard_vote SET reason = 'x'",
    "another key": "UPDATE dashboard_passkey SET public_key = 'pQECAyYgASFYIA'",
    "a day too early": "UPDATE dashboard_vote SET voted_at = '2020-01-01 00:00:00+00:00'",
}


@pytest.mark.parametrize("statement", FORGED.values(), ids=FORGED)
@pytest.mark.django_db(transaction=True)
def test_what_is_forged_is_found_by_the_signature_too(token, device, bob, statement):
    approves(make.pending(token), device)
    assert not said()
    take_guards_off()
    with connection.cursor() as cursor:
        cursor.execute(statement)

    assert "signature" in said()


@pytest.mark.django_db(transaction=True)
def test_a_forged_decision_is_found_even_if_the_log_says_the_same(
    token, device, alice, monkeypatch
):
    """Whoever writes rows and log as the server would cannot sign."""
    approval = make.pending(token)
    forged = {"authenticator_data": "AAAA", "client_data": "e30", "value": "AAAA"}

    def forge(vote, **_):
        return Signature(vote=vote, passkey=device.passkey, nonce="forged", **forged)

    monkeypatch.setattr("dashboard.approvals.services.answer.signature_for", forge)
    make.decided(approval, alice, nonce="n1")

    assert Decision.objects.get().status == Status.APPROVED
    assert "the signature of alice under it does not count" in said()


def test_what_the_policy_approves_by_itself_needs_no_signature(token):
    """A rule after the one that approves demands one of whoever is asked."""
    reads = {"name": "Reads", "effect": "approve", "when": {"tools": ["read_*"]}}
    make.in_force(reads, SIGNED)

    approval = make.pending(
        token, kind="tool_call", content={"tool": "read_file", "arguments": {}}
    )

    assert approval.status == Status.APPROVED
    assert not said()


def forge(**columns):
    take_guards_off()
    Decision.objects.update(**columns)


def test_a_decision_that_counts_fewer_people_than_demanded_is_found(token, device, bob, root):
    make.in_force(signed_by(people=2))
    approval = make.pending(token)
    approves(approval, device)
    approves(approval, with_device(bob, root), nonce="n2")

    forge(counted='["alice"]')

    assert "without the signatures" in said()


def test_a_decision_of_another_content_than_was_signed_is_found(token, device):
    approves(make.pending(token), device)

    forge(digest="0" * 64)

    assert "without the signatures" in said()


def test_a_decision_in_the_name_of_the_policy_is_found(token, device):
    approves(make.pending(token), device)

    forge(source="policy", counted="[]", decided_by=None)

    assert "without the signatures" in said()


def test_a_late_confirmation_takes_nothing_back(token, alice, root, monkeypatch):
    device = with_device(alice, root, confirmed=False)
    monkeypatch.setattr(passkeys, "COUNTS_AFTER", timedelta(0))
    approves(make.pending(token), device)

    passkeys.confirm(device.passkey, admin=root, by=Actor.of_user("root", "x"))

    assert not said()


def test_it_is_checked_again_after_the_passkey_is_gone(token, device):
    approves(make.pending(token), device)
    passkeys.remove(device.passkey, remover=device.person, by=Actor.of_user("alice", "x"))

    assert not said()
    assert not passkeys.counting(device.person, timezone.now() + timedelta(days=9))


def test_it_is_checked_again_at_another_address(token, device, settings):
    approves(make.pending(token), device)
    settings.PUBLIC_URL = "https://moved.example.org"

    assert not said()
