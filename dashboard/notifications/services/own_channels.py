"""People say where they themselves are told. What changes nothing is not recorded."""

from __future__ import annotations

import hmac
from datetime import datetime, timedelta

from django.db import transaction

from dashboard.accounts import roles
from dashboard.accounts.models import User
from dashboard.audit.actions import Action
from dashboard.audit.models import AuditEntry
from dashboard.audit.names import user_name
from dashboard.audit.services import Actor, record
from dashboard.audit.services import AuditEvent as Entry
from dashboard.clock import database_now
from dashboard.notifications.channels import KINDS, kind_of
from dashboard.notifications.errors import (
    ChangeNotAllowed,
    ChannelRefused,
    CodeRefused,
    ReceiverNotFound,
)
from dashboard.notifications.models import Channel, Choice, Message, NoticeEvent, State
from dashboard.notifications.secrets import code_of, new_salt
from dashboard.notifications.services.channels import (
    check_address,
    end_of_log,
    go_on,
    queue_test,
    queue_to,
    subject_of,
)

MOST_OWN = 5
CODE_LIFE = timedelta(hours=1)
CODES_APART = timedelta(minutes=1)
MOST_TRIES = 5
MOST_CODES = 10
_SEND_CODES = [Action.PERSON_CHANNEL_ADDED, Action.PERSON_CHANNEL_CODE_SENT]


@transaction.atomic
def add_own(*, person: User, kind: str, address: str, choice: str, auth: str) -> Channel:
    """Note where a person wants to be told, and send them a code that proves that it is theirs.

    Nothing else is sent there before they have entered the code.

    Raises:
        AddressRefused: Nothing can be sent to that address.
        ChannelRefused: Something else is wrong; the message says what.
        ChangeNotAllowed: The person has no role.
    """
    _locked_person(person)
    check_address(kind, address)
    if not KINDS[kind].is_for_people:
        raise ChannelRefused("This kind is for the whole house. Nothing was changed.")
    _check_choice(choice)
    own_channels = Channel.objects.filter(person=person)
    if there := own_channels.filter(kind=kind, address=address).first():
        raise ChannelRefused(
            "You are told there already. Nothing was changed."
            if there.removed_at is None
            else "You removed this address less than a day ago. Nothing was changed. Keep it."
        )
    _check_room(person)
    _check_pause(person)
    now = database_now()
    channel = Channel.objects.create(
        person=person,
        kind=kind,
        address=address,
        events="[]",
        choice=choice,
        after=0,
        changed_by=person,
        changed_at=now,
    )
    _send_code(channel)
    _record(
        channel, person, auth, Action.PERSON_CHANNEL_ADDED, where=_where(channel), choice=choice
    )
    return channel


@transaction.atomic
def send_code_again(*, person: User, channel_id: int, auth: str) -> None:
    """Send another code to an address that is not proved; the one before it ends.

    Raises:
        ChannelRefused: It is proved already, or a code was sent less than a minute ago.
        ChangeNotAllowed, ReceiverNotFound: As ``change_own``.
    """
    channel = _locked(person, channel_id)
    if channel.confirmed_at is not None:
        raise ChannelRefused("This address is confirmed already. Nothing was sent.")
    _check_pause(person)
    _send_code(channel)
    _record(channel, person, auth, Action.PERSON_CHANNEL_CODE_SENT, where=_where(channel))


def confirm_own(*, person: User, channel_id: int, code: str, auth: str) -> None:
    """Take the code that a person got at their address. From now on they are told there.

    Raises:
        CodeRefused: It is not that code, or it is too old, or too many were tried.
        ChangeNotAllowed, ReceiverNotFound: As ``change_own``.
    """
    if not _confirm(person, channel_id, code, auth):  # the count of tries is kept
        raise CodeRefused("This is not the code. Nothing was changed. Look at the newest message.")


@transaction.atomic
def _confirm(person: User, channel_id: int, code: str, auth: str) -> bool:
    channel = _locked(person, channel_id)
    if channel.confirmed_at is not None:
        return True
    now = database_now()
    if not is_code_valid(channel, now):
        raise CodeRefused("This code is no longer valid. Nothing was changed. Send a new code.")
    channel.code_tries += 1
    digits = "".join(character for character in code if character in "0123456789")
    right = hmac.compare_digest(digits, code_of(channel).replace(" ", ""))
    if right:
        channel.confirmed_at, channel.after, channel.failures = now, end_of_log(), 0
        codes = Message.objects.filter(
            channel=channel, event=NoticeEvent.CODE, state=State.WAITING
        )
        codes.update(state=State.DROPPED, said="The address is confirmed.")
        _record(channel, person, auth, Action.PERSON_CHANNEL_CONFIRMED, where=_where(channel))
    channel.save(force_update=True)
    return right


@transaction.atomic
def change_own(*, person: User, channel_id: int, choice: str, auth: str) -> bool:
    """Change what a person is told of; returns whether that changed anything.

    Raises:
        ChannelRefused: There is no such choice.
        ChangeNotAllowed: The person has no role.
        ReceiverNotFound: They have no such channel.
    """
    channel = _locked(person, channel_id)
    _check_choice(choice)
    if channel.choice == choice:
        return False
    channel.choice = choice
    _save(channel)
    _record(
        channel, person, auth, Action.PERSON_CHANNEL_CHANGED, where=_where(channel), choice=choice
    )
    return True


@transaction.atomic
def try_own(*, person: User, channel_id: int, auth: str) -> None:
    """Have a message sent that says nothing but that the channel works.

    Raises:
        ChannelRefused: The address is not confirmed.
        NotSent: The channel is off, or another such message is on its way.
        ChangeNotAllowed, ReceiverNotFound: As ``change_own``.
    """
    channel = _locked(person, channel_id)
    if channel.confirmed_at is None:
        raise ChannelRefused("Enter the code first. Nothing was sent.")
    queue_test(channel)
    _record(channel, person, auth, Action.PERSON_CHANNEL_TRIED, where=_where(channel))


@transaction.atomic
def switch_own(*, person: User, channel_id: int, on: bool, auth: str) -> bool:
    """Switch a person's channel on or off; returns whether that changed anything.

    Off, nothing is sent but what happens to their account, and what else was due then never is. On
    again, also where it was removed, it begins with what happens from then on, also half time and
    last minute of what still waits, and with what the log says that nobody has read yet.

    Raises:
        ChannelRefused: It was removed, and there are as many others as there may be.
        ChangeNotAllowed, ReceiverNotFound: As ``change_own``.
    """
    channel = _locked(person, channel_id)
    if channel.is_active == on:
        return False
    if channel.removed_at is not None:
        _check_room(person)
    channel.is_active, channel.removed_at = on, None
    if on:
        go_on(channel)
    _save(channel)
    _record(
        channel,
        person,
        auth,
        Action.PERSON_CHANNEL_SWITCHED_ON if on else Action.PERSON_CHANNEL_SWITCHED_OFF,
        where=_where(channel),
    )
    return True


@transaction.atomic
def remove_own(*, person: User, channel_id: int, auth: str) -> bool:
    """Forget an address of a person's with its messages. What was waiting is never sent.

    One that is confirmed is told of what happens to their account for a day longer.

    Returns:
        Whether it is.

    Raises:
        ChannelRefused: A code was sent there less than a minute ago, and it is not confirmed.
        ReceiverNotFound: They have no such channel.
    """
    channel = _locked(person, channel_id, decides=False)
    if channel.removed_at is not None:
        return True
    if channel.confirmed_at is None:
        _check_minute(person)  # or codes could be sent to strangers as fast as one can press
    _record(channel, person, auth, Action.PERSON_CHANNEL_REMOVED, where=_where(channel))
    if channel.confirmed_at is None:
        channel.delete()
        return False
    channel.is_active, channel.removed_at = False, database_now()
    _save(channel)
    return True


def code_ends_at(channel: Channel) -> datetime | None:
    """Return until when the newest code of a channel is valid; None if none was made."""
    return channel.code_made_at and channel.code_made_at + CODE_LIFE


def is_code_valid(channel: Channel, at: datetime) -> bool:
    """Whether the newest code of a channel still proves anything at a moment."""
    ends_at = code_ends_at(channel)
    return ends_at is not None and at < ends_at and channel.code_tries < MOST_TRIES


def _check_room(person: User) -> None:
    if Channel.objects.filter(person=person, removed_at=None).count() >= MOST_OWN:
        raise ChannelRefused(
            f"You have {MOST_OWN} addresses already. Nothing was changed. Remove one first."
        )


def _send_code(channel: Channel) -> None:
    channel.salt, channel.code_made_at, channel.code_tries = new_salt(), database_now(), 0
    channel.save(force_update=True)
    earlier = Message.objects.filter(channel=channel, event=NoticeEvent.CODE, state=State.WAITING)
    earlier.update(state=State.DROPPED, said="Another code was sent.")
    queue_to(channel, NoticeEvent.CODE)


def _check_pause(person: User) -> None:
    """Refuse another code within a minute, or after ten on a day: it may go to a stranger."""
    entries = AuditEntry.objects.filter(subject=user_name(person.username), action__in=_SEND_CODES)
    if entries.filter(at__gt=database_now() - timedelta(days=1)).count() >= MOST_CODES:
        raise ChannelRefused(
            f"{MOST_CODES} codes were sent within a day, and no more are. Nothing was changed. "
            "Try again tomorrow."
        )
    _check_minute(person)


def _check_minute(person: User) -> None:
    lately = database_now() - CODES_APART
    if Channel.objects.filter(person=person, code_made_at__gt=lately, confirmed_at=None).exists():
        raise ChannelRefused(
            "A code was sent less than a minute ago. Nothing was changed. Try again in a minute."
        )


def _check_choice(choice: str) -> None:
    if choice not in Choice.values:
        raise ChannelRefused("Choose what you are told, from the list. Nothing was changed.")


def _locked(person: User, channel_id: int, *, decides: bool = True) -> Channel:
    if decides:
        _locked_person(person)
    own_channels = Channel.objects.select_for_update(no_key=True, of=("self",)).filter(
        person=person
    )
    channel = own_channels.select_related("person").filter(pk=channel_id).first()
    if channel is None:
        raise ReceiverNotFound
    return channel


def _locked_person(person: User) -> None:
    locked = User.objects.select_for_update(no_key=True).get(pk=person.pk)
    if not roles.may_look(locked):
        raise ChangeNotAllowed("Only people with a role are told anything. Nothing was changed.")


def _save(channel: Channel) -> None:
    channel.changed_at = database_now()
    channel.save(force_update=True)


def _where(channel: Channel) -> str:
    return kind_of(channel.kind).where(channel.address)


def _record(channel: Channel, by: User, auth: str, action: Action, **details: object) -> None:
    record(Actor.of_user(by.username, auth), Entry(action, subject_of(channel), details=details))
