"""``/metrics`` says what the database says, to whoever may read it."""

import asyncio
from collections import Counter
from datetime import timedelta

import pytest
from django.db import DatabaseError, connection, transaction
from prometheus_client.parser import text_string_to_metric_families

from approval_client.wire import OutcomeState, Status
from dashboard.approvals import services
from dashboard.approvals.queries import figures
from dashboard.audit.actions import Action
from dashboard.audit.models import AuditEntry
from dashboard.audit.queries import BACKUP
from dashboard.audit.services import OPERATOR, AuditEvent, record
from dashboard.notifications.services import Wish, add_channel
from dashboard.web import metrics
from tests import make
from tests.web.raw import ask

TOKEN = "a-token-of-more-than-twenty-characters"
BEARER = {"Authorization": f"Bearer {TOKEN}"}


@pytest.fixture(autouse=True)
def _open(settings):
    settings.METRICS_TOKEN = TOKEN


@pytest.fixture
def scraped():
    """Read the figures of the database anew; returns them by name and labels."""

    def scrape(tally=None):
        tally = tally or figures.Tally()
        tally.read_on()
        return {
            (sample.name, *sorted(sample.labels.values())): sample.value
            for family in metrics.of_database(tally)
            for sample in family.samples
        }

    return scrape


async def read(**options):
    status, headers, body = await ask("/metrics", **options)
    return status, headers[b"content-type"].decode(), body.decode()


async def test_without_a_token_and_networks_there_is_nothing(settings):
    settings.METRICS_TOKEN = ""

    assert (await read(headers=BEARER))[0] == 404


@pytest.mark.parametrize("sent", [{}, {"Authorization": "Bearer other"}, {"Authorization": TOKEN}])
async def test_without_the_token_nothing_is_told(sent):
    status, _, body = await read(headers=sent)

    assert status == 401
    assert "approvals_" not in body


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("client", "forwarded", "proxies", "status"),
    [
        ("10.9.0.7", "", 0, 200),
        ("192.0.2.1", "", 0, 401),
        ("192.0.2.1", "10.9.0.7", 0, 401),
        ("127.0.0.1", "10.9.0.7", 1, 200),
        ("127.0.0.1", "10.9.0.7, 192.0.2.1", 1, 401),
        ("::ffff:10.9.0.7", "", 0, 200),
        ("::ffff:192.0.2.1", "", 0, 401),
        ("::ffff:127.0.0.1", "::ffff:10.9.0.7", 1, 200),
        ("::1", "", 0, 401),
        ("nobody", "", 0, 401),
    ],
)
async def test_whoever_comes_from_a_network_needs_no_token(
    settings, client, forwarded, proxies, status
):
    settings.METRICS_NETWORKS, settings.PROXY_COUNT = ["10.9.0.0/16"], proxies
    headers = {"X-Forwarded-For": forwarded} if forwarded else {}

    assert (await read(client=client, headers=headers))[0] == status


def test_a_proxy_may_add_a_line_of_its_own_to_what_a_stranger_sent(settings):
    settings.METRICS_NETWORKS, settings.PROXY_COUNT = ["10.9.0.0/16"], 1
    lines = [(b"x-forwarded-for", b"10.9.0.1"), (b"x-forwarded-for", b"192.0.2.1")]

    assert not metrics.may_read({"headers": lines, "client": ("127.0.0.1", 1)})
    assert metrics.may_read({"headers": lines[::-1], "client": ("127.0.0.1", 1)})


@pytest.mark.django_db(transaction=True)
async def test_every_line_is_one_that_prometheus_reads():
    status, content_type, body = await read(headers=BEARER)
    families = {family.name: family for family in text_string_to_metric_families(body)}

    assert (status, content_type.partition(";")[0]) == (200, "text/plain")
    assert {"approvals_pending", "approvals_waits", "approvals_database_seconds"} <= set(families)
    assert all(family.documentation for family in families.values())


@pytest.fixture
def door():
    """Closes its connection in the end."""
    door = metrics.MetricsDoor()
    yield door
    door._read.close()


@pytest.mark.django_db(transaction=True)
async def test_scrapes_share_what_was_read(monkeypatch, door):
    reads = []
    monkeypatch.setattr(metrics, "of_database", lambda _: reads.append(1) or [])
    scope = {"headers": [(b"authorization", BEARER["Authorization"].encode())], "client": None}
    replies = await asyncio.gather(*[door.answer(scope) for _ in range(20)])
    await door.answer(scope)

    assert [status for status, *_ in replies] == [200] * 20
    assert len(reads) == 1


async def test_a_database_that_is_away_is_said(monkeypatch, door):
    def away(_):
        raise DatabaseError("connection refused")

    monkeypatch.setattr(metrics, "of_database", away)
    monkeypatch.setattr(figures.Tally, "read_on", lambda _: None)
    scope = {"headers": [(b"authorization", BEARER["Authorization"].encode())], "client": None}

    assert (await door.answer(scope))[0] == 503


def sql(query):
    with connection.cursor() as cursor:
        cursor.execute(query)
        return cursor.fetchall()


@pytest.fixture
def busy(token, alice, bob, ada):
    """A little of everything."""
    for _ in range(3):
        make.pending(token)
    make.pending(
        token, kind="tool_call", capability="files", content={"tool": "f", "arguments": {}}
    )
    one, two, three = (make.approved(token, alice) for _ in range(3))
    make.decided(make.pending(token), alice, Status.REJECTED)
    services.cancel(approval_id=make.pending(token).pk, token=token)
    make.report(one, token)
    make.report(one, token, OutcomeState.FINISHED)
    make.report(two, token)
    make.report(two, token, OutcomeState.FINISHED, error="It broke.")
    services.recall(approval_id=three.pk, person=ada, auth="session:password", reason="No.")
    services.mark_viewed(approval_id=make.pending(token).pk, person=bob, auth="session:password")


@pytest.mark.django_db
def test_twelve_figures_are_those_of_sql(busy, scraped):
    seen = scraped()
    pending = Counter()
    for name, *labels in seen:
        if name == "approvals_pending":
            [kind] = set(labels) - {*figures.AGES, figures.OLDER}
            pending[kind] += seen[name, *labels]
    rows = "SELECT kind, count(*) FROM dashboard_approvalrequest WHERE status = 'pending' "
    assert pending == dict(sql(f"{rows} GROUP BY kind"))
    decided = sql("SELECT status, source, count(*) FROM dashboard_decision GROUP BY 1, 2")
    for status, source, count in decided:
        assert seen["approvals_decided_total", *sorted([status, source])] == count
    one = {
        ("approvals_taken_back_total",): "SELECT count(*) FROM dashboard_recall",
        ("approvals_outcomes_total", "started"): (
            "SELECT count(*) FROM dashboard_outcome WHERE state = 'started'"
        ),
        ("approvals_outcomes_total", "finished"): (
            "SELECT count(*) FROM dashboard_outcome WHERE state = 'finished' AND error = ''"
        ),
        ("approvals_outcomes_total", "failed"): (
            "SELECT count(*) FROM dashboard_outcome WHERE error <> ''"
        ),
        ("approvals_decision_seconds_count",): (
            "SELECT count(*) FROM dashboard_decision WHERE source = 'reviewer'"
        ),
        ("approvals_first_view_seconds_count",): (
            "SELECT count(DISTINCT v.approval_id) FROM dashboard_view v "
            "JOIN dashboard_decision d ON d.approval_id = v.approval_id"
        ),
        ("approvals_log_entries_total",): "SELECT max(seq) FROM dashboard_auditentry",
        ("approvals_messages", "people", "waiting"): (
            "SELECT count(*) FROM dashboard_message WHERE state = 'waiting'"
        ),
        ("approvals_messages", "failed", "hosts"): (
            "SELECT count(*) FROM dashboard_delivery WHERE state = 'given_up'"
        ),
        ("approvals_stopped", "hold"): "SELECT count(*) FROM dashboard_hold WHERE active",
    }
    for (name, *labels), query in one.items():
        assert seen[name, *sorted(labels)] == sql(query)[0][0], name


@pytest.mark.django_db
def test_the_oldest_has_its_age(token, scraped):
    make.half_over(token)

    assert 300 < scraped()["approvals_oldest_pending_seconds",] < 3600


@pytest.mark.django_db
def test_a_second_look_counts_on_and_nothing_twice(busy, scraped, token, alice):
    tally = figures.Tally()
    scraped(tally)
    make.approved(token, alice)

    again, anew = scraped(tally), scraped()
    ages = [seen.pop(("approvals_oldest_pending_seconds",)) for seen in (again, anew)]
    assert min(ages) > 0
    assert without_disks(again) == without_disks(anew)


def without_disks(seen):
    """Leave out what others on this machine change meanwhile."""
    return {name: n for name, n in seen.items() if name[0] != "approvals_disk_free_bytes"}


@pytest.mark.django_db
def test_what_takes_longer_than_a_look_is_said(busy, scraped, monkeypatch):
    monkeypatch.setattr(figures, "_READS_FOR_S", 0)
    monkeypatch.setattr(figures, "_BATCH", 2)

    left = sql("SELECT count(*) FROM dashboard_closing")[0][0]
    assert scraped()["approvals_uncounted",] == left


@pytest.mark.django_db
def test_who_is_told_and_what_stops_everything_are_figures(ada, scraped):
    before = scraped()
    services.place_hold(by=ada, auth="session:password")
    wish = Wish(name="Ops", address="https://hooks.example/x")
    add_channel(kind="webhook", wish=wish, by=ada, auth="session:password")
    after = scraped()

    assert (before["approvals_nobody_is_told",], after["approvals_nobody_is_told",]) == (1, 0)
    assert (before["approvals_stopped", "hold"], after["approvals_stopped", "hold"]) == (0, 1)


@pytest.mark.django_db
def test_a_clock_that_was_set_back_is_a_figure(token, scraped):
    make.clock_set_back(hours=1)

    assert scraped()["approvals_stopped", "clock"] == 1


def test_waits_are_counted_in_their_buckets():
    waits = figures.Waits()
    for seconds in (0, 1, 1.5, 86_400, 86_401):
        waits.add(seconds)

    assert waits.counts[:2] == [2, 1]
    assert waits.counts[-2:] == [1, 1]
    assert waits.sum == timedelta(days=2, seconds=3.5).total_seconds()


@pytest.mark.django_db
def test_when_the_last_backup_was_made_is_a_figure_once_there_is_one(scraped):
    assert ("approvals_backup_timestamp_seconds",) not in scraped()

    with transaction.atomic():
        record(OPERATOR, AuditEvent(Action.BACKUP_MADE, BACKUP, details={"head": "1:f"}))

    made_at = AuditEntry.objects.get(subject=BACKUP).at
    assert scraped()["approvals_backup_timestamp_seconds",] == made_at.timestamp()


def test_a_data_folder_that_is_gone_has_no_figure_and_stops_no_other(db, settings, tmp_path):
    settings.DATA_DIR = tmp_path / "gone"
    folders = [
        sample.labels["folder"]
        for metric in metrics._of_storage()
        for sample in metric.samples
        if metric.name == "approvals_disk_free_bytes"
    ]

    assert "data" not in folders
