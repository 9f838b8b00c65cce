"""Tables of the policy."""

from __future__ import annotations

from django.conf import settings
from django.db import models


class PolicyRevision(models.Model):
    """One published policy, whole and immutable. The newest one holds.

    ``document`` is canonical JSON, see ``dashboard.policies.documents``.
    """

    number = models.BigIntegerField(primary_key=True)
    document = models.TextField()
    note = models.CharField(max_length=500, blank=True)
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+"
    )
    confirmed_by = models.ForeignKey(  # the second admin, where two are needed
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+"
    )
    loosened = models.TextField(default="[]")  # JSON: sentences that say what it asks less about
    published_at = models.DateTimeField()

    class Meta:
        ordering = ["-number"]

    def __str__(self) -> str:
        return f"revision {self.number}"


class PolicyDraft(models.Model):
    """What one admin is working on, until it is published or thrown away."""

    author = models.OneToOneField(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    document = models.TextField()
    based_on = models.BigIntegerField()  # the revision that it goes on from
    version = models.PositiveIntegerField(default=1)  # two tabs must not overwrite each other
    updated_at = models.DateTimeField()


class PolicyProposal(models.Model):
    """A loosening policy that waits for a second admin. Its document never changes."""

    document = models.TextField()
    note = models.CharField(max_length=500, blank=True)
    author = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    based_on = models.BigIntegerField()
    proposed_at = models.DateTimeField()
    closed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+"
    )
    closed_at = models.DateTimeField(null=True)
    published = models.ForeignKey(PolicyRevision, models.PROTECT, null=True, related_name="+")

    class Meta:
        ordering = ["-proposed_at"]
