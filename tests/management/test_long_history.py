"""What is asked again and again costs the same, however many requests are kept.

Costs are counted, not timed: steps of SQLite's virtual machine, rows that PostgreSQL reads.
"""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from dashboard.accounts.models import AgentToken
from dashboard.accounts.queries import tokens_that_work
from dashboard.accounts.services.sessions import forget_expired
from dashboard.approvals import guards, queries, services
from dashboard.approvals.clock import database_now
from dashboard.approvals.models import ApprovalRequest, Closing
from dashboard.live.sessions import Visitor, still_welcome
from dashboard.notifications.models import Webhook
from dashboard.notifications.services import forget_deliveries
from dashboard.notifications.services.outbox import begin, queue_decided, webhooks_with_due
from tests import make
from tests.benchmarks.filling import fill

pytestmark = pytest.mark.django_db
FEW, MANY, PENDING = 100, 900, 20
STEPS = 10  # how many of SQLite's are counted together


def cost_of(work):
    return _rows(work) if connection.vendor == "postgresql" else _steps(work)


def _steps(work):
    counted = 0

    def count():
        nonlocal counted
        counted += STEPS
        return 0

    connection.ensure_connection()
    connection.connection.set_progress_handler(count, STEPS)
    try:
        work()
    finally:
        connection.connection.set_progress_handler(None, 0)
    return counted


def _rows(work):
    with CaptureQueriesContext(connection) as done:
        work()
    return sum(_read(query["sql"]) for query in done if query["sql"].startswith("SELECT"))


def _read(sql):
    with connection.cursor() as cursor:  # of few rows it would read all, though there is an index
        cursor.execute("SET LOCAL enable_seqscan = off")
    return sum(_rows_of(node) for node in _scans(explained(sql, "ANALYZE")))


def _scans(plan):
    if "Relation Name" in plan:
        yield plan
    for part in plan.get("Plans", ()):
        yield from _scans(part)


def _rows_of(scan):
    read = ("Actual Rows", "Rows Removed by Filter", "Rows Removed by Index Recheck")
    return sum(scan.get(name, 0) for name in read) * scan["Actual Loops"]


def explained(sql, *options):
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(f"EXPLAIN ({', '.join([*options, 'FORMAT JSON'])}) {sql}")
            return cursor.fetchone()[0][0]["Plan"]
        cursor.execute(f"EXPLAIN QUERY PLAN {sql}")
        return [row[3] for row in cursor.fetchall()]


def filled(kept, pending):
    """Keep ``kept`` more requests; what is pending afterwards is newer than all of them."""
    guards.remove()
    ApprovalRequest.objects.pending().update(status="cancelled")
    fill(kept=kept, pending=pending)
    webhook = Webhook.objects.get()
    webhook.after = Closing.objects.latest("seq").seq
    webhook.save()
    if connection.vendor == "postgresql":  # which does this by itself within a minute
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")


def on_a_clock(person):
    """Everything that ``start`` and the hub do every second, every tick or every hour."""
    ids = [one.pk for one in ApprovalRequest.objects.pending()]
    webhook, tokens = Webhook.objects.get().pk, [token.pk for token in AgentToken.objects.all()]
    browser = signed_in(person)
    visitor = Visitor(person.pk, browser.session.session_key, person.get_session_auth_hash())
    now = database_now()
    return {
        "judge again": services.judge_pending_again,
        "expire": services.expire_overdue,
        "release claims": services.release_lost_assignments,
        "end grants": services.end_forbidden_grants,
        "forget sessions": forget_expired,
        "forget notebooks": lambda: services.forget_notebooks(looked_at=now),
        "forget deliveries": forget_deliveries,
        "queue deliveries": queue_decided,
        "find deliveries": lambda: webhooks_with_due([], 20),
        "begin a delivery": lambda: begin(webhook),
        "versions": lambda: queries.versions(ids),
        "answers": lambda: queries.closed(ids),
        "tokens": lambda: tokens_that_work(tokens),
        "visitors": lambda: still_welcome([visitor]),
        "polls": lambda: services.note_polls(dict.fromkeys(ids, now)),
    }


def by_agents_and_people(person):
    """What an agent does to be answered, and a person to answer; and what open pages ask for."""
    pending = list(ApprovalRequest.objects.pending().order_by("expires_at"))
    token, one, browser = pending[0].token, pending[-1], signed_in(person)
    taken = iter(pending[:-1])
    approved = next(taken)
    make.decided(approved, person)

    def page(path):
        return lambda: browser.get(path).content

    return {
        "submit": lambda: make.pending(token),
        "approve": lambda: make.decided(next(taken), person),
        "reject": lambda: make.decided(next(taken), person, "rejected", reason="No."),
        "start": lambda: make.report(approved, approved.token),
        "cancel": lambda: cancel(next(taken)),
        "claim": lambda: services.assign(approval_id=one.pk, person=person, auth="test"),
        "wait": lambda: services.of_agent(one.pk, one.agent_id),
        "badge": page("/mine"),
        "list": page("/queue"),
        "list of what was decided": page("/queue?show=decided"),
        "bar": page(f"/approvals/{one.pk}/state"),
        "request": page(f"/approvals/{one.pk}"),
    }


def cancel(approval):
    services.cancel(approval_id=approval.pk, token=approval.token)


def signed_in(person):
    browser = Client(HTTP_HOST="127.0.0.1:8000")
    browser.force_login(person)
    return browser


@pytest.mark.parametrize("works", [on_a_clock, by_agents_and_people])
def test_nothing_costs_more_when_ten_times_as_much_is_kept(works, alice, token):
    filled(FEW, PENDING)
    few = {name: cost_of(work) for name, work in works(alice).items()}
    filled(MANY, PENDING)
    many = {name: cost_of(work) for name, work in works(alice).items()}

    grown = {name: (few[name], cost) for name, cost in many.items() if cost > few[name] * 1.5 + 50}
    assert grown == {}


def test_with_no_new_policy_nobody_looks_at_what_is_pending(alice, token):
    filled(FEW, PENDING)
    few = cost_of(services.judge_pending_again)
    filled(0, 10 * PENDING)

    with CaptureQueriesContext(connection) as done:
        assert services.judge_pending_again() == 0

    assert cost_of(services.judge_pending_again) <= few + 2 * STEPS
    revision, left = [query["sql"] for query in done]
    assert "dashboard_policyrevision" in revision
    assert "approval_judged_under" in str(explained(left))
    assert "Seq Scan" not in str(explained(left))
