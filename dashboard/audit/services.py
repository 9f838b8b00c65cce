"""Record what happens, and prove later that the record is whole."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import nullcontext, suppress
from datetime import UTC, datetime
from typing import Any, NamedTuple

from django.db import IntegrityError, connection, transaction
from django.db.models import QuerySet
from django.utils import timezone

from approval_client.wire import canonical_json
from dashboard.audit.chain import GENESIS, Break, Link, Walk, link_hash
from dashboard.audit.models import AuditEntry, AuditHead, AuditVerification
from dashboard.statements import change, insert_all, rows

_PAGE = 5000
_PART = 20_000


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
    at, entries = timezone.now(), list[AuditEntry]()
    for event in events:
        entry = _entry(head, at, event.actor or actor, event)
        head.seq, head.hash = entry.seq, entry.hash
        entries.append(entry)
    if entries:
        insert_all(entries)
        if _move_head(1, head.seq, head.hash) is None:
            raise IntegrityError("The head of the log is gone. Nothing was recorded.")
    return head.seq


def verify(walk: Walk | None = None, expect: Mapping[int, str] | None = None) -> Break | None:
    """Walk the whole log and return the first place where it does not hold, or None.

    Others may write meanwhile. The head row is read first, and the log must have exactly that
    entry; what was written since only has to follow it. The head is then read again: it must
    have come as far as the walk did.

    So an entry cut off the end is found as long as the head was not changed with it, and so is a
    head that was set to another entry.

    Args:
        walk: Stands at the end of the log afterwards.
        expect: Hashes kept elsewhere, by sequence number. They find a log that was cut off or
            rewritten together with its head.
    """
    walk, expect = walk or Walk(), expect or {}
    return (
        _break_before_head(walk, expect)
        or walk.first_break(links(walk.seq), expect)
        or _break_before_head(walk, expect)
    )


def ask_to_verify(by: Actor, expect: tuple[int, str] | None = None) -> AuditVerification:
    """Have the whole log walked in the background; returns the walk that is under way, if any.

    Args:
        by: Who asks. The record names them at the end.
        expect: A head that was kept elsewhere, number and hash.
    """
    with transaction.atomic():
        head = _lock_head()  # of two who ask at once, one begins
        present = _under_way()
        if present:
            return present
        seq, hash_ = expect or (None, "")
        return AuditVerification.objects.create(
            asked_by=by.name,
            auth=by.auth,
            asked_at=timezone.now(),
            expect_seq=seq,
            expect_hash=hash_,
            until=head.seq,
            hash=GENESIS,
        )


def verify_on(most: int = _PART) -> bool:
    """Take the next part of the walk that was asked for; returns whether there is more of it.

    A part is small, so whoever shares the thread and the database waits for no whole log. The
    last part is ``verify`` itself, from where the walk stands.
    """
    asked = _under_way()
    if asked is None:
        return False
    walk = Walk(asked.seq, asked.hash)
    expect = {asked.expect_seq: asked.expect_hash} if asked.expect_seq is not None else {}
    found = _next_part(walk, expect, most)
    is_last = found is None and walk.seq < asked.seq + most
    if is_last:
        found = verify(walk, expect)
    _keep(asked, walk, found, has_ended=is_last or found is not None)
    return not (is_last or found)


def _under_way() -> AuditVerification | None:
    return AuditVerification.objects.filter(ended_at=None).first()


def _next_part(walk: Walk, expect: Mapping[int, str], most: int) -> Break | None:
    head = AuditHead.objects.filter(pk=1).first()
    until = min(walk.seq + most, head.seq if head else 0)
    expected = {seq: hash_ for seq, hash_ in expect.items() if seq <= until}
    return walk.first_break(links(walk.seq, until), expected)


def _keep(asked: AuditVerification, walk: Walk, found: Break | None, *, has_ended: bool) -> None:
    problem = found.reason if found else ""
    ended_at = timezone.now() if has_ended else None
    # Two processes may have taken the same part; the first one keeps it.
    unmoved = AuditVerification.objects.filter(pk=asked.pk, seq=asked.seq, ended_at=None)
    kept = unmoved.update(seq=walk.seq, hash=walk.hash, ended_at=ended_at, problem=problem)
    if not (kept and has_ended):
        return
    details = {"entries": walk.seq, "hash": walk.hash, "problem": problem}
    # The guards let nothing follow an end that is broken; what was found is kept all the same.
    with suppress(IntegrityError) if problem else nullcontext(), transaction.atomic():
        record(Actor(asked.asked_by, asked.auth), Event("audit.verified", details=details))


def links(after: int = 0, until: int | None = None) -> Iterator[Link]:
    """Read the log in order, as links; from after one entry, and up to another.

    Each page is a statement of its own: on SQLite, a statement that stays open lets nobody commit.
    """
    rows = AuditEntry.objects.order_by("seq").values_list(*Link._fields)
    if until is not None:
        rows = rows.filter(seq__lte=until)
    while page := list(rows.filter(seq__gt=after)[:_PAGE]):
        for row in page:
            yield Link(row[0], _iso(row[1]), *row[2:])
        after = page[-1][0]


def _break_before_head(walk: Walk, expect: Mapping[int, str]) -> Break | None:
    """Walk on to the entry that the head row names now, which must be there."""
    head = AuditHead.objects.filter(pk=1).first()
    if head is None:
        return Break(walk.seq, "the head of the log is missing") if walk.seq else None
    expected = {seq: hash_ for seq, hash_ in expect.items() if seq <= head.seq}
    if found := walk.first_break(links(walk.seq, head.seq), expected):
        return found
    if head.seq < walk.seq:
        reason = f"the log goes on to entry {walk.seq}, but its head is entry {head.seq}"
        return Break(head.seq + 1, reason)
    if head.seq > walk.seq:
        reason = f"the log ends at entry {walk.seq}, but {head.seq} was written"
        return Break(walk.seq + 1, reason)
    if head.hash != walk.hash:
        return Break(walk.seq, f"entry {walk.seq} is not the one that the head of the log names")
    return None


@rows()
def _head() -> QuerySet[AuditHead]:
    # A row that is always the same one: locking "the newest entry" hands a waiter the old one.
    return AuditHead.objects.select_for_update().filter(pk=1)


@change(AuditHead.id, AuditHead.seq, AuditHead.hash)
def _move_head(pk: int, seq: int, hash_: str) -> tuple[QuerySet[AuditHead], dict[str, Any]]:
    return AuditHead.objects.filter(pk=pk), {"seq": seq, "hash": hash_}


def _lock_head() -> AuditHead:
    if head := _head.first():
        return head
    AuditHead.objects.get_or_create(pk=1, defaults={"seq": 0, "hash": GENESIS})
    return _head()[0]


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
