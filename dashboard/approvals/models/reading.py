"""Tables of what was served to whom, and of secrets that somebody had shown."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from dashboard.approvals.models.requests import ApprovalRequest


class ServedPart(models.Model):
    """That a part of a long content was served to a person. Only ever inserted."""

    approval = models.ForeignKey(ApprovalRequest, models.PROTECT, related_name="+")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    view = models.CharField(max_length=64)  # digest: which text, by which renderer
    part = models.PositiveIntegerField()  # from 1
    served_at = models.DateTimeField()

    class Meta:
        constraints = [
            # Its columns in this order are also how what was served to one person is looked up.
            models.UniqueConstraint(
                fields=["approval", "person", "view", "part"], name="served_once_per_person"
            ),
        ]


class Reveal(models.Model):
    """That a person had the masked secrets of a request shown. Only ever inserted."""

    approval = models.ForeignKey(ApprovalRequest, models.PROTECT, related_name="+")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    revealed_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["approval", "person"], name="reveal_once_per_person"),
        ]
