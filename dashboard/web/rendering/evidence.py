"""What the agent says about its request, in our order and under our labels.

None of it is true because it stands here: the template frames it as the agent's words. It is not
coloured, so that no lexer has to run for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.safestring import SafeString

from dashboard.web.rendering.code import RenderedCode, render_code
from dashboard.web.rendering.markup import theirs
from dashboard.web.rendering.prettyjson import pretty_json
from dashboard.wire import canonical_json

_LABELS = {
    "safety_concerns": "Safety concerns",
    "analysis_details": "Analysis",
    "execution_mode": "Execution mode",
    "execution_folder_path": "Folder it says it runs in",
    "expected_results": "Expected results",
    "notebook_path": "Path of the notebook",
    "notebook_link": "Link to the notebook",
    "context": "Conversation that led here",
    "execution_request": "Execution request",
}
_LAST = {"notebook": "Notebook as sent", "source_event": "Event as the framework sent it"}
_OTHER = "Anything else"
_MOST_ITEMS = 200  # drawn one by one; a longer list is one text
_SPEAKER = ("role", "type", "source", "name")


@dataclass(frozen=True, slots=True)
class EvidenceItem:
    """One thing said: prose as ``text``, anything with structure as ``code``.

    Attributes:
        caption: Who says it, or its key, in the agent's words; perhaps empty.
    """

    caption: SafeString
    text: SafeString | None = None
    code: RenderedCode | None = None


@dataclass(frozen=True, slots=True)
class EvidenceField:
    """All that is said under one label. ``name`` and ``label`` are ours."""

    name: str
    label: str
    items: list[EvidenceItem]
    collapsed: bool = False


def evidence_fields(evidence: Mapping[str, Any]) -> list[EvidenceField]:
    """Arrange evidence for the page: what is known in our order, all else under "other"."""
    fields = [
        EvidenceField(name, label, list(_items(name, evidence[name])))
        for name, label in _LABELS.items()
        if name in evidence
    ]
    others = [name for name in evidence if name not in _LABELS | _LAST]
    if others:
        fields.append(EvidenceField("other", _OTHER, _others({k: evidence[k] for k in others})))
    fields += [
        EvidenceField(name, label, [_item(evidence[name])], collapsed=True)
        for name, label in _LAST.items()
        if name in evidence
    ]
    return fields


def _items(name: str, value: Any) -> Iterator[EvidenceItem]:
    if not isinstance(value, list) or not 0 < len(value) <= _MOST_ITEMS:
        yield _item(value)
    elif name == "context":
        for message in value:
            yield from _message(message)
    else:
        yield from map(_item, value)


def _others(values: dict[str, Any]) -> list[EvidenceItem]:
    if len(values) > _MOST_ITEMS:
        return [_item(values)]
    return [_item(value, canonical_json(name)) for name, value in values.items()]


def _message(message: Any) -> Iterator[EvidenceItem]:
    """Show who speaks and what is said; whatever else a message holds follows as JSON."""
    if not isinstance(message, dict):
        yield _item(message)
        return
    speaker = {k: message[k] for k in _SPEAKER if isinstance(message.get(k), str)}
    caption = " · ".join(speaker.values())
    said = message.get("content")
    if said is not None:
        yield _item(said, caption)
    rest = {k: v for k, v in message.items() if k not in speaker and k != "content"}
    if rest or said is None:
        yield _item(rest, caption)


def _item(value: Any, caption: str = "") -> EvidenceItem:
    if isinstance(value, str):
        return EvidenceItem(theirs(caption), text=theirs(value))
    return EvidenceItem(theirs(caption), code=render_code(pretty_json(value)))
