"""What the agent says about its request, in our order and under our labels.

None of it is true because it stands here: the template frames it as the agent's words. It is not
coloured, so that no lexer has to run for it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.safestring import SafeString

from approval_client.wire import canonical_json
from dashboard.approvals.rules.grant import FOLDERS
from dashboard.web.drawing.code import RenderedCode, render_code
from dashboard.web.drawing.direction import TextReading
from dashboard.web.drawing.markup import size_drawn
from dashboard.web.drawing.prettyjson import pretty_json
from dashboard.web.drawing.redaction import KnownSecrets, clipped

_LABELS = {
    "written_by_the_model": "Arguments as the model wrote them",
    "tool_out_of_sight": "What is not known about the tool",
    "safety_concerns": "Safety concerns",
    "analysis_details": "Analysis",
    "execution_mode": "Execution mode",
    **dict.fromkeys(FOLDERS, "Folder it says it runs in"),
    "project_folder_path": "Folder of the project",
    "timeout_ms": "Time limit of the command, in milliseconds",
    "expected_results": "Expected results",
    "notebook_path": "Path of the notebook",
    "notebook_link": "Link to the notebook",
    "context": "Conversation that led here",
    "execution_request": "Execution request",
}

_LAST = {
    "tool_annotations": "Hints about the tool",
    "tool_schema": "Schema of the tool",
    "notebook": "Notebook as sent",
    "source_event": "Event as the framework sent it",
}

_OTHER = "Anything else"

_MOST_ITEMS = 200  # drawn one by one; a longer list is one text

MOST_DRAWN = 2_000_000
"""Characters of HTML of all that is said; of what does not fit, the beginning is drawn."""

BEGINNING = 5_000
"""Characters."""

_SPEAKER = ("role", "type", "source", "name")


@dataclass(frozen=True, slots=True)
class EvidenceItem:
    """One thing said: prose as ``text``, anything with structure as ``code``.

    Attributes:
        caption: Who says it, or its key, in the agent's words; perhaps empty.
        left_out: How many characters of it are not drawn, for the page would be too large.
    """

    caption: SafeString
    text: SafeString | None = None
    code: RenderedCode | None = None
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class EvidenceField:
    """All that is said under one label. ``name`` and ``label`` are ours."""

    name: str
    label: str
    items: list[EvidenceItem]
    collapsed: bool = False


def evidence_fields(
    evidence: Mapping[str, Any], secrets: Collection[str] = ()
) -> list[EvidenceField]:
    """Arrange evidence for the page: what is known in our order, all else under "other".

    ``secrets`` are redacted wherever they stand in it.
    """
    return list(_Said(KnownSecrets(secrets)).fields(evidence))


class _Said:
    """Draws evidence with ``known`` secrets redacted, as much of it as a page holds."""

    def __init__(self, secrets: KnownSecrets) -> None:
        self._known, self._left = secrets, MOST_DRAWN

    def fields(self, evidence: Mapping[str, Any]) -> Iterator[EvidenceField]:
        for name, label in _LABELS.items():
            if name in evidence:
                yield EvidenceField(name, label, list(self._items(name, evidence[name])))
        extras = {k: value for k, value in evidence.items() if k not in _LABELS | _LAST}
        if extras:
            yield EvidenceField("other", _OTHER, self._others(extras))
        for name, label in _LAST.items():
            if name in evidence:
                yield EvidenceField(name, label, [self._item(evidence[name])], collapsed=True)

    def _items(self, name: str, value: Any) -> Iterator[EvidenceItem]:
        if not isinstance(value, list) or not 0 < len(value) <= _MOST_ITEMS:
            yield self._item(value)
        elif name == "context":
            for message in value:
                yield from self._message(message)
        else:
            yield from map(self._item, value)

    def _others(self, values: dict[str, Any]) -> list[EvidenceItem]:
        if len(values) > _MOST_ITEMS:
            return [self._item(values)]
        return [self._item(value, canonical_json(name)) for name, value in values.items()]

    def _message(self, message: Any) -> Iterator[EvidenceItem]:
        """Show who speaks and what is said; whatever else a message holds follows as JSON."""
        if not isinstance(message, dict):
            yield self._item(message)
            return
        speaker = {k: message[k] for k in _SPEAKER if isinstance(message.get(k), str)}
        caption = " · ".join(speaker.values())
        content = message.get("content")
        if content is not None:
            yield self._item(content, caption)
        rest = {k: v for k, v in message.items() if k not in speaker and k != "content"}
        if rest or content is None:
            yield self._item(rest, caption)

    def _item(self, value: Any, caption: str = "") -> EvidenceItem:
        text = value if isinstance(value, str) else pretty_json(value)
        caption_end, end = self._room_for(caption), self._room_for(text)
        left_out = len(caption) - caption_end + len(text) - end
        drawn_caption = self._known.draw(caption, caption_end)
        if isinstance(value, str):
            return EvidenceItem(drawn_caption, self._known.draw(text, end), left_out=left_out)
        runs = clipped(self._known.occurrences(text), text[:end])
        code = render_code(text[:end], redacted=runs, reading=TextReading.QUOTED) if end else None
        return EvidenceItem(drawn_caption, code=code, left_out=left_out)

    def _room_for(self, text: str) -> int:
        """Return how many characters of a text are drawn, and count them."""
        for end in (len(text), min(len(text), BEGINNING)):
            size = size_drawn(text[:end])
            if size <= self._left:
                self._left -= size
                return end
        return 0
