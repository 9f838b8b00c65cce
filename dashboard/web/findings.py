"""What our inspection found: said under the lines that it is about, and listed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from django.utils.html import format_html
from django.utils.safestring import SafeString

from dashboard.inspection.findings import Finding, Report, Severity, Unseen
from dashboard.inspection.sentences import plain_sentence, sentence
from dashboard.policies.rules.wording import CLASSES
from dashboard.web.content import Content
from dashboard.web.drawing.blocks import (
    BlockNote,
    ContentBlock,
    Mark,
    finding_id,
    with_marks,
)
from dashboard.web.drawing.lines import line_href
from dashboard.web.drawing.markup import untrusted

MOST_SHOWN = 100
"""More are counted, not listed; the gravest come first."""

_MOST_NAMED = 6  # lines of a sentence that repeats; more are counted

_LONGEST_MARK = 500  # lines; a finding about more, or about all, has its sign at the first only

_PLURALS = {"note": "notes"}

SEVERITIES = {
    Severity.HIGH: "High",
    Severity.MEDIUM: "Medium",
    Severity.LOW: "Low",
    Severity.INFO: "Note",
}

_DOUBTS = {Unseen.NOT_READ: "not read", Unseen.NOT_FOLLOWED: "not followed"}

_CARE = {  # the worst first
    Unseen.NOT_READ: ("Not fully inspected", "it may do more than we found."),
    Unseen.NOT_FOLLOWED: (
        "Not fully followed",
        "read it with care, it may do more than we found.",
    ),
}


class FoundAt(NamedTuple):
    """Where something was found.

    Attributes:
        id: Where the sign beside the line leads; empty at the first place, which is the row's.
        words: The lines, in our words.
        named: Which argument that is, in the agent's words; empty in code.
        href: Leads to the first line.
    """

    id: str
    words: str
    named: SafeString
    href: str


@dataclass(frozen=True, kw_only=True, slots=True)
class FindingRow:
    """One sentence in the list, with all places where it holds.

    Attributes:
        doubt: What this says was not done, where it is a doubt.
        places: Where it is, if that is known.
    """

    id: str
    severity: str
    severity_word: str
    doubt: str
    name: str
    sentence: SafeString
    places: list[FoundAt]


@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """All findings of one inspection, the gravest first.

    Attributes:
        counts: Severity, its word, and how many, where there are any.
        rows: What has a line, for the list.
        placeless: What has none, and so stands above the content.
        more: How many are not listed at all.
        doubts: What was not read or followed, and what that means; None if there is nothing.
        nothing: What is true where nothing was found, in two sentences.
        tool: How the tool that is called is classed, in a few words; empty where none is called.
        first: Leads to the first line, from the top, in which something was found.
        inspector: The version that looked.
    """

    counts: list[tuple[str, str, int]]
    rows: list[FindingRow]
    placeless: list[FindingRow]
    more: int
    doubts: tuple[str, str] | None
    nothing: tuple[str, str]
    tool: str
    first: str
    inspector: str
    shown: list[str]


def found(report: Report, content: Content, tool_class: str) -> tuple[Found, Content]:
    """Return what to list, and the content with marks where findings are.

    Args:
        tool_class: Of the tool that is called; empty where nobody has classed it.
    """
    blocks = content.blocks
    ordered = sorted(report.findings, key=_gravest_first)
    listed = ordered[:MOST_SHOWN]
    rows = list(_rows(listed, blocks))
    described = Found(
        counts=list(_counts(ordered)),
        rows=[row for row in rows if row.places],
        placeless=[row for row in rows if not row.places],
        more=len(ordered) - len(listed),
        doubts=next((advice for unseen, advice in _CARE.items() if unseen in report.unseen), None),
        nothing=_nothing(content, tool_class),
        tool=tool_in_words(tool_class) if content.call else "",
        first=_first(listed, blocks),
        inspector=report.inspector,
        shown=[_as_shown(finding) for finding in listed],
    )
    groups = _groups(listed, blocks)
    marked = [with_marks(block, _marks(groups, n, block)) for n, block in enumerate(blocks)]
    return described, replace(content, blocks=marked)


def draw_sentence(finding: Finding) -> SafeString:
    """Say what a finding says; what it is about is drawn as the agent's."""
    if finding.kept or not finding.about:
        return untrusted(sentence(finding))
    return format_html(
        '{}: <span class="said mono" translate="no">{}</span>',
        plain_sentence(finding).rstrip("."),
        untrusted(finding.about),
    )


def tool_in_words(tool_class: str) -> str:
    """Say how a tool is classed."""
    if not tool_class:
        return "Nobody has classed this tool"
    return f"This tool is classed as “{CLASSES[tool_class]}”"


def _nothing(content: Content, tool_class: str) -> tuple[str, str]:
    """Say what is true where nothing was found: only code is inspected for what it does."""
    hidden = "No code or hidden characters found in it."
    if content.call:
        return f"{tool_in_words(tool_class)}.", hidden
    if content.plan:
        return "What the steps would do was not checked.", hidden
    if content.memory:
        return "Whether it is true was not checked.", hidden
    return "No known risks found.", "This is not a guarantee."


def _first(findings: Iterable[Finding], blocks: Sequence[ContentBlock]) -> str:
    placed = (finding for finding in findings if _first_line(finding, blocks))
    top = min(placed, key=lambda finding: (finding.block, finding.line), default=None)
    return line_href(blocks[top.block], top.line) if top else ""


def _gravest_first(finding: Finding) -> tuple[int, int, int, int]:
    return -finding.severity.rank, finding.block, finding.line, finding.end_line


def _counts(findings: Iterable[Finding]) -> Iterator[tuple[str, str, int]]:
    severities = [finding.severity for finding in findings]
    for severity, word in SEVERITIES.items():
        if count := severities.count(severity):
            noun = word.lower()
            yield str(severity), noun if count == 1 else _PLURALS.get(noun, noun), count


def _rows(findings: Sequence[Finding], blocks: Sequence[ContentBlock]) -> Iterator[FindingRow]:
    """Describe findings; a sentence that repeats is one row with many places."""
    rows: dict[tuple[object, ...], FindingRow] = {}
    for number, finding in enumerate(findings, 1):
        at = _found_at(number, finding, blocks)
        key = _kind(finding) if at else (number,)
        if at and key in rows:
            rows[key].places.append(at)
        else:
            rows[key] = _row(number, finding, at)
    yield from rows.values()


def _kind(finding: Finding) -> tuple[object, ...]:
    """Return what two findings have in common that say the same."""
    return finding.severity, finding.name, finding.code, finding.about, finding.kept


def _row(number: int, finding: Finding, at: FoundAt | None) -> FindingRow:
    return FindingRow(
        id=finding_id(number),
        severity=str(finding.severity),
        severity_word=SEVERITIES[finding.severity],
        doubt=_DOUBTS.get(finding.unseen, "") if finding.unseen else "",
        name=finding.name,
        sentence=draw_sentence(finding),
        places=[at._replace(id="")] if at else [],
    )


def _found_at(number: int, finding: Finding, blocks: Sequence[ContentBlock]) -> FoundAt | None:
    first_line = _first_line(finding, blocks)
    if not first_line:
        return None
    words, place = _place(finding, blocks), blocks[finding.block].place
    return FoundAt(finding_id(number), words, place, line_href(blocks[finding.block], first_line))


def _first_line(finding: Finding, blocks: Sequence[ContentBlock]) -> int:
    """Return the line that a finding begins in, 0 if it has none on this page."""
    on_page = 0 <= finding.block < len(blocks) and _is_on(finding, blocks[finding.block])
    return finding.line if on_page else 0


def _is_on(finding: Finding, block: ContentBlock) -> bool:
    return block.is_inspected and 1 <= finding.line <= block.code.line_count


def _end(finding: Finding, block: ContentBlock) -> int:
    return min(max(finding.line, finding.end_line), block.code.line_count)


def _last_line(finding: Finding, block: ContentBlock) -> int:
    end = _end(finding, block)
    is_whole = (finding.line, end) == (1, block.code.line_count)
    return finding.line if is_whole or end - finding.line >= _LONGEST_MARK else end


def _place(finding: Finding, blocks: Sequence[ContentBlock]) -> str:
    end = _end(finding, blocks[finding.block])
    lines = f"line {finding.line}" if end == finding.line else f"lines {finding.line} to {end}"
    several = sum(block.is_inspected and not block.place for block in blocks) > 1
    return f"block {finding.block + 1}, {lines}" if several else lines


class _Group(NamedTuple):
    """Findings of one block that say the same, by their numbers."""

    block: int
    members: list[tuple[int, Finding]]


def _groups(findings: Sequence[Finding], blocks: Sequence[ContentBlock]) -> list[_Group]:
    groups: dict[tuple[object, ...], _Group] = {}
    for number, finding in enumerate(findings, 1):
        if _first_line(finding, blocks):
            key = (finding.block, *_kind(finding))
            groups.setdefault(key, _Group(finding.block, [])).members.append((number, finding))
    return list(groups.values())


def _marks(groups: Iterable[_Group], index: int, block: ContentBlock) -> dict[int, Mark]:
    """Mark each line with the gravest finding about it, and with the first that begins there.

    What repeats is said once, under the first of its lines.
    """
    severities: dict[int, str] = {}
    signs: dict[int, tuple[int, str]] = {}
    notes: dict[int, list[BlockNote]] = {}
    block_groups = [group for group in groups if group.block == index]
    for number, finding in sorted(member for group in block_groups for member in group.members):
        signs.setdefault(finding.line, (number, _spoken(finding)))
        for line in range(finding.line, _last_line(finding, block) + 1):
            severities.setdefault(line, str(finding.severity))
    for group in block_groups:
        first_line = min(finding.line for _, finding in group.members)
        notes.setdefault(first_line, []).append(_note([f for _, f in group.members], block))
    return {
        line: Mark(severity, *signs.get(line, (0, "")), tuple(notes.get(line, ())))
        for line, severity in severities.items()
    }


def _note(findings: Sequence[Finding], block: ContentBlock) -> BlockNote:
    first_finding, *repeats = sorted(findings, key=lambda finding: finding.line)
    return BlockNote(
        severity=str(first_finding.severity),
        severity_word=SEVERITIES[first_finding.severity],
        sentence=draw_sentence(first_finding),
        doubt=_DOUBTS.get(first_finding.unseen, "") if first_finding.unseen else "",
        name=first_finding.name,
        lines=_named_lines(first_finding, repeats, block),
    )


def _named_lines(first: Finding, others: Sequence[Finding], block: ContentBlock) -> str:
    end = _end(first, block)
    extent = f"Lines {first.line} to {end}." if end > first.line else ""
    lines = list(dict.fromkeys(f.line for f in others if f.line != first.line))
    if not lines:
        return extent
    numbers = [str(line) for line in lines[:_MOST_NAMED]]
    tail = f"{len(lines) - _MOST_NAMED} more" if len(lines) > _MOST_NAMED else numbers.pop()
    several = "s" if len(lines) > 1 else ""
    listing = f"{', '.join(numbers)} and {tail}" if numbers else tail
    return f"{extent} Also line{several} {listing}.".strip()


def _spoken(finding: Finding) -> str:
    return f"Line {finding.line}: {SEVERITIES[finding.severity].lower()}, {finding.name}"


def _as_shown(finding: Finding) -> str:
    where = f"{finding.block}:{finding.line}-{finding.end_line}"
    return f"{finding.severity} {finding.name} {where}"
