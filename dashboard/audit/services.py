"""Record what happens, and prove later that the record is whole."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from contextlib import nullcontext, suppress
from datetime import UTC, datetime, timedelta
from functools import cache
from pkgutil import iter_modules
from typing import Any, NamedTuple, Protocol

from django.apps import apps
from django.db import IntegrityError, OperationalError, connection, transaction
from django.db.migrations.recorder import MigrationRecorder
from django.db.models import Func, QuerySet, Subquery, TextField
from django.utils import timezone

from approval_client.wire import canonical_json
from dashboard import migrations
from dashboard.audit.actions import Action
from dashboard.audit.chain import GENESIS, Break, Link, Walk, link_hash
from dashboard.audit.heads import Heads, add_head, kept_heads, last_of
from dashboard.audit.models import AuditEntry, AuditHead, AuditVerification
from dashboard.audit.names import agent_name, user_name
from dashboard.audit.queries import last_ended
from dashboard.clock import Now, now_in
from dashboard.statements import change, insert_all, rows

log = logging.getLogger(__name__)

_PAGE = 5000
_PART = 20_000
_LONGEST_PROBLEM = 300
_REACH_WITHIN_MS = 1000  # whoever asks has two seconds, and the reason should come in them


class Actor(NamedTuple):
    """Who acted, and how we know: ``Actor("user:alice", "session:password")``."""

    name: str
    auth: str = ""

    @classmethod
    def of_user(cls, username: str, auth: str) -> Actor:
        """Return a person as the actor."""
        return cls(user_name(username), auth)

    @classmethod
    def of_agent(cls, name: str, prefix: str) -> Actor:
        """Return an agent as the actor, known by the token that begins with ``prefix``."""
        return cls(agent_name(name), f"token:{prefix}")


OPERATOR = Actor("operator", "command")
"""Whoever may run commands on the server."""


class AuditEvent(NamedTuple):
    """Something to record.

    ``details`` must be JSON. It can never be erased, so it must hold no content, no secret and no
    text or name that an agent chose. Where the event makes a row, its ``row`` is the row's
    fingerprint, which stands for such texts.

    ``actor`` is for an event that somebody else caused in the same transaction, as a policy does
    when an agent submits.
    """

    action: Action
    subject: str = ""
    digest: str = ""
    details: Mapping[str, Any] = {}
    actor: Actor | None = None


def record(actor: Actor, *events: AuditEvent) -> int:
    """Append ``events`` to the log, inside the transaction that they describe.

    Call it last in the transaction: it locks the head of the chain, and nobody else can record
    until the transaction ends.

    Returns:
        The number of the last entry. Entries are numbered in the order of commits.

    Raises:
        RuntimeError: There is no open transaction, so the record could outlive what it describes.
    """
    if not connection.in_atomic_block:
        raise RuntimeError("audit.record() must run inside the transaction that it describes.")
    head = _lock_head()
    _check_schema(vars(head)["migration"])
    at, entries = now_in(head), list[AuditEntry]()
    for event in events:
        entry = _entry(head, at, event.actor or actor, event)
        head.seq, head.hash = entry.seq, entry.hash
        entries.append(entry)
    if entries:
        insert_all(entries)
        latest_at = max(at, head.latest_at or at)
        if _move_head(1, head.seq, head.hash, latest_at) is None:
            raise IntegrityError("The head of the log is gone. Nothing was recorded.")
    return head.seq


def verify(
    walk: Walk | None = None, expect: Mapping[int, AbstractSet[str]] | None = None
) -> Break | None:
    """Walk the whole log and return the first place where it does not hold, or None.

    Others may write meanwhile. The head row is read first, and the log must have exactly that
    entry; what was written since only has to follow it. The head is then read again: it must
    have come as far as the walk did.

    So an entry cut off the end is found as long as the head was not changed with it, and so is a
    head that was set to another entry.

    Args:
        walk: Stands at the end of the log afterwards.
        expect: Hashes kept elsewhere, by sequence number; two of a number that differ are a
            break. They find a log that was cut off or
            rewritten together with its head.
    """
    walk, expect = walk or Walk(), expect or {}
    return (
        _break_before_first()
        or _break_before_head(walk, expect)
        or walk.first_break(links(walk.seq), expect)
        or _break_before_head(walk, expect)
    )


def verify_part(
    walk: Walk, expect: Mapping[int, AbstractSet[str]], most: int = _PART
) -> Break | None:
    """Walk on over at most ``most`` entries, and no further than the head names now."""
    head = AuditHead.objects.filter(pk=1).first()
    until = min(walk.seq + most, head.seq if head else 0)
    expected = {seq: hashes for seq, hashes in expect.items() if seq <= until}
    return walk.first_break(links(walk.seq, until), expected)


def hold_still() -> None:
    """Have nobody record anything until the transaction ends.

    Whatever was recorded is then committed with what it describes, or is not there at all.
    """
    _lock_head()


def forget_latest() -> None:
    """Have the log go on from the present moment, in the transaction that records why."""
    _lock_head()
    AuditHead.objects.filter(pk=1).update(latest_at=None)


def reach_head() -> None:
    """Take the locks that recording takes, and let them go, or fail as recording would."""
    with transaction.atomic():
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute(f"SET LOCAL lock_timeout = '{_REACH_WITHIN_MS}ms'")
                cursor.execute(f"LOCK TABLE {_tables()} IN ROW EXCLUSIVE MODE")
        _head.first()


def _tables() -> str:
    models = apps.get_app_config("dashboard").get_models()
    tables = [model._meta.db_table for model in models]  # noqa: SLF001 - public by custom
    return ", ".join(map(connection.ops.quote_name, tables))


def ask_to_verify(by: Actor, expect: tuple[int, str] | None = None) -> AuditVerification:
    """Have everything verified in the background; returns what is under way, if anything is.

    Args:
        by: Who asks. The record names them at the end.
        expect: A head that was kept elsewhere, number and hash. Without one, that of the last
            verification counts if it failed: leaving the head out must not make it clean.
    """
    with transaction.atomic():
        head = _lock_head()  # of two who ask at once, one begins
        present = _under_way()
        if present:
            return present
        seq, hash_ = expect or failed_with() or (None, "")
        return AuditVerification.objects.create(
            asked_by=by.name,
            auth=by.auth,
            asked_at=timezone.now(),
            expect_seq=seq,
            expect_hash=hash_,
            until=head.seq,
            hash=GENESIS,
        )


def failed_with() -> tuple[int, str] | None:
    """The kept head that the last verification was given, if that failed."""
    latest = last_ended().first()
    if latest is None or not latest.problem or latest.expect_seq is None:
        return None
    return latest.expect_seq, latest.expect_hash


class Compared(NamedTuple):
    """What came of comparing some rows with the log.

    Attributes:
        place: Where to go on; empty if nothing is left.
        rows: How many there were.
        problem: The first row that says something else than the log, in words; empty if none.
    """

    place: str
    rows: int = 0
    problem: str = ""


class Compare(Protocol):
    """Compares the tables with the log, some rows at a time. The log itself knows no tables."""

    def __call__(self, place: str) -> Compared:
        """Go on at a place that was returned before."""

    def begin(self) -> tuple[str, int]:
        """Return the first place, and about how many rows there are."""


def verify_on(most: int = _PART, compare: Compare | None = None) -> bool:
    """Take the next part of the verification that was asked for; returns whether there is more.

    A part is small, so whoever shares the thread and the database waits for no whole log. The
    last part is ``verify`` itself, from where the walk stands.
    """
    verification = _under_way()
    if verification is None:
        return False
    moved = _Moved(verification)
    try:
        moved.expect_also(kept_heads())
    except (FileNotFoundError, PermissionError, ValueError) as error:
        moved.end(f"The heads that were kept cannot be read: {error}"[:_LONGEST_PROBLEM])
    except OSError:
        # A disk that is away for a moment says nothing of the log: this part is taken again.
        log.exception("The heads of the audit log that were kept cannot be read now.")
        return True
    else:
        if verification.place and compare:
            moved.compare_on(compare)
        else:
            moved.walk_on(most, compare)
    moved.keep()
    return not moved.has_ended


class _Moved:
    """Takes one part of a verification, and keeps how far it came."""

    def __init__(self, asked: AuditVerification) -> None:
        self.asked = asked
        self.before = {"seq": asked.seq, "place": asked.place, "ended_at": None}
        self.walk = Walk(asked.seq, asked.hash)
        self.expect: Heads = {}
        if asked.expect_seq is not None:
            add_head(self.expect, asked.expect_seq, asked.expect_hash)
        self.has_ended = False

    def expect_also(self, heads: Heads) -> None:
        for seq, hashes in heads.items():
            self.expect.setdefault(seq, set()).update(hashes)

    def walk_on(self, most: int, compare: Compare | None) -> None:
        broken = verify_part(self.walk, self.expect, most)
        is_last = broken is None and self.walk.seq < self.asked.seq + most
        if is_last:
            broken = verify(self.walk, self.expect)
        if is_last and compare and not broken:
            self.asked.place, self.asked.to_compare = compare.begin()
        elif is_last or broken:
            self.end(broken.reason if broken else "")

    def compare_on(self, compare: Compare) -> None:
        came_to = compare(self.asked.place)
        self.asked.compared += came_to.rows
        self.asked.place = came_to.place or self.asked.place
        problem = came_to.problem
        if not came_to.place and not problem:  # what was written meanwhile
            broken = verify(self.walk, self.expect)
            problem = broken.reason if broken else ""
        if problem or not came_to.place:
            self.end(problem)

    def end(self, problem: str) -> None:
        verification, self.has_ended = self.asked, True
        later = last_ended().first()
        if not problem and later and later.problem and later.pk > verification.pk:
            # Somebody looked at once meanwhile, and found something. This began before.
            problem, self.expect = later.problem, {}
            verification.expect_seq, verification.expect_hash = later.expect_seq, later.expect_hash
        elif problem and verification.expect_seq is None and (head := last_of(self.expect)):
            # Without its head, the next one might find nothing.
            verification.expect_seq, verification.expect_hash = head
        verification.problem = problem[:_LONGEST_PROBLEM]

    def keep(self) -> None:
        verification = self.asked
        verification.seq, verification.hash = self.walk.seq, self.walk.hash
        verification.ended_at = _now_after_the_last() if self.has_ended else None
        moves = ["seq", "hash", "place", "compared", "to_compare", "ended_at", "problem"]
        moves += ["expect_seq", "expect_hash"]
        # Two processes may have taken the same part; the first one keeps it.
        unmoved = AuditVerification.objects.filter(pk=verification.pk, **self.before)
        if (
            unmoved.update(**{name: getattr(verification, name) for name in moves})
            and self.has_ended
        ):
            _record_end(verification)


def keep_verification(
    by: Actor, walk: Walk, problem: str, *, expect: tuple[int, str] | None = None
) -> None:
    """Keep what a verification found that was made at once, for every page to show.

    One that found nothing is kept only to say that an earlier problem is gone.
    """
    latest = last_ended().first()
    if not problem and not (latest and latest.problem):
        return
    seq, hash_ = expect or (None, "")
    now = _now_after_the_last()
    verification = AuditVerification.objects.create(
        asked_by=by.name,
        auth=by.auth,
        asked_at=now,
        expect_seq=seq,
        expect_hash=hash_,
        until=walk.seq,
        seq=walk.seq,
        hash=walk.hash,
        ended_at=now,
        problem=problem[:_LONGEST_PROBLEM],
    )
    _record_end(verification)


def _now_after_the_last() -> datetime:
    # The one that ended last counts: a clock that was set back must not hide a new failure.
    latest, now = last_ended().first(), timezone.now()
    return (
        max(now, latest.ended_at + timedelta(microseconds=1))
        if latest and latest.ended_at
        else now
    )


def _record_end(ended: AuditVerification) -> None:
    details = {"entries": ended.seq, "hash": ended.hash, "problem": ended.problem}
    # The guards let nothing follow an end that is broken; what was found is kept all the same.
    with suppress(IntegrityError) if ended.problem else nullcontext(), transaction.atomic():
        record(
            Actor(ended.asked_by, ended.auth), AuditEvent(Action.AUDIT_VERIFIED, details=details)
        )


def _under_way() -> AuditVerification | None:
    return AuditVerification.objects.filter(ended_at=None).first()


class _Moment(Func):
    """A moment as ``_iso`` writes it, by the database: Python takes longer for it than to hash.

    Nothing is cut off on SQLite, where a column may hold any text: what says more than a moment
    has to fail the walk.
    """

    output_field = TextField()

    def as_sqlite(self, compiler: Any, connection: Any, **more: Any) -> Any:
        fraction = "CASE length(%(expressions)s) WHEN 19 THEN '.000000' ELSE '' END || '+00:00'"
        template = f"replace(%(expressions)s, ' ', 'T') || {fraction}"
        return super().as_sql(compiler, connection, template=template, **more)

    def as_postgresql(self, compiler: Any, connection: Any, **more: Any) -> Any:
        form = """'YYYY-MM-DD"T"HH24:MI:SS.US"+00:00"'"""
        template = f"to_char(%(expressions)s AT TIME ZONE 'UTC', {form})"
        return super().as_sql(compiler, connection, template=template, **more)


def links(since: int = 0, until: int | None = None) -> Iterator[Link]:
    """Read the log in order, as links; from after one entry, and up to another.

    Each page is a statement of its own: on SQLite, a statement that stays open lets nobody commit.
    """
    columns = [_Moment("at") if name == "at" else name for name in Link._fields]
    rows = AuditEntry.objects.order_by("seq").values_list(*columns)
    if until is not None:
        rows = rows.filter(seq__lte=until)
    while page := list(rows.filter(seq__gt=since)[:_PAGE]):
        yield from map(Link._make, page)
        since = page[-1][0]


def _break_before_first() -> Break | None:
    """See that nothing stands before entry 1: no walk would come past it, and pages show it."""
    seq = AuditEntry.objects.order_by("seq").values_list("seq", flat=True).first()
    if seq is None or seq >= 1:
        return None
    return Break(1, f"entry {seq} stands before the first one")


def _break_before_head(walk: Walk, expect: Mapping[int, AbstractSet[str]]) -> Break | None:
    """Walk on to the entry that the head row names now, which must be there."""
    head = AuditHead.objects.filter(pk=1).first()
    if head is None:
        return Break(walk.seq, "the head of the log is missing") if walk.seq else None
    expected = {seq: hashes for seq, hashes in expect.items() if seq <= head.seq}
    if broken := walk.first_break(links(walk.seq, head.seq), expected):
        return broken
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
    newest = MigrationRecorder.Migration.objects.filter(app="dashboard").order_by("-name")
    heads = AuditHead.objects.select_for_update().filter(pk=1)
    return heads.annotate(now=Now(), migration=Subquery(newest.values("name")[:1]))


@change(AuditHead.id, AuditHead.seq, AuditHead.hash, AuditHead.latest_at)
def _move_head(
    pk: int, seq: int, hash_: str, latest_at: datetime
) -> tuple[QuerySet[AuditHead], dict[str, Any]]:
    moved = {"seq": seq, "hash": hash_, "latest_at": latest_at}
    return AuditHead.objects.filter(pk=pk), moved


def _lock_head() -> AuditHead:
    if head := _head.first():
        return head
    AuditHead.objects.get_or_create(pk=1, defaults={"seq": 0, "hash": GENESIS})
    return _head()[0]


class NewerSchema(OperationalError):
    """The database was migrated by a newer version than this process runs."""


@cache
def _known_migrations() -> frozenset[str]:
    return frozenset(module.name for module in iter_modules(migrations.__path__))


def _check_schema(newest: str | None) -> None:
    """See that this process knows the schema: what it does not know it must not write to."""
    if newest and newest not in _known_migrations():
        raise NewerSchema(
            f"The database was migrated by a newer version ({newest}), so this process records "
            "nothing more. Restart it with that version."
        )


def _entry(head: AuditHead, at: datetime, actor: Actor, event: AuditEvent) -> AuditEntry:
    link = Link(
        seq=head.seq + 1,
        at=_iso(at),
        actor=actor.name,
        auth=actor.auth,
        action=str(event.action),
        subject=event.subject,
        digest=event.digest,
        details=canonical_json(dict(event.details)),
        prev=head.hash,
    )
    return AuditEntry(**{**link._asdict(), "at": at, "hash": link_hash(link)})


def _iso(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="microseconds")
