"""Table of what people made of a content, for who accepts that or as a replacement."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from dashboard.approvals.models._words import one_of
from dashboard.approvals.models.requests import ApprovalRequest
from dashboard.policies.models import PolicyRevision


class Edit(models.Model):
    """What a reviewer would rather see than what was asked. Only ever inserted.

    It decides nothing: it is inspected and judged like a submission, and somebody has to approve
    it, or to send it along with a no.
    """

    approval = models.ForeignKey(ApprovalRequest, models.PROTECT, related_name="edits")
    content = models.TextField()  # canonical JSON, as it was hashed
    digest = models.CharField(max_length=64)  # of the request's kind and this content
    report = models.TextField()  # JSON of an inspection.findings.Report about this content
    revision = models.ForeignKey(PolicyRevision, models.PROTECT, related_name="+")
    effect = models.CharField(max_length=10)
    demands = models.TextField()  # JSON: what a yes to this takes
    trace = models.TextField()  # JSON list of sentences
    steps = models.TextField(default="[]")  # JSON: what becomes of each step of a plan
    edited_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    edited_at = models.DateTimeField()

    class Meta:
        ordering = ["id"]
        constraints = [one_of("effect", ["approve", "review"], "edit_effect_known")]
