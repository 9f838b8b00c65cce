"""What is asked again and again visits the same rows, however many requests are kept.

Every statement that a verb, a sweep or a page runs is looked at as it runs, prepared ones too, so
a new one is covered by itself. What it visits is counted, not timed: steps of SQLite's virtual
machine, of which each row takes two at least, and rows that PostgreSQL reads.
"""

import pytest
from django.db import connection
from django.db.backends.sqlite3.base import SQLiteCursorWrapper
from django.test import Client
from django.test.utils import CaptureQueriesContext

from approval_client.wire import OutcomeState
from dashboard.accounts.models import AgentToken
from dashboard.accounts.queries import tokens_that_work
from dashboard.accounts.services.sessions import forget_expired
from dashboard.approvals import guards, services
from dashboard.approvals.models import ApprovalRequest, Closing
from dashboard.approvals.queries import agent, closing
from dashboard.approvals.rules import history, insight
from dashboard.audit.services import verify_on
from dashboard.clock import database_now
from dashboard.live.sessions import Visitor, still_welcome
from dashboard.notifications.concerns import facts_of_pending
from dashboard.notifications.models import Webhook
from dashboard.notifications.services import forget_deliveries
from dashboard.notifications.services.outbox import begin, queue_decided, webhooks_with_due
from dashboard.web.desk import queue
from tests import make
from tests.benchmarks.filling import TABLES, fill, multiply

pytestmark = pytest.mark.django_db
FILLED, TIMES, PENDING = 100, 199, 20
KEPT = FILLED * (TIMES + 1)
MOST_VISITED = {"sqlite": KEPT * 3 // 4, "postgresql": KEPT // 10}  # steps, rows
STEPS = 10  # how many of SQLite's are counted together
GROWING = [model._meta.db_table for model in TABLES]


def visits_of(work):
    """What each statement of ``work`` visits, with its plan."""
    found = []

    def look(execute, sql, params, many, context):
        verb = sql.split(maxsplit=1)[0]
        if verb in {"SELECT", "UPDATE", "DELETE"} and not many:
            found.append((sql, *_visited(sql, params)))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(look):
        work()
    return found


def _visited(sql, params):
    """Run a statement once more, ahead of it, and count; what it changes is taken back."""
    connection.ensure_connection()
    sqlite = connection.vendor == "sqlite"
    cursor = connection.connection.cursor(*[SQLiteCursorWrapper] if sqlite else [])
    cursor.execute("SAVEPOINT looking")
    try:
        return (_steps if sqlite else _rows)(cursor, sql, params)
    finally:
        cursor.execute("ROLLBACK TO SAVEPOINT looking")
        cursor.execute("RELEASE SAVEPOINT looking")
        cursor.close()


def _steps(cursor, sql, params):
    counted = 0

    def count():
        nonlocal counted
        counted += STEPS
        return 0

    cursor.execute(f"EXPLAIN QUERY PLAN {sql}", params)
    plan = [row[3] for row in cursor.fetchall()]
    connection.connection.set_progress_handler(count, STEPS)
    try:
        cursor.execute(sql, params)
        cursor.fetchall()
    finally:
        connection.connection.set_progress_handler(None, 0)
    # To count all rows of a table takes one step.
    whole = sql.startswith("SELECT COUNT(*)") and any(line.startswith("SCAN") for line in plan)
    return max(counted, KEPT * whole * _grows(sql)), plan


def _grows(sql):
    return any(f'"{table}"' in sql for table in GROWING)


def _rows(cursor, sql, params):
    cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {sql}", params)
    plan = cursor.fetchone()[0][0]["Plan"]
    return sum(_rows_of(node) for node in _scans(plan)), plan


def _scans(plan):
    if "Relation Name" in plan:
        yield plan
    for part in plan.get("Plans", ()):
        yield from _scans(part)


def _rows_of(scan):
    read = ("Actual Rows", "Rows Removed by Filter", "Rows Removed by Index Recheck")
    return sum(scan.get(name, 0) for name in read) * scan["Actual Loops"]


def cost_of(work):
    return sum(visited for _, visited, _ in visits_of(work))


def filled(kept, pending, times=0):
    """Keep ``kept`` more requests and copies of them; what is pending afterwards is newer."""
    guards.remove()
    ApprovalRequest.objects.pending().update(status="cancelled")
    fill(kept=kept, pending=0)
    if times:
        multiply(times)
    fill(kept=0, pending=pending)
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
        "forget viewings": services.forget_viewings,
        "forget notebooks": lambda: services.forget_notebooks(looked_at=now),
        "forget deliveries": forget_deliveries,
        "verify the log": verify_on,
        "sum up": services.sum_up,
        "queue deliveries": queue_decided,
        "find deliveries": lambda: webhooks_with_due([], 20),
        "begin a delivery": lambda: begin(webhook),
        "closed": lambda: closing.closed_since(closing.last_closing()),
        "waiting": lambda: services.note_waiting(ids),
        "answers": lambda: closing.closed(ids),
        "tokens": lambda: tokens_that_work(tokens),
        "visitors": lambda: still_welcome([visitor]),
        "facts of what waits": facts_of_pending,
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
        "finish": lambda: make.report(approved, approved.token, OutcomeState.FINISHED, key="f"),
        "cancel": lambda: cancel(next(taken)),
        "claim": lambda: services.assign(approval_id=one.pk, person=person, auth="test"),
        "view": lambda: services.mark_viewed(approval_id=one.pk, person=person, auth="test"),
        "wait": lambda: services.of_agent(one.pk, one.agent_id),
        "enter": lambda: agent.token_asking(token.hash, one.pk),
        "answer": lambda: agent.told(one.pk, one.agent_id),
        "answers from the last on": lambda: closing.decided(one.agent_id, after=approved.pk),
        "answers since": lambda: closing.decided(one.agent_id, since=database_now()),
        "badge": page("/mine"),
        "page of the queue": page("/"),
        "list": page("/queue"),
        "list of an agent": page(f"/queue?agent={one.agent.name}"),
        "list of a search": page("/queue?q=x_1&severity=high&order=risk"),
        "bar": page(f"/approvals/{one.pk}/state"),
        "request": page(f"/approvals/{one.pk}"),
        "closed request": page(f"/approvals/{approved.pk}"),
        "grants": page("/grants"),
    }


def looking_back(person):
    """Pages of what is over."""
    browser = signed_in(person)
    agent = ApprovalRequest.objects.pending().first().agent
    middle = ApprovalRequest.objects.order_by("-submitted_at")[KEPT // 2]
    place = history.HistoryPlace(middle.submitted_at, middle.pk)
    day = middle.submitted_at.date()

    def page(path):
        return lambda: browser.get(path).content

    filters = {
        "decided": ["", f"agent={agent.name}", "q=nothing", "severity=high", "kind=plan"],
        "history": [
            "",
            f"after={place}".replace("+", "%2B"),
            f"agent={agent.name}",
            f"agent={agent.name}&kind=plan",
            "kind=plan",
            "status=expired",
            "source=policy",
            f"decided_by={person.username}",
            "run=nothing",
            f"until={day}&status=expired",
        ],
        "insight": ["", "by=rule", "by=person", "by=capability", "by=day", "days=90"],
    }
    paths = {"decided": "/queue?show=decided&", "history": "/history?", "insight": "/insight?"}
    return {
        f"{name}: {query}": page(paths[name] + query)
        for name, queries_ in filters.items()
        for query in queries_
    }


def cancel(approval):
    services.cancel(approval_id=approval.pk, token=approval.token)


def signed_in(person):
    browser = Client(HTTP_HOST="127.0.0.1:8000")
    browser.force_login(person)
    return browser


def test_no_statement_visits_what_is_kept(alice, token, monkeypatch):
    """All of them in one test, because it takes seconds to keep twenty thousand requests."""
    filled(FILLED, PENDING, TIMES)
    assert ApprovalRequest.objects.exclude(status="pending").count() >= KEPT
    # What is looked through by design is looked through in smaller steps here.
    monkeypatch.setattr(queue, "LOOKED_THROUGH", 50)
    monkeypatch.setattr(history, "LOOKED_THROUGH", 100)
    monkeypatch.setattr(insight, "MOST", 50)
    monkeypatch.setattr("dashboard.approvals.services.insight.BATCH", 50)

    visiting = {
        (name, sql): (visited, plan)
        for works in (looking_back, on_a_clock, by_agents_and_people)
        for name, work in works(alice).items()
        for sql, visited, plan in visits_of(work)
        if visited >= MOST_VISITED[connection.vendor]
    }

    assert visiting == {}


def test_with_no_new_policy_nobody_looks_at_what_is_pending(alice, token):
    filled(FILLED, PENDING)
    few = cost_of(services.judge_pending_again)
    filled(0, 10 * PENDING)

    with CaptureQueriesContext(connection) as done:
        assert services.judge_pending_again() == 0

    assert cost_of(services.judge_pending_again) <= few + 2 * STEPS
    revision, left = [query["sql"] for query in done]
    assert "dashboard_policyrevision" in revision
    assert "approval_judged_under" in str(explained(left))
    assert "Seq Scan" not in str(explained(left))


def explained(sql):
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(f"EXPLAIN {sql}")
        else:
            cursor.execute(f"EXPLAIN QUERY PLAN {sql}")
        return cursor.fetchall()
