"""Who is told of what, who sends it now, and what came of it.

The audit log is the outbox: each entry commits with what it is about, in order and without gaps,
and here we keep how far we have read. So a crash between a request and its message costs time and
no message, and a channel can neither delay a decision nor make it fail.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, F, Min, OuterRef, Q, QuerySet

from approval_client.wire import Status, parse_json
from dashboard.approvals.clock import database_now
from dashboard.approvals.models import ApprovalRequest, Hold, Inspection, View
from dashboard.approvals.queries import gravest_rank, last_demands, light
from dashboard.audit.models import AuditEntry
from dashboard.audit.queries import head
from dashboard.audit.services import Actor, record
from dashboard.audit.services import Event as Entry
from dashboard.inspection.findings import Severity
from dashboard.notifications.channels import KINDS
from dashboard.notifications.channels.kind import Kind, Parcel
from dashboard.notifications.errors import SecretLost
from dashboard.notifications.models import Channel, Event, LogReading, Message, State
from dashboard.notifications.notices import Notice
from dashboard.notifications.sending import Sent
from dashboard.notifications.services.attempts import conclude, fail, forget, take
from dashboard.policies.demands import Required

LAST_MINUTE = timedelta(minutes=1)
_BATCH = 500
_WAITS = {"approval__status": Status.PENDING}  # what is decided needs nobody any more
_OVER = "It was decided, withdrawn or over before this was sent."


class Telling(NamedTuple):
    """One attempt that somebody has begun: which it is, and what is to be sent."""

    message_id: UUID
    number: int
    channel_id: int
    kind: Kind
    parcel: Parcel


def queue_notices() -> int:
    """Make messages of what the log says since we looked; returns how many entries were read."""
    if not Channel.objects.filter(is_active=True).exists():
        return 0
    read = LogReading.objects.filter(pk=1).values_list("seq", flat=True).first()
    end = head()
    return _read_on() if end and end.seq > (read or 0) else 0


def drop_what_is_over() -> int:
    """Drop messages about what needs nobody any more; returns how many."""
    waiting = Message.objects.filter(state=State.WAITING, approval__isnull=False)
    over = waiting.exclude(event=Event.UNSEEN).exclude(**_WAITS)
    return over.update(state=State.DROPPED, said=_OVER)


def forget_messages() -> int:
    """Delete messages that nobody needs any more, a month old; returns how many."""
    return forget(Message)


def channels_with_due(besides: Iterable[int], limit: int) -> list[int]:
    """Return the channels that have something to send now, those that wait longest first."""
    due = _due(database_now()).exclude(channel__in=list(besides))
    longest = due.order_by().values("channel").annotate(first=Min("due_at"))
    ordered = longest.order_by("first", "channel")
    return list(ordered.values_list("channel", flat=True)[:limit])


def begin_telling(channel_id: int) -> Telling | None:
    """Take the message of a channel that waits longest, or None if there is none to send."""

    def due() -> QuerySet[Message]:
        mine = _due(database_now()).filter(channel=channel_id)
        return mine.select_related("channel", "approval__agent").order_by("due_at", "pk")

    while message := take(due):
        kind = KINDS[message.channel.kind]
        try:
            parcel = kind.parcel(message.channel, notice_of(message), message.pk)
        except SecretLost as error:
            fail(Message, message.pk, message.attempts, str(error))
            continue
        return Telling(message.pk, message.attempts, message.channel_id, kind, parcel)
    return None


async def send_telling(telling: Telling) -> Sent:
    """Send a message; whatever goes wrong is told and not raised."""
    return await telling.kind.send(telling.parcel)


def settle_telling(telling: Telling, sent: Sent) -> bool:
    """Write down what came of an attempt; says whether it was still ours to write down."""
    said, channel = sent.said[:300], Channel.objects.filter(pk=telling.channel_id)
    if sent.taken:
        channel.exclude(failures=0).update(failures=0)
        return conclude(Message, telling.message_id, telling.number, State.DELIVERED, said)
    channel.update(failures=F("failures") + 1)
    if sent.is_gone:
        return _switch_off(telling, said)
    return fail(Message, telling.message_id, telling.number, said)


@transaction.atomic
def _switch_off(telling: Telling, said: str) -> bool:
    """Stop sending to a channel that said it is gone."""
    channel = Channel.objects.select_for_update().get(pk=telling.channel_id)
    if not conclude(Message, telling.message_id, telling.number, State.GIVEN_UP, said):
        return False  # somebody else has it by now, or the channel was switched off
    Channel.objects.filter(pk=channel.pk).update(is_active=False)
    waiting = Message.objects.filter(channel=channel, state=State.WAITING)
    waiting.update(state=State.DROPPED, said=f"{said} So the channel was switched off.")
    subject = f"channel:{channel.name}"
    record(Actor("server"), Entry("channel.switched_off", subject, details={"said": said}))
    return True


def notice_of(message: Message) -> Notice:
    """Return what a message says."""
    about = message.approval
    if about is None:
        url = f"{settings.PUBLIC_URL}/"
        return Notice(event=Event(message.event), at=message.made_at, url=url)
    [found] = _facts([about.pk]).values()
    return Notice(
        event=Event(message.event),
        at=message.made_at,
        url=f"{settings.PUBLIC_URL}/approvals/{about.pk}",
        id=str(about.pk),
        kind=about.kind,
        agent=about.agent.name,
        severity=str(found.severity or ""),
        expires_at=about.expires_at,
    )


# --- what may be sent now -----------------------------------------------------------------------


def _due(now: datetime) -> QuerySet[Message]:
    """Messages whose time has come, about what still needs people.

    During a hold nobody can decide, so nobody is asked; what still waits is told afterwards.
    """
    due = Message.objects.filter(state=State.WAITING, due_at__lte=now, channel__is_active=True)
    waits = Q(approval__expires_at__gt=now, **_WAITS) & ~Q(
        Exists(Hold.objects.filter(active=True))
    )
    early = Q(event=Event.LAST_MINUTE, approval__expires_at__gt=now + LAST_MINUTE)
    return due.filter(Q(approval=None) | Q(event=Event.UNSEEN) | (waits & ~early))


# --- reading the log ----------------------------------------------------------------------------


@transaction.atomic
def _read_on() -> int:
    reading, _ = LogReading.objects.select_for_update().get_or_create(pk=1)
    channels = list(Channel.objects.filter(is_active=True))
    first = max(reading.seq, min((one.after for one in channels), default=0))
    entries = list(AuditEntry.objects.filter(seq__gt=first).order_by("seq")[:_BATCH])
    if not entries:
        return 0
    known = {"approval.submitted", "approval.judged", "approval.extended", "approval.expired"}
    about = [UUID(one.subject) for one in entries if one.action in known]
    facts = _facts(about)
    messages = [
        message
        for entry in entries
        for channel in channels
        if entry.seq > channel.after
        for message in _messages(entry, channel, facts)
    ]
    Message.objects.bulk_create(messages, ignore_conflicts=True)
    _move_times([UUID(one.subject) for one in entries if one.action in _MOVE_TIMES], facts)
    LogReading.objects.filter(pk=1).update(seq=entries[-1].seq)
    return len(entries)


_MOVE_TIMES = {"approval.extended", "approval.judged"}


class _Facts(NamedTuple):
    """What is known of a request that somebody may have to be told of."""

    approval: ApprovalRequest
    severity: Severity | None
    required: Required | None
    was_seen: bool


def _facts(ids: Sequence[UUID]) -> dict[UUID, _Facts]:
    mine = {"approval": OuterRef("pk")}
    rows: Any = (
        light()
        .filter(pk__in=ids)
        .annotate(
            rank=gravest_rank(),
            demands=last_demands(),
            is_inspected=Exists(Inspection.objects.filter(**mine)),
            was_seen=Exists(View.objects.filter(**mine)),
        )
    )
    return {row.pk: _Facts(row, _severity(row), _required(row), row.was_seen) for row in rows}


def _severity(row: Any) -> Severity | None:
    if not row.is_inspected:
        return Severity.HIGH
    return list(Severity)[row.rank] if row.rank >= 0 else None


def _required(row: Any) -> Required | None:
    return Required.from_json(row.demands) if row.demands else None


def _messages(
    entry: AuditEntry, channel: Channel, facts: Mapping[UUID, _Facts]
) -> Iterator[Message]:
    if entry.action in {Event.HELD, Event.LIFTED}:
        if entry.action in _names(channel.events):
            yield _message(entry, channel, Event(entry.action), entry.at)
        return
    found = facts.get(UUID(entry.subject)) if entry.action in _OF_REQUESTS else None
    if found is None or not _concerns(channel, found, entry.at):
        return
    for event, at in _OF_REQUESTS[entry.action](found, entry.at):
        if event in _names(channel.events):
            yield _message(entry, channel, event, at, found.approval)


def _asking(found: _Facts, at: datetime) -> Iterator[tuple[Event, datetime]]:
    if found.approval.status == Status.PENDING:
        yield Event.ASKS, at
        yield from _times(found.approval).items()


def _expired(found: _Facts, at: datetime) -> Iterator[tuple[Event, datetime]]:
    if not found.was_seen:
        yield Event.UNSEEN, at


_OF_REQUESTS = {
    "approval.submitted": _asking,
    "approval.judged": _asking,  # by another policy, which may want other people
    "approval.expired": _expired,
}


def _times(approval: ApprovalRequest) -> dict[Event, datetime]:
    """Return when people are told how much of the time is over."""
    half = approval.submitted_at + (approval.expires_at - approval.submitted_at) / 2
    last = approval.expires_at - LAST_MINUTE
    return {Event.HALF: half, **({Event.LAST_MINUTE: last} if last > half else {})}


def _move_times(ids: Sequence[UUID], facts: Mapping[UUID, _Facts]) -> None:
    """Have what is told at a time be told when that comes now."""
    for pk in dict.fromkeys(ids):
        if pk in facts:
            for event, at in _times(facts[pk].approval).items():
                waiting = Message.objects.filter(approval=pk, event=event, state=State.WAITING)
                waiting.filter(attempts=0).update(due_at=at)


def _concerns(channel: Channel, found: _Facts, at: datetime) -> bool:
    if channel.least:
        least = Severity(channel.least).rank
        if found.severity is None or found.severity.rank < least:
            return False
    groups, required = _names(channel.groups), found.required
    if not groups or required is None or not required.circles:
        return True
    after_s = (at - found.approval.submitted_at).total_seconds()
    return required.admits(groups, after_s=after_s)


def _message(
    entry: AuditEntry,
    channel: Channel,
    event: Event,
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


def _names(text: str) -> list[str]:
    return [str(name) for name in parse_json(text)]
