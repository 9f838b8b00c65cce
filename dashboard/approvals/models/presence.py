"""Tables of who looked, who waits, and whether everything is stopped."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from dashboard.approvals.models.requests import ApprovalRequest


class View(models.Model):
    """That a person had a request's page open and in sight, the first time."""

    approval = models.ForeignKey(ApprovalRequest, models.PROTECT, related_name="views")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    seen_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["approval", "person"], name="view_once_per_person"),
        ]


class Poll(models.Model):
    """When an agent was last waiting for a request. Written in bulk every few seconds."""

    approval = models.OneToOneField(
        ApprovalRequest, models.PROTECT, primary_key=True, related_name="poll"
    )
    last_polled_at = models.DateTimeField()


class Hold(models.Model):
    """A stop to all approving, from ``placed_at`` until somebody lifts it."""

    placed_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    placed_at = models.DateTimeField()
    reason = models.CharField(max_length=500, blank=True)
    lifted_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+"
    )
    lifted_at = models.DateTimeField(null=True)
    active = models.BooleanField(default=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["active"], condition=Q(active=True), name="hold_only_one_at_a_time"
            ),
        ]
