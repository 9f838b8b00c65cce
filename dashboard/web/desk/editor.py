"""A content as the text that a reviewer edits, and what they sent as a content again.

A browser sends every end of a line of a text field as CR LF, whatever was in it. So what the text
had is noted and put back, and a text of mixed ends is edited with its carriage returns drawn.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

from django.urls import reverse

from approval_client.wire import EDITABLE, JsonError, Kind, parse_json
from dashboard.approvals.models import ApprovalRequest, Edit
from dashboard.approvals.rules.edit import edited, why_not
from dashboard.inspection.hidden import GlyphKind, hidden_characters
from dashboard.web.content import too_long
from dashboard.web.drawing.prettyjson import pretty_json

MOST_LINES_EDITED = 5_000
"""What is longer is not edited in a text field, and is drawn in parts."""

SECRETS_INSIDE = (
    "Secrets in this are masked, and a text field would show them. It was not opened. Reveal "
    "the secrets first."
)

DRAWN = "\u240d"
"""Stands for a carriage return where they are drawn."""

_LABELS = {
    Kind.CODE: "The code that would run",
    Kind.TOOL_CALL: "The arguments, as JSON",
    Kind.MEMORY: "The text of the memory",
}

_CANNOT = "This text mixes line endings in a way that a text field cannot keep."

_LONG = f"More than {MOST_LINES_EDITED:,} lines cannot be edited here."

_HIDDEN = "It holds invisible characters. The preview shows each of them."

_MARKED = f"Its lines end in different ways. {DRAWN} stands for a carriage return."


class Endings(Enum):
    """How the lines of a text end."""

    LF = "line feeds"
    CRLF = "carriage return and line feed"
    MIXED = "both, or carriage returns alone"


class EditUnreadable(ValueError):
    """The text that was sent is not a valid content."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Editor:
    """A text field, ready for the page.

    Attributes:
        label: What is edited, in our words.
        text: What is in the field: the agent's, or what the reviewer sent.
        notes: What there is to know about it.
        rows: How tall it is at first, in lines.
        base: The edit that it goes on from; empty where it begins with what was asked.
        who_approves: Who has to approve what is written, if the writer cannot.
        in_clear: Whether it holds secrets that the reader had shown.
    """

    label: str
    text: str
    notes: list[str]
    rows: int
    base: str = ""
    who_approves: str = ""
    in_clear: bool = False


def why_no_editor(approval: ApprovalRequest) -> str:
    """Say why a request cannot be edited as text; empty if it can."""
    if approval.kind == Kind.PLAN:
        return "Steps of a plan are chosen on its page."
    if too_long(Kind(approval.kind), approval.content, MOST_LINES_EDITED):
        return _LONG
    text = text_of(approval)
    return _CANNOT if endings(text) is Endings.MIXED and DRAWN in text else ""


def edit_named(approval: ApprovalRequest, text: str) -> Edit | None:
    """Return the edit of a request that an address or a form names, or None."""
    return next((edit for edit in approval.edits.all() if str(edit.pk) == text), None)


def editor(approval: ApprovalRequest, base: Edit | None, sent_text: str | None) -> Editor:
    """Return the field, with what was sent or with the text of an edit to go on from."""
    original = text_of(approval)
    how = endings(original)
    begun = text_of(edited(approval, base.content)) if base else original
    text = sent_text if sent_text is not None else to_field(begun, how)
    hidden = [c for c in hidden_characters(original) if c.kind is not GlyphKind.LINE_END]
    notes = [_MARKED] if how is Endings.MIXED else []
    return Editor(
        label=_LABELS[Kind(approval.kind)],
        text=text,
        notes=[*notes, _HIDDEN] if hidden else notes,
        rows=min(30, max(8, text.count("\n") + 2)),
    )


def text_of(approval: ApprovalRequest) -> str:
    """Return what may be changed of a content as a text: arguments as JSON laid out."""
    value = parse_json(approval.content)[EDITABLE[Kind(approval.kind)]]
    return value if isinstance(value, str) else pretty_json(value)


def content_of(approval: ApprovalRequest, sent_text: str) -> dict[str, Any]:
    """Return the content that a reviewer made, from what their browser sent.

    Raises:
        EditUnreadable: It is not valid, or it changes nothing; the message says which.
    """
    kind = Kind(approval.kind)
    value: Any = from_field(sent_text, endings(text_of(approval)))
    if kind is Kind.TOOL_CALL:
        try:
            value = parse_json(value)
        except JsonError as error:
            raise EditUnreadable(str(error).replace("The body", "This", 1)) from None
    content: dict[str, Any] = {**parse_json(approval.content), EDITABLE[kind]: value}
    if wrong := why_not(approval, content):
        raise EditUnreadable(wrong)
    return content


def endings(text: str) -> Endings:
    """Say how the lines of a text end."""
    if "\r" not in text:
        return Endings.LF
    is_pure = text.count("\r") == text.count("\n") == text.count("\r\n")
    return Endings.CRLF if is_pure else Endings.MIXED


def to_field(text: str, how: Endings) -> str:
    """Write a text for a text field, which knows one end of a line only."""
    return text.replace("\r", DRAWN if how is Endings.MIXED else "")


def from_field(sent_text: str, how: Endings) -> str:
    """Read what a browser sent of the field: the ends of its lines are what they were."""
    text = sent_text.replace("\r\n", "\n").replace("\r", "\n")
    if how is Endings.CRLF:
        return text.replace("\n", "\r\n")
    return text.replace(DRAWN, "\r") if how is Endings.MIXED else text


def address_of(approval: ApprovalRequest, edit: Edit | None) -> str:
    """Return the address of a request, or of an edit of it."""
    if edit:
        return reverse("web:edit_shown", args=[approval.pk, edit.pk])
    return reverse("web:request", args=[approval.pk])
