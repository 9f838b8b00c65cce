"""Sends what people are to be told: who sends it now, and what came of it."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import Case, Exists, F, IntegerField, Min, Q, QuerySet, When

from approval_client.wire import Status
from dashboard.accounts.queries import groups_of
from dashboard.approvals.models import Hold
from dashboard.audit.actions import Action
from dashboard.audit.services import Actor, record
from dashboard.audit.services import AuditEvent as Entry
from dashboard.clock import database_now
from dashboard.notifications.channels import KINDS, kind_of
from dashboard.notifications.channels.kind import ChannelKind, Parcel
from dashboard.notifications.concerns import concerns, facts_of, wants
from dashboard.notifications.errors import SecretLost
from dashboard.notifications.models import ACCOUNT_EVENTS, Channel, Message, NoticeEvent, State
from dashboard.notifications.notices import Notice, in_order
from dashboard.notifications.secrets import code_of
from dashboard.notifications.sending import Sent
from dashboard.notifications.services.attempts import (
    KEPT_FOR,
    MINE_FOR,
    conclude,
    drop,
    fail,
    forget,
    leave_alone,
    resting,
    take,
    under_way,
)
from dashboard.notifications.services.channels import subject_of
from dashboard.notifications.services.own_channels import code_ends_at, is_code_valid
from dashboard.notifications.services.reading import LAST_MINUTE
from dashboard.statements import rows

APART = timedelta(seconds=10)
"""From one message to the next to the same people; what comes in between is told in one."""
GOES_ON_FOR = timedelta(days=1)
"""For so long an address that its person removed is told of what happens to their account."""
TRYING = (NoticeEvent.TEST, NoticeEvent.CODE)
"""What somebody asked for who waits for it."""
ALONE = (NoticeEvent.HELD, NoticeEvent.LIFTED, *ACCOUNT_EVENTS, *TRYING)
"""Never in one message with others, and never later because of them."""
_WAITS = {"approval__status": Status.PENDING}  # what is decided needs nobody any more
_NOT_MADE = "It could not be made. The server's log says why."
_OVER = "It was decided, withdrawn or over before this was sent."
_NOT_THEIRS = "This person can no longer decide, so it was not sent."
_NOT_ASKED = "It was no longer to be told here when this was to be sent."
_CODE_OVER = "The code was no longer valid when this was to be sent. Send a new code."
_PLACES = {
    **dict.fromkeys(ACCOUNT_EVENTS, "account/browsers"),
    NoticeEvent.PASSKEY_ADDED: "account/passkeys",
    NoticeEvent.PASSKEY_CONFIRMED: "account/passkeys",
    NoticeEvent.PASSKEY_REMOVED: "account/passkeys",
    NoticeEvent.FACTOR_ADDED: "account/second-factor",
    NoticeEvent.FACTOR_REMOVED: "account/second-factor",
    NoticeEvent.ADDRESS_PAUSED: "account/told",
    NoticeEvent.ADDRESS_REMOVED: "account/told",
    NoticeEvent.KEPT_ADMIN_USED: "audit",
}
"""Where what a person is told of their account can be looked at, and stopped."""
_PAUSED = "The channel was switched off."
_HOLD_OVER = "The hold was lifted, or another one placed, before this was sent."
_FOR_PEOPLE = [name for name, kind in KINDS.items() if kind.is_for_people]

log = logging.getLogger(__name__)


class Telling(NamedTuple):
    """One attempt that somebody has begun: of which messages, and what is to be sent.

    ``is_test``: somebody waits for what comes of it, so it is not tried again.
    """

    ids: Sequence[UUID]
    number: int
    channel_id: int
    address: str
    kind: ChannelKind
    parcel: Parcel
    is_test: bool


def drop_what_is_over() -> int:
    """Drop messages about what needs nobody any more, or to nobody; returns how many.

    What somebody is sending right now is left to them.
    """
    if not _waiting():
        return 0
    waiting = Message.objects.filter(state=State.WAITING)
    decided = Q(approval__isnull=False) & ~Q(event=NoticeEvent.UNSEEN) & ~Q(**_WAITS)
    no_reviewer = Q(channel__person__is_reviewer=False, approval__isnull=False)
    # What happened to an account waits for its person, whatever was done to it meanwhile.
    of_account = Q(event__in=ACCOUNT_EVENTS)
    is_old = Q(made_at__lte=database_now() - KEPT_FOR)
    departed = (Q(channel__person__is_active=False) & (~of_account | is_old)) | no_reviewer
    reasons = (
        (decided, _OVER),
        (departed, _NOT_THEIRS),
        (Q(channel__is_active=False) & ~of_account, _PAUSED),
        (_stale_hold(), _HOLD_OVER),
    )
    return sum(drop(waiting.filter(over), sentence) for over, sentence in reasons)


def forget_messages() -> int:
    """Delete messages that nobody needs any more, a month old; returns how many."""
    Channel.objects.filter(removed_at__lt=database_now() - GOES_ON_FOR).delete()
    return forget(Message)


def channels_with_due(besides: Iterable[int], limit: int) -> list[int]:
    """Return the channels that have something to send now, those that wait longest first."""
    if not _waiting():
        return []
    messages = _due(database_now()).exclude(channel__in=list(besides))
    longest = messages.order_by().values("channel").annotate(first=Min("due_at"))
    ordered = longest.order_by("first", "channel")
    return list(ordered.values_list("channel", flat=True)[:limit])


@rows()
def _waiting() -> QuerySet[Message, UUID]:
    # Nearly always there is none, and Django builds what asks more for longer than that takes.
    waiting = Message.objects.filter(state=State.WAITING)
    return waiting.order_by().values_list("pk", flat=True)[:1]


class Turns:
    """Begins messages so that the agents take turns: one that asks much delays no other's.

    It remembers whose turn was last in each channel; a process that does not know begins with
    any agent.
    """

    def __init__(self) -> None:
        self._last: dict[int, int] = {}

    def begin(self, channel_id: int) -> Telling | None:
        """Take what a channel is to be told now, or return None if that is nothing."""
        last_agent = self._last.get(channel_id, 0)
        while True:
            step = _begin(channel_id, last_agent)
            if step is None:
                return None
            first_message, telling = step
            if first_message.approval is not None:
                self._last[channel_id] = last_agent = first_message.approval.agent_id
            if telling is not None:
                return telling


async def send_telling(telling: Telling) -> Sent:
    """Send a message; whatever goes wrong is told and not raised."""
    return await telling.kind.send(telling.parcel)


def settle_telling(telling: Telling, outcome: Sent) -> bool:
    """Write down what came of an attempt; says whether it was still ours to write down."""
    sentence = outcome.said[:300]
    # What an earlier address answers says nothing about the one that the channel has since.
    channel = Channel.objects.filter(pk=telling.channel_id, address=telling.address)
    if outcome.taken:
        well = {"failures": 0, "rests_until": None}
        channel.exclude(failures=0, rests_until=None).update(**well)
        return _conclude(telling, State.DELIVERED, sentence)
    if not channel.update(failures=F("failures") + 1):
        return _fail(telling, sentence)
    if outcome.is_gone:
        return _switch_off(telling, sentence)
    if not telling.is_test:
        leave_alone(channel, outcome.retry_after_s)
    return _fail(telling, sentence, outcome.retry_after_s)


def _fail(telling: Telling, sentence: str, retry_after_s: float = 0.0) -> bool:
    if telling.is_test:
        return _conclude(telling, State.GIVEN_UP, sentence)
    first_id, *rest = telling.ids
    due_at = fail(Message, first_id, telling.number, sentence, retry_after_s)
    for pk in rest:  # again in one message with the first
        fail(Message, pk, telling.number, sentence, retry_after_s, due_at)
    return due_at is not None


def _conclude(telling: Telling, state: State, sentence: str) -> bool:
    if more := len(telling.ids) - 1:
        sentence = f"{sentence[:250]} In one message with {more} more."
    outcomes = [conclude(Message, pk, telling.number, state, sentence) for pk in telling.ids]
    return any(outcomes)


@transaction.atomic
def _switch_off(telling: Telling, said: str) -> bool:
    """Stop sending to a channel that said it is gone, unless it has another address by now."""
    channel = Channel.objects.select_for_update(no_key=True).filter(pk=telling.channel_id).first()
    if channel is None or channel.address != telling.address:
        return _fail(telling, said)
    if not _conclude(telling, State.GIVEN_UP, said):
        return False  # somebody else has it by now, or the channel was switched off
    if not channel.is_active:  # it was paused, and told of its account
        return True
    Channel.objects.filter(pk=channel.pk).update(
        is_active=False, changed_by=None, changed_at=database_now()
    )
    waiting = Message.objects.filter(~under_way(), channel=channel, state=State.WAITING)
    waiting.update(state=State.DROPPED, said=f"{said} So the channel was switched off.")
    ended = Entry(
        Action.PERSON_CHANNEL_SWITCHED_OFF if channel.person_id else Action.CHANNEL_SWITCHED_OFF,
        subject_of(channel),
        details={"said": said},
    )
    record(Actor("server"), ended)
    return True


# --- what is sent now ---------------------------------------------------------------------------


@transaction.atomic
def _begin(channel_id: int, last_agent: int) -> tuple[Message, Telling | None] | None:
    """Take the next message of a channel, with those that are told in one with it.

    Returns:
        The first message, and the attempt, which is None if it is not to be sent after all; None
        if nothing is due.
    """
    # Whoever has the channel is the only one who begins: two would send two within ten seconds.
    channel = (
        Channel.objects.select_for_update(no_key=True, of=("self",)).filter(pk=channel_id).first()
    )
    head = take(lambda: _next(channel_id, last_agent)) if channel else None
    if channel is None or head is None:
        return None
    kind = kind_of(channel.kind)
    together = [head]
    if kind.is_for_people and head.event not in ALONE:
        together += _company(head)
    # The same id at each attempt: that of the message which was the first one then.
    together.sort(key=lambda one: (one.pk != one.batch, one.made_at, one.pk))
    messages = _still_concerned(channel, together)
    if not messages:
        return head, None
    if kind.is_for_people and head.event not in ALONE:
        Channel.objects.filter(pk=channel.pk).update(quiet_until=database_now() + APART)
    try:
        parcel = kind.parcel(channel, notices_of(channel, messages), messages[0].pk)
    except Exception as error:  # a message that cannot be made must not stop those after it
        if not isinstance(error, SecretLost):
            log.exception("A message could not be made.")
        sentence = str(error) if isinstance(error, SecretLost) else _NOT_MADE
        Channel.objects.filter(pk=channel.pk).update(failures=F("failures") + 1)
        for message in messages:
            fail(Message, message.pk, message.attempts, sentence)
        return head, None
    ids = [message.pk for message in messages]
    is_test = head.event == NoticeEvent.TEST
    telling = Telling(ids, head.attempts, channel.pk, channel.address, kind, parcel, is_test)
    return head, telling


def _next(channel_id: int, last_agent: int) -> QuerySet[Message]:
    """What may be sent now, in the order of turns: the agent's after the last one first."""
    messages = _due(database_now()).filter(channel=channel_id).select_related("approval__agent")
    turn = Case(
        When(approval=None, then=0),
        When(approval__agent__gt=last_agent, then=1),
        default=2,
        output_field=IntegerField(),
    )
    return messages.order_by(turn, "approval__agent", "due_at", "pk")


def _company(head: Message) -> list[Message]:
    """Take what is told in one message with ``head``, each with the same count of attempts.

    At the first attempt that is all that is due; at a later one, what was in the message then and
    still waits, and nothing else: what has the same id must not say more.
    """
    now = database_now()
    rest = Message.objects.filter(channel=head.channel_id, state=State.WAITING)
    rest = rest.exclude(pk=head.pk).exclude(event__in=ALONE)
    if head.batch is None:
        ids = list(_due(now).filter(pk__in=rest, batch=None).values_list("pk", flat=True))
    else:
        together = rest.filter(batch=head.batch)
        ids = list(together.filter(_still_waits(now)).values_list("pk", flat=True))
    head.batch = head.batch or head.pk
    claim = {
        "attempts": head.attempts,
        "due_at": now + MINE_FOR,
        "tried_at": now,
        "batch": head.batch,
    }
    Message.objects.filter(pk__in=[head.pk, *ids], state=State.WAITING).update(**claim)
    rows = Message.objects.filter(pk__in=ids, state=State.WAITING)
    return list(rows.select_related("approval__agent").order_by("due_at", "pk"))


def _still_concerned(channel: Channel, messages: Sequence[Message]) -> list[Message]:
    """Drop messages that are no longer to be told here; return the others.

    An admin or the person may have changed what is told here, or somebody lost a group.
    """
    groups = groups_of(channel.person) if channel.person else ()
    now = database_now()
    facts = facts_of(message.approval_id for message in messages if message.approval_id)
    remaining = []
    for message in messages:
        known_facts = facts.get(message.approval_id) if message.approval_id else None
        event = NoticeEvent(message.event)
        concerned = known_facts is None or concerns(channel, known_facts, event, now, groups)
        if event == NoticeEvent.CODE and not is_code_valid(channel, now):
            conclude(Message, message.pk, message.attempts, State.DROPPED, _CODE_OVER)
        elif event in TRYING or (concerned and wants(channel, event)):
            remaining.append(message)
        else:
            conclude(Message, message.pk, message.attempts, State.DROPPED, _NOT_ASKED)
    return remaining


def notices_of(channel: Channel, messages: Sequence[Message]) -> list[Notice]:
    """Return what messages of a channel say."""
    now = database_now()
    facts = facts_of(row.approval_id for row in messages if row.approval_id)
    notices = []
    for message in messages:
        event, about = NoticeEvent(message.event), message.approval
        if about is None:
            place = _PLACES.get(event, "account/told") if channel.person else ""
            code = code_of(channel) if event == NoticeEvent.CODE else ""
            notices.append(
                Notice(
                    event=event,
                    at=message.made_at,
                    now=now,
                    url=f"{settings.PUBLIC_URL}/{place}",
                    expires_at=_ends_at(channel, message),
                    code=code,
                )
            )
            continue
        notices.append(
            Notice(
                event=event,
                at=message.made_at,
                now=now,
                url=f"{settings.PUBLIC_URL}/approvals/{about.pk}",
                id=str(about.pk),
                kind=about.kind,
                agent=about.agent.name,
                severity=str(facts[about.pk].severity or ""),
                expires_at=about.expires_at,
            )
        )
    return in_order(notices)


def _ends_at(channel: Channel, message: Message) -> datetime | None:
    """Return until when a code or a sign-in link counts that somebody is told of."""
    if message.event == NoticeEvent.CODE:
        return code_ends_at(channel)
    if message.event == NoticeEvent.LINK_MADE:
        return message.made_at + timedelta(seconds=settings.SIGN_IN_LINK_LIFE_S)
    return None


def _due(now: datetime) -> QuerySet[Message]:
    """Messages whose time has come, about what still needs people, to whom it still concerns.

    During a hold nobody can decide, so nobody is asked; what still waits is told afterwards.
    """
    is_told = Q(channel__is_active=True) | Q(event__in=ACCOUNT_EVENTS)
    messages = Message.objects.filter(is_told, state=State.WAITING, due_at__lte=now)
    people = Q(channel__person__is_active=True)
    proved = Q(channel__confirmed_at__isnull=False) | Q(event=NoticeEvent.CODE)
    quiet = Q(channel__quiet_until__gt=now) & ~Q(event__in=ALONE)
    is_asked_for = Q(channel__person=None) | (people & proved)
    rests = resting("channel", now) & ~Q(event__in=TRYING)
    return messages.filter(is_asked_for, ~quiet, ~rests, ~_stale_hold(), _still_waits(now))


def _stale_hold() -> Q:
    """What people would be told of a hold that is no longer so. Programs get all, with times."""
    on_hold = Q(Exists(Hold.objects.filter(active=True)))
    untrue = (Q(event=NoticeEvent.HELD) & ~on_hold) | (Q(event=NoticeEvent.LIFTED) & on_hold)
    return untrue & Q(channel__kind__in=_FOR_PEOPLE)


def _still_waits(now: datetime) -> Q:
    """What still needs people, or is told whatever became of it."""
    on_hold = Q(Exists(Hold.objects.filter(active=True)))
    early = Q(event=NoticeEvent.LAST_MINUTE, approval__expires_at__gt=now + LAST_MINUTE)
    waits = Q(approval__expires_at__gt=now, **_WAITS) & ~on_hold & ~early
    return Q(approval=None) | Q(event=NoticeEvent.UNSEEN) | waits
