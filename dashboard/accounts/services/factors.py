"""The second proof of who somebody is: codes of an app, passkeys, and recovery codes.

Codes of an app are those of RFC 6238. A code counts once, whichever process it comes to: the last
one that counted is kept with the secret. The secret is sealed. Recovery codes come with the first
of the others, and go with the last.
"""

from __future__ import annotations

import time
from typing import NamedTuple
from urllib.parse import quote, urlencode

from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import format_hotp_value, generate_totp_secret, hotp_value
from allauth.mfa.utils import decrypt, encrypt
from django.conf import settings
from django.db import transaction
from django.utils.crypto import constant_time_compare

from dashboard.accounts.errors import NotPermitted, NotSigned
from dashboard.accounts.models import Passkey, User
from dashboard.accounts.services import passkeys, throttle
from dashboard.accounts.services.sessions import end_sessions
from dashboard.accounts.services.signing_in import is_kept_admin
from dashboard.audit.actions import Action
from dashboard.audit.names import user_name
from dashboard.audit.services import Actor, AuditEvent, record

PERIOD_S = 30
TOLERANCE = 1
"""How many codes before and after the present one count: clocks of telephones are off."""

TOTP, RECOVERY = "totp", "recovery_codes"
_WRONG = "That code is wrong, has expired or was used before."
_NOT_ADDED = (
    "That code is not of this secret, or the clock of your device is off. Nothing was added."
)
_ISSUER = "Approvals"


class Factors(NamedTuple):
    """What a person has beside their first proof."""

    has_app: bool
    codes_left: int


def factors_of(person: User) -> Factors:
    """Return what a person has."""
    kinds = {row.type: row for row in Authenticator.objects.filter(user=person)}
    codes = kinds.get(RECOVERY)
    count = len(RecoveryCodes(codes).get_unused_codes()) if codes else 0
    return Factors(TOTP in kinds, count)


def has_app(person: User) -> bool:
    """Whether an app shows codes for a person."""
    return bool(Authenticator.objects.filter(user=person, type=TOTP).exists())


def has_factor(person: User) -> bool:
    """Whether a second proof is asked of a person.

    Also of whoever has passkeys for another address alone: they use a recovery code.
    """
    return has_app(person) or bool(passkeys.passkeys_of(person))


def must_have(person: User) -> bool:
    """Whether the house demands a second proof of a person: of the kept admin, always."""
    if is_kept_admin(person.username):
        return True
    match settings.SECOND_FACTOR:
        case "everyone":
            return person.is_reviewer or person.is_admin or person.is_auditor
        case "admins":
            return person.is_admin
    return False


def new_secret() -> str:
    """Return a secret for an app, 160 bits in base 32."""
    return str(generate_totp_secret())


def address_of(person: User, secret: str) -> str:
    """Return what an app reads from a picture: the secret, and whose it is."""
    label = quote(f"{_ISSUER}:{person.username}")
    return f"otpauth://totp/{label}?{urlencode({'secret': secret, 'issuer': _ISSUER})}"


@transaction.atomic
def add_app(person: User, secret: str, code: str, *, by: Actor) -> list[str]:
    """Have a person show a code of an app from now on, once one was shown.

    Returns:
        Ten recovery codes, each of which counts once in the place of the app's; none if they had
        some before.

    Raises:
        NotPermitted: The code is not of this secret, or there is an app already.
    """
    _lock(person)
    counter = _counter_of(secret, code, after=0) if secret else None
    if counter is None or has_app(person):
        raise NotPermitted(_NOT_ADDED)
    codes = _first_codes(person)
    data = {"secret": encrypt(secret), "counter": counter}
    Authenticator.objects.create(user=person, type=TOTP, data=data)
    record(
        by, AuditEvent(Action.FACTOR_ADDED, user_name(person.username), details={"factor": TOTP})
    )
    return codes


@transaction.atomic
def add_passkey(person: User, *, name: str, made: str, challenge: bytes, by: Actor) -> list[str]:
    """Add a passkey as ``passkeys.add`` does.

    Returns:
        Ten recovery codes; none if they had some before.

    Raises:
        NotSigned, NotPermitted: As there.
    """
    _lock(person)
    codes = _first_codes(person)
    passkeys.add(person, name=name, made=made, challenge=challenge, by=by)
    return codes


@transaction.atomic
def remove_passkey(passkey: Passkey, *, remover: User, by: Actor) -> bool:
    """End a passkey for good; false if it had ended."""
    _lock(passkey.person)
    is_removed = passkeys.remove(passkey, remover=remover, by=by)
    _drop_unneeded_codes(passkey.person)
    return is_removed


def _lock(person: User) -> None:
    """Have one factor of a person change at a time."""
    User.objects.select_for_update(no_key=True).get(pk=person.pk)


def _first_codes(person: User) -> list[str]:
    """Make recovery codes for somebody who has no second proof yet."""
    if has_factor(person):
        return []
    Authenticator.objects.filter(user=person).delete()
    return list(RecoveryCodes.activate(person).get_unused_codes())


def _drop_unneeded_codes(person: User) -> None:
    if not has_factor(person):
        Authenticator.objects.filter(user=person, type=RECOVERY).delete()


@transaction.atomic
def new_recovery_codes(person: User, *, by: Actor) -> list[str]:
    """Replace the recovery codes; those before no longer count."""
    _lock(person)
    Authenticator.objects.filter(user=person, type=RECOVERY).delete()
    details = {"factor": RECOVERY}
    record(by, AuditEvent(Action.FACTOR_ADDED, user_name(person.username), details=details))
    return list(RecoveryCodes.activate(person).get_unused_codes())


@transaction.atomic
def remove_app(person: User, *, by: Actor) -> bool:
    """Have no app show codes for a person any more; false if none did."""
    _lock(person)
    deleted, _ = Authenticator.objects.filter(user=person, type=TOTP).delete()
    if deleted:
        record(by, AuditEvent(Action.FACTOR_REMOVED, user_name(person.username)))
    _drop_unneeded_codes(person)
    return bool(deleted)


@transaction.atomic
def remove_all(person: User, *, remover: User | None, by: Actor) -> bool:
    """Ask no second proof of a person any more; false if none was asked.

    Their sessions end: whoever has the lost device may be signed in by it.
    """
    _lock(person)
    end_sessions(person)  # before anything is recorded: it reads every session
    had_passkeys = passkeys.remove_all(person, remover=remover, by=by)
    return remove_app(person, by=by) or had_passkeys


def confirm(person: User, code: str, *, address: str, by: Actor | None = None) -> str:
    """Check a code of a person, and use it up.

    Args:
        person: Whose.
        code: What they typed.
        address: Where they are.
        by: They themselves, where they are signed in already.

    Returns:
        What it was: ``"totp"`` or ``"recovery_codes"``.

    Raises:
        TooManyAttempts: Too many wrong codes for this person; nothing was checked.
        NotPermitted: It does not count.
    """
    key = throttle.factor(person.username)
    throttle.begin(key)
    kind = _use(person, "".join(code.split()))
    if kind is None:
        _note_failure(person, address, by)
        raise NotPermitted(_WRONG)
    throttle.succeeded(key)
    return kind


def confirm_passkey(
    person: User, signed: str, challenge: bytes, *, address: str, by: Actor | None = None
) -> str:
    """Check what a passkey of a person signed.

    Args:
        person: Whose.
        signed: What their browser sent, JSON.
        challenge: What had to be signed.
        address: Where they are.
        by: They themselves, where they are signed in already.

    Returns:
        What it was: ``"passkey"``.

    Raises:
        TooManyAttempts: Too many failures of this person; nothing was checked.
        NotSigned: It does not count.
    """
    key = throttle.factor(person.username)
    throttle.begin(key)
    try:
        passkeys.sign_in(person, signed, challenge)
    except NotSigned:
        _note_failure(person, address, by)
        raise
    throttle.succeeded(key)
    return passkeys.PASSKEY


@transaction.atomic
def _note_failure(person: User, address: str, by: Actor | None) -> None:
    subject, details = user_name(person.username), {"address": address}
    if by:
        record(by, AuditEvent(Action.FACTOR_NOT_CONFIRMED, subject, details=details))
        return
    details["because"] = "the second factor was wrong"
    failure = AuditEvent(Action.SIGN_IN_FAILED, subject, details=details)
    record(Actor("anonymous", "second_factor"), failure)


@transaction.atomic
def _use(person: User, code: str) -> str | None:
    rows = Authenticator.objects.select_for_update().filter(user=person)
    for row in rows:
        if row.type == TOTP and _use_app(row, code):
            return TOTP
        if row.type == RECOVERY and RecoveryCodes(row).validate_code(code):
            return RECOVERY
    return None


def _use_app(row: Authenticator, code: str) -> bool:
    secret = decrypt(row.data["secret"])
    counter = _counter_of(secret, code, after=row.data["counter"])
    if counter is None:
        return False
    row.data["counter"] = counter
    row.save(update_fields=["data"])
    return True


def _now_s() -> float:
    return time.time()


def _counter_of(secret: str, code: str, *, after: int) -> int | None:
    """Return which period a code is of, if it counts and is younger than the last that did."""
    present = int(_now_s()) // PERIOD_S
    for counter in range(max(after + 1, present - TOLERANCE), present + TOLERANCE + 1):
        if constant_time_compare(format_hotp_value(hotp_value(secret, counter)), code):
            return counter
    return None
