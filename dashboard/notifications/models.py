"""Tables of who is called back, and of every call."""

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
