"""The table of the order in which requests were closed."""

from __future__ import annotations

from django.db import models

from dashboard.accounts.models import Agent
from dashboard.approvals.models.requests import ApprovalRequest


class Closing(models.Model):
    """One request's place among all that were closed. Only ever inserted, with its decision.

    ``seq`` is that of the audit entry. The head of the log is locked until the transaction ends,
    so whoever can read one closing can read all before it, which no clock could promise. Who
    reads on from where they stood misses nothing: agents, and what is sent to hosts.
    """

    seq = models.BigIntegerField(primary_key=True)
    approval = models.OneToOneField(ApprovalRequest, models.PROTECT, related_name="closing")
    agent = models.ForeignKey(Agent, models.PROTECT, related_name="closings", db_index=False)
    decided_at = models.DateTimeField()  # as in the decision, where other tables need not be read

    class Meta:
        ordering = ["seq"]
        indexes = [
            # An agent reads on from where it stood.
            models.Index(fields=["agent", "seq"], name="closing_of_agent"),
            # Where it begins to, if all it knows is a moment.
            models.Index(fields=["agent", "decided_at", "seq"], name="closing_of_agent_since"),
        ]
