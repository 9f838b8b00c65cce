"""Entries of some days are found, whatever the clock did meanwhile."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import transaction

from dashboard.audit import services
from dashboard.audit.actions import Action
from dashboard.audit.queries import LogFilter, newest
from dashboard.audit.services import Actor, AuditEvent, record

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


@pytest.fixture
def record_at(monkeypatch):
    """Record an event at some minutes after noon."""

    def record_at(minutes, action=Action.HOLD_PLACED):
        at = NOON + timedelta(minutes=minutes)
        monkeypatch.setattr(services, "now_in", lambda _: at)
        with transaction.atomic():
            record(Actor("operator"), AuditEvent(action))

    return record_at


def minutes_between(first, last):
    since, until = (NOON + timedelta(minutes=minutes) for minutes in (first, last))
    entries = newest(LogFilter(since=since, until=until), 500)
    return sorted((entry.at - NOON).total_seconds() / 60 for entry in entries)


def test_entries_of_some_time_are_found(record_at):
    for minute in range(20):
        record_at(minute)

    assert minutes_between(5, 9) == [5, 6, 7, 8]


def test_what_a_clock_recorded_that_went_back_a_little_is_found(record_at):
    for minute in (0, 1, 2, 3.05, 2.99, 3.0, 4, 3.95, 5):
        record_at(minute)

    assert minutes_between(3, 4) == [3.0, 3.05, 3.95]


def test_after_an_earlier_time_was_accepted_everything_is_found(record_at):
    for minute in range(20):
        record_at(minute)
    record_at(-60, Action.CLOCK_ACCEPTED)
    for minute in range(-59, -20):
        record_at(minute)

    assert minutes_between(5, 9) == [5, 6, 7, 8]
    assert minutes_between(-40, -38) == [-40, -39]


def test_after_the_clock_stood_wrong_everything_is_found(record_at):
    for minute in (*range(20), *range(-2880, -2868), *range(60, 63)):
        record_at(minute)

    assert minutes_between(5, 9) == [5, 6, 7, 8]
    assert minutes_between(-2880, -2878) == [-2880, -2879]
    assert minutes_between(60, 70) == [60, 61, 62]
