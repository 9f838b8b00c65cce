"""Who somebody is whom the provider of single sign-on sends, and what its groups give them here.

A person is issuer and subject. A name or an address never finds or joins accounts: whoever has the
name of somebody here is refused, until both sign-ins have been shown or an admin says who it is.

What the table of groups names comes from the provider alone: each sign-in and each check gives and
takes it. Roles and groups that the table does not name are given and taken here.
"""

from __future__ import annotations

from collections.abc import Iterable

from allauth.socialaccount.models import SocialAccount
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.utils import timezone

from dashboard.accounts.errors import NameTaken, NotPermitted, NotRecognised, ProviderRefused
from dashboard.accounts.models import GroupMapping, UnknownIdentity, User, plain_name
from dashboard.accounts.provider.metadata import provider_id
from dashboard.accounts.provider.statements import Statement
from dashboard.accounts.services import groups
from dashboard.accounts.services.linking import is_linked, linked_person
from dashboard.accounts.services.people import create_person, follow_roles, lock_admins
from dashboard.accounts.services.sessions import end_sessions
from dashboard.accounts.services.signing_in import close_links, is_kept_admin
from dashboard.audit.actions import Action
from dashboard.audit.names import user_name
from dashboard.audit.services import Actor, AuditEvent, record

PROVIDER = Actor("provider", "oidc")

_NO_GROUPS = (
    "Your provider said nothing about your groups, and roles here depend on them. You are not "
    "signed in. Ask an admin to have the provider send them."
)
_CLOSED = "The account is deactivated. You are not signed in. Ask an admin."


def recognise(statement: Statement) -> User:
    """Return the person of a statement, made if they are new, with what their groups give them.

    Raises:
        ProviderRefused: Groups give roles here, and the provider said nothing about them.
        NotPermitted: The person's account is deactivated.
        NotRecognised: They are new, and their name is taken or cannot be a name here. It is noted
            for admins.
    """
    mappings = list(GroupMapping.objects.select_related("group"))
    if mappings and statement.groups is None:
        raise ProviderRefused(_NO_GROUPS)
    try:
        with transaction.atomic():
            _lock(mappings)
            person = linked_person(statement.subject) or _made(statement)
            if not person.is_active:
                raise NotPermitted(_CLOSED)
            _give(person, statement.groups or frozenset(), mappings)
    except NotRecognised as error:
        if linked_person(statement.subject):
            return recognise(statement)  # another request of theirs made them just now
        _note(statement, str(error))
        raise
    return User.objects.get(pk=person.pk)


def follow(person: User, statement: Statement) -> None:
    """Give and take what the provider says now of somebody who is signed in.

    Raises:
        ProviderRefused: It is another person, or groups give roles here and nothing was said
            about them.
    """
    mappings = list(GroupMapping.objects.select_related("group"))
    if mappings and statement.groups is None:
        raise ProviderRefused(_NO_GROUPS)
    with transaction.atomic():
        _lock(mappings)
        if linked_person(statement.subject) != person:
            raise ProviderRefused("The provider answered for somebody else.")
        _give(person, statement.groups or frozenset(), mappings)


@transaction.atomic
def link(person: User, statement: Statement, *, by: Actor) -> None:
    """Have a person sign in as ``statement`` says from now on.

    Raises:
        NotRecognised: Somebody else signs in with it already.
    """
    _link(person, statement.subject, by)


@transaction.atomic
def link_unknown(unknown: UnknownIdentity, person: User, *, by: Actor) -> None:
    """Have a person sign in as somebody who was refused.

    Raises:
        NotRecognised: Somebody else signs in with it already.
    """
    if unknown.provider != provider_id():
        raise NotRecognised("The provider was changed since. Nothing was linked.")
    _link(person, unknown.subject, by)


def _made(statement: Statement) -> User:
    name = statement.username or statement.address
    try:
        _not_reserved(name)
        plain_name(name)
        person = create_person(username=name, roles={}, by=PROVIDER)
    except ValidationError as error:
        raise NotRecognised(
            f"Your provider calls you {name[:100]!r}, which cannot be a name here. You are not "
            "signed in. Ask an admin to let you in: the request to do so was noted."
        ) from error
    except NameTaken as error:
        raise NotRecognised(
            f"Somebody here is called {name} already. You are not signed in. If that is you, sign "
            "in as before and link single sign-on in your account. If not, ask an admin to let "
            "you in: the request to do so was noted."
        ) from error
    _link(person, statement.subject, PROVIDER)
    return person


def _not_reserved(name: str) -> None:
    if is_kept_admin(name):
        raise NameTaken  # whoever had it could use a password


def _link(person: User, subject: str, by: Actor) -> None:
    if is_linked(person):
        raise NotRecognised(
            f"{person} signs in by single sign-on already, with another account of the provider. "
            "Nothing was linked. An admin unlinks that first."
        )
    account = SocialAccount(user=person, provider=provider_id(), uid=subject)
    try:
        with transaction.atomic():
            account.save(force_insert=True)
    except IntegrityError as error:
        raise NotRecognised(
            "Somebody signs in with this account of the provider already. Nothing was linked."
        ) from error
    UnknownIdentity.objects.filter(provider=provider_id(), subject=subject).delete()
    # What began before is not asked about at the provider, which could not take it back.
    end_sessions(person)
    close_links(person)
    record(by, AuditEvent(Action.PERSON_LINKED, user_name(person.username)))


def _lock(mappings: Iterable[GroupMapping]) -> None:
    """Lock all that may change: after the first entry of the log nobody waits for a row."""
    groups.lock_groups(mapping.group for mapping in mappings if mapping.group)
    lock_admins()


def _give(person: User, names: frozenset[str], mappings: Iterable[GroupMapping]) -> None:
    of_roles = [mapping for mapping in mappings if mapping.role]
    roles = {mapping.role: False for mapping in of_roles}
    roles |= {mapping.role: True for mapping in of_roles if mapping.claim in names}
    if roles:
        follow_roles(person, roles=roles, by=PROVIDER)
    of_groups = [(mapping.group, mapping.claim) for mapping in mappings if mapping.group]
    groups_of_person = {group for group, claim in of_groups if claim in names}
    for group in dict.fromkeys(group for group, _ in of_groups):
        groups.set_membership(group, person, belongs=group in groups_of_person, by=PROVIDER)


def _note(statement: Statement, reason: str) -> None:
    UnknownIdentity.objects.update_or_create(
        provider=provider_id(),
        subject=statement.subject,
        defaults={
            "username": statement.username,
            "address": statement.address,
            "reason": reason[:300],
            "last_at": timezone.now(),
        },
    )
