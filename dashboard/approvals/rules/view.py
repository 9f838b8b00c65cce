"""Which parts of a long content were served to whom."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple
from uuid import UUID

from dashboard.approvals.models import Reveal, ServedPart

NOT_SERVED = (
    "The policy wants the whole content to be read, and {} not served to you yet. Your decision "
    "was not recorded; open what the page lists as unread and press again."
)
MASKED = (
    "The policy wants the whole content to be read, and secrets in it are masked. Your decision "
    "was not recorded; reveal them and press again."
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
