"""Reads of the audit log for pages."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import F, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.functions import Replace, StrIndex
from django.db.models.lookups import GreaterThan

from approval_client.wire import canonical_json
from dashboard.audit.actions import Action
from dashboard.audit.heads import Head
from dashboard.audit.models import AuditEntry, AuditHead, AuditVerification
from dashboard.audit.names import agent_name
from dashboard.clock import CLOCKS_DIFFER_BY

BACKUP = "backup"
"""The subject of entries about backups."""

_PIECE = 100_000  # entries that one statement reads


@dataclass(frozen=True, kw_only=True)
class LogFilter:
    """Which entries of the log. What is empty restricts nothing.

    Attributes:
        names: Who acted, or whom it was about; any of these, such as ``"user:ana"``.
        subjects: Ids of requests that count as well, in hexadecimal digits without hyphens.
        mentions: What else was about them: see ``mentions_of_agent`` and ``mentions_of_person``.
        actions: What happened.
        since: From this moment on.
        until: Before this moment.
        before: Entries before this one, for the next page.
    """

    names: tuple[str, ...] = ()
    subjects: QuerySet[Any, str] | None = None
    mentions: Q = Q()  # noqa: RUF009 - nothing changes it
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
        about |= log_filter.mentions
        if log_filter.subjects is not None:
            entries = entries.alias(hex=Replace("subject", Value("-"), Value("")))
            about |= Q(hex__in=log_filter.subjects)
        entries = entries.filter(about)
    return list(entries[:most])


def mentions_of_agent(name: str) -> Q:
    """Entries about an agent whose subject is something of it: a notebook, a tool, a grant."""
    of_notebook = Q(subject=name, action__in=(Action.NOTEBOOK_SENT, Action.NOTEBOOK_DELETED))
    return of_notebook | _names(name) & (_says(agent=name) | _says(agent=agent_name(name)))


def mentions_of_person(name: str) -> Q:
    """Entries about a person whose subject is another: a group, an agent, a request, a policy."""
    of_group = Q(subject__startswith="group:")
    keys = ("author", "confirmed_by", "edited_by", "from", "owner", "to")
    of_another = Q.create([_says(**{key: name}) for key in keys], connector=Q.OR)
    return _names(name) & (of_group | of_another)


def _names(name: str) -> Q:
    # One look, before those that say as what: it leaves few entries for them.
    return _details_have(canonical_json(name)[1:])


def _says(**detail: str) -> Q:
    return _details_have(canonical_json(detail)[1:-1])


def _details_have(text: str) -> Q:
    return Q(GreaterThan(StrIndex("details", Value(text)), 0))


def _between(since: datetime | None, until: datetime | None) -> QuerySet[AuditEntry]:
    """The entries from one moment on and before another.

    Entries stand in the order of time, but for clocks that go back by less than they may. So
    where they begin and end is found by halves: an index would cost every decision a write. Where
    a clock stood wrong there is no such order, and all of them are looked at.
    """
    entries = AuditEntry.objects.all()
    if not since and not until:
        return entries
    went_back = _went_back() > CLOCKS_DIFFER_BY
    if since:
        start = 1 if went_back else _first_at(since, early=CLOCKS_DIFFER_BY)
        entries = entries.filter(seq__gte=start, at__gte=since)
    if until:
        end = _last() + 1 if went_back else _first_at(until, early=-CLOCKS_DIFFER_BY)
        entries = entries.filter(seq__lt=end, at__lt=until)
    return entries


class _Walked:
    """How far this process looked for clocks that went back, and by how much they did in all."""

    so_far: tuple[Head, timedelta] | None = None


def _went_back() -> timedelta:
    """Return by how much clocks went back in all of the log. A process reads each entry once."""
    end = head()
    if end is None:
        return timedelta()
    so_far = _Walked.so_far
    seq, went_back = (so_far[0].seq, so_far[1]) if so_far else (0, timedelta())
    if so_far and lacks(so_far[0]):  # another database than before
        seq, went_back = 0, timedelta()
    entry_before = AuditEntry.objects.filter(seq=OuterRef("seq") - 1).values("at")
    pairs = AuditEntry.objects.annotate(before=Subquery(entry_before)).filter(at__lt=F("before"))
    while seq < end.seq:  # in pieces, so that what was read stays read where there is no more time
        piece = pairs.filter(seq__gt=seq, seq__lte=min(seq + _PIECE, end.seq)).order_by("seq")
        for earlier_at, at in piece.values_list("before", "at"):
            went_back += earlier_at - at
        seq = min(seq + _PIECE, end.seq)
        entries = AuditEntry.objects.filter(seq__lte=seq).values_list("seq", "hash")
        for place in entries.order_by("-seq")[:1]:
            _Walked.so_far = (Head(*place), went_back)
    return went_back


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
