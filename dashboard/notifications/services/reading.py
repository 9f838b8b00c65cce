"""Makes messages of what the audit log says.

The log is the outbox: each entry commits with what it is about, in order and without gaps, and
here we keep how far we have read. So a crash between a request and its message costs time and no
message, and a channel can neither delay a decision nor make it fail.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import Min, Q, QuerySet

from approval_client.wire import parse_json
from dashboard.accounts.services.signing_in import is_kept_admin
from dashboard.approvals.models import ApprovalRequest
from dashboard.audit.actions import Action
from dashboard.audit.models import AuditEntry
from dashboard.audit.names import user_name
from dashboard.audit.queries import head
from dashboard.notifications.concerns import (
    RequestFacts,
    concerns,
    facts_of,
    facts_of_pending,
    wants,
)
from dashboard.notifications.models import (
    ACCOUNT_EVENTS,
    Channel,
    LogReading,
    Message,
    NoticeEvent,
    State,
)
from dashboard.notifications.services.channels import subject_of

LAST_MINUTE = timedelta(minutes=1)
_BATCH = 200
# Judged: by a policy that may want others.
_ASKING = {Action.APPROVAL_SUBMITTED, Action.APPROVAL_JUDGED}
_ASSIGNING = {
    Action.APPROVAL_SELF_ASSIGNED,
    Action.APPROVAL_TAKEN_OVER,
    Action.APPROVAL_HANDED_OVER,
}
_MOVING = {Action.APPROVAL_EXTENDED, Action.APPROVAL_JUDGED}
_OF_REQUESTS = _ASKING | _ASSIGNING | _MOVING | {Action.APPROVAL_EXPIRED}

# After these, their subject may be told of what waits already. Who joins a group may, too.
_WIDENING = {
    Action.CHANNEL_ADDED,
    Action.CHANNEL_CHANGED,
    Action.CHANNEL_SWITCHED_ON,
    Action.PERSON_CHANNEL_CONFIRMED,
    Action.PERSON_CHANNEL_CHANGED,
    Action.PERSON_CHANNEL_SWITCHED_ON,
    Action.PERSON_ROLES_CHANGED,
    Action.PERSON_REACTIVATED,
}
_OF_TIMES = (NoticeEvent.ASKS, NoticeEvent.HALF, NoticeEvent.LAST_MINUTE)


def queue_notices() -> int:
    """Make messages of what the log says since we looked; returns how many entries were read."""
    if not _listening().exists():
        return 0
    seq = LogReading.objects.filter(pk=1).values_list("seq", flat=True).first() or 0
    end = head()
    return _read_on(seq) if end and end.seq > seq else 0


def told() -> QuerySet[Channel]:
    """Return the channels that are told of requests now."""
    people = Q(person__is_active=True, confirmed_at__isnull=False)
    return Channel.objects.filter(Q(person=None) | people, is_active=True)


def _listening() -> QuerySet[Channel]:
    """Return the channels that messages are made for now: of people's also those of accounts."""
    house = Q(person=None, is_active=True)
    return Channel.objects.filter(house | Q(person__isnull=False, confirmed_at__isnull=False))


def _read_on(seq: int) -> int:
    """Make messages of the next entries after ``seq``.

    What can be read before is, so that on SQLite nobody who decides waits for it.
    """
    begins = _listening().aggregate(after=Min("after"))["after"] or 0  # so that no history is read
    entries = list(AuditEntry.objects.filter(seq__gt=max(seq, begins)).order_by("seq")[:_BATCH])
    if not entries:
        return 0
    # After the entries: a channel that is added in between begins behind all of them.
    channels = list(_listening().select_related("person").prefetch_related("person__groups"))
    _catch_up(channels, entries)
    facts = facts_of(UUID(entry.subject) for entry in entries if entry.action in _OF_REQUESTS)
    messages = [message for channel in channels for message in _messages(channel, entries, facts)]
    moved = {UUID(entry.subject): entry.at for entry in entries if entry.action in _MOVING}
    return len(entries) if _write(seq, entries[-1].seq, messages, moved, facts) else 0


def _catch_up(channels: list[Channel], entries: list[AuditEntry]) -> None:
    """Make what is still ahead of what waits, for channels that entries let be told of more.

    So whoever may approve since a moment ago is told of half time and last minute, and all that
    waits is read after such a change alone, not each second.
    """
    entry_by_channel = {
        channel: entry  # the last one
        for entry in entries
        for channel in channels
        if entry.seq > channel.after and _is_told(channel) and _widens(entry, channel)
    }
    facts = list(facts_of_pending().values()) if entry_by_channel else []
    for channel, entry in entry_by_channel.items():
        groups = _groups_of(channel)
        messages = [
            _message(entry, channel, event, at, request.approval)
            for request in facts
            for event, at in _ahead(channel, request, entry.at, groups)
            if wants(channel, event)
        ]
        # A few at a time, so that nobody who decides waits for all of them. Whoever is stopped in
        # between reads the same entries again.
        for start in range(0, len(messages), _BATCH):
            _make_anew(channel, messages[start : start + _BATCH])


def _widens(entry: AuditEntry, channel: Channel) -> bool:
    """Whether a channel may be told of more after an entry than before."""
    if entry.action in _WIDENING:
        return entry.subject == subject_of(channel)
    if entry.action != Action.GROUP_MEMBERS_CHANGED or channel.person is None:
        return False
    details = parse_json(entry.details)
    if not isinstance(details, dict):
        return False
    name = channel.person.username
    return name in details.get("members", ()) and name not in details.get("before", ())


@transaction.atomic
def _make_anew(channel: Channel, messages: list[Message]) -> None:
    """Make messages of a channel, also where it dropped them before, as while it was off."""
    earlier = Message.objects.filter(channel=channel, state=State.DROPPED)
    for event in _OF_TIMES:
        ids = [message.approval_id for message in messages if message.event == event]
        earlier.filter(event=event, approval__in=ids).delete()
    Message.objects.bulk_create(messages, ignore_conflicts=True)


@transaction.atomic
def _write(
    seq: int,
    last: int,
    messages: list[Message],
    moved: Mapping[UUID, datetime],
    facts: Mapping[UUID, RequestFacts],
) -> bool:
    """Keep messages and how far we have read; not if somebody else has read on meanwhile.

    Args:
        moved: The requests whose time was moved, and when that was last.
    """
    reading, _ = LogReading.objects.select_for_update().get_or_create(pk=1)
    if reading.seq != seq:
        return False
    _forget_joinings(moved)
    _move_times(moved, facts)  # first: what nobody has begun to send is not begun before its time
    # After an extension there is another last minute, which is told as well, also where the one
    # before is being told right now. Where there is none, what failed is still sent again.
    _forget_last_minutes(moved, facts)
    Message.objects.bulk_create(messages, ignore_conflicts=True)
    LogReading.objects.filter(pk=1).update(seq=last)
    return True


def _messages(
    channel: Channel, entries: list[AuditEntry], facts: Mapping[UUID, RequestFacts]
) -> Iterator[Message]:
    """Make the messages of one channel of some entries."""
    groups, is_told = _groups_of(channel), _is_told(channel)
    for entry in entries:
        if entry.seq <= channel.after:
            continue
        if event := _of_account(entry, channel):
            yield _message(entry, channel, event, entry.at)
            continue
        if not is_told:
            continue
        if entry.action in {NoticeEvent.HELD, NoticeEvent.LIFTED}:
            if wants(channel, NoticeEvent(entry.action)):
                yield _message(entry, channel, NoticeEvent(entry.action), entry.at)
            continue
        facts_of_request = facts.get(UUID(entry.subject)) if entry.action in _OF_REQUESTS else None
        if facts_of_request is None:
            continue
        for event, at in _events(entry, channel, facts_of_request, groups):
            if wants(channel, event):
                yield _message(entry, channel, event, at, facts_of_request.approval)


def _is_told(channel: Channel) -> bool:
    """Whether a channel is told of more than what happened to an account."""
    return channel.is_active and (channel.person is None or channel.person.is_active)


def _groups_of(channel: Channel) -> list[str]:
    return [group.name for group in channel.person.groups.all()] if channel.person else []


def _of_account(entry: AuditEntry, channel: Channel) -> NoticeEvent | None:
    """What an entry says of the account of a channel's person, or of the kept admin's."""
    person = channel.person
    if person is None:
        return None
    if entry.action == Action.SIGNED_IN:
        is_kept = is_kept_admin(entry.subject.partition(":")[2])
        is_told = is_kept and person.is_admin and person.is_active
        return NoticeEvent.KEPT_ADMIN_USED if is_told else None
    if entry.action in ACCOUNT_EVENTS and entry.subject == user_name(person.username):
        return NoticeEvent(entry.action)
    return None


def _events(
    entry: AuditEntry, channel: Channel, facts: RequestFacts, groups: list[str]
) -> Iterator[tuple[NoticeEvent, datetime]]:
    """What an entry about a request that concerns a channel is to be told as, and when."""
    event = _at_once(entry, channel, facts)
    if event and concerns(channel, facts, event, entry.at, groups):
        yield event, entry.at
    if facts.is_pending and entry.action != Action.APPROVAL_EXPIRED:
        yield from _ahead(channel, facts, entry.at, groups)


def _at_once(entry: AuditEntry, channel: Channel, facts: RequestFacts) -> NoticeEvent | None:
    """What is told of an entry about a request when it happens."""
    if entry.action == Action.APPROVAL_EXPIRED:
        return None if facts.was_seen else NoticeEvent.UNSEEN
    if not facts.is_pending:
        return None
    if entry.action in _ASKING:
        return NoticeEvent.ASKS
    is_given = entry.action == Action.APPROVAL_HANDED_OVER and _is_given_to(channel, entry)
    return NoticeEvent.ASSIGNED if is_given else None


def _ahead(
    channel: Channel, facts: RequestFacts, after: datetime, groups: list[str]
) -> Iterator[tuple[NoticeEvent, datetime]]:
    """What a channel is told of a pending request after a moment, each when its time comes.

    Whoever may approve only later, as the group of ``escalate_to``, is asked when they join: half
    of the request's time may be over before, and an agent chooses that time.
    """
    if not concerns(channel, facts, NoticeEvent.ASKS, after, groups):
        for at in _joinings(facts):
            if at > after and concerns(channel, facts, NoticeEvent.ASKS, at, groups):
                yield NoticeEvent.ASKS, at
                break
    for event, at in times(facts.approval).items():
        if at > after and concerns(channel, facts, event, at, groups):
            yield event, at


def _joinings(facts: RequestFacts) -> list[datetime]:
    """Return when groups join that may not approve from the beginning, if that is in time."""
    circles = facts.required.circles if facts.required else ()
    submitted_at = facts.approval.submitted_at
    moments = {submitted_at + timedelta(seconds=c.later_from_s) for c in circles if c.later}
    return sorted(at for at in moments if at < facts.approval.expires_at)


def _is_given_to(channel: Channel, entry: AuditEntry) -> bool:
    """Whether somebody else gave the request to the person of a channel."""
    if channel.person is None or entry.actor == user_name(channel.person.username):
        return False
    details = parse_json(entry.details)
    return isinstance(details, dict) and details.get("to") == channel.person.username


def times(approval: ApprovalRequest) -> dict[NoticeEvent, datetime]:
    """Return when people are told how much of the time is over."""
    half = approval.submitted_at + (approval.expires_at - approval.submitted_at) / 2
    last_minute = approval.expires_at - LAST_MINUTE
    return {
        NoticeEvent.HALF: half,
        **({NoticeEvent.LAST_MINUTE: last_minute} if last_minute > half else {}),
    }


def _forget_last_minutes(
    moved: Mapping[UUID, datetime], facts: Mapping[UUID, RequestFacts]
) -> None:
    """Delete what told of a last minute before the present one, which begins after the entry."""
    begins = {
        pk: begins_at
        for pk, at in moved.items()
        if pk in facts and (begins_at := _last_minute(facts[pk])) and begins_at > at
    }
    last_minutes = Message.objects.filter(approval__in=begins, event=NoticeEvent.LAST_MINUTE)
    begun = last_minutes.exclude(state=State.WAITING, attempts=0)
    rows = begun.values_list("pk", "approval_id", "tried_at")
    earlier = [
        pk
        for pk, approval_id, tried_at in rows
        if approval_id and (tried_at is None or tried_at < begins[approval_id])
    ]
    Message.objects.filter(pk__in=earlier).delete()


def _last_minute(facts: RequestFacts) -> datetime | None:
    """When the last minute of a request begins; None if it has none, or is closed."""
    return times(facts.approval).get(NoticeEvent.LAST_MINUTE) if facts.is_pending else None


def _move_times(ids: Iterable[UUID], facts: Mapping[UUID, RequestFacts]) -> None:
    """Have what is told at a time be told when that comes now."""
    for pk in ids:
        if pk in facts:
            for event, at in times(facts[pk].approval).items():
                waiting = Message.objects.filter(approval=pk, event=event, state=State.WAITING)
                waiting.filter(attempts=0).update(due_at=at)


def _forget_joinings(moved: Mapping[UUID, datetime]) -> None:
    """Delete what was to be told when somebody joins: another policy may name another moment."""
    asks = Message.objects.filter(event=NoticeEvent.ASKS, state=State.WAITING, attempts=0)
    for pk, at in moved.items():
        asks.filter(approval=pk, due_at__gt=at, made_at__lt=at).delete()


def _message(
    entry: AuditEntry,
    channel: Channel,
    event: NoticeEvent,
    due_at: datetime,
    approval: ApprovalRequest | None = None,
) -> Message:
    return Message(
        channel=channel,
        approval=approval,
        event=event,
        seq=entry.seq,
        made_at=entry.at,
        due_at=due_at,
    )
