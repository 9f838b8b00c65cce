"""What the device of a person signs when they approve, and whether a vote has that. Reads only.

The challenge of Web Authentication is the SHA-256 of a statement. It names all that the approval
rests on, so nobody can use what was signed for anything else, and whoever has the rows can see
what was signed.
"""

from __future__ import annotations

import hashlib

from approval_client.wire import Status, canonical_json
from dashboard.accounts import webauthn
from dashboard.accounts.errors import NotSigned
from dashboard.accounts.services.passkeys import counts
from dashboard.approvals.models import Signature, Vote
from dashboard.policies.rules.demands import Required

_TYPE = "approval.signature.v1"


def challenge_of(vote: Vote, nonce: str) -> bytes:
    """Return what a device has to sign for a vote, which may not be inserted yet."""
    return hashlib.sha256(_statement(vote, nonce).encode()).digest()


def _statement(vote: Vote, nonce: str) -> str:
    return canonical_json(
        {
            "type": _TYPE,
            "approval": str(vote.approval_id),
            "digest": vote.digest,
            "edit": vote.edit_id,
            "shown": _sha256(vote.shown),
            "reason": _sha256(vote.reason),
            "verdict": str(Status.APPROVED),
            "judgement": vote.judgement_id,
            "policy": vote.judgement.revision_id,
            "person": vote.person.username,
            "nonce": nonce,
        }
    )


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def assertion_of(signature: Signature) -> webauthn.Assertion:
    """Return what a device signed, as it was read from the browser."""
    return webauthn.Assertion(
        signature.passkey.credential_id,
        signature.authenticator_data,
        signature.client_data,
        signature.value,
    )


def is_signed(vote: Vote, required: Required) -> bool:
    """Whether a vote has the signature that is required, of a passkey that was not removed."""
    if not required.proof:
        return True
    signature = getattr(vote, "signature", None)
    return signature is not None and not hasattr(signature.passkey, "removal")


def why_wrong(vote: Vote) -> str:
    """Check again what was signed for a vote; say what is wrong with it, or nothing."""
    signature = vote.signature
    passkey = signature.passkey
    if passkey.person_id != vote.person_id:
        return "it is of somebody else's passkey"
    if not counts(passkey, vote.voted_at):
        return "its passkey did not count then"
    try:
        webauthn.check(
            assertion_of(signature),
            challenge=challenge_of(vote, signature.nonce),
            public_key=passkey.public_key,
            key_host=passkey.host,
        )
    except NotSigned as error:
        reason = str(error).removesuffix(".")
        return reason[0].lower() + reason[1:]
    return ""
