"""``/metrics``: figures for Prometheus, for whoever has the token or comes from a named network.

Totals are read from the database, at most every few seconds and in a thread of their own, so that
several processes agree and no number of scrapes holds anybody up. What only a process knows has
its number as the label ``process``.
"""

from __future__ import annotations

import asyncio
import hmac
import shutil
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from http import HTTPStatus
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any

from django.apps import apps
from django.conf import settings
from django.db import DatabaseError, connection
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from dashboard.approvals.queries import figures
from dashboard.approvals.queries.hold import active_hold, database_doubt
from dashboard.approvals.queries.present import log_problem, read_present
from dashboard.approvals.rules.readiness import database_file
from dashboard.audit.heads import keeping_problem
from dashboard.audit.queries import head, last_backup, last_ended
from dashboard.live.push import company
from dashboard.live.threads import DatabaseThread
from dashboard.metrics import PROCESS, REGISTRY
from dashboard.notifications.queries import failing_channels, message_counts, nobody_is_told
from dashboard.paths import header_of
from dashboard.web.handler import POOLS
from dashboard.web.http import client_address

READ_EVERY_S = 5.0
WITHIN_S = 5.0
_COUNTED = ("ApprovalRequest", "Decision", "AuditEntry", "Notebook")
Reply = tuple[HTTPStatus, bytes, str]


class MetricsDoor:
    """Answers ``/metrics``; one read at a time serves all who ask meanwhile."""

    def __init__(self) -> None:
        self._read = DatabaseThread("metrics")
        self._tally = figures.Tally()
        self._reading: asyncio.Task[bytes] | None = None
        self._text, self._read_at = b"", -READ_EVERY_S

    async def answer(self, scope: Any) -> Reply:
        """Return status, body and type of the answer."""
        if not (settings.METRICS_TOKEN or settings.METRICS_NETWORKS):
            return _plain(HTTPStatus.NOT_FOUND, "There is nothing here.")
        if not may_read(scope):
            return _plain(HTTPStatus.UNAUTHORIZED, "Send METRICS_TOKEN as a bearer token.")
        try:
            text = await asyncio.wait_for(self._of_database(), WITHIN_S)
        except (TimeoutError, DatabaseError):
            return _plain(HTTPStatus.SERVICE_UNAVAILABLE, "The database does not answer.")
        body = text + _of_process()
        return HTTPStatus.OK, body, CONTENT_TYPE_LATEST

    async def _of_database(self) -> bytes:
        if time.monotonic() - self._read_at < READ_EVERY_S:
            return self._text
        loop = asyncio.get_running_loop()
        if self._reading is None or self._reading.done() or self._reading.get_loop() is not loop:
            self._reading = loop.create_task(self._read(self._collect))
        return await asyncio.shield(self._reading)

    def _collect(self) -> bytes:
        self._tally.read_on()
        registry = CollectorRegistry()
        registry.register(_Figures(of_database(self._tally)))
        self._text, self._read_at = generate_latest(registry), time.monotonic()
        return self._text


class _Figures(Collector):
    """Gives metrics that were read already."""

    def __init__(self, metrics: Iterable[Metric]) -> None:
        self._metrics = list(metrics)

    def collect(self) -> list[Metric]:
        return self._metrics


def may_read(scope: Any) -> bool:
    """Whether whoever asks has the token, or comes from one of the networks."""
    bearer = f"Bearer {settings.METRICS_TOKEN}".encode()
    authorization = header_of(scope, b"authorization")
    if settings.METRICS_TOKEN and hmac.compare_digest(authorization, bearer):
        return True
    forwarded = header_of(scope, b"x-forwarded-for").decode("latin-1")
    host = client_address(forwarded, (scope.get("client") or ("",))[0])
    try:
        address = ip_address(host)
    except ValueError:
        return False
    return any(address in ip_network(network) for network in settings.METRICS_NETWORKS)


def _plain(status: HTTPStatus, text: str) -> Reply:
    return status, f"{text}\n".encode(), "text/plain; charset=utf-8"


def of_database(tally: figures.Tally) -> Iterator[Metric]:
    """Read what all processes share."""
    yield from _of_requests(tally)
    yield from _of_telling()
    yield from _of_the_log()
    yield from _of_storage()


def _of_requests(tally: figures.Tally) -> Iterator[Metric]:
    waiting = figures.pending()
    yield _gauge(
        "approvals_pending", "Requests that wait for an answer.", waiting.counts, ["kind", "age"]
    )
    yield GaugeMetricFamily(
        "approvals_oldest_pending_seconds",
        "How long the oldest pending request has waited.",
        waiting.oldest_s,
    )
    yield _counter(
        "approvals_decided", "Requests that were closed.", tally.decided, ["status", "source"]
    )
    yield CounterMetricFamily(
        "approvals_taken_back", "Approvals that were taken back before use.", tally.recalled
    )
    yield _counter("approvals_outcomes", "What agents reported.", figures.outcomes(), ["outcome"])
    yield _histogram(
        "approvals_first_view_seconds",
        "From the question until the first person viewed it, of what was closed.",
        tally.until_viewed,
    )
    yield _histogram(
        "approvals_decision_seconds",
        "From the question until a person decided.",
        tally.until_decided,
    )
    yield GaugeMetricFamily(
        "approvals_uncounted",
        "Closed requests that this process has not counted yet; after a start, for a while.",
        tally.left,
    )
    stops = {
        "hold": active_hold() is not None,
        "clock": read_present().clock_behind is not None,
        "database": bool(database_doubt()),
    }
    yield _gauge("approvals_stopped", "Whether nothing is approved now.", stops, ["by"])


def _of_telling() -> Iterator[Metric]:
    yield _gauge(
        "approvals_messages",
        "Messages that are due and not sent, or were given up.",
        message_counts(),
        ["receiver", "state"],
    )
    yield GaugeMetricFamily(
        "approvals_channels_failing",
        "Channels of the house that do not work.",
        len(failing_channels()),
    )
    yield GaugeMetricFamily(
        "approvals_nobody_is_told",
        "Whether nobody is told of requests while no page is open.",
        nobody_is_told(),
    )


def _of_the_log() -> Iterator[Metric]:
    end, verified = head(), last_ended().first()
    yield CounterMetricFamily(
        "approvals_log_entries", "Entries of the audit log.", end.seq if end else 0
    )
    yield GaugeMetricFamily(
        "approvals_log_broken",
        "Whether the last verification of the audit log failed.",
        bool(log_problem()),
    )
    if backup := last_backup():
        yield GaugeMetricFamily(
            "approvals_backup_timestamp_seconds",
            "When the last backup was made and verified.",
            backup.at.timestamp(),
        )
    if verified and verified.ended_at:
        yield GaugeMetricFamily(
            "approvals_log_verified_timestamp_seconds",
            "When the last verification ended that was kept.",
            verified.ended_at.timestamp(),
        )


def _of_storage() -> Iterator[Metric]:
    yield _gauge("approvals_rows", "Rows of a table, about.", dict(_rows()), ["table"])
    yield GaugeMetricFamily("approvals_database_bytes", "Size of the database.", _bytes())
    folders = {"data": Path(settings.DATA_DIR)}
    if connection.vendor == "sqlite":
        folders["database"] = database_file().parent
    free = {}
    for name, folder in folders.items():
        with suppress(OSError):  # a folder that is gone has no figure
            free[name] = shutil.disk_usage(folder).free
    yield _gauge("approvals_disk_free_bytes", "Room on the disk of a folder.", free, ["folder"])


def _rows() -> Iterator[tuple[str, int]]:
    # To count them would read all of them. None of these is ever deleted but notebooks.
    for name in _COUNTED:
        table = apps.get_model("dashboard", name)._meta.db_table  # noqa: SLF001 - public by custom
        query = f"SELECT max(rowid) FROM {connection.ops.quote_name(table)}"  # noqa: S608 - ours
        if connection.vendor == "postgresql":
            query = f"SELECT reltuples FROM pg_class WHERE oid = '{table}'::regclass"  # noqa: S608
        yield name.lower(), max(0, int(_one(query) or 0))


def _bytes() -> int:
    if connection.vendor == "postgresql":
        return int(_one("SELECT pg_database_size(current_database())"))
    return int(_one("PRAGMA page_count")) * int(_one("PRAGMA page_size"))


def _one(query: str) -> Any:
    with connection.cursor() as cursor:
        cursor.execute(query)
        return cursor.fetchone()[0]


def _of_process() -> bytes:
    waits, pages, is_deaf = company()
    registry = CollectorRegistry()
    own_figures = [
        _own("approvals_waits", "Waits of agents that are open.", waits),
        _own("approvals_open_pages", "Pages that are open.", pages),
        _own(
            "approvals_heads_failing",
            "Whether heads of the log are not kept where AUDIT_HEADS says.",
            bool(keeping_problem()),
        ),
        _own("approvals_deaf", "Whether Redis tells nothing, so pages are late.", is_deaf),
        _gauge(
            "approvals_threads",
            "Threads of a pool.",
            {(PROCESS, pool): count for pool, count in POOLS.items()},
            ["process", "pool"],
        ),
    ]
    registry.register(_Figures([*own_figures, *_of_connections()]))
    return generate_latest(registry) + generate_latest(REGISTRY)


def _of_connections() -> Iterator[Metric]:
    """Figures of the pool of PostgreSQL connections of this process."""
    pool = getattr(connection, "pool", None) if connection.vendor == "postgresql" else None
    if pool:
        stats = pool.get_stats()
        names = {"open": "pool_size", "free": "pool_available", "wanted": "requests_waiting"}
        counts = {(PROCESS, state): stats.get(name, 0) for state, name in names.items()}
        labels = ["process", "state"]
        yield _gauge("approvals_database_pool", "Connections by state.", counts, labels)


def _own(name: str, text: str, value: float) -> Metric:
    return _gauge(name, text, {PROCESS: value}, ["process"])


def _gauge(name: str, text: str, values: Mapping[Any, float], labels: list[str]) -> Metric:
    return _labelled(GaugeMetricFamily(name, text, labels=labels), values)


def _counter(name: str, text: str, values: Mapping[Any, float], labels: list[str]) -> Metric:
    return _labelled(CounterMetricFamily(name, text, labels=labels), values)


def _labelled(
    family: GaugeMetricFamily | CounterMetricFamily, values: Mapping[Any, float]
) -> Metric:
    for key, value in sorted(values.items()):
        family.add_metric([key] if isinstance(key, str) else list(key), float(value))
    return family


def _histogram(name: str, text: str, waits: figures.Waits) -> Metric:
    buckets, total = [], 0
    for bound, count in zip([*map(str, figures.WAITS_S), "+Inf"], waits.counts, strict=True):
        total += count
        buckets.append((bound, total))
    return HistogramMetricFamily(name, text, buckets=buckets, sum_value=waits.sum)
