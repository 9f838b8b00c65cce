"""What has to be sent, who sends it now, and what came of it.

The order of closings and recalls is the outbox: it is written with each decision, and when an
approval is taken back, and here we keep how far we have read. So a crash between a decision and
its delivery costs time and no message, and a webhook can neither delay a decision nor make it
fail.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import NamedTuple
from uuid import UUID

from django.db import transaction
from django.db.models import BooleanField, Exists, Min, OuterRef, QuerySet, Value

from approval_client.wire import Status, canonical_json
from dashboard.approvals.models import Closing, Recall
from dashboard.audit.actions import Action
from dashboard.audit.names import agent_name
from dashboard.audit.services import Actor, AuditEvent, record
from dashboard.clock import database_now, written
from dashboard.notifications.errors import SecretLost
from dashboard.notifications.models import Delivery, State, Webhook
from dashboard.notifications.secrets import signed_headers, signing_keys
from dashboard.notifications.sending import Sent
from dashboard.notifications.services.attempts import (
    conclude,
    drop,
    fail,
    forget,
    leave_alone,
    resting,
    take,
    under_way,
)
from dashboard.notifications.services.webhooks import SWITCHED_OFF
from dashboard.statements import rows

_BATCH = 200


class Attempt(NamedTuple):
    """One attempt that somebody has begun: what to send, and which attempt it is."""

    delivery_id: UUID
    number: int
    webhook_id: int
    url: str
    headers: Mapping[str, str]
    body: bytes


def queue_decided() -> int:
    """Make deliveries of what was decided or taken back since we looked; returns how many."""
    if not _called_back():
        return 0
    # Two queries, not one with OR: for that PostgreSQL reads both tables whole.
    new = {"agent": OuterRef("agent"), "seq__gt": OuterRef("after")}
    behind = {
        pk
        for change in (Closing, Recall)
        for pk in Webhook.objects.filter(
            Exists(change.objects.filter(**new)), is_active=True
        ).values_list("pk", flat=True)
    }
    return sum(_queue(pk) for pk in sorted(behind))


def webhooks_with_due(besides: Iterable[int], limit: int) -> list[int]:
    """Return the webhooks that have something to send now, those that wait longest first."""
    if not _waiting():
        return []
    now = database_now()
    deliveries = Delivery.objects.filter(
        state=State.WAITING, due_at__lte=now, webhook__is_active=True
    )
    deliveries = deliveries.exclude(resting("webhook", now))
    waiting = deliveries.exclude(webhook__in=list(besides)).order_by().values("webhook")
    longest = waiting.annotate(first=Min("due_at")).order_by("first", "webhook")
    return list(longest.values_list("webhook", flat=True)[:limit])


# Nearly always there is neither, and Django builds what asks more for longer than these take.
@rows()
def _called_back() -> QuerySet[Webhook, int]:
    return Webhook.objects.filter(is_active=True).order_by().values_list("pk", flat=True)[:1]


@rows()
def _waiting() -> QuerySet[Delivery, UUID]:
    waiting = Delivery.objects.filter(state=State.WAITING)
    return waiting.order_by().values_list("pk", flat=True)[:1]


def begin(webhook_id: int) -> Attempt | None:
    """Take the delivery of a webhook that waits longest, or None if nobody has to be called.

    Of two who try at once one gets it, and it is theirs for a minute.
    """
    deliveries = Delivery.objects.select_related(
        "webhook", "approval__decision", "approval__recall"
    )
    deliveries = deliveries.filter(webhook=webhook_id, webhook__is_active=True).order_by(
        "due_at", "pk"
    )
    deliveries = deliveries.exclude(resting("webhook", database_now()))
    while delivery := take(lambda: deliveries):
        try:
            return _attempt(delivery)
        except SecretLost as error:
            fail(Delivery, delivery.pk, delivery.attempts, str(error))
    return None


def settle(attempt: Attempt, outcome: Sent) -> bool:
    """Write down what came of an attempt; says whether it was still ours to write down."""
    sentence, pk, number = outcome.said[:300], attempt.delivery_id, attempt.number
    if outcome.taken:
        return conclude(Delivery, pk, number, State.DELIVERED, sentence)
    host = Webhook.objects.filter(pk=attempt.webhook_id, url=attempt.url)
    if not host.exists():  # what an earlier address answers says nothing about the one since
        return fail(Delivery, pk, number, sentence) is not None
    if outcome.is_gone:
        return _switch_off(attempt, sentence)
    leave_alone(host, outcome.retry_after_s)
    return fail(Delivery, pk, number, sentence, outcome.retry_after_s) is not None


def drop_switched_off() -> int:
    """Drop what an attempt left waiting whose webhook was switched off meanwhile.

    Returns:
        How many.
    """
    if not _waiting():
        return 0
    return drop(Delivery.objects.filter(webhook__is_active=False), SWITCHED_OFF)


def forget_deliveries() -> int:
    """Delete deliveries that nobody needs any more, a month old; returns how many."""
    return forget(Delivery)


@transaction.atomic
def _queue(webhook_id: int) -> int:
    webhook = Webhook.objects.select_for_update(no_key=True).get(pk=webhook_id)
    changes = _changes(webhook) if webhook.is_active else []
    if not changes:
        return 0
    start = database_now() - timedelta(microseconds=len(changes))
    moments = [start + timedelta(microseconds=place) for place in range(len(changes))]
    Delivery.objects.bulk_create(
        # Each a little later than the one before, so that they are sent in order.
        Delivery(
            webhook=webhook,
            approval_id=change.approval_id,
            taken_back=change.taken_back,
            made_at=at,
            due_at=at,
        )
        for change, at in zip(changes, moments, strict=True)
    )
    Webhook.objects.filter(pk=webhook_id).update(after=changes[-1].seq)
    return len(changes)


class _Change(NamedTuple):
    """What a host is told of: that a request was decided, or that an approval was taken back."""

    seq: int
    approval_id: UUID
    taken_back: bool


def _changes(webhook: Webhook) -> list[_Change]:
    """Read what is new, in order. In one statement: of two, one could skip what the other saw."""
    new = {"agent": webhook.agent_id, "seq__gt": webhook.after}
    decided, back = (
        model.objects.filter(**new)
        .order_by()
        .annotate(taken_back=Value(taken_back, BooleanField()))
        .values_list(*_Change._fields)
        for model, taken_back in ((Closing, False), (Recall, True))
    )
    rows = decided.union(back, all=True).order_by("seq")[:_BATCH]
    return [_Change(*row) for row in rows]


def _attempt(delivery: Delivery) -> Attempt:
    body, keys = _body(delivery), signing_keys(delivery.webhook, database_now())
    headers = signed_headers(keys, delivery.pk, body)
    webhook = delivery.webhook
    return Attempt(delivery.pk, delivery.attempts, webhook.pk, webhook.url, headers, body)


def _body(delivery: Delivery) -> bytes:
    approval = delivery.approval
    status, at = approval.status, approval.decision.decided_at
    if delivery.taken_back:  # told as agents are told it
        status, at = Status.CANCELLED, approval.recall.taken_back_at
    data = {
        "id": str(approval.pk),
        "status": status,
        "decided_at": written(at),
        "digest": approval.digest,
        **({"taken_back": True} if delivery.taken_back else {}),
    }
    body = {"type": f"approval.{status}", "timestamp": data["decided_at"], "data": data}
    return canonical_json(body).encode()


@transaction.atomic
def _switch_off(attempt: Attempt, said: str) -> bool:
    """Stop calling a host that said it is gone, as Standard Webhooks ask of a sender."""
    of = Webhook.objects.select_for_update(no_key=True, of=("self",)).select_related("agent")
    webhook = of.filter(pk=attempt.webhook_id, url=attempt.url).first()
    if webhook is None:  # it got another address just now
        return fail(Delivery, attempt.delivery_id, attempt.number, said) is not None
    if not conclude(Delivery, attempt.delivery_id, attempt.number, State.GIVEN_UP, said):
        return False  # somebody else has it by now, or the webhook was switched off
    Webhook.objects.filter(pk=webhook.pk).update(is_active=False)
    waiting = Delivery.objects.filter(~under_way(), webhook=webhook, state=State.WAITING)
    waiting.update(state=State.DROPPED, said=f"{said} So the webhook was switched off.")
    subject = agent_name(webhook.agent.name)
    record(
        Actor("server"), AuditEvent(Action.WEBHOOK_SWITCHED_OFF, subject, details={"said": said})
    )
    return True
