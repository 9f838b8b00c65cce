"""Tables of the audit log."""

from __future__ import annotations

from django.db import models
from django.db.models import Value


class AuditEntry(models.Model):
    """Something that happened: who, when, how they were known, to what.

    Rows are only ever inserted; guards in the database refuse anything else. Each carries the
    hash of the row before it. It holds digests and fingerprints, never a content or what an agent
    or a reviewer wrote about one.
    """

    seq = models.BigIntegerField(primary_key=True)
    at = models.DateTimeField()
    actor = models.CharField(max_length=200)
    auth = models.CharField(max_length=100, blank=True)
    action = models.CharField(max_length=60)
    subject = models.CharField(max_length=200, blank=True)
    digest = models.CharField(max_length=64, blank=True)
    details = models.TextField(default="{}")
    prev = models.CharField(max_length=64)
    hash = models.CharField(max_length=64)

    class Meta:
        ordering = ["seq"]
        indexes = [
            # A request's page shows its own story.
            models.Index(fields=["subject", "seq"], name="audit_by_subject"),
        ]


class AuditHead(models.Model):
    """The last link of the chain: one row, locked last in every transaction that records.

    ``latest_at`` is the latest moment of all entries, which may be another one's than the last's:
    so a clock that was set back is still found after something else was recorded.
    """

    seq = models.BigIntegerField()
    hash = models.CharField(max_length=64)
    latest_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=models.Q(pk=1), name="audit_head_is_one_row"),
        ]


class AuditVerification(models.Model):
    """A verification: a walk over the whole log, and then the tables compared with it.

    One that a page asked for is taken in the background part by part, and goes on from where it
    stands, whichever process takes the next part. What it says is as trustworthy as the database
    that holds it; the proof is a head that was kept elsewhere.
    """

    asked_by = models.CharField(max_length=200)
    auth = models.CharField(max_length=100, blank=True)
    asked_at = models.DateTimeField()
    expect_seq = models.BigIntegerField(null=True)  # a head that was kept elsewhere
    expect_hash = models.CharField(max_length=64, blank=True)
    until = models.BigIntegerField()  # where the log ended when this was asked for
    seq = models.BigIntegerField(default=0)  # how far the walk came
    hash = models.CharField(max_length=64)
    # Where the comparison of the tables with the log stands; empty before the log was walked.
    place = models.CharField(max_length=100, blank=True, db_default=Value(""), default="")
    compared = models.BigIntegerField(db_default=Value(0), default=0)  # rows, of about so many:
    to_compare = models.BigIntegerField(db_default=Value(0), default=0)
    ended_at = models.DateTimeField(null=True)
    problem = models.CharField(
        max_length=300, blank=True
    )  # the first break; empty if there is none

    class Meta:
        ordering = ["id"]

    @property
    def percent(self) -> int:
        """How much was walked and compared, for a bar; never 100 before the end."""
        so_far, all_of_it = self.seq + self.compared, self.until + self.to_compare
        return 100 if self.ended_at else min(99, so_far * 100 // max(all_of_it, 1))
