"""Admins say where the house is told. What changes nothing is not recorded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from django.db import IntegrityError, transaction
from django.db.models import Q

from approval_client.wire import canonical_json, parse_json
from dashboard.accounts import roles
from dashboard.accounts.models import Group, User
from dashboard.audit.actions import Action
from dashboard.audit.names import user_name
from dashboard.audit.queries import head
from dashboard.audit.services import OPERATOR, Actor, record
from dashboard.audit.services import AuditEvent as Entry
from dashboard.clock import database_now
from dashboard.inspection.findings import Severity
from dashboard.notifications.channels import KINDS, kind_of
from dashboard.notifications.errors import (
    ChangedMeanwhile,
    ChangeNotAllowed,
    ChannelRefused,
    NotSent,
    ReceiverNotFound,
)
from dashboard.notifications.models import (
    ACCOUNT_EVENTS,
    HOUSE_EVENTS,
    Channel,
    Message,
    NoticeEvent,
    State,
)
from dashboard.notifications.secrets import fingerprint, new_salt, shown
from dashboard.notifications.services.attempts import KILLED, under_way
from dashboard.notifications.services.webhooks import OVERLAP

LONGEST_NAME = 100


@dataclass(frozen=True, kw_only=True)
class Wish:
    """What an admin wants of a channel.

    Attributes:
        groups: Names. It is told of what their members may approve; of everything if there are
            none.
        least: The least severity that it is told of; empty for everything. Holds are told anyway.
    """

    name: str
    address: str
    events: Sequence[str] = HOUSE_EVENTS
    groups: Sequence[str] = ()
    least: str = ""


@transaction.atomic
def add_channel(*, kind: str, wish: Wish, by: User | None, auth: str) -> tuple[Channel, str]:
    """Have the house told at an address, of what happens from now on.

    Args:
        kind: A name in ``channels.KINDS``.
        wish: What is told, and where.
        by: An admin; None is the operator, on the command line.
        auth: How they are known, for the record.

    Returns:
        The channel, and its secret if it has one. It is shown this once.

    Raises:
        AddressRefused: Nothing is sent to that address.
        ChannelRefused: Something else of it is wrong.
        ChangeNotAllowed: The person is not an admin.
    """
    if by is not None:
        _check(by)
    _check_wish(kind, wish)
    salt = new_salt() if KINDS[kind].is_signed else ""
    with _only_one_named(wish.name):
        channel = Channel.objects.create(
            kind=kind,
            salt=salt,
            fingerprint=fingerprint(salt) if salt else "",
            after=end_of_log(),
            changed_by=by,
            changed_at=database_now(),
            **_columns(wish),
        )
    _record(channel, by, auth, Action.CHANNEL_ADDED, **_said(channel))
    return channel, shown(salt) if salt else ""


@transaction.atomic
def change_channel(
    *, channel_id: int, wish: Wish, by: User, auth: str, shown: str | None = None
) -> Channel:
    """Change what a channel is told, or where. What waits to be sent goes to the new address.

    Args:
        shown: When it had been changed last, as the person was shown it, if a page did.

    Raises:
        ChangedMeanwhile: It was changed since.
        AddressRefused, ChannelRefused, ChangeNotAllowed: As ``add_channel`` does.
        ReceiverNotFound: There is no such channel.
    """
    channel = _locked(channel_id, by)
    _check_wish(channel.kind, wish, besides=channel.pk)
    columns = _columns(wish)
    if all(getattr(channel, name) == value for name, value in columns.items()):
        return channel
    if shown is not None and shown != channel.changed_at.isoformat():
        raise ChangedMeanwhile
    for name, value in columns.items():
        setattr(channel, name, value)
    channel.failures, channel.rests_until, channel.quiet_until = 0, None, None
    with _only_one_named(wish.name):
        _save(channel, by)
    _record(channel, by, auth, Action.CHANNEL_CHANGED, **_said(channel))
    return channel


@transaction.atomic
def switch_channel(*, channel_id: int, on: bool, by: User, auth: str) -> bool:
    """Switch a channel on or off; returns whether that changed anything.

    Off, nothing is sent, and what was due then never is. On again, it begins with what happens
    from then on, also half time and last minute of what still waits.

    Raises:
        ChangeNotAllowed: The person is not an admin.
        ReceiverNotFound: There is no such channel.
    """
    channel = _locked(channel_id, by)
    if channel.is_active == on:
        return False
    channel.is_active = on
    if on:
        go_on(channel)
    _save(channel, by)
    _record(channel, by, auth, Action.CHANNEL_SWITCHED_ON if on else Action.CHANNEL_SWITCHED_OFF)
    return True


@transaction.atomic
def new_channel_secret(*, channel_id: int, at_once: bool, by: User, auth: str) -> str:
    """Make another secret and return it, which cannot be shown again.

    For a day each message is signed with the one before it too.

    Args:
        at_once: The earlier one may be known to others: it signs nothing any more.

    Raises:
        ChannelRefused: Channels of this kind have no secret.
        ChangeNotAllowed: The person is not an admin.
        ReceiverNotFound: There is no such channel.
    """
    channel = _locked(channel_id, by)
    if not kind_of(channel.kind).is_signed:
        raise ChannelRefused("Channels of this kind have no secret. Nothing was changed.")
    channel.earlier_salt = "" if at_once else channel.salt
    channel.earlier_fingerprint = "" if at_once else channel.fingerprint
    channel.earlier_until = None if at_once else database_now() + OVERLAP
    channel.salt = new_salt()
    channel.fingerprint = fingerprint(channel.salt)
    _save(channel, by)
    _record(channel, by, auth, Action.CHANNEL_SECRET_MADE, earlier_ends_at_once=at_once)
    return shown(channel.salt)


@transaction.atomic
def try_channel(*, channel_id: int, by: User, auth: str) -> None:
    """Have a message sent that says nothing but that the channel works.

    Raises:
        ChangeNotAllowed: The person is not an admin.
        ReceiverNotFound: There is no such channel.
        NotSent: The channel is off, or another such message is on its way.
    """
    channel = _locked(channel_id, by)
    queue_test(channel)
    _record(channel, by, auth, Action.CHANNEL_TRIED)


@transaction.atomic
def remove_channel(*, channel_id: int, by: User, auth: str) -> None:
    """Remove a channel with its messages. What was waiting is never sent.

    Raises:
        ChangeNotAllowed: The person is not an admin.
        ReceiverNotFound: There is no such channel.
    """
    channel = _locked(channel_id, by)
    _record(channel, by, auth, Action.CHANNEL_REMOVED, kind=channel.kind)
    channel.delete()


def go_on(channel: Channel) -> None:
    """Begin anew: with what happens from now on, and without what came of earlier attempts.

    What was waiting before is never sent, but for what happened to a person's account. What is
    being sent right now tells what came of it. What is still ahead of pending requests is made
    anew when the log is read.
    """
    waiting = Message.objects.filter(~under_way(), channel=channel, state=State.WAITING)
    waiting = waiting.exclude(event__in=ACCOUNT_EVENTS)
    waiting.update(state=State.DROPPED, said="The channel was switched off.")
    if channel.person_id is None:
        channel.after = end_of_log()
    # The log is read for a person's channel while it is off, too. To skip what is not read yet, a
    # second's worth, would hide from them what somebody does to their account just before.
    channel.failures, channel.rests_until, channel.quiet_until = 0, None, None


def queue_test(channel: Channel) -> None:
    """Make a message that tries a channel, in the transaction of whoever has locked it.

    Raises:
        NotSent: The channel is off, or another such message is on its way.
    """
    if not channel.is_active:
        raise NotSent("The channel is off. Nothing was sent. Switch it on first.")
    tests = Message.objects.filter(channel=channel, event=NoticeEvent.TEST, state=State.WAITING)
    if tests.filter(Q(attempts=0) | under_way()).exists():
        raise NotSent("A test message is on its way already. Nothing else was sent.")
    tests.update(state=State.GIVEN_UP, said=KILLED)
    queue_to(channel, NoticeEvent.TEST)


def queue_to(channel: Channel, event: NoticeEvent) -> None:
    """Make a message that is about no request and no hold."""
    now = database_now()
    Message.objects.create(channel=channel, event=event, seq=0, made_at=now, due_at=now)


def _check_wish(kind: str, wish: Wish, besides: int = 0) -> None:
    if not wish.name.strip() or not wish.name.isprintable():
        raise ChannelRefused("Give the channel a name, in one line. Nothing was changed.")
    if len(wish.name) > LONGEST_NAME:
        raise ChannelRefused(f"A name has at most {LONGEST_NAME} characters. Nothing was changed.")
    if _is_taken(wish.name, besides):
        raise _taken(wish.name)
    if not wish.events or set(wish.events) - set(HOUSE_EVENTS):
        raise ChannelRefused("Choose what is told, from the list. Nothing was changed.")
    if wish.least not in {"", *Severity}:
        raise ChannelRefused("Choose a severity from the list. Nothing was changed.")
    if unknown := set(wish.groups) - _groups(wish.groups):
        raise ChannelRefused(f"There is no group called {min(unknown):.80}. Nothing was changed.")
    check_address(kind, wish.address)


def _is_taken(name: str, besides: int) -> bool:
    return Channel.objects.filter(person=None, name=name).exclude(pk=besides).exists()


@contextmanager
def _only_one_named(name: str) -> Iterator[None]:
    """Write a channel, unless somebody else just gave another one its name."""
    try:
        with transaction.atomic():
            yield
    except IntegrityError as error:
        raise _taken(name) from error


def _taken(name: str) -> ChannelRefused:
    return ChannelRefused(
        f"There is a channel called {name} already. Nothing was changed. Choose another name."
    )


def check_address(kind: str, address: str) -> None:
    """Refuse an address that nothing can be sent to.

    Raises:
        AddressRefused: The message says why, and that nothing was changed.
        ChannelRefused: There is no such kind.
    """
    if kind not in KINDS:
        raise ChannelRefused(
            f"There is no kind of channel called {kind!r:.40}. Nothing was changed."
        )
    KINDS[kind].check(address)


def _groups(names: Iterable[str]) -> set[str]:
    return set(Group.objects.filter(name__in=list(names)).values_list("name", flat=True))


def _columns(wish: Wish) -> dict[str, str]:
    return {
        "name": wish.name,
        "address": wish.address,
        "events": canonical_json([event for event in HOUSE_EVENTS if event in wish.events]),
        "groups": canonical_json(sorted(set(wish.groups))),
        "least": wish.least,
    }


def _said(channel: Channel) -> dict[str, object]:
    return {
        "kind": channel.kind,
        "where": kind_of(channel.kind).where(channel.address),
        "events": parse_json(channel.events),
        "groups": parse_json(channel.groups),
        "least": channel.least,
    }


def _locked(channel_id: int, by: User) -> Channel:
    _check(by)
    house = Channel.objects.select_for_update(no_key=True).filter(person=None)
    channel = house.filter(pk=channel_id).first()
    if channel is None:
        raise ReceiverNotFound
    return channel


def _save(channel: Channel, by: User) -> None:
    channel.changed_by, channel.changed_at = by, database_now()
    channel.save(force_update=True)


def _check(person: User) -> None:
    if not roles.may_administer(User.objects.get(pk=person.pk)):
        raise ChangeNotAllowed


def end_of_log() -> int:
    """Return the place in the log from which on a channel is told."""
    end = head()
    return end.seq if end else 0


def _record(
    channel: Channel, by: User | None, auth: str, action: Action, **details: object
) -> None:
    actor = Actor.of_user(by.username, auth) if by else OPERATOR
    record(actor, Entry(action, subject_of(channel), details=details))


def subject_of(channel: Channel) -> str:
    """Return what the log calls a channel: by its name, or as its person."""
    if channel.person is None:
        return f"channel:{channel.name}"
    return user_name(channel.person.username)
