"""Passkeys of people: added, confirmed, removed, and used.

A new one is a second factor at once. It signs approvals after a day, or once another admin has
confirmed it: whoever sits down at somebody's open browser for a minute gains nothing that the
person is not told of in time.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils import timezone

from dashboard.accounts import webauthn
from dashboard.accounts.errors import NotPermitted, NotSigned
from dashboard.accounts.models import (
    Passkey,
    PasskeyConfirmation,
    PasskeyRemoval,
    PasskeyUse,
    User,
)
from dashboard.accounts.queries import reviewers
from dashboard.accounts.services import ways_in
from dashboard.audit.actions import Action
from dashboard.audit.fingerprint import fingerprint
from dashboard.audit.models import AuditEntry
from dashboard.audit.names import user_name
from dashboard.audit.services import Actor, AuditEvent, record
from dashboard.clock import database_now

PASSKEY = "passkey"
"""How this factor is called where it stands how somebody signed in."""

COUNTS_AFTER = timedelta(hours=24)
MOST = 20
"""Of one person, those that were removed not counted."""

_NOT_ADDED = "{} No passkey was added."
_NAMELESS = "Passkey"
_COPIED = (
    "This passkey has signed more often than it says, so there may be a copy of it. This "
    "signature does not count. Remove the passkey, and add another."
)
_COLUMNS = {
    PasskeyConfirmation: ("passkey_id", "confirmed_by_id", "confirmed_at"),
    PasskeyRemoval: ("passkey_id", "removed_by_id", "removed_at"),
    Passkey: (
        "person_id",
        "name",
        "credential_id",
        "public_key",
        "host",
        "sign_count",
        "aaguid",
        "is_synced",
        "transports",
        "added_by",
        "needs_confirmation",
        "added_at",
    ),
}


def passkeys_of(person: User) -> list[Passkey]:
    """Return the passkeys that a person has, the oldest first, without those removed."""
    return list(_present(person).select_related("confirmation__confirmed_by", "use"))


def fingerprint_of(row: Passkey | PasskeyConfirmation | PasskeyRemoval) -> str:
    """Return what the log names a row by."""
    return fingerprint({name: getattr(row, name) for name in _COLUMNS[type(row)]})


def creation_options(person: User, challenge: bytes) -> dict[str, Any]:
    """Return what a browser makes a passkey with."""
    known_ids = _present(person).values_list("credential_id", flat=True)
    return webauthn.creation_options(person.pk, person.username, challenge, known_ids)


def request_options(keys: Iterable[Passkey], challenge: bytes) -> dict[str, Any]:
    """Return what a browser has one of some passkeys sign ``challenge`` with."""
    descriptors = [(key.credential_id, json.loads(key.transports)) for key in keys]
    return webauthn.request_options(challenge, descriptors)


def usable(person: User) -> list[Passkey]:
    """Return the passkeys that a browser can use at this address."""
    return list(_usable(person))


@transaction.atomic
def add(person: User, *, name: str, made: str, challenge: bytes, by: Actor) -> Passkey:
    """Add a passkey that a device has just made.

    Args:
        person: Whose.
        name: What they call it.
        made: What their browser sent, JSON.
        challenge: What it had to answer.
        by: They themselves, and how they signed in.

    Raises:
        NotSigned: It does not count; nothing was added.
        NotPermitted: They have too many.
    """
    try:
        key = webauthn.read_new_key(made, challenge)
    except NotSigned as error:
        raise NotSigned(_NOT_ADDED.format(error)) from error
    User.objects.select_for_update(no_key=True).get(pk=person.pk)
    if _present(person).count() >= MOST:
        raise NotPermitted(f"You have {MOST} passkeys. No passkey was added. Remove one first.")
    passkey = Passkey(
        person=person,
        name=name.strip() or _NAMELESS,
        credential_id=key.credential_id,
        public_key=key.public_key,
        host=webauthn.host(),
        sign_count=key.sign_count,
        aaguid=key.aaguid,
        is_synced=key.is_synced,
        transports=json.dumps(key.transports),
        added_by=by.auth[:100],
        needs_confirmation=ways_in.came_by_link(by) or ways_in.was_let_in_anew(person),
        added_at=database_now(),
    )
    try:
        with transaction.atomic():
            passkey.save(force_insert=True)
    except IntegrityError as error:
        raise NotSigned(_NOT_ADDED.format("This passkey is known here already.")) from error
    details = {"passkey": passkey.pk, "name": passkey.name, "row": fingerprint_of(passkey)}
    record(by, AuditEvent(Action.PASSKEY_ADDED, user_name(person.username), details=details))
    return passkey


@transaction.atomic
def confirm(passkey: Passkey, *, admin: User, by: Actor) -> None:
    """Have a passkey count at once, on another admin's word.

    Raises:
        NotPermitted: It is their own, they gave the person a way in lately, or somebody gave them
            one.
    """
    if reason := why_not_confirmed(passkey, admin, by):
        raise NotPermitted(f"{reason} Nothing was changed.")
    now = database_now()
    if _lock(passkey) and not counts(passkey, now):
        row = PasskeyConfirmation.objects.create(
            passkey=passkey, confirmed_by=admin, confirmed_at=now
        )
        _record(Action.PASSKEY_CONFIRMED, row, by)


def why_not_confirmed(passkey: Passkey, admin: User, by: Actor) -> str:
    """Say why an admin cannot confirm a passkey; empty if they can."""
    person = passkey.person
    if admin.pk == person.pk:
        return "Another admin has to confirm your passkey."
    entry = _entry_of(passkey)
    if entry is None:
        return "The log does not say when this passkey was added. Remove it, and add it anew."
    if by.name in ways_in.givers(person, entry):
        return (
            f"In the month before this passkey was added you gave {person} a way in, or gave one "
            "to an admin who did: a sign-in link, single sign-on or the removal of a second "
            "factor. Another admin has to confirm it."
        )
    return ways_in.why_not_own(admin, by)


@transaction.atomic
def remove(passkey: Passkey, *, remover: User | None, by: Actor) -> bool:
    """End a passkey for good, for the operator where nobody removes it; false if it had ended."""
    if not _lock(passkey):
        return False
    row = PasskeyRemoval.objects.create(
        passkey=passkey, removed_by=remover, removed_at=database_now()
    )
    _record(Action.PASSKEY_REMOVED, row, by)
    return True


@transaction.atomic
def remove_all(person: User, *, remover: User | None, by: Actor) -> bool:
    """End all passkeys of a person; false if they had none."""
    # All before the first entry: whoever signs with one holds its row and waits for the log.
    locked = list(_present(person).select_for_update(no_key=True, of=("self",)).order_by("pk"))
    removed = [remove(key, remover=remover, by=by) for key in locked]
    return any(removed)


def added_lately(person: User) -> list[Passkey]:
    """Return the passkeys that were added within a day and that nobody confirmed."""
    since = database_now() - COUNTS_AFTER
    return list(_present(person).filter(added_at__gt=since, confirmation=None))


def counts_from(passkey: Passkey) -> datetime | None:
    """Return when a passkey begins to count for approvals; None while it needs confirmation."""
    by_itself = None if passkey.needs_confirmation else passkey.added_at + COUNTS_AFTER
    if not hasattr(passkey, "confirmation"):
        return by_itself
    confirmed_at = passkey.confirmation.confirmed_at
    return min(confirmed_at, by_itself) if by_itself else confirmed_at


def counts(passkey: Passkey, at: datetime) -> bool:
    """Whether a passkey counted for approvals at a moment."""
    from_at = counts_from(passkey)
    ended = hasattr(passkey, "removal") and passkey.removal.removed_at <= at
    return from_at is not None and from_at <= at and not ended


def counting(person: User, now: datetime) -> list[Passkey]:
    """Return the passkeys of a person that sign approvals now, at this address."""
    keys = _usable(person).select_related("confirmation")
    return [key for key in keys if counts(key, now)]


def signers() -> dict[str, set[str]]:
    """Return who of the reviewers can sign approvals now, by group; ``""`` holds all of them."""
    now = database_now()
    keys = Passkey.objects.filter(removal=None, host=webauthn.host(), person__in=reviewers())
    names_by_group: dict[str, set[str]] = {"": set()}
    for key in keys.select_related("confirmation", "person").prefetch_related("person__groups"):
        if counts(key, now):
            for name in ("", *(group.name for group in key.person.groups.all())):
                names_by_group.setdefault(name, set()).add(key.person.username)
    return names_by_group


def why_none_counts(person: User, now: datetime) -> str:
    """Say why none of a person's passkeys signs approvals now; empty if one does."""
    if reason := webauthn.why_unavailable():
        return reason
    keys = list(_usable(person).select_related("confirmation"))
    if any(counts(key, now) for key in keys):
        return ""
    if not keys:
        return "You have no passkey yet. Add one in your account."
    moments = [from_at for key in keys if (from_at := counts_from(key))]
    if not moments:
        return "Another admin has to confirm your passkey first, on your page under People."
    return (
        f"Your passkey is new and counts from {min(moments):%d %b, %H:%M} UTC, or once another "
        "admin has confirmed it on your page under People."
    )


def sign_in(person: User, signed: str, challenge: bytes) -> Passkey:
    """Take what a passkey of a person signed as their second proof.

    Raises:
        NotSigned: It does not count.
    """
    assertion = webauthn.read_assertion(signed)
    passkey = signed_by(person, assertion, challenge)
    note_use(passkey, assertion.sign_count)
    return passkey


def signed_by(person: User, assertion: webauthn.Assertion, challenge: bytes) -> Passkey:
    """Return the passkey of a person that signed ``challenge``, once that was checked.

    Raises:
        NotSigned: None did.
    """
    keys = _usable(person).select_related("confirmation")
    passkey = keys.filter(credential_id=assertion.credential_id).first()
    if passkey is None:
        raise NotSigned("That is not a passkey of yours.")
    webauthn.check(
        assertion,
        challenge=challenge,
        public_key=passkey.public_key,
        key_host=passkey.host,
        page=webauthn.origin(),
    )
    return passkey


@transaction.atomic
def note_use(passkey: Passkey, sign_count: int) -> None:
    """Note that a passkey signed something that was right.

    Raises:
        NotSigned: It says that it signed as often as before, or less.
    """
    if not _lock(passkey):
        raise NotSigned("This passkey was removed.")
    use = PasskeyUse.objects.filter(passkey=passkey).first()
    last_count = use.sign_count if use else passkey.sign_count
    if (sign_count or last_count) and sign_count <= last_count:
        raise NotSigned(_COPIED)
    PasskeyUse.objects.update_or_create(
        passkey=passkey, defaults={"sign_count": sign_count, "used_at": timezone.now()}
    )


def _present(person: User) -> QuerySet[Passkey]:
    return Passkey.objects.filter(person=person, removal=None)


def _usable(person: User) -> QuerySet[Passkey]:
    return _present(person).filter(host=webauthn.host())


def _lock(passkey: Passkey) -> bool:
    """Lock a passkey, and say whether it was not removed."""
    Passkey.objects.select_for_update(no_key=True).get(pk=passkey.pk)
    return not PasskeyRemoval.objects.filter(passkey=passkey).exists()


def _entry_of(passkey: Passkey) -> AuditEntry | None:
    """Return the entry of the log that says that a passkey was added, if there is one."""
    entries = AuditEntry.objects.filter(
        subject=user_name(passkey.person.username), action=Action.PASSKEY_ADDED
    )
    own_entries = (e for e in entries if json.loads(e.details).get("passkey") == passkey.pk)
    return next(own_entries, None)


def _record(action: Action, row: PasskeyConfirmation | PasskeyRemoval, by: Actor) -> None:
    passkey = row.passkey
    details = {"passkey": passkey.pk, "name": passkey.name, "row": fingerprint_of(row)}
    record(by, AuditEvent(action, user_name(passkey.person.username), details=details))
