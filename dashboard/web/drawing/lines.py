"""Lines of a block as HTML, with the marks of what was found in them beside them."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import repeat

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from dashboard.web.drawing.blocks import BlockNote, ContentBlock, Mark, finding_id, line_id
from dashboard.web.drawing.diff import ChangedLine, LineChange
from dashboard.web.drawing.markup import EMPTY, numbered, trusted
from dashboard.web.drawing.windows import Window

# Said before the line and drawn beside it: what is copied is the content alone.
_SIGNS = {LineChange.ADDED: ("+", "Added: "), LineChange.REMOVED: ("−", "Removed: ")}  # noqa: RUF001 - a minus


def icon(name: str) -> SafeString:
    """Draw one of the icons in ``desk/_icons.html``; the words beside it say what it means."""
    return format_html(
        '<svg class="icon" aria-hidden="true" focusable="false"><use href="#i-{}"/></svg>', name
    )


def draw_lines(block: ContentBlock) -> SafeString:
    """Set the lines of a block that its page begins with, and where the next ones are."""
    if not block.href or (block.drawn and not block.code.is_long):
        numbers = range(1, block.code.line_count + 1)
        return format_html_join("", "{}", ((_line(block, number),) for number in numbers))
    parts = block.code.windows[: block.drawn]
    windows = format_html_join("", "{}", ((draw_window(block, window),) for window in parts))
    return windows + draw_next(block, block.drawn)


def draw_window(block: ContentBlock, window: Window, sought: Container[int] = ()) -> SafeString:
    """Set one window of a block; each line brings its number, and the lines ``sought`` a sign."""
    fragments = block.code.lines_in(window)
    numbers = range(window.first, window.last + 1)
    cut = [window.goes_on, *repeat(False, len(numbers))]
    rows = [
        _numbered(block, number, line, is_sought=number in sought, goes_on=goes_on)
        for number, line, goes_on in zip(numbers, fragments, cut, strict=False)
    ]
    return format_html(
        '<div class="window" id="window-{}-{}">{}</div>',
        block.number,
        window.number,
        trusted("".join(rows)),
    )


def draw_next(block: ContentBlock, number: int) -> SafeString:
    """Link to the window after the ``number``-th; request.js puts it in the place of the link."""
    windows = block.code.windows
    if number == len(windows):
        return EMPTY
    following = windows[number]
    return format_html(
        '<p class="window-next"><a href="{}?block={}&part={}" data-next>Lines {} to {}</a>'
        '<span class="muted"> of {}</span></p>',
        block.href,
        block.number,
        following.number,
        f"{following.first:,}",
        f"{following.last:,}",
        f"{windows[-1].last:,}",
    )


def _numbered(
    block: ContentBlock, number: int, line: SafeString, *, is_sought: bool, goes_on: bool
) -> SafeString:
    if goes_on:
        return format_html('<code class="line" data-n="↪" data-of="{}">{}</code>', number, line)
    mark, place = block.marks.get(number), line_id(block.number, number)
    if mark is None and not is_sought:  # nearly all: a thousand times a page
        return numbered(line, place, number)
    css = "line line--sought" if is_sought else "line"
    css = f"{css} line--{mark.severity}" if mark else css
    sign = _sign(mark, block.finding_page) if mark and mark.words else ""
    return format_html(
        '{}<code class="{}" id="{}" data-n="{}">{}</code>{}',
        sign,
        css,
        place,
        number,
        line,
        draw_notes(mark),
    )


def draw_text(block: ContentBlock) -> SafeString:
    """Set a whole text; one line needs no number as long as nothing is marked there."""
    is_bare = block.code.line_count == 1 and not block.marks
    css = "code code--bare" if is_bare else "code"
    if block.code.lines == [""]:
        return trusted('<span class="member-empty">empty</span>')
    return format_html('<div class="{}" translate="no">{}</div>', css, draw_lines(block))


def draw_changes(
    compared: Iterable[ChangedLine], old: ContentBlock | None, new: ContentBlock
) -> SafeString:
    """Set two texts as one: each line with its sign, in its colour and with a word for it."""
    return format_html_join("", "{}", ((row,) for row in _changes(compared, old, new)))


def _changes(
    compared: Iterable[ChangedLine], old: ContentBlock | None, new: ContentBlock
) -> Iterator[SafeString]:
    for change, number in compared:
        block = old if change is LineChange.REMOVED and old else new
        sign, word = _SIGNS.get(change, ("", ""))
        label = format_html('<span class="visually-hidden">{}</span>', word) if word else ""
        yield format_html(
            '<div class="change change--{}"><span class="change-sign" aria-hidden="true">{}</span>'
            "{}{}</div>",
            change,
            sign,
            label,
            _line(block, number),
        )


def _line(block: ContentBlock, number: int) -> SafeString:
    line: SafeString = block.code.lines[number - 1]
    mark = block.marks.get(number)
    if mark is None:
        return format_html('<code class="line">{}</code>', line)
    place = line_id(block.number, number)
    # The sign stands before the line and not in it: what is copied is the content alone.
    sign = _sign(mark, block.finding_page) if mark.words else ""
    return format_html(
        '{}<code class="line line--{}" id="{}">{}</code>{}',
        sign,
        mark.severity,
        place,
        line,
        draw_notes(mark),
    )


def draw_notes(mark: Mark | None) -> SafeString:
    """Say under a line what was found in it; it is no part of the line, and is not copied."""
    if mark is None or not mark.notes:
        return EMPTY
    notes = format_html_join("", "{}", ((_note(note),) for note in mark.notes))
    return format_html(
        '<p class="line-note line-note--{}" tabindex="-1">{}</p>', mark.severity, notes
    )


def _note(note: BlockNote) -> SafeString:
    doubt, lines = note.doubt, note.lines
    return format_html(
        '<span class="risk risk--{}" title="{}">{}<span><span class="visually-hidden">{}: </span>'
        "{}{}{}</span></span> ",
        note.severity,
        note.name,
        icon(note.severity),
        note.severity_word,
        note.sentence,
        format_html(' <span class="finding-doubt">{}</span>', doubt) if doubt else EMPTY,
        format_html(' <span class="line-note-also">{}</span>', lines) if lines else EMPTY,
    )


LONG = 40
"""Lines from which on a block has a map of what was found in it."""

_SHORTEST = 1 / 150  # of the map: what a pointer can hit


def draw_map(block: ContentBlock) -> SafeString:
    """Draw where in a long block something was found, for the right edge of it.

    The same places are reached by keyboard from the lines themselves.
    """
    count = block.code.line_count
    signs = [(line, mark) for line, mark in block.marks.items() if mark.words]
    if count < LONG or not signs:
        return EMPTY
    height = max(1.0, count * _SHORTEST)
    return format_html(
        '<svg class="map" viewBox="0 0 10 {}" preserveAspectRatio="none" aria-hidden="true" '
        'focusable="false">{}</svg>',
        count,
        format_html_join(
            "",
            '<a href="{}" tabindex="-1"><rect class="map-mark map-mark--{}" y="{}" width="10" '
            'height="{}"><title>{}</title></rect></a>',
            (
                (
                    line_href(block, line),
                    mark.severity,
                    round(min(line - 1, count - height), 2),
                    round(height, 2),
                    mark.words,
                )
                # The gravest are drawn last, over what stands beside them.
                for line, mark in sorted(signs, key=lambda one: -one[1].finding)
            ),
        ),
    )


def line_href(block: ContentBlock, line: int) -> str:
    """Lead to a line: on this page, or where the window that holds it is read."""
    place = f"#{line_id(block.number, line)}"
    windows = block.code.windows[: block.drawn]
    is_here = not block.href or (windows and line <= windows[-1].last)
    return place if is_here else f"{block.href}?block={block.number}&line={line}{place}"


def _sign(mark: Mark, page: str) -> SafeString:
    return format_html(
        '<a class="mark mark--{0}" href="{4}#{1}" aria-label="{2}" title="{2}">{3}</a>',
        mark.severity,
        finding_id(mark.finding),
        mark.words,
        icon(mark.severity),
        page,
    )


def plain_lines(lines: Sequence[SafeString]) -> SafeString:
    """Set rendered lines of code, with nothing beside them."""
    return format_html_join("", '<code class="line">{}</code>', ((line,) for line in lines))
