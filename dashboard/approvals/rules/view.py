"""Who has a request open, and which parts of a long content were served to whom."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from dashboard.accounts.models import User
from dashboard.approvals.models import Assignment, Reveal, ServedPart, Snooze, Viewing

NOT_SERVED = (
    "The policy requires the whole content to be in view, and {} not opened yet. Your decision "
    "was not recorded. Open the parts that the page lists, then approve."
)
MASKED = (
    "The policy requires the whole content to be in view, and secrets in it are masked. Your "
    "decision was not recorded. Reveal them, then approve."
)


class ServedText(NamedTuple):
    """One text of a content that is served in parts.

    Attributes:
        view: The digest of how it is drawn.
        parts: How many there are.
    """

    view: str
    parts: int


class TextPart(NamedTuple):
    """One part of a text, counted from 1."""

    view: str
    number: int


def missing(approval_id: UUID, person_id: int, texts: Iterable[ServedText]) -> list[TextPart]:
    """Return what of ``texts`` was not served to this person, in its order."""
    wanted = [TextPart(text.view, n) for text in texts for n in range(1, text.parts + 1)]
    if not wanted:
        return []
    rows = ServedPart.objects.filter(approval=approval_id, person=person_id)
    served = {TextPart(*row) for row in rows.values_list("view", "part")}
    return [part for part in wanted if part not in served]


def as_served(
    approval_id: UUID, person_id: int, shown: Mapping[str, Any]
) -> tuple[dict[str, Any], str]:
    """Complete what a page says it displayed by what was served, and say what is still unread.

    What was not served or was masked was not seen, whatever the page says of its end.
    """
    texts = [ServedText(str(view), int(parts)) for view, parts in shown.get("texts", [])]
    owed, of = missing(approval_id, person_id, texts), sum(text.parts for text in texts)
    complete = {**shown, "parts_served": [of - len(owed), of]} if of else dict(shown)
    if not (owed or shown.get("masked")):
        return complete, ""
    count = "1 part of it was" if len(owed) == 1 else f"{len(owed)} parts of it were"
    return complete | {"end_seen": ""}, NOT_SERVED.format(count) if owed else MASKED


def is_revealed(approval_id: UUID, person_id: int) -> bool:
    """Say whether this person had the secrets of a request shown."""
    return Reveal.objects.filter(approval=approval_id, person=person_id).exists()


@dataclass(frozen=True, slots=True)
class Presence:
    """Who is on requests, who has them open and who snoozed them, by the requests' ids.

    Attributes:
        assignments: Who is on them.
        viewing: The names of others who have them open, and are not on them, in order.
        snoozed_until: When those come back that the reader snoozed.
    """

    assignments: dict[UUID, Assignment] = field(default_factory=dict)
    viewing: dict[UUID, list[str]] = field(default_factory=dict)
    snoozed_until: dict[UUID, datetime] = field(default_factory=dict)


def presence(ids: Collection[UUID], person: User, now: datetime) -> Presence:
    """Return who is assigned, viewing and snoozing, as ``person`` may see it, in three queries."""
    if not ids:
        return Presence()
    counting = (
        Assignment.objects.counting().filter(approval__in=ids).select_related("person", "after")
    )
    assignments = {assignment.approval_id: assignment for assignment in counting}
    fresh = Viewing.objects.fresh(now).filter(approval__in=ids).exclude(person=person)
    viewing = defaultdict[UUID, list[str]](list)
    for one in fresh.select_related("person").order_by("person__username"):
        assignment = assignments.get(one.approval_id)
        if assignment is None or assignment.person_id != one.person_id:
            viewing[one.approval_id].append(one.person.username)
    mine = Snooze.objects.holding(now).filter(person=person, approval__in=ids)
    return Presence(assignments, dict(viewing), dict(mine.values_list("approval", "until")))
