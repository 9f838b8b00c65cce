"""Tables of what people, policies and grants answer, and of what agents did with it."""

from __future__ import annotations

from datetime import datetime

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from approval_client.wire import Kind, OutcomeState, Source, Status
from dashboard.accounts.models import Agent
from dashboard.approvals.models._words import choices, one_of
from dashboard.approvals.models.edits import Edit
from dashboard.approvals.models.requests import ApprovalRequest, Judgement

FINAL = [status.value for status in Status if status is not Status.PENDING]


class Vote(models.Model):
    """One person's yes to a request that may need several. Only ever inserted.

    Where a stricter policy asks more of a yes than this one gave, its person gives another.
    """

    # Found by their request alone. With an index on the person or the edit, SQLite takes that one
    # and reads every vote that somebody ever gave.
    approval = models.ForeignKey(ApprovalRequest, models.PROTECT, related_name="votes")
    person = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, related_name="votes", db_index=False
    )
    judgement = models.ForeignKey(Judgement, models.PROTECT, related_name="+")
    edit = models.ForeignKey(Edit, models.PROTECT, null=True, related_name="votes", db_index=False)
    digest = models.CharField(max_length=64)  # of the content that was said yes to
    reason = models.TextField(blank=True)
    end_seen = models.BooleanField()  # whether the end of the content was in sight
    shown = models.TextField(default="{}")  # JSON: what their page had displayed
    voted_at = models.DateTimeField()

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["approval", "person", "judgement"],
                condition=Q(edit=None),
                name="vote_once_per_judgement",
            ),
            models.UniqueConstraint(
                fields=["edit", "person", "judgement"],
                condition=Q(edit__isnull=False),
                name="vote_once_per_judgement_of_an_edit",
            ),
        ]


class GrantQuerySet(models.QuerySet["Grant"]):
    """Filters that callers combine."""

    def in_force(self, at: datetime) -> GrantQuerySet:
        """What can answer something at ``at``."""
        unused = Q(most_uses=None) | Q(uses__lt=F("most_uses"))
        return self.filter(unused, ended_at=None, expires_at__gt=at).order_by("pk")


class Grant(models.Model):
    """A remembered yes: for whom, for what exactly, until when and how often.

    Its terms never change; it is used, and ended once. Guards in the database see to it.
    """

    # Its grants in force are looked up, by an index of their own; never all that it ever had.
    agent = models.ForeignKey(Agent, models.PROTECT, related_name="grants", db_index=False)
    run_id = models.CharField(max_length=200, blank=True)  # empty: every run of the agent
    scope = models.CharField(max_length=10)
    kind = models.CharField(max_length=10, choices=choices(Kind))
    digest = models.CharField(max_length=64)  # of the content that was said yes to
    tool = models.CharField(max_length=200, blank=True)
    arguments = models.TextField(default="{}")  # canonical JSON: values that have to be the same
    findings = models.TextField(default="{}")  # JSON: what the yes covered, name -> severity
    content = models.TextField(blank=True)  # canonical JSON; empty: what ``made_from`` asks
    edit = models.ForeignKey(Edit, models.PROTECT, null=True, related_name="grants")
    made_from = models.ForeignKey(ApprovalRequest, models.PROTECT, related_name="grants_made")
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="grants")
    made_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    most_uses = models.PositiveIntegerField(null=True)

    uses = models.PositiveIntegerField(default=0)
    ended_at = models.DateTimeField(null=True)
    ended_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+"
    )
    ended_because = models.CharField(max_length=200, blank=True)

    objects = GrantQuerySet.as_manager()

    class Meta:
        ordering = ["-made_at"]
        indexes = [
            # Looked up at every submission that a person would be asked about.
            models.Index(
                fields=["agent", "expires_at"],
                name="grant_of_agent_by_end",
                condition=Q(ended_at=None),
            ),
            # Looked through after each new policy.
            models.Index(fields=["expires_at"], name="grant_by_end", condition=Q(ended_at=None)),
        ]
        constraints = [
            one_of("scope", ["content", "arguments", "tool"], "grant_scope_known"),
            models.CheckConstraint(
                condition=Q(expires_at__gt=F("made_at")), name="grant_ends_after_it_begins"
            ),
            models.CheckConstraint(
                condition=Q(most_uses=None) | Q(uses__lte=F("most_uses")),
                name="grant_used_no_more_often_than_said",
            ),
            models.CheckConstraint(
                condition=Q(edit=None) | (Q(scope="content", most_uses=1) & ~Q(run_id="")),
                name="grant_of_a_replacement_is_for_once_in_its_run",
            ),
        ]


class Decision(models.Model):
    """The one final answer to a request. Only ever inserted, in the moment the request closes."""

    approval = models.OneToOneField(ApprovalRequest, models.PROTECT, related_name="decision")
    status = models.CharField(max_length=10, choices=choices(Status))
    source = models.CharField(max_length=10, choices=choices(Source))
    reason = models.TextField(blank=True)
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="decisions"
    )
    decided_at = models.DateTimeField()
    digest = models.CharField(max_length=64)
    valid_until = models.DateTimeField(null=True)
    judgement = models.ForeignKey(Judgement, models.PROTECT, null=True, related_name="+")
    grant = models.ForeignKey(Grant, models.PROTECT, null=True, related_name="answered")
    edit = models.ForeignKey(Edit, models.PROTECT, null=True, related_name="decisions")
    steps = models.TextField(default="[]")  # JSON: what becomes of each step of a plan
    shown = models.TextField(default="{}")  # JSON: what the reviewer's page had displayed
    counted = models.TextField(default="[]")  # JSON: the names of those whose yes counted
    # The earlier answer to exactly the same question that was given again.
    repeats = models.ForeignKey("self", models.PROTECT, null=True, related_name="+")

    class Meta:
        indexes = [
            # The list of what was decided lately.
            models.Index(fields=["-decided_at"], name="decision_newest"),
        ]
        constraints = [
            models.CheckConstraint(
                condition=Q(source="grant", grant__isnull=False, status="approved")
                | (~Q(source="grant") & Q(grant__isnull=True)),
                name="decision_of_a_grant_names_it",
            ),
            models.CheckConstraint(
                condition=Q(edit=None) | Q(source="reviewer", status="approved"),
                name="decision_for_an_edit_is_a_reviewers_yes",
            ),
            one_of("status", FINAL, "decision_is_final"),
            one_of("source", [s.value for s in Source], "decision_source_known"),
            models.CheckConstraint(
                condition=Q(status="approved", valid_until__isnull=False)
                | (~Q(status="approved") & Q(valid_until__isnull=True)),
                name="decision_valid_only_when_approved",
            ),
            models.CheckConstraint(
                condition=~Q(source="reviewer") | Q(decided_by__isnull=False),
                name="decision_of_a_reviewer_names_them",
            ),
        ]


class Outcome(models.Model):
    """What the agent reports about an approval it used. ``started`` exists once, ever."""

    approval = models.ForeignKey(ApprovalRequest, models.PROTECT, related_name="outcomes")
    state = models.CharField(max_length=10, choices=choices(OutcomeState))
    idempotency_key = models.CharField(max_length=200)
    report_hash = models.CharField(max_length=64)
    digest = models.CharField(max_length=64)
    exit_code = models.IntegerField(null=True)
    error = models.TextField(blank=True)
    duration_s = models.FloatField(null=True)
    output_head = models.TextField(blank=True)
    reported_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["approval", "state"], name="outcome_state_once"),
            one_of("state", [s.value for s in OutcomeState], "outcome_state_known"),
        ]
