"""What our inspection found, listed, and marked beside the lines that it is about."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from django.utils.safestring import SafeString

from dashboard.inspection.findings import Finding, Report, Severity, Unseen
from dashboard.web.content import Content
from dashboard.web.drawing.blocks import ContentBlock, Mark, finding_id, line_id, with_marks
from dashboard.web.drawing.markup import untrusted

MOST_SHOWN = 100
"""More are counted, not listed; the gravest come first."""

_AT_ONCE = 6  # the others fold away, unless they are alarms

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
    Unseen.NOT_READ: (
        "Not all of this was read by a machine, so it may do more than is listed here. Read it "
        "with more care than usual."
    ),
    Unseen.NOT_FOLLOWED: (
        "Not all of this could be followed by a machine, so read it with more care than usual."
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
    """One finding in the list, or one that several arguments share.

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
        rows: What is on sight.
        folded: What is one press away.
        more: How many are not listed at all.
        doubts: What a reader has to know of what was not read or followed; empty if nothing.
        has_placeless: Whether something was found of which nobody can tell where.
        inspector: The version that looked.
    """

    counts: list[tuple[str, str, int]]
    rows: list[FindingRow]
    folded: list[FindingRow]
    more: int
    doubts: str
    has_placeless: bool
    inspector: str
    shown: list[str]


def found(report: Report, content: Content) -> tuple[Found, Content]:
    """Return what to list, and the content with marks where findings are."""
    blocks = content.blocks
    ordered = sorted(report.findings, key=_gravest_first)
    listed = ordered[:MOST_SHOWN]
    rows = list(_rows(listed, blocks))
    alarms = sum(Severity(row.severity).rank >= Severity.MEDIUM.rank for row in rows)
    at_once = max(_AT_ONCE, alarms)
    described = Found(
        counts=list(_counts(ordered)),
        rows=rows[:at_once],
        folded=rows[at_once:],
        more=len(ordered) - len(listed),
        doubts=next((said for unseen, said in _CARE.items() if unseen in report.unseen), ""),
        has_placeless=not all(_first_line(finding, blocks) for finding in ordered),
        inspector=report.inspector,
        shown=[_as_shown(finding) for finding in listed],
    )
    marked = [with_marks(block, _marks(listed, n, block)) for n, block in enumerate(blocks)]
    return described, replace(content, blocks=marked)


def _gravest_first(finding: Finding) -> tuple[int, int, int, int]:
    return -finding.severity.rank, finding.block, finding.line, finding.end_line


def _counts(findings: Iterable[Finding]) -> Iterator[tuple[str, str, int]]:
    severities = [finding.severity for finding in findings]
    for severity, word in SEVERITIES.items():
        if count := severities.count(severity):
            said = word.lower()
            yield str(severity), said if count == 1 else _PLURALS.get(said, said), count


def _rows(findings: Sequence[Finding], blocks: Sequence[ContentBlock]) -> Iterator[FindingRow]:
    """Describe findings; what is the same in several arguments is one row with many places."""
    rows: dict[tuple[object, ...], FindingRow] = {}
    for number, finding in enumerate(findings, 1):
        at = _found_at(number, finding, blocks)
        key = (finding.severity, finding.name, finding.sentence) if at and at.named else (number,)
        if at and key in rows:
            rows[key].places.append(at)
        else:
            rows[key] = _row(number, finding, at)
    yield from rows.values()


def _row(number: int, finding: Finding, at: FoundAt | None) -> FindingRow:
    return FindingRow(
        id=finding_id(number),
        severity=str(finding.severity),
        severity_word=SEVERITIES[finding.severity],
        doubt=_DOUBTS.get(finding.unseen, "") if finding.unseen else "",
        name=finding.name,
        sentence=untrusted(finding.sentence),
        places=[at._replace(id="")] if at else [],
    )


def _found_at(number: int, finding: Finding, blocks: Sequence[ContentBlock]) -> FoundAt | None:
    first = _first_line(finding, blocks)
    if not first:
        return None
    words, named = _place(finding, blocks), blocks[finding.block].place
    return FoundAt(finding_id(number), words, named, _href(blocks[finding.block], first))


def _href(block: ContentBlock, line: int) -> str:
    """Lead to a line: on this page, or where the window that holds it is read."""
    place = f"#{line_id(block.number, line)}"
    windows = block.code.windows[: block.drawn]
    is_here = not block.href or (windows and line <= windows[-1].last)
    return place if is_here else f"{block.href}?block={block.number}&line={line}{place}"


def _first_line(finding: Finding, blocks: Sequence[ContentBlock]) -> int:
    """Return the line that a finding begins in, 0 if it has none on this page."""
    on_page = 0 <= finding.block < len(blocks) and _is_on(finding, blocks[finding.block])
    return finding.line if on_page else 0


def _is_on(finding: Finding, block: ContentBlock) -> bool:
    return block.is_inspected and 1 <= finding.line <= block.code.line_count


def _end(finding: Finding, block: ContentBlock) -> int:
    return min(max(finding.line, finding.end_line), block.code.line_count)


def _last_line(finding: Finding, block: ContentBlock) -> int:
    last = _end(finding, block)
    is_whole = (finding.line, last) == (1, block.code.line_count)
    return finding.line if is_whole or last - finding.line >= _LONGEST_MARK else last


def _place(finding: Finding, blocks: Sequence[ContentBlock]) -> str:
    last = _end(finding, blocks[finding.block])
    lines = f"line {finding.line}" if last == finding.line else f"lines {finding.line} to {last}"
    several = sum(block.is_inspected and not block.place for block in blocks) > 1
    return f"block {finding.block + 1}, {lines}" if several else lines


def _marks(findings: Sequence[Finding], index: int, block: ContentBlock) -> dict[int, Mark]:
    """Mark each line with the gravest finding about it, and with the first that begins there."""
    severities: dict[int, str] = {}
    signs: dict[int, tuple[int, str]] = {}
    for number, finding in enumerate(findings, 1):
        if finding.block == index and _is_on(finding, block):
            signs.setdefault(finding.line, (number, _spoken(finding)))
            for line in range(finding.line, _last_line(finding, block) + 1):
                severities.setdefault(line, str(finding.severity))
    return {
        line: Mark(severity, *signs.get(line, (0, ""))) for line, severity in severities.items()
    }


def _spoken(finding: Finding) -> str:
    return f"Line {finding.line}: {SEVERITIES[finding.severity].lower()}, {finding.name}"


def _as_shown(finding: Finding) -> str:
    where = f"{finding.block}:{finding.line}-{finding.end_line}"
    return f"{finding.severity} {finding.name} {where}"
