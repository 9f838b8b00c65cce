"""Invite people, give and take roles, set passwords. What changes nothing is not recorded."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from django.contrib.auth.hashers import make_password
from django.db import IntegrityError, transaction

from dashboard.accounts.errors import ChangedMeanwhile, LastAdmin, NameTaken
from dashboard.accounts.models import ROLES, User
from dashboard.accounts.services.sessions import end_sessions
from dashboard.accounts.services.signing_in import close_links
from dashboard.audit.actions import Action
from dashboard.audit.names import user_name
from dashboard.audit.services import OPERATOR, Actor, AuditEvent, record


def create_first_person(*, username: str, password: str | None = None) -> User:
    """Make an admin who also reviews; without a password only a sign-in link lets them in."""
    return create_person(
        username=username,
        roles={"admin": True, "reviewer": True},
        password=password,
        by=OPERATOR,
    )


@transaction.atomic
def create_person(
    *, username: str, roles: Mapping[str, bool], by: Actor, password: str | None = None
) -> User:
    """Make a person.

    Raises:
        NameTaken: There is somebody of that name, upper and lower case not told apart.
        ValidationError: The name holds characters that names may not hold.
    """
    person = User(username=username, password=make_password(password), **_flags(roles))
    person.clean_fields()
    if User.objects.filter(username__iexact=username).exists():
        raise _taken(username)
    try:
        with transaction.atomic():
            person.save(force_insert=True)
    except IntegrityError as error:
        raise _taken(username) from error
    record(by, AuditEvent(Action.PERSON_ADDED, _subject(person), details={"roles": person.roles}))
    return person


@transaction.atomic
def change_roles(
    person: User, *, roles: Mapping[str, bool], by: Actor, shown: Collection[str] | None = None
) -> None:
    """Replace a person's roles; open pages of theirs follow within seconds.

    Args:
        shown: The roles that whoever changes them was shown, if a page did.

    Raises:
        ChangedMeanwhile: They are not the ones that were shown.
        LastAdmin: Nobody would be left to administer.
    """
    locked = _lock(person)
    is_sent_again = all(getattr(locked, name) == flag for name, flag in _flags(roles).items())
    if shown is not None and set(shown) != set(locked.roles) and not is_sent_again:
        raise ChangedMeanwhile(
            f"The roles of {locked.username} were changed in the meantime. Nothing was saved: "
            "look at them again."
        )
    administered = _administers(locked)
    if _set_roles(locked, _flags(roles), by):
        _keep_an_admin(locked, administered=administered)


@transaction.atomic
def follow_roles(person: User, *, roles: Mapping[str, bool], by: Actor) -> None:
    """Give and take the roles that single sign-on decides about; the others stay as they are.

    The provider is never refused: whoever it says is no admin is none, the last one too.
    """
    _set_roles(_lock(person), {f"is_{role}": has_role for role, has_role in roles.items()}, by)


def _set_roles(locked: User, flags: Mapping[str, bool], by: Actor) -> bool:
    old_roles = locked.roles
    for flag, value in flags.items():
        setattr(locked, flag, value)
    if old_roles == locked.roles:
        return False
    locked.save(update_fields=["is_reviewer", "is_admin", "is_auditor"])
    details = {"before": old_roles, "roles": locked.roles}
    record(by, AuditEvent(Action.PERSON_ROLES_CHANGED, _subject(locked), details=details))
    return True


@transaction.atomic
def set_active(person: User, *, active: bool, by: Actor) -> None:
    """Let a person in again, or shut them out at once: their sessions and links end for good.

    Raises:
        LastAdmin: Nobody would be left to administer.
    """
    locked = _lock(person)
    if locked.is_active == active:
        return
    administered = _administers(locked)
    locked.is_active = active
    _keep_an_admin(locked, administered=administered)
    locked.save(update_fields=["is_active"])
    if not active:
        close_links(locked)
        end_sessions(locked)
    action = Action.PERSON_REACTIVATED if active else Action.PERSON_DEACTIVATED
    record(by, AuditEvent(action, _subject(locked)))


@transaction.atomic
def set_password(person: User, *, password: str, by: Actor, but: str = "") -> None:
    """Give a person a new password; their other sessions and open links end with the old one.

    Whoever changes it in the session with the key ``but`` has that go on by
    ``update_session_auth_hash``.
    """
    person.set_password(password)
    person.save(update_fields=["password"])
    close_links(person)
    end_sessions(person, but=but)
    record(by, AuditEvent(Action.PERSON_PASSWORD_CHANGED, _subject(person)))


def _subject(person: User) -> str:
    return user_name(person.username)


def _taken(username: str) -> NameTaken:
    return NameTaken(f"Somebody is called {username!r} already. Nobody was added.")


def _flags(roles: Mapping[str, bool]) -> dict[str, bool]:
    return {f"is_{role}": bool(roles.get(role)) for role in ROLES}


def _administers(person: User) -> bool:
    return person.is_admin and person.is_active


def lock_admins() -> None:
    """Lock all admins, so that two who demote each other at once cannot both succeed."""
    admins = User.objects.select_for_update(no_key=True).filter(is_admin=True).order_by("pk")
    list(admins)


def _lock(person: User) -> User:
    lock_admins()
    return User.objects.select_for_update(no_key=True).get(pk=person.pk)


def _keep_an_admin(changed: User, *, administered: bool) -> None:
    if _administers(changed) or not administered:
        return
    other_admins = User.objects.filter(is_admin=True, is_active=True).exclude(pk=changed.pk)
    if not other_admins.exists():
        raise LastAdmin(
            f"{changed.username} is the only admin left. Nothing was changed. Make somebody "
            "else an admin first."
        )
