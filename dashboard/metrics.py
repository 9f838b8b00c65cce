"""Figures of this process, counted where things happen. ``web.metrics`` serves them.

Totals that several processes share come from the database instead: a scrape meets any of them.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from time import perf_counter
from typing import Any

from django.db import DatabaseError
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector

PROCESS = str(os.getpid())
"""The value of the label ``process``."""
REGISTRY = CollectorRegistry()
ProcessCollector(registry=REGISTRY)

HTTP_SECONDS = Histogram(
    "approvals_http_request_seconds",
    "Time to answer an HTTP request, by what it was for. Waits of agents are long on purpose.",
    ["process", "kind", "status"],
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30),
    registry=REGISTRY,
)
REFUSALS = Counter(
    "approvals_refusals",
    "Answers of the agents' API that were refusals, by their code.",
    ["process", "code"],
    registry=REGISTRY,
)
IN_HAND = Gauge(
    "approvals_requests_in_hand",
    "Requests that a pool of threads answers or that wait for one of its threads.",
    ["process", "pool"],
    registry=REGISTRY,
)
DATABASE_SECONDS = Histogram(
    "approvals_database_seconds",
    "Time of a statement in the database, with the wait for its locks.",
    ["process"],
    buckets=(0.001, 0.005, 0.025, 0.1, 0.5, 1, 5, 10),
    registry=REGISTRY,
)
DATABASE_ERRORS = Counter(
    "approvals_database_errors",
    "Statements that the database refused or did not answer.",
    ["process"],
    registry=REGISTRY,
)
_SECONDS, _ERRORS = DATABASE_SECONDS.labels(PROCESS), DATABASE_ERRORS.labels(PROCESS)


def connect() -> None:
    """Have the statements of every database connection be timed."""
    connection_created.connect(_time_statements)


def _time_statements(connection: BaseDatabaseWrapper, **_: Any) -> None:
    if _timed not in connection.execute_wrappers:  # one that was opened again has it
        connection.execute_wrappers.append(_timed)


def _timed(execute: Callable[..., Any], *statement: Any) -> Any:
    began = perf_counter()
    try:
        return execute(*statement)
    except DatabaseError:
        _ERRORS.inc()
        raise
    finally:
        _SECONDS.observe(perf_counter() - began)
