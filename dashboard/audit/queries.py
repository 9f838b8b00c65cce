"""Reads of the audit log for pages."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Q, QuerySet, Value
from django.db.models.functions import Replace

from dashboard.audit.actions import Action
from dashboard.audit.heads import Head
from dashboard.audit.models import AuditEntry, AuditHead, AuditVerification
from dashboard.clock import CLOCKS_DIFFER_BY

BACKUP = "backup"
"""The subject of entries about backups."""


@dataclass(frozen=True, kw_only=True)
class LogFilter:
    """Which entries of the log. What is empty restricts nothing.

    Attributes:
        names: Who acted, or whom it was about; any of these, such as ``"user:ana"``.
        subjects: Ids of requests that count as well, in hexadecimal digits without hyphens.
        actions: What happened.
        since: From this moment on.
        until: Before this moment.
        before: Entries before this one, for the next page.
    """

    names: tuple[str, ...] = ()
    subjects: QuerySet[Any, str] | None = None
    actions: tuple[str, ...] = ()
    since: datetime | None = None
    until: datetime | None = None
    before: int | None = None


def newest(log_filter: LogFilter, most: int) -> list[AuditEntry]:
    """The entries that are wanted, newest first."""
    entries = _between(log_filter.since, log_filter.until).order_by("-seq")
    if log_filter.before:
        entries = entries.filter(seq__lt=log_filter.before)
    if log_filter.actions:
        entries = entries.filter(action__in=log_filter.actions)
    if log_filter.names:
        about = Q(actor__in=log_filter.names) | Q(subject__in=log_filter.names)
        if log_filter.subjects is not None:
            entries = entries.alias(hex=Replace("subject", Value("-"), Value("")))
            about |= Q(hex__in=log_filter.subjects)
        entries = entries.filter(about)
    return list(entries[:most])


def _between(since: datetime | None, until: datetime | None) -> QuerySet[AuditEntry]:
    """The entries from one moment on and before another.

    Entries stand in the order of time, but for clocks that go back by less than they may. So
    where they begin and end is found by halves: an index would cost every decision a write. Where
    an earlier time was accepted there is no such order, and all of them are looked at.
    """
    entries = AuditEntry.objects.all()
    if not since and not until:
        return entries
    went_back = about("").filter(action=Action.CLOCK_ACCEPTED).exists()
    if since:
        start = 1 if went_back else _first_at(since, early=CLOCKS_DIFFER_BY)
        entries = entries.filter(seq__gte=start, at__gte=since)
    if until:
        end = _last() + 1 if went_back else _first_at(until, early=-CLOCKS_DIFFER_BY)
        entries = entries.filter(seq__lt=end, at__lt=until)
    return entries


def _first_at(moment: datetime, *, early: timedelta) -> int:
    """Find the first entry that is of a moment less ``early``, or later, by halves.

    Returns one past the last if there is none.
    """
    low, high = 1, _last() + 1
    while low < high:
        middle = (low + high) // 2
        at = AuditEntry.objects.filter(seq=middle).values_list("at", flat=True).first()
        if at is not None and moment - at > early:  # the first and the last day have no sum
            low = middle + 1
        else:
            high = middle
    return low


def _last() -> int:
    end = head()
    return end.seq if end else 0


def about(subject: str) -> QuerySet[AuditEntry]:
    """Everything that was recorded about one subject, oldest first."""
    return AuditEntry.objects.filter(subject=subject).order_by("seq")


def last_backup() -> AuditEntry | None:
    """The entry of the last backup that was made and verified, or None."""
    return about(BACKUP).last()


def head() -> AuditHead | None:
    """The last link of the chain, or None before anything was recorded."""
    return AuditHead.objects.filter(pk=1).first()


def lacks(kept: Head) -> bool:
    """Whether the log has not the entry that somebody kept the number and the hash of."""
    return not AuditEntry.objects.filter(seq=kept.seq, hash=kept.hash).exists()


def last_verification() -> AuditVerification | None:
    """The verification that is under way, or the last one that ended."""
    return AuditVerification.objects.order_by("-id").first()


def last_ended() -> QuerySet[AuditVerification]:
    """The verification that ended last, if any did."""
    return AuditVerification.objects.exclude(ended_at=None).order_by("-ended_at", "-id")[:1]
