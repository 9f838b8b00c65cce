"""Which earlier request this one resembles, and what changed since."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from approval_client.wire import Source, Status, canonical_json, parse_json
from dashboard.accounts.models import User
from dashboard.approvals.models import ApprovalRequest, Decision
from dashboard.approvals.rules import likeness
from dashboard.approvals.rules.recall import recall_of
from dashboard.approvals.rules.view import is_revealed
from dashboard.inspection.redaction import candidates
from dashboard.web import times, words
from dashboard.web.drawing.diff import Difference, difference, tally
from dashboard.web.drawing.direction import TextReading
from dashboard.web.drawing.prettyjson import pretty_json
from dashboard.web.times import Moment

_TITLES = {
    "code": "Code",
    "language": "Language that the agent names",
    "tool": "Tool",
    "arguments": "Arguments",
    "steps": "Steps",
    "operation": "Operation",
    "user_id": "Whose memory",
    "content": "New content",
    "existing": "Content that it says exists now",
}

_TEXTS = frozenset((_TITLES["content"], _TITLES["existing"]))
"""Of memory, and so prose; all else runs, or says what does."""

_OTHER = "Also part of the content"

_PERSON = (Source.REVIEWER, Source.ADMIN)


@dataclass(frozen=True, slots=True)
class DiffSection:
    """One part of the content that changed. ``title`` is ours."""

    title: str
    diff: Difference


@dataclass(frozen=True, kw_only=True, slots=True)
class EarlierRequestView:
    """An earlier request beside the one that is read.

    Attributes:
        word: What became of it, in a word.
        lead: ``"Resembles what was rejected"``: everything before the time.
        tail: ``"by alice"``, what stands after it; perhaps empty.
        reason: The words of the person who decided; perhaps none.
    """

    id: UUID
    status: str
    word: str
    lead: str
    at: Moment
    tail: str
    reason: str
    is_same: bool
    names_run: bool
    sections: list[DiffSection]

    @property
    def added(self) -> int:
        """How many lines are new."""
        return sum(section.diff.added for section in self.sections)

    @property
    def removed(self) -> int:
        """How many lines are gone."""
        return sum(section.diff.removed for section in self.sections)

    @property
    def changed(self) -> str:
        """Say how much is different."""
        return lines_counted(added=self.added, removed=self.removed)


def earlier_request(
    approval: ApprovalRequest, person: User, now: datetime, *, redacts: bool = False
) -> EarlierRequestView | None:
    """Return the earlier request that ``approval`` resembles; None if there is none.

    ``redacts`` says whether secrets are redacted in the difference, unless they had them shown.
    """
    earlier = likeness.resembled(approval)
    if earlier is None:
        return None
    match = earlier.approval
    if redacts and candidates(likeness.text_of(match)):  # few hold a secret that may be revealed
        redacts = not is_revealed(approval.pk, person.pk)
    phrase, at, tail = _what_became(match, person, now)
    status, word = words.standing(match)
    lead = "Exactly the same as" if earlier.is_same else "Resembles"
    return EarlierRequestView(
        id=match.pk,
        status=status,
        word=word,
        lead=f"{lead} {phrase}",
        at=times.moment(at, now),
        tail=tail,
        reason=_reason(match),
        is_same=earlier.is_same,
        names_run=bool(approval.run_id),
        sections=list(diff_sections(likeness.text_of(match), approval.content, redacts=redacts)),
    )


def diff_sections(old: str, new: str, *, redacts: bool = False) -> Iterator[DiffSection]:
    """Show what is different between two canonical contents, part by part."""
    for title, old_text, new_text in _parts(old, new):
        reading = TextReading.PROSE if title in _TEXTS else TextReading.CODE
        diff = difference(old_text, new_text, redacts=redacts, reading=reading)
        yield DiffSection(title, diff)


def how_much_changed(old: str, new: str) -> str:
    """Say how much is different between two canonical contents, without drawing it."""
    tallies = [tally(old_text, new_text) for _, old_text, new_text in _parts(old, new)]
    added, removed = (sum(side) for side in zip((0, 0), *tallies, strict=True))
    return lines_counted(added=added, removed=removed) or "the same lines in another order"


def _parts(old: str, new: str) -> Iterator[tuple[str, str, str]]:
    """Yield title, old text and new text of each part of a content that changed."""
    if not old:  # too long to be compared
        return
    was, now = parse_json(old), parse_json(new)
    for name in [*_TITLES, *sorted({*was, *now} - {*_TITLES})]:
        if _written(was, name) != _written(now, name):
            yield (_TITLES.get(name, _OTHER), *_texts(name, was, now))


def lines_counted(*, added: int, removed: int) -> str:
    """Say how many lines a difference has."""
    counts = [(removed, "removed"), (added, "added")]
    return " and ".join(f"{n} line{'' if n == 1 else 's'} {word}" for n, word in counts if n)


def _texts(name: str, old: dict[str, Any], new: dict[str, Any]) -> tuple[str, str]:
    """Write a part as it reads where it is a text on both sides, and as JSON elsewhere."""
    both = [side[name] for side in (old, new) if name in side]
    if all(isinstance(value, str) for value in both):
        return old.get(name, ""), new.get(name, "")
    old_text, new_text = (pretty_json(side[name]) if name in side else "" for side in (old, new))
    return old_text, new_text


def _written(side: dict[str, Any], name: str) -> str:
    """Write a part so that 1, 1.0 and true stay three things."""
    return canonical_json(side[name]) if name in side else ""


def _what_became(
    approval: ApprovalRequest, person: User, now: datetime
) -> tuple[str, datetime, str]:
    """Say what became of an earlier request, when, and by whom."""
    if recall := recall_of(approval):
        name = "you" if recall.person_id == person.pk else recall.person.username
        return "what was taken back", recall.taken_back_at, f"by {name}"
    return _what_was_decided(approval, person, now)


def _what_was_decided(
    approval: ApprovalRequest, person: User, now: datetime
) -> tuple[str, datetime, str]:
    decision: Decision | None = getattr(approval, "decision", None)
    if decision is None:
        overdue = approval.expires_at <= now
        return "what was asked", approval.submitted_at, "" if overdue else "still waiting, asked"
    by = words.decided_by(decision, person)
    match Status(decision.status), Source(decision.source):
        case Status.EXPIRED, _:
            return "what nobody decided in time,", decision.decided_at, ""
        case Status.CANCELLED, Source.AGENT:
            return "what the agent withdrew", decision.decided_at, ""
        case Status.CANCELLED, _:
            return "what was closed", decision.decided_at, by
        case Status.APPROVED, _ if decision.edit_id:
            return "what was approved only with a change,", decision.decided_at, by
        case status, _:
            return f"what was {status}", decision.decided_at, by


def _reason(approval: ApprovalRequest) -> str:
    if recall := recall_of(approval):
        return recall.reason
    decision: Decision | None = getattr(approval, "decision", None)
    return decision.reason if decision and decision.source in _PERSON else ""
