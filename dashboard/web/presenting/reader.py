"""One window of a long content, with a search over all of it and an outline."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.safestring import SafeString

from dashboard.accounts.models import User
from dashboard.approvals.models import ApprovalRequest, Edit, Inspection, Judgement
from dashboard.approvals.rules import likeness
from dashboard.approvals.rules.edit import edited
from dashboard.approvals.rules.view import TextPart, missing
from dashboard.web.forms_lines import Wanted
from dashboard.web.presenting import coverage
from dashboard.web.presenting.coverage import Owed
from dashboard.web.presenting.lines import draw_next, draw_window
from dashboard.web.presenting.reading import contents, masks_for
from dashboard.web.presenting.standing import last_judgement
from dashboard.web.rendering.blocks import ContentBlock
from dashboard.web.rendering.content import Content
from dashboard.web.rendering.markup import theirs
from dashboard.web.rendering.outlines import outline_of
from dashboard.web.rendering.windows import Window, window_of

MOST_HITS = 50
"""More lines that hold what is searched are counted, not linked."""

MOST_PLACES = 100
"""More places where secrets are masked are counted, not named."""


class Link(NamedTuple):
    """A link of ours. ``is_here`` says that it leads to what is shown."""

    words: str
    href: str
    is_here: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Reader:
    """One window of one text.

    Attributes:
        texts: The texts that there are, if there are several.
        around: The windows before and after this one.
        drawn: The lines, and a link to the next ones.
        hits: The lines that hold what is searched; ``hit_count`` is of all.
        served: What this page holds, as a part of the content.
        owed: What was not served to this person yet.
        masked: How many places of the content are masked.
    """

    block: ContentBlock
    window: Window
    texts: list[Link]
    around: list[Link]
    drawn: SafeString
    find: str
    hits: list[Link]
    hit_count: int
    served: list[TextPart]
    owed: list[Owed]
    masked: int

    @property
    def title(self) -> str:
        """Which lines these are."""
        lines = coverage.lines(self.window.first, self.window.last)
        return f"{self.block.title}: {lines} of {self.block.code.line_count:,}"

    @property
    def unread(self) -> int:
        """How much was not served yet or is masked."""
        return len(self.owed) + self.masked

    @property
    def owed_parts(self) -> int:
        """How many parts were not served yet."""
        return sum(owed.parts for owed in self.owed)


class OutlineRow(NamedTuple):
    """One entry. ``name`` is the agent's, drawn."""

    link: Link
    what: str
    name: SafeString


@dataclass(frozen=True, slots=True)
class OutlineView:
    """The outline of one text; None for ``rows`` says that it cannot be read."""

    title: str
    rows: list[OutlineRow] | None
    more: int


def read(approval: ApprovalRequest, person: User, wanted: Wanted) -> Reader | None:
    """Show what is wanted of a content, or None if there is no such thing."""
    content = _content(approval, person)
    to_be_read = {block.number for block in content.to_be_read}
    block = next((one for one in content.blocks if one.number == wanted.block), None)
    if block is None or wanted.part > len(block.code.windows):
        return None
    if not (block.number in to_be_read or block.is_raw):
        return None
    hits = list(_hits(block, wanted.find)) if wanted.find else []
    window = _window(block, wanted, hits)
    served = coverage.served(block, window) if block.number in to_be_read else []
    left = [p for p in missing(approval.pk, person.pk, coverage.texts(content)) if p not in served]
    return Reader(
        block=block,
        window=window,
        texts=_texts(content, block),
        around=list(_around(block, window, wanted.find)),
        drawn=draw_window(block, window, {wanted.line, *hits}) + draw_next(block, window.number),
        find=wanted.find,
        hits=[_to_line(block, line, wanted.find) for line in hits[:MOST_HITS]],
        hit_count=len(hits),
        served=served,
        owed=coverage.owed(content, left),
        masked=content.masked,
    )


def outlines(approval: ApprovalRequest, person: User) -> list[OutlineView]:
    """Outline each text of a content that has a language."""
    blocks = _content(approval, person).to_be_read
    return [_outline(block) for block in blocks if block.is_inspected and block.language != "text"]


def masked_places(approval: ApprovalRequest, person: User, edit: Edit | None = None) -> list[str]:
    """Say where secrets are masked for a person, in our words; in an edit of it too."""
    found = list(_masked(_content(approval, person)))
    if edit is not None:
        seen = Judgement(inspection=Inspection(report=edit.report))
        masks = masks_for(approval, seen, person)
        _, changed = contents(edited(approval, edit.content), seen, masks=masks)
        found += [f"change {edit.pk}, {place}" for place in _masked(changed)]
    more = len(found) - MOST_PLACES
    return [*found[:MOST_PLACES], f"{more} more"] if more > 0 else found


_BREAK, _GAP = "\n", "\0"


def _masked(content: Content) -> Iterator[str]:
    for block in content.blocks:
        line = 1
        at = 0
        for run in () if block.is_raw else block.code.masked:
            line += block.text.count(_BREAK, at, run.start)
            at = run.start
            yield f"text {block.number + 1}, line {line}"


def _content(approval: ApprovalRequest, person: User) -> Content:
    judgement = last_judgement(approval)
    masks = masks_for(approval, judgement, person)
    before = likeness.memory_approved_before(approval)
    _, content = contents(approval, judgement, before, masks=masks)
    page = reverse("web:detail", args=[approval.pk])
    return replace(content, blocks=[replace(b, finding_page=page) for b in content.blocks])


def _window(block: ContentBlock, wanted: Wanted, hits: list[int]) -> Window:
    windows = block.code.windows
    if wanted.part:
        return windows[wanted.part - 1]
    return window_of(windows, wanted.line or next(iter(hits), 1))


def _hits(block: ContentBlock, find: str) -> Iterator[int]:
    wanted = find.casefold()
    for number, line in enumerate(_without_secrets(block).split(_BREAK), 1):
        if wanted in line.casefold():
            yield number


def _without_secrets(block: ContentBlock) -> str:
    """Leave gaps where secrets are masked, or a search could guess them letter by letter."""
    pieces, at = list[str](), 0
    for run in block.code.masked:
        pieces += (block.text[at : run.start], _GAP * (run.end - run.start))
        at = run.end
    return "".join([*pieces, block.text[at:]])


def _texts(content: Content, shown: ContentBlock) -> list[Link]:
    blocks = [block for block in content.to_be_read if not block.is_raw]
    if len(blocks) < 2:  # noqa: PLR2004 - one is no choice
        return []
    return [
        Link(f"Text {block.number + 1}", f"{block.href}?block={block.number}", block is shown)
        for block in blocks[:MOST_HITS]
    ]


def _around(block: ContentBlock, window: Window, find: str) -> Iterator[Link]:
    for step, words in ((-1, "Before: "), (1, "Next: ")):
        number = window.number + step
        if 1 <= number <= len(block.code.windows):
            other = block.code.windows[number - 1]
            said = f"{words}{coverage.lines(other.first, other.last)}"
            asked = {"block": block.number, "part": number} | ({"find": find} if find else {})
            yield Link(said, f"{block.href}?{urlencode(asked)}")


def _to_line(block: ContentBlock, line: int, find: str = "") -> Link:
    asked = {"block": block.number, "line": line} | ({"find": find} if find else {})
    place = f"#line-{block.number}-{line}"
    return Link(f"line {line:,}", f"{block.href}?{urlencode(asked)}{place}")


def _outline(block: ContentBlock) -> OutlineView:
    found = outline_of(block.text, block.language)
    title = block.title if found else f"{block.title}: no outline can be read from this"
    if found is None:
        return OutlineView(title, None, 0)
    rows = [
        OutlineRow(_to_line(block, one.line), one.what, theirs(one.name)) for one in found.entries
    ]
    return OutlineView(title, rows, found.total - len(rows))
