"""Tables of notebooks as agents sent them, and of which request names which."""

from __future__ import annotations

from django.db import models

from dashboard.accounts.models import Agent
from dashboard.approvals.models.requests import ApprovalRequest


class Notebook(models.Model):
    """A notebook, byte for byte as one agent sent it.

    It never changes. It is deleted only while no request names it; guards in the database see to
    both.
    """

    agent = models.ForeignKey(Agent, models.PROTECT, related_name="notebooks")
    digest = models.CharField(max_length=64)  # SHA-256 of the bytes
    size = models.PositiveIntegerField()  # in bytes
    sent_at = models.DateTimeField()
    outline = models.TextField()  # JSON of an inspection.notebooks.Outline
    body = models.BinaryField()  # last, so that a database need not read past it

    class Meta:
        indexes = [
            # What nobody named is looked for every hour.
            models.Index(fields=["sent_at"], name="notebook_oldest"),
        ]
        constraints = [
            models.UniqueConstraint(fields=["agent", "digest"], name="notebook_once_per_agent"),
        ]


class NotebookPin(models.Model):
    """That a request names a notebook which its agent had sent before. Only ever inserted."""

    approval = models.OneToOneField(ApprovalRequest, models.PROTECT, related_name="pin")
    notebook = models.ForeignKey(Notebook, models.PROTECT, related_name="pins")
