"""What we say of the notebook that a request names: is it here, is what would run in it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from dashboard.approvals.models import ApprovalRequest, Notebook
from dashboard.approvals.rules import notebook as notebook_rules
from dashboard.inspection.notebook_matches import Changes, Match, changes, match
from dashboard.web.presenting import times
from dashboard.web.presenting.times import Moment
from dashboard.wire import Kind, parse_json

EVERYTHING = "The code that would run is all code cells of this notebook, one after the other."
NOTHING = "The code that would run is not in this notebook."
THE_SAME = "The very notebook that the request before it in this run named."
NO_CELL = "No cell changed since the request before it in this run; outputs or settings did."


@dataclass(frozen=True, kw_only=True, slots=True)
class Pinned:
    """A notebook beside a request. Every word is ours.

    Attributes:
        digest: SHA-256 of its bytes, as the request names it.
        sent: When it came; None if the agent had not sent it when it asked.
        cells: How many there are.
        compared: Whether what would run is in it; empty where that is no code.
        is_in_it: Whether it is.
        since: What changed since the notebook before; empty if there was none.
    """

    digest: str
    sent: Moment | None = None
    cells: int = 0
    compared: str = ""
    is_in_it: bool = False
    since: str = ""


def pinned(approval: ApprovalRequest, now: datetime) -> Pinned | None:
    """Describe the notebook that a request names, or return None if it names none."""
    digest = parse_json(approval.evidence).get("notebook")
    if not notebook_rules.is_digest(digest):
        return None
    notebook = notebook_rules.pinned_to(approval.pk)
    if notebook is None:
        return Pinned(digest=digest)
    found = found_in(approval, notebook)
    return Pinned(
        digest=digest,
        sent=times.moment(notebook.sent_at, now),
        cells=len(notebook_rules.outline_of(notebook)["cells"]),
        compared="" if found is None else _compared(found),
        is_in_it=bool(found),
        since=_since(approval, notebook),
    )


def found_in(approval: ApprovalRequest, notebook: Notebook) -> Match | None:
    """Say where the code of a request stands in a notebook; None if it asks for no code."""
    if approval.kind != Kind.CODE:
        return None
    content = parse_json(approval.content)
    return match(content["code"], content.get("language"), notebook_rules.outline_of(notebook))


def changed(notebook: Notebook, before: Notebook | None) -> Changes:
    """Say how a notebook differs from the one before."""
    if before is None or before.digest == notebook.digest:
        return Changes()
    return changes(notebook_rules.outline_of(before), notebook_rules.outline_of(notebook))


def _compared(found: Match) -> str:
    if found.is_everything:
        return EVERYTHING
    numbers = ", ".join(map(str, found.cells))
    match len(found.cells):
        case 0:
            return NOTHING
        case 1:
            return f"The code that would run is cell {numbers} of this notebook."
    return f"Each block that would run is a cell of this notebook: {numbers}."


def _since(approval: ApprovalRequest, notebook: Notebook) -> str:
    before = notebook_rules.pinned_before(approval)
    if before is None:
        return ""
    if before.digest == notebook.digest:
        return THE_SAME
    found = changed(notebook, before)
    if not found:
        return NO_CELL
    counts = [(len(found.earlier), "changed"), (len(found.new), "new"), (found.gone, "gone")]
    said = [f"{count} {word}" for count, word in counts if count]
    first, _, word = said[0].partition(" ")
    said[0] = f"{first} cell{'' if first == '1' else 's'} {word}"
    return f"{', '.join(said)} since the request before it in this run."
