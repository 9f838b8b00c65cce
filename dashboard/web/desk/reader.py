"""The reader of long content: one window at a time, a search, an outline, and reveal."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple
from urllib.parse import urlencode
from uuid import UUID

from django import forms
from django.core.cache import cache
from django.http import HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.safestring import SafeString
from django.views.decorators.http import require_GET, require_POST

from dashboard import sandbox
from dashboard.accounts.models import User
from dashboard.approvals import services
from dashboard.approvals.models import ApprovalRequest, Edit, Inspection, Judgement
from dashboard.approvals.rules import likeness
from dashboard.approvals.rules.edit import edited
from dashboard.approvals.rules.judgement import demands_of
from dashboard.approvals.rules.view import TextPart, missing
from dashboard.inspection.languages import lexer_alias
from dashboard.web import errors
from dashboard.web.access import auth, for_readers, is_in_sight
from dashboard.web.content import Content
from dashboard.web.desk.editor import address_of, edit_named
from dashboard.web.desk.judgement import last_judgement
from dashboard.web.desk.view import (
    Unread,
    drawn_content,
    line_range,
    masks_to_reveal,
    parts_served,
    redacts_for,
    texts_in_parts,
    unread,
)
from dashboard.web.drawing.blocks import ContentBlock
from dashboard.web.drawing.lines import draw_next, draw_window
from dashboard.web.drawing.markup import untrusted
from dashboard.web.drawing.windows import Window, window_of
from dashboard.web.http import PersonRequest, SeeOther

LONGEST_SEARCH = 200


class WindowWanted(NamedTuple):
    """A window of a text, by its number or by a line in it, and what is searched for.

    ``part``, ``line`` and ``find`` are 0 or empty where nothing is said.
    """

    block: int = 0
    part: int = 0
    line: int = 0
    find: str = ""


class LinesForm(forms.Form):
    """The address of a window."""

    block = forms.IntegerField(min_value=0, max_value=10_000, required=False)
    part = forms.IntegerField(min_value=1, max_value=1_000_000, required=False)
    line = forms.IntegerField(min_value=1, max_value=10_000_000, required=False)
    find = forms.CharField(max_length=LONGEST_SEARCH, required=False, strip=False)

    def wanted(self) -> WindowWanted:
        """Return what a valid address asks for."""
        fields = self.cleaned_data
        return WindowWanted(
            fields["block"] or 0, fields["part"] or 0, fields["line"] or 0, fields["find"] or ""
        )


DEADLINE_S = 2.5

CACHED_S = 3600

RETRY_S = 60

READ = ("python", "bash")
"""The languages that are read."""

_OUTLINE = "dashboard.inspection.outline.outline"

_WHAT = {"imports": "imports", "function": "function", "class": "class", "command": "runs"}


class OutlineEntry(NamedTuple):
    """One line of an outline. ``name`` is the agent's; ``what`` is ours."""

    line: int
    what: str
    name: str


class CodeOutline(NamedTuple):
    """What a code defines, imports and runs; ``total`` is of all, also of what is not listed."""

    entries: list[OutlineEntry]
    total: int


def outline_of(source: str, language: str) -> CodeOutline | None:
    """Return the outline of a code, or None where it cannot be read, or not in time."""
    alias = lexer_alias(language)
    if alias not in READ:
        return None
    payload = json.dumps([alias, source]).encode()
    key = f"outline:{hashlib.sha256(payload).hexdigest()}"
    cache_entry = cache.get(key)
    if cache_entry is None:
        cache_entry = {"outline": _asked(payload)}
        cache.set(key, cache_entry, CACHED_S if cache_entry["outline"] else RETRY_S)
    try:
        return _checked(cache_entry["outline"]) if cache_entry["outline"] else None
    except (KeyError, TypeError, ValueError):
        return None


def _asked(payload: bytes) -> Any:
    try:
        return json.loads(sandbox.call(_OUTLINE, payload, DEADLINE_S))
    except (sandbox.SandboxError, ValueError):
        return None


def _checked(answer: Any) -> CodeOutline:
    count, entries = answer
    return CodeOutline(
        [OutlineEntry(int(line), _WHAT[kind], str(name)) for line, kind, name in entries],
        int(count),
    )


MOST_HITS = 50
"""More lines that hold what is searched are counted, not linked."""

MOST_PLACES = 100
"""More places where secrets are redacted are counted, not named."""


class ReaderLink(NamedTuple):
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
        redacted: How many places of the content are redacted.
        to_reveal: How many of them somebody has to reveal before their approval counts.
    """

    block: ContentBlock
    window: Window
    texts: list[ReaderLink]
    around: list[ReaderLink]
    drawn: SafeString
    find: str
    hits: list[ReaderLink]
    hit_count: int
    served: list[TextPart]
    owed: list[Unread]
    redacted: int
    to_reveal: int

    @property
    def title(self) -> str:
        """Which lines these are."""
        lines = line_range(self.window.first, self.window.last)
        return f"{self.block.title}: {lines} of {self.block.code.line_count:,}"

    @property
    def unread(self) -> int:
        """How much was not served yet or has to be revealed."""
        return len(self.owed) + self.to_reveal

    @property
    def owed_parts(self) -> int:
        """How many parts were not served yet."""
        return sum(gap.parts for gap in self.owed)


class OutlineRow(NamedTuple):
    """One entry. ``name`` is the agent's, drawn."""

    link: ReaderLink
    what: str
    name: SafeString


@dataclass(frozen=True, slots=True)
class OutlineView:
    """The outline of one text; None for ``rows`` says that it cannot be read."""

    title: str
    rows: list[OutlineRow] | None
    more: int


def read_window(
    approval: ApprovalRequest, person: User, window_request: WindowWanted
) -> Reader | None:
    """Show what is wanted of a content, or None if there is no such thing."""
    judgement = last_judgement(approval)
    content = _content(approval, judgement, person)
    to_be_read = {block.number for block in content.to_be_read}
    block = next((b for b in content.blocks if b.number == window_request.block), None)
    if block is None or window_request.part > len(block.code.windows):
        return None
    if not (block.number in to_be_read or block.is_raw):
        return None
    hits = list(_hits(block, window_request.find)) if window_request.find else []
    window = _window(block, window_request, hits)
    parts = parts_served(block, window) if block.number in to_be_read else []
    rest = [p for p in missing(approval.pk, person.pk, texts_in_parts(content)) if p not in parts]
    return Reader(
        block=block,
        window=window,
        texts=_texts(content, block),
        around=list(_around(block, window, window_request.find)),
        drawn=draw_window(block, window, {window_request.line, *hits})
        + draw_next(block, window.number),
        find=window_request.find,
        hits=[_to_line(block, line, window_request.find) for line in hits[:MOST_HITS]],
        hit_count=len(hits),
        served=parts,
        owed=unread(content, rest),
        redacted=content.redacted,
        to_reveal=masks_to_reveal(content, demands_of(judgement)),
    )


def outlines_of(approval: ApprovalRequest, person: User) -> list[OutlineView]:
    """Outline each text of a content that has a language."""
    blocks = _content(approval, last_judgement(approval), person).to_be_read
    return [_outline(block) for block in blocks if block.is_inspected and block.language != "text"]


def redacted_places(
    approval: ApprovalRequest, person: User, edit: Edit | None = None
) -> list[str]:
    """Say where secrets are redacted for a person, in our words; in an edit of it too."""
    places = list(_redacted(_content(approval, last_judgement(approval), person)))
    if edit is not None:
        judgement = Judgement(inspection=Inspection(report=edit.report))
        redacts = redacts_for(approval, judgement, person)
        _, changed = drawn_content(edited(approval, edit.content), judgement, redacts=redacts)
        places += [f"change {edit.pk}, {place}" for place in _redacted(changed)]
    more = len(places) - MOST_PLACES
    return [*places[:MOST_PLACES], f"{more} more"] if more > 0 else places


_BREAK, _GAP = "\n", "\0"


def _redacted(content: Content) -> Iterator[str]:
    for block in content.blocks:
        line = 1
        at = 0
        for run in () if block.is_raw else block.code.redacted:
            line += block.text.count(_BREAK, at, run.start)
            at = run.start
            yield f"text {block.number + 1}, line {line}"


def _content(approval: ApprovalRequest, judgement: Judgement, person: User) -> Content:
    redacts = redacts_for(approval, judgement, person)
    memory = likeness.memory_approved_before(approval)
    _, content = drawn_content(approval, judgement, memory, redacts=redacts)
    page = reverse("web:request", args=[approval.pk])
    return replace(content, blocks=[replace(b, finding_page=page) for b in content.blocks])


def _window(block: ContentBlock, window_request: WindowWanted, hits: list[int]) -> Window:
    windows = block.code.windows
    if window_request.part:
        return windows[window_request.part - 1]
    return window_of(windows, window_request.line or next(iter(hits), 1))


def _hits(block: ContentBlock, find: str) -> Iterator[int]:
    needle = find.casefold()
    for number, line in enumerate(_without_secrets(block).split(_BREAK), 1):
        if needle in line.casefold():
            yield number


def _without_secrets(block: ContentBlock) -> str:
    """Leave gaps where secrets are redacted, or a search could guess them letter by letter."""
    pieces, at = list[str](), 0
    for run in block.code.redacted:
        pieces += (block.text[at : run.start], _GAP * (run.end - run.start))
        at = run.end
    return "".join([*pieces, block.text[at:]])


def _texts(content: Content, shown: ContentBlock) -> list[ReaderLink]:
    blocks = [block for block in content.to_be_read if not block.is_raw]
    if len(blocks) < 2:  # noqa: PLR2004 - one is no choice
        return []
    return [
        ReaderLink(
            f"Text {block.number + 1}", f"{block.href}?block={block.number}", block is shown
        )
        for block in blocks[:MOST_HITS]
    ]


def _around(block: ContentBlock, window: Window, find: str) -> Iterator[ReaderLink]:
    for step, words in ((-1, "Before: "), (1, "Next: ")):
        number = window.number + step
        if 1 <= number <= len(block.code.windows):
            neighbour = block.code.windows[number - 1]
            label = f"{words}{line_range(neighbour.first, neighbour.last)}"
            query = {"block": block.number, "part": number} | ({"find": find} if find else {})
            yield ReaderLink(label, f"{block.href}?{urlencode(query)}")


def _to_line(block: ContentBlock, line: int, find: str = "") -> ReaderLink:
    query = {"block": block.number, "line": line} | ({"find": find} if find else {})
    place = f"#line-{block.number}-{line}"
    return ReaderLink(f"line {line:,}", f"{block.href}?{urlencode(query)}{place}")


def _outline(block: ContentBlock) -> OutlineView:
    code_outline = outline_of(block.text, block.language)
    title = block.title if code_outline else f"{block.title}: no outline can be read from this"
    if code_outline is None:
        return OutlineView(title, None, 0)
    rows = [
        OutlineRow(_to_line(block, entry.line), entry.what, untrusted(entry.name))
        for entry in code_outline.entries
    ]
    return OutlineView(title, rows, code_outline.total - len(rows))


@require_GET
@for_readers
def lines(request: PersonRequest, approval_id: UUID) -> HttpResponse:
    """Show one window of one text; the page of a request asks for the window alone."""
    approval = services.current(approval_id)
    form = LinesForm(request.GET)
    reader = read_window(approval, request.user, form.wanted()) if form.is_valid() else None
    if reader is None:
        return errors.not_found(request)
    target = form.wanted()
    if reader.hits and not (target.part or target.line):
        return HttpResponseRedirect(reader.hits[0].href)  # with the place, which no form can name
    if is_in_sight(request):
        services.note_served(approval_id=approval_id, person=request.user, parts=reader.served)
    is_alone = request.headers.get("X-Part") == "alone"
    template = "desk/_window.html" if is_alone else "desk/reader.html"
    return render(request, template, {"approval": approval, "reader": reader})


@require_GET
@for_readers
def outline(request: PersonRequest, approval_id: UUID) -> HttpResponse:
    """Show what the texts of a content define, import and run, with the lines."""
    approval = services.current(approval_id)
    context = {"approval": approval, "outlines": outlines_of(approval, request.user)}
    return render(request, "desk/outline.html", context)


@require_POST
@for_readers
def reveal(request: PersonRequest, approval_id: UUID) -> HttpResponse:
    """Show the secrets of a content to this person from now on, and record that."""
    approval = services.current(approval_id)
    edit = edit_named(approval, request.POST.get("edit", ""))
    places = redacted_places(approval, request.user, edit)
    if places:
        services.reveal(
            approval_id=approval_id, person=request.user, auth=auth(request), places=places
        )
    return SeeOther(f"{address_of(approval, edit)}#content-title")
