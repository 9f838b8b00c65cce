"""Fills a database that is thrown away with what a year of use leaves behind.

``manage.py shell -c "from tests.benchmarks.filling import fill; fill(kept=1000, pending=10)"``

``multiply`` makes a million requests of ten thousand in a few minutes.
"""

import json
import random
from datetime import timedelta
from itertools import count
from uuid import uuid4

from django.core.management.color import no_style
from django.db import connection, transaction
from django.db.models import DateTimeField, ForeignKey, UUIDField
from django.utils import timezone

from approval_client.wire import canonical_json, digest
from dashboard.accounts.models import AgentToken, User
from dashboard.accounts.services.people import create_person
from dashboard.approvals import guards
from dashboard.approvals.models import (
    ApprovalRequest,
    Closing,
    Decision,
    Grant,
    Inspection,
    Judgement,
    Notebook,
    NotebookPin,
    Outcome,
    Poll,
    View,
    Vote,
)
from dashboard.approvals.services import sum_up
from dashboard.audit import services as audit
from dashboard.audit.models import AuditEntry, AuditHead
from dashboard.audit.services import OPERATOR
from dashboard.inspection.findings import Finding, Report, Severity
from dashboard.notifications.models import Delivery, State, Webhook
from dashboard.policies.rules.demands import Required
from dashboard.policies.services import current_revision

LINES = ["orders = read('s3://analytics/orders/')", "caput('SR:C01', x)", "print(f'{row.id}')"]
BATCH = 1000
YEAR = timedelta(days=365)


def fill(*, kept, pending):
    """Write ``kept`` requests with all that their closing leaves, and ``pending`` open ones.

    The rows are those of the services, in bulk and without guards; the audit log is whole. The
    number of what is spent or over (grants, deliveries, notebooks) grows with ``kept``.
    """
    guards.remove()
    desk = _Desk()
    for start in range(0, kept, BATCH):
        numbers = range(start, min(start + BATCH, kept))
        with transaction.atomic():
            desk.close([desk.ask(YEAR * (kept - number) / kept) for number in numbers])
    for start in range(0, pending, BATCH):
        with transaction.atomic():
            desk.leave_open([desk.ask(timedelta()) for _ in range(min(BATCH, pending - start))])
    guards.install()


def fill_fast(*, kept, pending):
    """The same where ``kept`` is large: whole copies of ten thousand, and the sums of all."""
    fill(kept=min(kept, 10 * BATCH), pending=0)
    if kept > 10 * BATCH:
        multiply(kept // (10 * BATCH) - 1)
    while kept and sum_up():
        pass
    fill(kept=0, pending=pending)


TABLES = [
    ApprovalRequest,
    Inspection,
    Judgement,
    View,
    Poll,
    Vote,
    Grant,
    Decision,
    Closing,
    Outcome,
    AuditEntry,
    Delivery,
    Notebook,
    NotebookPin,
]
"""What ``fill`` writes, each table after those that it refers to."""


def multiply(times):
    """Write ``times`` copies of everything that ``fill`` wrote, while nothing is pending.

    One statement a table does it, fifty times as fast as ``fill``. Each copy is a minute older
    than the one before, and is about another content. Hashes in the audit log's copies do not
    follow each other.
    """
    guards.remove()
    with transaction.atomic(), connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SET LOCAL statement_timeout = 0")
        last = {model: _last_key(cursor, model) for model in TABLES}
        for model in TABLES:
            columns = {f.column: _copied(model, f, last) for f in model._meta.concrete_fields}
            table = model._meta.db_table
            cursor.execute(
                "WITH RECURSIVE"
                " copy(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM copy WHERE n < %s)"
                f" INSERT INTO {table} ({', '.join(columns)})"
                f" SELECT {', '.join(columns.values())} FROM {table} CROSS JOIN copy",
                [times],
            )
        for sql in connection.ops.sequence_reset_sql(no_style(), TABLES):
            cursor.execute(sql)
        newest = AuditEntry.objects.latest("seq")
        AuditHead.objects.update(seq=newest.seq, hash=newest.hash)
    guards.install()


def _last_key(cursor, model):
    """The last of the numbers that are a table's keys; None if its keys are UUIDs."""
    if isinstance(_final(model._meta.pk), UUIDField):
        return None
    cursor.execute(f"SELECT coalesce(max({model._meta.pk.column}), 0) FROM {model._meta.db_table}")
    return cursor.fetchone()[0]


def _final(field):
    while isinstance(field, ForeignKey):
        field = field.target_field
    return field


def _copied(model, field, last):
    """The SQL of what copy number ``n`` has in a column."""
    column, final = f"{model._meta.db_table}.{field.column}", _final(field)
    if final.model in last and final.primary_key and last[final.model] is not None:
        return f"{column} + n * {last[final.model]}"
    if (final.model in last and final.primary_key) or field.name in {"digest", "subject"}:
        return _beginning_otherwise(column, isinstance(final, UUIDField))
    if isinstance(field, DateTimeField):
        return {
            "sqlite": f"strftime('%%Y-%%m-%%d %%H:%%M:%%f', {column}, (-60 * n) || ' seconds')",
            "postgresql": f"{column} - n * interval '60 seconds'",
        }[connection.vendor]
    if field.name in {"idempotency_key", "run_id"}:
        return f"{column} || '-' || n"
    return column


def _beginning_otherwise(column, is_uuid):
    """Other first eight digits: of copies made in this order, not in the same order."""
    number = "((n * 2654435761) & 4294967295)"
    if connection.vendor == "sqlite":
        return f"printf('%%08x', {number}) || substr({column}, 9)"
    text = (
        f"lpad(to_hex({number.replace('n ', 'n::bigint ')}), 8, '0') || substr({column}::text, 9)"
    )
    return f"({text})::uuid" if is_uuid else text


class _Desk:
    """Who asks and who answers, and the clock that they share."""

    def __init__(self):
        self.chance = random.Random(7)  # noqa: S311 - the same rows in every run
        self.now, self.revision = timezone.now(), current_revision()
        self.reports, self.demands = [self._report() for _ in range(50)], Required().to_json()
        self.tokens = list(AgentToken.objects.select_related("agent"))
        self.reviewer = User.objects.filter(is_reviewer=True).first() or create_person(
            username="rita", roles={"reviewer": True}, by=OPERATOR
        )
        self.webhook = Webhook.objects.first() or Webhook.objects.create(
            agent=self.tokens[0].agent,
            url="https://203.0.113.1/",
            salt="",
            fingerprint="",
            after=10**12,  # it has all its deliveries
            changed_by=self.reviewer,
            changed_at=self.now,
        )
        self.number = count(ApprovalRequest.objects.count())

    def ask(self, ago):
        number = next(self.number)
        token = self.tokens[number % len(self.tokens)]
        code = "\n".join(self.chance.choices(LINES, k=30)) + f"\nx_{number} = {number}"
        what = {"code": code, "language": "python"}
        at = self.now - ago
        return ApprovalRequest(
            pk=uuid4(),
            agent=token.agent,
            token=token,
            idempotency_key=f"filled-{number}",
            submission_hash="0" * 64,
            kind="code",
            capability="python_execution",
            content=canonical_json(what),
            digest=digest("code", what),
            objective="Trim the corrector",
            evidence=json.dumps({"analysis_details": "y" * 400}),
            run_id=f"run-{number // 3}",
            submitted_at=at,
            expires_at=at + timedelta(days=2, seconds=number),
            judged_under=self.revision.number,
        )

    def leave_open(self, asked):
        """Insert requests as ``submit`` leaves them."""
        ApprovalRequest.objects.bulk_create(asked)
        self._judge(asked)

    def close(self, asked):
        """Insert requests that were answered, with what their agents did then."""
        for one in asked:
            one.status, one.version = self.chance.choice(["approved", "rejected"]), 2
        approved = [one for one in asked if one.status == "approved"]
        ApprovalRequest.objects.bulk_create(asked)
        judged = self._judge(asked)
        closed_as = self._record(asked)
        on_it = {"person": self.reviewer}
        View.objects.bulk_create(
            View(approval=one, seen_at=_seen_at(one), **on_it) for one in asked
        )
        Poll.objects.bulk_create(
            Poll(approval=one, last_polled_at=one.submitted_at) for one in asked
        )
        Vote.objects.bulk_create(
            Vote(
                approval=one,
                judgement=judged[one.pk],
                digest=one.digest,
                end_seen=True,
                shown=json.dumps({"lines": 1 + one.pk.int % 400}),
                voted_at=_decided_at(one),
                **on_it,
            )
            for one in approved
        )
        Decision.objects.bulk_create(self._decision(one, judged[one.pk]) for one in asked)
        Closing.objects.bulk_create(
            Closing(
                seq=closed_as[one.pk],
                approval=one,
                agent=one.agent,
                decided_at=_decided_at(one),
            )
            for one in asked
        )
        Outcome.objects.bulk_create(
            Outcome(
                approval=one,
                state=state,
                idempotency_key=state,
                report_hash="0" * 64,
                digest=one.digest,
                reported_at=one.submitted_at,
            )
            for one in approved
            for state in ("started", "finished")
        )
        self._leave_beside(asked)

    def _judge(self, asked):
        inspections = Inspection.objects.bulk_create(
            Inspection(
                approval=one,
                digest=one.digest,
                report=self.chance.choice(self.reports),
                repeated=0,
                inspected_at=one.submitted_at,
            )
            for one in asked
        )
        judgements = Judgement.objects.bulk_create(
            Judgement(
                approval=seen.approval,
                inspection=seen,
                revision=self.revision,
                effect="review",
                demands=self.demands,
                trace="[]",
                judged_at=seen.inspected_at,
            )
            for seen in inspections
        )
        return {judgement.approval_id: judgement for judgement in judgements}

    def _report(self):
        severities = [Severity.LOW, Severity.MEDIUM, Severity.HIGH]
        found = [
            Finding("network", self.chance.choice(severities), n, n, "x")
            for n in range(1, self.chance.randint(1, 8))
        ]
        return Report(tuple(found), ("python",)).to_json()

    def _decision(self, one, judgement):
        return Decision(
            approval=one,
            status=one.status,
            source="reviewer",
            decided_by=self.reviewer,
            decided_at=_decided_at(one),
            digest=one.digest,
            valid_until=one.submitted_at if one.status == "approved" else None,
            judgement=judgement,
        )

    def _record(self, asked):
        """Write the entries of the log; returns the number of each decision's."""
        head, entries, decisions = audit._lock_head(), [], {}
        for one in asked:
            words = ["submitted", "judged", "viewed", one.status]
            words += ["started", "finished"] if one.status == "approved" else []
            for word in words:
                event = audit.AuditEvent(
                    f"approval.{word}", str(one.pk), one.digest, {"by": "filling"}
                )
                entry = audit._entry(head, one.submitted_at, OPERATOR, event)
                head.seq, head.hash = entry.seq, entry.hash
                entries.append(entry)
                if word == one.status:
                    decisions[one.pk] = entry.seq
        AuditEntry.objects.bulk_create(entries)
        head.save()
        return decisions

    def _leave_beside(self, asked):
        """What is over but kept: deliveries that arrived, grants that ran out, notebooks."""
        Delivery.objects.bulk_create(
            Delivery(
                webhook=self.webhook,
                approval=one,
                made_at=self.now,
                state=State.DELIVERED,
                attempts=1,
                due_at=one.submitted_at,
            )
            for one in asked
            if one.agent_id == self.webhook.agent_id
        )
        Grant.objects.bulk_create(
            Grant(
                agent=one.agent,
                scope="content",
                kind=one.kind,
                digest=one.digest,
                made_from=one,
                made_by=self.reviewer,
                made_at=one.submitted_at - timedelta(days=2),
                expires_at=one.submitted_at - timedelta(days=1),
            )
            for one in asked[::5]
        )
        named = [one for one in asked[::10] if one.submitted_at < self.now - timedelta(days=1)]
        notebooks = Notebook.objects.bulk_create(
            Notebook(
                agent=one.agent,
                digest=one.digest,
                size=2,
                sent_at=one.submitted_at,
                outline="{}",
                body=b"{}",
            )
            for one in named
        )
        NotebookPin.objects.bulk_create(
            NotebookPin(approval=one, notebook=notebook)
            for one, notebook in zip(named, notebooks, strict=True)
        )


def _seen_at(one):
    return one.submitted_at + timedelta(seconds=one.pk.int % 60)


def _decided_at(one):
    return _seen_at(one) + timedelta(seconds=one.pk.int % 2999)
