"""Tables of who is on a request, who put it off, and who has it open. None of them is a right."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.conf import settings
from django.db import models
from django.db.models import F

from approval_client.wire import Status
from dashboard.approvals.models.requests import ApprovalRequest

LOOKING_FOR = timedelta(seconds=45)
"""How long somebody counts as looking after their page last said so; it does every 20 s."""


class ClaimQuerySet(models.QuerySet["Claim"]):
    """Filters that callers combine."""

    def counting(self) -> ClaimQuerySet:
        """Those of people who may still decide; the sweeper takes the others off."""
        return self.filter(person__is_active=True, person__is_reviewer=True)


class Claim(models.Model):
    """That one person is on a pending request. It goes with the request's answer.

    Attention, never a right: anybody who may decide still may.
    """

    approval = models.OneToOneField(
        ApprovalRequest, models.PROTECT, primary_key=True, related_name="claim"
    )
    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="claims")
    claimed_at = models.DateTimeField()
    # Who was on it before: they gave it to this person, or this person took it over.
    after = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+"
    )
    is_handed = models.BooleanField(default=False)
    note = models.CharField(max_length=500, blank=True)  # a person's words, with the hand-over

    objects = ClaimQuerySet.as_manager()


class PutOffQuerySet(models.QuerySet["PutOff"]):
    """Filters that callers combine."""

    def holding(self, at: datetime) -> PutOffQuerySet:
        """Those that still hide something at ``at``.

        One that would outlast the time limit hides nothing: perhaps a new policy shortened it.
        """
        return self.filter(
            until__gt=at,
            until__lt=F("approval__expires_at"),
            approval__status=Status.PENDING,
        )


class PutOff(models.Model):
    """That a person does not want to see a request before ``until``. Others still see it."""

    approval = models.ForeignKey(ApprovalRequest, models.PROTECT, related_name="put_off")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    until = models.DateTimeField()

    objects = PutOffQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["approval", "person"], name="put_off_once_a_person"),
        ]


class LookingQuerySet(models.QuerySet["Looking"]):
    """Filters that callers combine."""

    def fresh(self, at: datetime) -> LookingQuerySet:
        """Those who look at ``at`` and may decide."""
        may = {"person__is_active": True, "person__is_reviewer": True}
        return self.filter(last_seen_at__gt=at - LOOKING_FOR, **may)


class Looking(models.Model):
    """When a person's open page last said that it is in sight. Written often, never recorded."""

    approval = models.ForeignKey(ApprovalRequest, models.PROTECT, related_name="looking")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    last_seen_at = models.DateTimeField()

    objects = LookingQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["approval", "person"], name="looking_once_a_person"),
        ]
