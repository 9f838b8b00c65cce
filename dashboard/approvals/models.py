"""Tables of what agents ask and what became of it."""

from __future__ import annotations

import uuid
from datetime import datetime, timedelta

from django.conf import settings
from django.db import models
from django.db.models import F, Q, Value
from django.db.models.functions import Replace

from approval_client.wire import Kind, OutcomeState, Source, Status
from dashboard.accounts.models import Agent, AgentToken, Passkey
from dashboard.policies.models import PolicyRevision
from dashboard.policies.rules.rule import ToolClass


def _choices(words: type[Kind | Status | Source | OutcomeState]) -> list[tuple[str, str]]:
    return [(word.value, word.value.replace("_", " ")) for word in words]


def _one_of(field: str, words: list[str], name: str) -> models.CheckConstraint:
    return models.CheckConstraint(condition=Q(**{f"{field}__in": words}), name=name)


def _either(field: str, other: str, name: str) -> models.CheckConstraint:
    """Demand that a row is of the one or of the other."""
    of_one = Q(**{field: None, f"{other}__isnull": False})
    of_other = Q(**{f"{field}__isnull": False, other: None})
    return models.CheckConstraint(condition=of_one | of_other, name=name)


class Tool(models.Model):
    """A tool that an agent asked to call, by its name and its schema.

    All three are the agent's word. The same name from another agent, or with another schema, is
    another tool: so no class covers what it was not given for.
    """

    agent = models.ForeignKey(Agent, models.PROTECT, related_name="tools", db_index=False)
    name = models.CharField(max_length=200)
    spelling = models.TextField()  # of the name, as those read it who mind no spelling
    schema_digest = models.CharField(max_length=64, blank=True)  # empty: the agent sent none
    claims = models.TextField(default="{}")  # JSON: the hints of MCP that it sent last
    first_asked_at = models.DateTimeField()
    tool_class = models.CharField(max_length=20, blank=True)  # empty: nobody has classed it
    classed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+", db_index=False
    )
    classed_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["id"]
        indexes = [
            models.Index(
                F("agent"),
                Replace(F("spelling"), Value("_"), Value(""), output_field=models.TextField()),
                name="tool_by_bare_spelling",
            )
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["agent", "name", "schema_digest"], name="tool_once_per_schema"
            ),
            _one_of("tool_class", ["", *map(str, ToolClass)], "tool_class_known"),
        ]


class ApprovalQuerySet(models.QuerySet["ApprovalRequest"]):
    """Filters that callers combine."""

    def pending(self) -> ApprovalQuerySet:
        """Requests that are not closed."""
        return self.filter(status=Status.PENDING)

    def open(self, at: datetime) -> ApprovalQuerySet:
        """Pending requests whose time limit has not passed at ``at``."""
        return self.pending().filter(expires_at__gt=at)

    def overdue(self, at: datetime) -> ApprovalQuerySet:
        """Pending requests whose time limit has passed at ``at``."""
        return self.pending().filter(expires_at__lte=at)


class ApprovalRequest(models.Model):
    """An agent's question: may I do this?

    What was asked never changes after it is submitted; guards in the database see to it. Only
    ``status`` moves, once, from pending to a final value, with ``version`` counting every change
    that an open page would show.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    # An index of its own, below, has an agent's requests in order.
    agent = models.ForeignKey(Agent, models.PROTECT, related_name="approvals", db_index=False)
    token = models.ForeignKey(AgentToken, models.PROTECT, related_name="approvals")
    idempotency_key = models.CharField(max_length=200)
    submission_hash = models.CharField(max_length=64)  # of everything sent under that key
    # Hexadecimal digits: what the log says of this request's rows is an HMAC with it. Empty in
    # rows that are older. It is never NULL either, as ``judged_under`` below.
    log_key = models.CharField(max_length=64, db_default=Value(""), null=True)

    kind = models.CharField(max_length=10, choices=_choices(Kind))
    capability = models.CharField(max_length=200)
    # Of a call; NULL also where it was asked before there were tools, or its agent has too many.
    tool = models.ForeignKey(
        Tool, models.PROTECT, null=True, related_name="requests", db_index=False
    )
    content = models.TextField()  # canonical JSON, as it was hashed
    digest = models.CharField(max_length=64)  # of kind and content; decisions name it
    objective = models.TextField(blank=True)
    evidence = models.TextField(default="{}")  # canonical JSON: the agent's claims
    run_id = models.CharField(max_length=200, blank=True)
    max_wait_s = models.PositiveIntegerField(null=True)
    accepts_edits = models.BooleanField(default=False)
    accepts_grants = models.BooleanField(default=False)
    # The span of the agent's trace that asked, for spans of what comes of it.
    traceparent = models.CharField(max_length=55, null=True)
    submitted_at = models.DateTimeField()

    status = models.CharField(max_length=10, choices=_choices(Status), default=Status.PENDING)
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
            # How often an agent asked the same before, counted at every submission; and what else
            # was answered to the same content.
            models.Index(fields=["digest", "agent"], name="approval_of_content"),
            # What became of the calls of a tool, and which was approved last.
            models.Index(
                fields=["tool", "status", "-submitted_at"],
                name="approval_of_tool",
                condition=Q(tool__isnull=False),
            ),
            # The history, and one agent's: page by page, without sorting.
            models.Index(fields=["-submitted_at", "-id"], name="approval_in_order"),
            models.Index(
                fields=["agent", "-submitted_at", "-id"], name="approval_of_agent_in_order"
            ),
        ]
        constraints = [
            # A retried submission finds the first one instead of asking twice.
            models.UniqueConstraint(
                fields=["agent", "idempotency_key"], name="approval_key_once_per_agent"
            ),
            _one_of("status", [s.value for s in Status], "approval_status_known"),
            _one_of("kind", [k.value for k in Kind], "approval_kind_known"),
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


class RequestHeadline(models.Model):
    """What lists say of a request as it was asked, or of an edit. Only ever inserted.

    Made where the content is inspected. A row that is missing counts as of high severity and not
    fully inspected.
    """

    approval = models.OneToOneField(
        ApprovalRequest, models.PROTECT, null=True, related_name="headline"
    )
    edit = models.OneToOneField("Edit", models.PROTECT, null=True, related_name="headline")
    severity = models.SmallIntegerField()  # rank of the gravest finding; -1 if there is none
    has_doubts = models.BooleanField()  # whether something could not be read or followed
    finding = models.CharField(max_length=40, blank=True)  # the name of the gravest
    facts = models.TextField()  # JSON of an inspection.headline.Headline

    class Meta:
        constraints = [
            _either("approval", "edit", "headline_of_a_request_or_an_edit"),
        ]


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
            _one_of("effect", ["approve", "review", "reject"], "judgement_effect_known"),
        ]


class Edit(models.Model):
    """A reviewer's change of a content. Only ever inserted.

    It decides nothing: it is inspected and judged like a submission, and somebody has to approve
    it, or to send it along with a rejection.
    """

    approval = models.ForeignKey(ApprovalRequest, models.PROTECT, related_name="edits")
    content = models.TextField()  # canonical JSON, as it was hashed
    digest = models.CharField(max_length=64)  # of the request's kind and this content
    report = models.TextField()  # JSON of an inspection.findings.Report about this content
    revision = models.ForeignKey(PolicyRevision, models.PROTECT, related_name="+")
    effect = models.CharField(max_length=10)
    demands = models.TextField()  # JSON: what approving this takes
    trace = models.TextField()  # JSON list of sentences
    steps = models.TextField(default="[]")  # JSON: what becomes of each step of a plan
    edited_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    edited_at = models.DateTimeField()

    class Meta:
        ordering = ["id"]
        constraints = [_one_of("effect", ["approve", "review"], "edit_effect_known")]


class JudgementGrounds(models.Model):
    """What a judgement, or that of an edit, rests on, as facts. Only ever inserted.

    Judgements of an older version have none until a backfill made it from what agents were told.
    """

    judgement = models.OneToOneField(Judgement, models.PROTECT, null=True, related_name="grounds")
    edit = models.OneToOneField(Edit, models.PROTECT, null=True, related_name="grounds")
    facts = models.TextField()  # JSON of a policies.grounds.Grounds

    class Meta:
        constraints = [
            _either("judgement", "edit", "grounds_of_a_judgement_or_an_edit"),
        ]


FINAL = [status.value for status in Status if status is not Status.PENDING]


class Vote(models.Model):
    """One person's approval of a request that may need several. Only ever inserted.

    Where a stricter policy asks for more than this one gave, the same person votes again.
    """

    # Found by their request alone. With an index on the person or the edit, SQLite takes that one
    # and reads every vote that somebody ever gave.
    approval = models.ForeignKey(ApprovalRequest, models.PROTECT, related_name="votes")
    person = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, related_name="votes", db_index=False
    )
    judgement = models.ForeignKey(Judgement, models.PROTECT, related_name="+")
    edit = models.ForeignKey(Edit, models.PROTECT, null=True, related_name="votes", db_index=False)
    digest = models.CharField(max_length=64)  # of the content that was approved
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


VOTE_WITH = ("person", "signature__passkey__removal")
"""What is read with a vote, to tell whether it counts."""


class Signature(models.Model):
    """What the device of a person signed when they approved. Only ever inserted.

    What had to be signed follows from the vote and the nonce: ``rules/signature.py``. Texts are
    base64url, as Web Authentication names them.
    """

    vote = models.OneToOneField(Vote, models.PROTECT, related_name="signature")
    passkey = models.ForeignKey(Passkey, models.PROTECT, related_name="signatures")
    nonce = models.CharField(max_length=64, unique=True)
    authenticator_data = models.TextField()
    client_data = models.TextField()
    value = models.TextField()  # the signature itself


class GrantQuerySet(models.QuerySet["Grant"]):
    """Filters that callers combine."""

    def in_force(self, at: datetime) -> GrantQuerySet:
        """Grants that can still be used at ``at``."""
        unused = Q(most_uses=None) | Q(uses__lt=F("most_uses"))
        return self.filter(unused, ended_at=None, expires_at__gt=at).order_by("pk")


class Grant(models.Model):
    """A remembered approval: for whom, for what exactly, until when and how often.

    Its terms never change; it is used, and ended once. Guards in the database see to it.
    """

    # Its grants in force are looked up, by an index of their own; never all that it ever had.
    agent = models.ForeignKey(Agent, models.PROTECT, related_name="grants", db_index=False)
    run_id = models.CharField(max_length=200, blank=True)  # empty: every run of the agent
    scope = models.CharField(max_length=10)
    kind = models.CharField(max_length=10, choices=_choices(Kind))
    digest = models.CharField(max_length=64)  # of the content that was approved
    tool = models.CharField(max_length=200, blank=True)
    arguments = models.TextField(default="{}")  # canonical JSON: values that have to be the same
    findings = models.TextField(default="{}")  # JSON: what the approval covered, name -> severity
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
            _one_of("scope", ["content", "arguments", "tool"], "grant_scope_known"),
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
    status = models.CharField(max_length=10, choices=_choices(Status))
    source = models.CharField(max_length=10, choices=_choices(Source))
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
    counted = models.TextField(default="[]")  # JSON: names of the people whose approval counted
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
            _one_of("status", FINAL, "decision_is_final"),
            _one_of("source", [s.value for s in Source], "decision_source_known"),
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

    @property
    def has_steps(self) -> bool:
        """Whether the steps of a plan were answered one by one."""
        return self.steps != "[]"

    @property
    def waited_s(self) -> float:
        """How long the agent waited for the answer."""
        return max(0.0, (self.decided_at - self.approval.submitted_at).total_seconds())


class Outcome(models.Model):
    """What the agent reports about an approval it used. ``started`` exists once, ever."""

    approval = models.ForeignKey(ApprovalRequest, models.PROTECT, related_name="outcomes")
    state = models.CharField(max_length=10, choices=_choices(OutcomeState))
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
            _one_of("state", [s.value for s in OutcomeState], "outcome_state_known"),
        ]


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


class Recall(models.Model):
    """An approval that a person took back before it was started. Only ever inserted.

    The decision stays what it was. ``started`` is refused from then on, and the agent is told that
    the request is cancelled. ``seq`` is that of the audit entry, in one order with ``Closing``.
    """

    seq = models.BigIntegerField(primary_key=True)
    approval = models.OneToOneField(ApprovalRequest, models.PROTECT, related_name="recall")
    agent = models.ForeignKey(Agent, models.PROTECT, related_name="recalls", db_index=False)
    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    source = models.CharField(max_length=10, choices=_choices(Source))
    reason = models.TextField()
    taken_back_at = models.DateTimeField()

    class Meta:
        ordering = ["seq"]
        indexes = [
            # A host is told of what came after the place where it stood.
            models.Index(fields=["agent", "seq"], name="recall_of_agent"),
        ]
        constraints = [
            _one_of("source", [Source.REVIEWER.value, Source.ADMIN.value], "recall_by_a_person"),
        ]


class InsightSum(models.Model):
    """What the requests of one day add to the figures of the insight page, once they are closed.

    Made from the rows by a sweep, in the order of closings, and by nothing else: it can be
    deleted together with ``InsightHead`` and ``InsightDispute``, and is then made anew.
    """

    day = models.DateField()  # on which it was asked, in UTC
    part = models.CharField(max_length=10)  # one of rules.insight.PARTS
    figures = models.TextField()  # JSON: by name, what rules.insight counts

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["day", "part"], name="insight_sum_once_a_day"),
        ]


class InsightHead(models.Model):
    """Up to which closing all are in the sums. Moved in the transaction that adds them."""

    seq = models.BigIntegerField()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(pk=1), name="insight_head_is_one_row"),
        ]


class InsightDispute(models.Model):
    """A content that was approved by people at one time and rejected at another."""

    digest = models.CharField(max_length=64, primary_key=True)
    first_at = models.DateTimeField()  # when that which people answered was first asked
    last_at = models.DateTimeField()  # and last

    class Meta:
        indexes = [models.Index(fields=["-last_at"], name="insight_dispute_newest")]


VIEWING_FOR = timedelta(seconds=45)
"""How long a person is shown as viewing after their page last reported; it does every 20 s."""


class AssignmentQuerySet(models.QuerySet["Assignment"]):
    """Filters that callers combine."""

    def counting(self) -> AssignmentQuerySet:
        """Assignments of people who may still decide; the sweeper deletes the others."""
        return self.filter(person__is_active=True, person__is_reviewer=True)


class Assignment(models.Model):
    """The reviewer who is on a pending request. Deleted when the request is closed.

    It gives no right: anybody who may decide still may.
    """

    approval = models.OneToOneField(
        ApprovalRequest, models.PROTECT, primary_key=True, related_name="assignment"
    )
    person = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, related_name="assignments"
    )
    assigned_at = models.DateTimeField()
    # Who was on it before: they gave it to this person, or this person took it over.
    after = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+"
    )
    is_handed = models.BooleanField(default=False)
    note = models.CharField(max_length=500, blank=True)  # a person's words, with the hand-over

    objects = AssignmentQuerySet.as_manager()


class SnoozeQuerySet(models.QuerySet["Snooze"]):
    """Filters that callers combine."""

    def holding(self, at: datetime) -> SnoozeQuerySet:
        """Snoozes that still hide a request at ``at``.

        A snooze that ends after the request expires is ignored: a new policy may have shortened
        the time limit.
        """
        return self.filter(
            until__gt=at,
            until__lt=F("approval__expires_at"),
            approval__status=Status.PENDING,
        )


class Snooze(models.Model):
    """A request hidden from one person's queue until ``until``. Others still see it."""

    approval = models.ForeignKey(ApprovalRequest, models.PROTECT, related_name="snoozes")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    until = models.DateTimeField()

    objects = SnoozeQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["approval", "person"], name="put_off_once_a_person"),
        ]


class ViewingQuerySet(models.QuerySet["Viewing"]):
    """Filters that callers combine."""

    def after(self, at: datetime) -> ViewingQuerySet:
        """Viewings of pending requests by active reviewers that were last seen after ``at``."""
        may = {"person__is_active": True, "person__is_reviewer": True}
        return self.filter(last_seen_at__gt=at, approval__status=Status.PENDING, **may)


class Viewing(models.Model):
    """When a person's open page last said that it is in sight. Written often, never recorded.

    It is deleted when it is old, and not with the closing: agents wait for that.
    """

    approval = models.ForeignKey(ApprovalRequest, models.PROTECT, related_name="viewings")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    last_seen_at = models.DateTimeField()

    objects = ViewingQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["approval", "person"], name="looking_once_a_person"),
        ]


class View(models.Model):
    """The first time that a person had a request's page open and in sight."""

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
    # After a restore: whoever lifts it says first that they looked through what is old.
    must_confirm = models.BooleanField(db_default=Value(value=False), default=False)
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


class ServedPart(models.Model):
    """A part of a long content that was served to a person. Only ever inserted."""

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
    """A person had the hidden secrets of a request shown. Only ever inserted."""

    approval = models.ForeignKey(ApprovalRequest, models.PROTECT, related_name="+")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    revealed_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["approval", "person"], name="reveal_once_per_person"),
        ]


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
    """A request names a notebook that its agent sent before. Only ever inserted."""

    approval = models.OneToOneField(ApprovalRequest, models.PROTECT, related_name="pin")
    notebook = models.ForeignKey(Notebook, models.PROTECT, related_name="pins")
