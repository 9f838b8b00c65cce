"""Who has a request open, and which parts of a long content were served to whom."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import QuerySet

from dashboard.accounts.models import User
from dashboard.approvals.models import (
    VIEWING_FOR,
    ApprovalRequest,
    Assignment,
    Reveal,
    ServedPart,
    Viewing,
)
from dashboard.approvals.rules.snooze import snoozed_by
from dashboard.policies.rules.demands import Required
from dashboard.statements import Many, rows

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
    all_parts = [TextPart(text.view, n) for text in texts for n in range(1, text.parts + 1)]
    if not all_parts:
        return []
    rows = ServedPart.objects.filter(approval=approval_id, person=person_id)
    parts_served = {TextPart(*row) for row in rows.values_list("view", "part")}
    return [part for part in all_parts if part not in parts_served]


def masks_that_count(masks: int, tokens: int, required: Required) -> int:
    """Return how many masks keep somebody from approving.

    A token of a known form may stay masked unless a rule demands that all is revealed.

    Args:
        masks: How many there are, those of tokens among them.
        tokens: How many cover a token of a known form.
    """
    return masks if required.reveal_required else masks - tokens


def masks_of(shown: Mapping[str, Any], required: Required) -> int:
    """Return how many masks on a page keep whoever saw it from approving."""
    return masks_that_count(shown.get("masked", 0), shown.get("masked_tokens", 0), required)


def as_served(
    approval_id: UUID, person_id: int, shown: Mapping[str, Any], required: Required
) -> tuple[dict[str, Any], str]:
    """Complete what a page says it displayed by what was served, and say what is still unread.

    What was not served or was masked was not seen, whatever the page says of its end.
    """
    texts = [ServedText(str(view), int(parts)) for view, parts in shown.get("texts", [])]
    unread, of = missing(approval_id, person_id, texts), sum(text.parts for text in texts)
    complete = {**shown, "parts_served": [of - len(unread), of]} if of else dict(shown)
    if not (unread or masks_of(shown, required)):
        return complete, ""
    count = "1 part of it was" if len(unread) == 1 else f"{len(unread)} parts of it were"
    return complete | {"end_seen": ""}, NOT_SERVED.format(count) if unread else MASKED


def is_revealed(approval_id: UUID, person_id: int) -> bool:
    """Say whether this person had the secrets of a request shown."""
    return bool(_reveals(approval_id, person_id))


@rows(ApprovalRequest.id, User.id)
def _reveals(approval_id: UUID, person_id: int) -> QuerySet[Reveal]:
    return Reveal.objects.filter(approval=approval_id, person=person_id).order_by()[:1]


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


@dataclass(frozen=True, slots=True)
class Attendance:
    """Who is on requests and who has them open, the same for everybody who asks.

    Attributes:
        assignments: Who is on them, by the requests' ids.
        viewings: Who has them open, in the order of their names.
    """

    assignments: dict[UUID, Assignment]
    viewings: list[Viewing]

    def as_seen_by(self, person: User, snoozed_until: dict[UUID, datetime]) -> Presence:
        """Return what of it ``person`` is shown, beside what they snoozed."""
        viewing = defaultdict[UUID, list[str]](list)
        for row in self.viewings:
            assignment = self.assignments.get(row.approval_id)
            is_on_it = assignment is not None and assignment.person_id == row.person_id
            if row.person_id != person.pk and not is_on_it:
                viewing[row.approval_id].append(row.person.username)
        return Presence(self.assignments, dict(viewing), snoozed_until)


def attendance(now: datetime, ids: Collection[UUID] | None = None) -> Attendance:
    """Read who is on requests and who has them open, in two queries; of all, or of those given."""
    since = now - VIEWING_FOR
    if ids is None:
        counting, viewings = _assigned(), _viewing(since)
    else:
        counting, viewings = _assigned_among(ids), _viewing_among(since, ids)
    return Attendance({assignment.approval_id: assignment for assignment in counting}, viewings)


@rows()
def _assigned() -> QuerySet[Assignment]:
    return Assignment.objects.counting().select_related("person", "after").order_by()


@rows(Many(ApprovalRequest.id))
def _assigned_among(ids: Collection[UUID]) -> QuerySet[Assignment]:
    return _assigned.build().filter(approval__id__among=ids)


@rows(Viewing.last_seen_at)
def _viewing(since: datetime) -> QuerySet[Viewing]:
    viewings = Viewing.objects.after(since)
    return viewings.select_related("person").order_by("person__username")


@rows(Viewing.last_seen_at, Many(ApprovalRequest.id))
def _viewing_among(since: datetime, ids: Collection[UUID]) -> QuerySet[Viewing]:
    return _viewing.build(since).filter(approval__id__among=ids)


def presence(ids: Collection[UUID], person: User, now: datetime) -> Presence:
    """Return who is assigned, viewing and snoozing, as ``person`` may see it, in three queries."""
    if not ids:
        return Presence()
    return attendance(now, ids).as_seen_by(person, snoozed_by(person, now))
