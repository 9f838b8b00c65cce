"""Reasons and notes that entries of the audit log are about.

The log keeps no text of a request, only the fingerprint of the row that holds it. So a text is
read from its row, and is as it was logged if the row still has that fingerprint. Entries that are
older hold the text itself.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import QuerySet

from approval_client.wire import parse_json
from dashboard.approvals.models import FINAL, Assignment, Decision, Recall, Vote
from dashboard.approvals.rules.fingerprint import fits
from dashboard.audit.actions import Action
from dashboard.audit.models import AuditEntry
from dashboard.audit.names import user_name


class LoggedText(NamedTuple):
    """What somebody wrote. ``is_as_logged`` is false if the row says something else by now."""

    text: str
    is_as_logged: bool


class _Kind(NamedTuple):
    """Where the text of some kind of entry stands.

    Attributes:
        rows: Read with everything that their fingerprints need.
        column: Which column is the text.
        by: Names whoever has to be the actor of the entry; None if there is one row a request.
        is_replaced: A later row may have taken its place, and says nothing of this entry.
    """

    rows: QuerySet[Any]
    column: str
    by: Callable[[Any], str] | None = None
    is_replaced: bool = False


def _kinds() -> dict[str, _Kind]:
    request = "approval"
    decided = _Kind(Decision.objects.select_related(request), "reason")
    votes = Vote.objects.select_related(request, "person")
    return {
        **{Action(f"approval.{status}"): decided for status in FINAL},
        Action.APPROVAL_VOTED: _Kind(
            votes, "reason", lambda vote: user_name(vote.person.username)
        ),
        Action.APPROVAL_RECALLED: _Kind(Recall.objects.select_related(request), "reason"),
        Action.APPROVAL_HANDED_OVER: _Kind(
            Assignment.objects.select_related(request), "note", is_replaced=True
        ),
    }


def request_id(subject: str) -> UUID | None:
    """Return the request that the subject of an entry names, if it is one."""
    try:
        return UUID(subject)
    except ValueError:
        return None


def texts_of(entries: Iterable[AuditEntry]) -> dict[int, LoggedText]:
    """Return what was written with each entry, by its number, in a query for each kind of row.

    An entry is left out if nothing was written with it, or what was is not kept.
    """
    kinds, text_by_seq = _kinds(), dict[int, LoggedText]()
    entries_by_action = defaultdict[str, list[AuditEntry]](list)
    for entry in entries:
        if entry.action in kinds and request_id(entry.subject):
            entries_by_action[entry.action].append(entry)
    for action, of_kind in entries_by_action.items():
        text_by_seq |= dict(_texts(kinds[action], of_kind))
    return {seq: text for seq, text in text_by_seq.items() if text.text}


def _texts(kind: _Kind, entries: Sequence[AuditEntry]) -> Iterator[tuple[int, LoggedText]]:
    ids = {request_id(entry.subject) for entry in entries}
    rows = defaultdict[str, list[Any]](list)
    heavy = ("approval__content", "approval__evidence", "approval__objective")
    for row in kind.rows.filter(approval__in=ids).defer(*heavy):
        rows[str(row.approval_id)].append(row)
    for entry in entries:
        details = parse_json(entry.details)
        if kind.column in details:
            yield entry.seq, LoggedText(str(details[kind.column]), is_as_logged=True)
            continue
        own_rows = [
            row for row in rows[entry.subject] if kind.by is None or kind.by(row) == entry.actor
        ]
        same = [row for row in own_rows if fits(row, details.get("row"))]
        for row in (same or ([] if kind.is_replaced else own_rows))[:1]:
            yield entry.seq, LoggedText(getattr(row, kind.column), is_as_logged=bool(same))
