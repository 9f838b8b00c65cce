"""Tables of who is called back or told, and of every message."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q, Value

from dashboard.accounts.models import Agent
from dashboard.approvals.models import ApprovalRequest


class Signing(models.Model):
    """Whoever gets signed messages.

    Of the secret we keep the salt that it is made of, which is worth nothing without
    ``SECRET_KEY``, and a fingerprint to see whether that key is still the same.
    """

    salt = models.CharField(max_length=64)
    fingerprint = models.CharField(max_length=16)
    # These sign too, until then.
    earlier_salt = models.CharField(max_length=64, blank=True)
    earlier_fingerprint = models.CharField(max_length=16, blank=True)
    earlier_until = models.DateTimeField(null=True)
    # Whoever it is asked to be left alone until then.
    rests_until = models.DateTimeField(null=True)

    class Meta:
        abstract = True


class State(models.TextChoices):
    """Where a message stands."""

    WAITING = "waiting"
    DELIVERED = "delivered"
    GIVEN_UP = "given_up"
    DROPPED = "dropped"


class Attempted(models.Model):
    """One message for one receiver. Its id is the message's, the same at every attempt.

    ``attempts`` counts what was begun. Whoever raises it has the row until ``due_at``, so a
    process that was killed over it costs a minute and no message.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    made_at = models.DateTimeField()
    state = models.CharField(max_length=10, choices=State.choices, default=State.WAITING)
    attempts = models.PositiveSmallIntegerField(default=0)
    due_at = models.DateTimeField()
    tried_at = models.DateTimeField(null=True)
    said = models.CharField(max_length=300, blank=True)  # what came of the last attempt

    class Meta:
        abstract = True


class Webhook(Signing):
    """Where an agent's host is told that something was decided. Admins say so, never agents."""

    agent = models.OneToOneField(Agent, models.PROTECT, related_name="webhook")
    url = models.CharField(max_length=500)
    is_active = models.BooleanField(default=True)
    after = models.BigIntegerField()  # closings and recalls up to this one have their deliveries
    changed_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    changed_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"webhook of {self.agent}"


class Delivery(Attempted):
    """One message for an agent's host."""

    webhook = models.ForeignKey(Webhook, models.PROTECT, related_name="deliveries")
    approval = models.ForeignKey(ApprovalRequest, models.PROTECT, related_name="deliveries")
    taken_back = models.BooleanField(db_default=Value(value=False), default=False)  # else: decided

    class Meta:
        ordering = ["-made_at"]
        indexes = [
            # Looked at every second, and few.
            models.Index(
                fields=["webhook", "due_at"], name="delivery_waiting", condition=Q(state="waiting")
            ),
            # The page of a webhook.
            models.Index(fields=["webhook", "-made_at"], name="delivery_newest"),
            # What is old is deleted.
            models.Index(fields=["made_at"], name="delivery_oldest"),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["webhook", "approval", "taken_back"], name="delivery_once_for_each_change"
            ),
            models.CheckConstraint(
                condition=Q(state__in=State.values), name="delivery_state_known"
            ),
        ]


class NoticeEvent(models.TextChoices):
    """What people are told of. Signed webhooks carry the word as their type."""

    ASKS = "approval.submitted"
    HALF = "approval.half_time"
    LAST_MINUTE = "approval.last_minute"
    UNSEEN = "approval.expired_unseen"
    HELD = "hold.placed"
    LIFTED = "hold.lifted"
    ASSIGNED = "approval.assigned"
    TEST = "channel.test"
    CODE = "channel.code"
    PASSKEY_ADDED = "passkey.added"
    PASSKEY_CONFIRMED = "passkey.confirmed"
    PASSKEY_REMOVED = "passkey.removed"
    FACTOR_ADDED = "factor.added"
    FACTOR_REMOVED = "factor.removed"
    PASSWORD_CHANGED = "person.password_changed"  # noqa: S105 - an action
    LINK_MADE = "sign_in_link.made"
    LINKED = "person.linked"
    UNLINKED = "person.unlinked"
    REACTIVATED = "person.reactivated"
    REMEMBERED = "session.remembered"
    ADDRESS_PAUSED = "person.channel_switched_off"
    ADDRESS_REMOVED = "person.channel_removed"
    KEPT_ADMIN_USED = "kept_admin.signed_in"


HOUSE_EVENTS = (
    NoticeEvent.ASKS,
    NoticeEvent.HALF,
    NoticeEvent.LAST_MINUTE,
    NoticeEvent.UNSEEN,
    NoticeEvent.HELD,
    NoticeEvent.LIFTED,
)
"""What a channel of the house may be told of."""
ACCOUNT_EVENTS = (
    NoticeEvent.PASSKEY_ADDED,
    NoticeEvent.PASSKEY_CONFIRMED,
    NoticeEvent.PASSKEY_REMOVED,
    NoticeEvent.FACTOR_ADDED,
    NoticeEvent.FACTOR_REMOVED,
    NoticeEvent.PASSWORD_CHANGED,
    NoticeEvent.LINK_MADE,
    NoticeEvent.LINKED,
    NoticeEvent.UNLINKED,
    NoticeEvent.REACTIVATED,
    NoticeEvent.REMEMBERED,
    NoticeEvent.ADDRESS_PAUSED,
    NoticeEvent.ADDRESS_REMOVED,
    NoticeEvent.KEPT_ADMIN_USED,
)
"""What a person is told of whatever they chose: that somebody can sign in as them in another way,
or that they are told no longer.

The last is told to all admins. Each but that is called as its action in the log.
"""
_OF_ONE_ENTRY = (NoticeEvent.HELD, NoticeEvent.LIFTED, NoticeEvent.ASSIGNED, *ACCOUNT_EVENTS)
"""What is told once for each entry of the log, and the rest once for each request."""


class Choice(models.TextChoices):
    """What a person wants to be told of. ``ASSIGNED`` unless they say otherwise."""

    ASSIGNED = "assigned"
    HIGH = "high"
    ALL = "all"


class Channel(Signing):
    """Where the house is told that people have to decide, as admins say; or where one person is.

    Of one that is paused, nothing is made; on again, it begins with what happens from then on,
    also half time and last minute of what waits already. A person's goes on being told of their
    account, also for a day after it was removed: or whoever has got into an account would first
    see to it that nobody hears of the rest.
    """

    person = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="channels"
    )  # whose it is; nobody's: the house's
    name = models.CharField(max_length=100, blank=True)  # of the house's
    kind = models.CharField(max_length=20)  # a name in ``channels.KINDS``
    address = models.CharField(max_length=500)  # as its kind reads it
    # JSON lists of names. No groups: of whatever waits for anybody.
    groups = models.TextField(default="[]")
    events = models.TextField()
    least = models.CharField(max_length=10, blank=True)  # a severity; empty: whatever was found
    is_active = models.BooleanField(default=True)
    after = models.BigIntegerField()  # entries of the log up to this one are not told
    failures = models.PositiveIntegerField(default=0)  # attempts since one was taken
    # Several requests are told in one message until then, so that a flood is not one of messages.
    quiet_until = models.DateTimeField(null=True)
    # Of a person's: what they chose, and when they proved that the address is theirs. Until then
    # nothing but the code that proves it is sent there.
    choice = models.CharField(max_length=10, choices=Choice.choices, blank=True, db_default="")
    confirmed_at = models.DateTimeField(null=True)
    code_made_at = models.DateTimeField(null=True)
    code_tries = models.PositiveSmallIntegerField(db_default=0, default=0)
    removed_at = models.DateTimeField(null=True)
    changed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+"
    )  # nobody: the server, which switched it off because its receiver is gone
    changed_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["name"], condition=Q(person=None), name="channel_name_unique_of_the_house"
            ),
            models.UniqueConstraint(
                fields=["person", "kind", "address"],
                condition=Q(person__isnull=False),
                name="channel_once_for_each_person",
            ),
        ]

    def __str__(self) -> str:
        return self.name or f"{self.kind} of {self.person}"


class Message(Attempted):
    """One message for one channel: about a request, about a hold, or to try the channel."""

    channel = models.ForeignKey(Channel, models.CASCADE, related_name="messages")
    approval = models.ForeignKey(ApprovalRequest, models.PROTECT, null=True, related_name="+")
    event = models.CharField(max_length=30, choices=NoticeEvent.choices)
    seq = models.BigIntegerField()  # of the entry in the log that it was made of
    # Told in one message with others that have the same: the id of the first of them.
    batch = models.UUIDField(null=True)

    class Meta:
        ordering = ["-made_at"]
        indexes = [
            # Looked at every second, and few.
            models.Index(
                fields=["channel", "due_at"], name="message_waiting", condition=Q(state="waiting")
            ),
            # The page of a channel.
            models.Index(fields=["channel", "-made_at"], name="message_newest"),
            # What is old is deleted.
            models.Index(fields=["made_at"], name="message_oldest"),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["channel", "approval", "event"],
                condition=~Q(event__in=_OF_ONE_ENTRY),
                name="message_once_of_a_request",
            ),
            models.UniqueConstraint(
                fields=["channel", "seq"],
                condition=Q(event__in=_OF_ONE_ENTRY),
                name="message_once_of_an_entry",
            ),
            models.CheckConstraint(
                condition=Q(state__in=State.values), name="message_state_known"
            ),
            models.CheckConstraint(
                condition=Q(event__in=NoticeEvent.values), name="message_event_known"
            ),
        ]


class LogReading(models.Model):
    """How far the audit log was read for messages: one row, locked while they are made."""

    seq = models.BigIntegerField(default=0)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(pk=1), name="log_reading_is_one_row"),
        ]
