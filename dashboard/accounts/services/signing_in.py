"""Sign people in, by password or by link, and keep the record of it.

A name that nobody has is not recorded: people type their password there by mistake, and what is
in the log stays for ever.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from datetime import timedelta

from django.conf import settings
from django.contrib.auth import authenticate
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.crypto import constant_time_compare

from dashboard.accounts.errors import LinkNotValid, NotPermitted
from dashboard.accounts.models import SignInLink, User
from dashboard.accounts.services import throttle
from dashboard.accounts.services.linking import is_linked
from dashboard.accounts.tokens import secret_hash
from dashboard.audit.actions import Action
from dashboard.audit.names import user_name
from dashboard.audit.services import OPERATOR, Actor, AuditEvent, record

_WRONG = "The name or password is wrong, or the account is deactivated. You are not signed in."
_SINGLE_SIGN_ON = (
    "The name or password is wrong, or the account is deactivated or signs in by single sign-on. "
    "You are not signed in."
)
_CHANGED = (
    "Your account was deactivated, or its password changed, since you began to sign in. You are "
    "not signed in. Begin again."
)
_WRONG_PRESENT = "That is not your current password. Nothing was changed."
_NO_LINKS = (
    "Sign-in links are switched off here. No link was made. Who runs the server can print one "
    "with the command sign_in_link."
)
_NO_LINK = (
    "This link was used, has expired or never existed. Nobody was signed in with it. Ask an admin "
    "for a new link."
)


def with_password(*, username: str, password: str, address: str, browser: str = "") -> User:
    """Check a name and a password.

    ``browser`` names one in which this person signed in before, if it is one: what others guess
    elsewhere does not keep them out.

    Raises:
        TooManyAttempts: Too many failures for this account, address or browser; nothing was
            checked.
        NotPermitted: Name or password wrong, or the account is closed; which is not told.
    """
    keys = [throttle.account(username), throttle.address(address)]
    if browser:
        keys = [throttle.browser(username, browser)]
    throttle.begin(*keys)
    person = authenticate(username=username, password=password)
    if not isinstance(person, User) or not may_use_password(person):
        _note_failure("password", username, address)
        raise NotPermitted(_SINGLE_SIGN_ON if settings.OIDC_ISSUER else _WRONG)
    throttle.succeeded(*keys)
    return person


def may_use_password(person: User) -> bool:
    """Whether somebody may sign in with a password.

    Whoever signs in by single sign-on may not: the provider could not take it back.
    """
    if person.is_admin and is_kept_admin(person.username):
        return True
    return settings.PASSWORD_SIGN_IN and not is_linked(person)


def is_kept_admin(username: str) -> bool:
    """Whether somebody is the admin who keeps a password for the day the provider is down."""
    return bool(settings.KEPT_ADMIN) and username.lower() == settings.KEPT_ADMIN.lower()


def confirm_password(person: User, password: str, *, by: Actor, address: str) -> None:
    """Check that whoever sits at a signed-in browser knows the password; guesses are counted.

    Raises:
        TooManyAttempts: Too many failures in sessions of this account; nothing was checked.
        NotPermitted: It is not the person's password.
    """
    key = throttle.session(person.username)
    throttle.begin(key)
    if not person.check_password(password):
        with transaction.atomic():
            subject = user_name(person.username)
            record(
                by,
                AuditEvent(Action.PASSWORD_NOT_CONFIRMED, subject, details={"address": address}),
            )
        raise NotPermitted(_WRONG_PRESENT)
    throttle.succeeded(key)


def make_link(person: User, *, by: Actor) -> str:
    """Return the secret of a new link that signs ``person`` in once, within the hour.

    Raises:
        NotPermitted: Links are switched off, and it is not the operator who makes one.
    """
    if not settings.SIGN_IN_LINKS and by != OPERATOR:
        raise NotPermitted(_NO_LINKS)
    secret = secrets.token_urlsafe(32)
    life = timedelta(seconds=settings.SIGN_IN_LINK_LIFE_S)
    with transaction.atomic():
        SignInLink.objects.create(
            person=person, hash=secret_hash(secret), expires_at=timezone.now() + life
        )
        record(by, AuditEvent(Action.SIGN_IN_LINK_MADE, user_name(person.username)))
    return secret


def peek_link(secret: str, *, address: str) -> User:
    """Say whom a link would sign in, without using it up.

    A link that works is let through whatever its address did before: 256 bits are not guessed,
    and somebody who was locked out has no other way in.

    Raises:
        TooManyAttempts: Too many wrong links or passwords from this address.
        LinkNotValid: Used, expired, unknown, or the person's account is closed.
    """
    link = _open_links().filter(hash=secret_hash(secret)).first()
    if link is None:
        throttle.begin(throttle.address(address))
        raise LinkNotValid(_NO_LINK)
    return link.person


def with_link(secret: str, *, address: str) -> User:
    """Use a link up and return whom it signs in. Of two who press at once, one succeeds.

    Raises:
        TooManyAttempts: Too many wrong links or passwords from this address.
        LinkNotValid: Used, expired, unknown, or the person's account is closed.
    """
    with transaction.atomic():
        if person := _use_up(secret):
            return person
    throttle.begin(throttle.address(address))
    _note_failure("link", "", address)
    raise LinkNotValid(_NO_LINK)


def close_links(person: User) -> None:
    """Use up every open link of ``person``, so that nobody who finds one gets in with it."""
    SignInLink.objects.filter(person=person, used_at=None).update(used_at=timezone.now())


def signed_out(*, by: Actor) -> None:
    """Record that somebody left."""
    with transaction.atomic():
        record(by, AuditEvent(Action.SIGNED_OUT, by.name))


def _use_up(secret: str) -> User | None:
    link = _open_links().filter(hash=secret_hash(secret)).first()
    if link is None:
        return None
    person = User.objects.select_for_update(no_key=True).get(pk=link.person_id)
    # The conditions stand on the row itself: PostgreSQL does not look again at those in a
    # subquery, which a filter by the person's state would become, once it has waited.
    unused = SignInLink.objects.filter(pk=link.pk, used_at=None)
    if not (unused.update(used_at=timezone.now()) and person.is_active):
        return None
    close_links(person)
    return person


def _open_links() -> QuerySet[SignInLink]:
    return SignInLink.objects.select_related("person").filter(
        used_at=None, expires_at__gt=timezone.now(), person__is_active=True
    )


def _note_failure(how: str, username: str, address: str) -> None:
    is_person = User.objects.filter(username=username).exists()
    event = AuditEvent(
        Action.SIGN_IN_FAILED,
        user_name(username) if is_person else "",
        details={"address": address},
    )
    with transaction.atomic():
        record(Actor("anonymous", how), event)


def refused_by_provider(*, address: str, because: str) -> None:
    """Record that somebody came back from single sign-on and was not let in."""
    details = {"address": address, "because": because}
    with transaction.atomic():
        record(Actor("anonymous", "sso"), AuditEvent(Action.SIGN_IN_FAILED, "", details=details))


def let_in(
    person: User, method: str, *, address: str, first_hash: str, begin: Callable[[User], None]
) -> None:
    """Begin the session of somebody who has shown all proofs, if their account is still the same.

    It is looked at once more, for minutes may be between the first proof and the last.

    Args:
        person: Who it is.
        method: By which proofs, such as ``"password+totp"``.
        address: Where they are.
        first_hash: The session hash of their password at the first proof; empty where they showed
            none here, as by single sign-on.
        begin: Begins the session. The account is locked meanwhile, so whoever deactivates it or
            changes its password just now finds the session and ends it.

    Raises:
        NotPermitted: The account was deactivated, or its password was changed or switched off.
    """
    with transaction.atomic():
        locked = User.objects.select_for_update(no_key=True).get(pk=person.pk)
        if _is_still_proved(locked, method, first_hash):
            begin(locked)
            signed_in(locked, method, address=address)
            return
    _note_failure(method, person.username, address)
    raise NotPermitted(_CHANGED)


def _is_still_proved(person: User, method: str, first_hash: str) -> bool:
    if not person.is_active:
        return False
    if method.partition("+")[0] == "password" and not may_use_password(person):
        return False  # it was linked to single sign-on meanwhile
    return not first_hash or constant_time_compare(person.get_session_auth_hash(), first_hash)


@transaction.atomic
def signed_in(person: User, method: str, *, address: str) -> None:
    """Record that somebody was let in, and by which proofs."""
    name = user_name(person.username)
    record(Actor(name, method), AuditEvent(Action.SIGNED_IN, name, details={"address": address}))
