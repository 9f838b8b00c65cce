"""Record what happens, and prove later that the record is whole."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

from django.db import connection
from django.utils import timezone

from dashboard.audit.chain import GENESIS, Break, Link, Walk, link_hash
from dashboard.audit.models import AuditEntry, AuditHead
from dashboard.wire import canonical_json


class Actor(NamedTuple):
    """Who acted, and how we know: ``Actor("user:alice", "session:password")``."""

    name: str
    auth: str = ""


class Event(NamedTuple):
    """Something to record. ``details`` must be JSON and must not hold content or secrets.

    ``actor`` is for an event that somebody else caused in the same transaction, as a policy does
    when an agent submits.
    """

    action: str
    subject: str = ""
    digest: str = ""
    details: Mapping[str, Any] = {}
    actor: Actor | None = None


def record(actor: Actor, *events: Event) -> int:
    """Append ``events`` to the log, inside the transaction that they describe.

    Call it last in the transaction: it locks the head of the chain, and nobody else can record
    until the transaction ends.

    Returns:
        The number of the last entry. Who reads in the order of these numbers sees every
        transaction after those that it followed.

    Raises:
        RuntimeError: There is no open transaction, so the record could outlive what it describes.
    """
    if not connection.in_atomic_block:
        raise RuntimeError("audit.record() must run inside the transaction that it describes.")
    head = _lock_head()
    at = timezone.now()
    for event in events:
        entry = _entry(head, at, event.actor or actor, event)
        entry.save(force_insert=True)
        head.seq, head.hash = entry.seq, entry.hash
    head.save(force_update=True)
    return head.seq


def verify(walk: Walk | None = None, expect: Mapping[int, str] | None = None) -> Break | None:
    """Walk the whole log and return the first place where it does not hold, or None.

    Also compares the end of the log with the head row, so an entry cut off the end is found as
    long as the head was not changed with it.

    Args:
        walk: Stands at the end of the log afterwards.
        expect: Hashes kept elsewhere, by sequence number. They find a log that was cut off or
            rewritten together with its head.
    """
    walk = walk or Walk()
    return walk.first_break(links(), expect or {}) or _end_missing(walk)


def links(after: int = 0) -> Iterator[Link]:
    """Read the log in order, as links."""
    rows = AuditEntry.objects.filter(seq__gt=after).order_by("seq").values_list(*Link._fields)
    return (Link(row[0], _iso(row[1]), *row[2:]) for row in rows.iterator(chunk_size=5000))


def _end_missing(walk: Walk) -> Break | None:
    head = AuditHead.objects.filter(pk=1).first()
    if head is None:
        return Break(walk.seq, "the head of the log is missing") if walk.seq else None
    if (head.seq, head.hash) != (walk.seq, walk.hash):
        return Break(walk.seq + 1, f"the log ends at entry {walk.seq}, but {head.seq} was written")
    return None


def _lock_head() -> AuditHead:
    # A row that is always the same one: locking "the newest entry" hands a waiter the old one.
    head = AuditHead.objects.select_for_update().filter(pk=1).first()
    if head:
        return head
    AuditHead.objects.get_or_create(pk=1, defaults={"seq": 0, "hash": GENESIS})
    return AuditHead.objects.select_for_update().get(pk=1)


def _entry(head: AuditHead, at: datetime, actor: Actor, event: Event) -> AuditEntry:
    link = Link(
        seq=head.seq + 1,
        at=_iso(at),
        actor=actor.name,
        auth=actor.auth,
        action=event.action,
        subject=event.subject,
        digest=event.digest,
        details=canonical_json(dict(event.details)),
        prev=head.hash,
    )
    return AuditEntry(**{**link._asdict(), "at": at, "hash": link_hash(link)})


def _iso(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="microseconds")
