"""Tables of what agents ask, what was found in it and what policies say of it."""

from __future__ import annotations

import uuid
from datetime import datetime

from django.db import models
from django.db.models import F, Q, Value

from approval_client.wire import Kind, Status
from dashboard.accounts.models import Agent, AgentToken
from dashboard.approvals.models._words import choices, one_of
from dashboard.policies.models import PolicyRevision


class ApprovalQuerySet(models.QuerySet["ApprovalRequest"]):
    """Filters that callers combine."""

    def pending(self) -> ApprovalQuerySet:
        """What nobody has answered."""
        return self.filter(status=Status.PENDING)

    def open(self, at: datetime) -> ApprovalQuerySet:
        """What can still be answered at ``at``."""
        return self.pending().filter(expires_at__gt=at)

    def overdue(self, at: datetime) -> ApprovalQuerySet:
        """What nobody answered in time."""
        return self.pending().filter(expires_at__lte=at)


class ApprovalRequest(models.Model):
    """An agent's question: may I do this?

    What was asked never changes after it is submitted; guards in the database see to it. Only
    ``status`` moves, once, from pending to a final value, with ``version`` counting every change
    that an open page would show.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    agent = models.ForeignKey(Agent, models.PROTECT, related_name="approvals")
    token = models.ForeignKey(AgentToken, models.PROTECT, related_name="approvals")
    idempotency_key = models.CharField(max_length=200)
    submission_hash = models.CharField(max_length=64)  # of everything sent under that key

    kind = models.CharField(max_length=10, choices=choices(Kind))
    capability = models.CharField(max_length=200)
    content = models.TextField()  # canonical JSON, as it was hashed
    digest = models.CharField(max_length=64)  # of kind and content; decisions name it
    objective = models.TextField(blank=True)
    evidence = models.TextField(default="{}")  # canonical JSON: the agent's claims
    run_id = models.CharField(max_length=200, blank=True)
    max_wait_s = models.PositiveIntegerField(null=True)
    accepts_edits = models.BooleanField(default=False)
    accepts_grants = models.BooleanField(default=False)
    submitted_at = models.DateTimeField()

    status = models.CharField(max_length=10, choices=choices(Status), default=Status.PENDING)
    version = models.PositiveIntegerField(default=1)
    # The number of the revision that judged it last, by which the sweep finds what a new policy
    # has not judged; 0 if that was before this was kept. It is never NULL, but SQLite would copy
    # the whole table to add a column that may not be.
    judged_under = models.BigIntegerField(db_default=Value(0), null=True)
    expires_at = models.DateTimeField()
    extensions = models.PositiveSmallIntegerField(default=0)  # how often people added time
    extended_s = models.FloatField(default=0)  # and how much, within ``expires_at``

    objects = ApprovalQuerySet.as_manager()

    class Meta:
        ordering = ["-submitted_at"]
        indexes = [
            # The queue and the sweeper read pending rows only, and those are few.
            models.Index(
                fields=["expires_at"], name="approval_pending", condition=Q(status="pending")
            ),
            # What a new policy has not judged yet: looked for every second, and mostly nothing.
            models.Index(
                fields=["judged_under", "submitted_at"],
                name="approval_judged_under",
                condition=Q(status="pending"),
            ),
            # What came before in a run, on each page of a request.
            models.Index(fields=["agent", "run_id", "-submitted_at"], name="approval_of_run"),
            # The cap on what one token may have pending is counted at every submission.
            models.Index(
                fields=["token"], name="approval_pending_of_token", condition=Q(status="pending")
            ),
            # How often the same was asked before, counted at every submission.
            models.Index(fields=["agent", "digest"], name="approval_same_content"),
            # The list of what was decided lately.
            models.Index(fields=["-submitted_at"], name="approval_newest"),
        ]
        constraints = [
            # A retried submission finds the first one instead of asking twice.
            models.UniqueConstraint(
                fields=["agent", "idempotency_key"], name="approval_key_once_per_agent"
            ),
            one_of("status", [s.value for s in Status], "approval_status_known"),
            one_of("kind", [k.value for k in Kind], "approval_kind_known"),
            models.CheckConstraint(
                condition=Q(expires_at__gt=F("submitted_at")),
                name="approval_expires_after_submission",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} by {self.agent} ({self.status})"


class Inspection(models.Model):
    """What our own inspection found in one content. Only ever inserted."""

    approval = models.ForeignKey(ApprovalRequest, models.PROTECT, related_name="inspections")
    digest = models.CharField(max_length=64)  # of the content that was looked at
    report = models.TextField()  # JSON of an inspection.findings.Report
    repeated = models.PositiveIntegerField()  # how often it was asked before in the same run
    inspected_at = models.DateTimeField()

    class Meta:
        ordering = ["id"]


class Judgement(models.Model):
    """What one policy revision said about one request, and why. Only ever inserted."""

    approval = models.ForeignKey(ApprovalRequest, models.PROTECT, related_name="judgements")
    inspection = models.ForeignKey(Inspection, models.PROTECT, related_name="+")
    revision = models.ForeignKey(PolicyRevision, models.PROTECT, related_name="+")
    effect = models.CharField(max_length=10)
    demands = models.TextField()  # JSON: what a review asks for
    trace = models.TextField()  # JSON list of sentences
    judged_at = models.DateTimeField()

    class Meta:
        ordering = ["id"]
        constraints = [
            one_of("effect", ["approve", "review", "reject"], "judgement_effect_known"),
        ]
