"""The signature of a person's device under their approval, where the policy requires one."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from django.db import transaction

from dashboard.accounts import webauthn
from dashboard.accounts.errors import NotSigned
from dashboard.accounts.models import Passkey
from dashboard.accounts.services import passkeys
from dashboard.approvals.errors import NotAllowed, SignatureMissing, SignatureRefused
from dashboard.approvals.models import Signature, Vote
from dashboard.approvals.rules.signature import challenge_of
from dashboard.audit.actions import Action
from dashboard.audit.services import Actor, AuditEvent, record

_NO_DOOR = (
    "The policy requires a passkey to sign this approval, which is done on the page of the "
    "request. Your decision was not recorded."
)
_TOO_NEW = "This passkey does not count for approvals yet."
_USED = "This signature was used before."


def signature_for(vote: Vote, *, nonce: str, signed: str, now: datetime) -> Signature:
    """Check what a device signed for a vote that is to be inserted; return it, to be inserted too.

    Within the caller's transaction, which holds the request.

    Args:
        vote: The approval, complete.
        nonce: What the page chose for it.
        signed: What the browser sent, JSON; empty where the device was not asked yet.

    Raises:
        SignatureMissing: The device has to be asked; it says what for.
        SignatureRefused: What it signed does not count.
        NotAllowed: Nothing that the person has could sign it.
    """
    if not nonce:
        raise NotAllowed(_NO_DOOR)
    if why_not := passkeys.why_none_counts(vote.person, now):
        raise NotAllowed(f"{why_not} Your decision was not recorded.")
    challenge = challenge_of(vote, nonce)
    if not signed:
        raise SignatureMissing(nonce, challenge, vote.judgement_id)
    if Signature.objects.filter(nonce=nonce).exists():
        raise SignatureRefused(_USED)
    try:
        assertion = webauthn.read_assertion(signed)
        passkey = passkeys.signed_by(vote.person, assertion, challenge)
        _use(passkey, assertion.sign_count, now)
    except NotSigned as error:
        raise SignatureRefused(str(error)) from error
    return Signature(
        vote=vote,
        passkey=passkey,
        nonce=nonce,
        authenticator_data=assertion.authenticator_data,
        client_data=assertion.client_data,
        value=assertion.signature,
    )


def _use(passkey: Passkey, sign_count: int, now: datetime) -> None:
    if not passkeys.counts(passkey, now):
        raise NotSigned(_TOO_NEW)
    passkeys.note_use(passkey, sign_count)


@transaction.atomic
def note_refused(approval_id: UUID, *, reason: str, by: Actor) -> None:
    """Record that somebody sent a signature that does not count."""
    details = {"because": reason}
    record(by, AuditEvent(Action.SIGNATURE_REFUSED, str(approval_id), details=details))
