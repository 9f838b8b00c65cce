"""What content does or hides: the one place where all inspectors are asked. Pure.

It runs in the sandbox, since a parser can be slow on hostile text.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from approval_client.wire import Kind
from dashboard.inspection.arguments import about_call, inspect_call, inspect_texts
from dashboard.inspection.characters import DISGUISED
from dashboard.inspection.code import inspect_code, inspect_words, skim_code
from dashboard.inspection.dangers import Room
from dashboard.inspection.fences import Block, looks_fenced, parse_fences
from dashboard.inspection.findings import Finding, Report, gravest, in_doubt
from dashboard.inspection.headline import make_headline, parse_content
from dashboard.inspection.hidden import hidden_characters
from dashboard.inspection.languages import our_spelling
from dashboard.inspection.notes import doubt
from dashboard.inspection.parts import Part, parts_of_call, parts_of_texts

hidden_characters("\u00e9")  # compiles what takes a while, before anybody waits for it

MAX_FINDINGS = 500
MAX_BLOCKS = 50
_STRANGE = ("inspection-failed", "unknown-shape")
_FENCES = doubt("ambiguous-fence", "ambiguous-fences").finding()
_TOO_MANY_BLOCKS = doubt("too-large", "too-many-blocks").finding()
_MORE = doubt(
    "too-many-findings",
    "more-findings",
).finding()


def inspect(payload: bytes) -> bytes:
    """Inspect ``{"kind": …, "content": …}``, and return a report as JSON."""
    request = json.loads(payload)
    return inspect_content(Kind(request["kind"]), request["content"]).to_json().encode()


def head(payload: bytes) -> bytes:
    """Return the headline of ``{"kind": …, "content": …, "report": …}``, as JSON."""
    request = parse_content(payload)
    report = Report.from_json(request["report"])
    return make_headline(Kind(request["kind"]), request["content"], report).to_json().encode()


def skim(payload: bytes) -> bytes:
    """Read the dangerous lines of ``{"kind": …, "content": …}``; return a report as JSON."""
    request = json.loads(payload)
    return _skimmed(Kind(request["kind"]), request["content"]).to_json().encode()


def inspect_content(kind: Kind, content: Mapping[str, Any]) -> Report:
    """Return what content of a kind does or hides; content of no known shape is a doubt."""
    if kind is Kind.CODE:
        report = _code(content.get("code"), content.get("language") or "")
    elif kind is Kind.TOOL_CALL:
        report = _call(content.get("tool"), content.get("arguments"))
    else:
        report = Report(tuple(inspect_texts(content)))
    return replace(
        report, findings=_ordered([*report.findings, *_alike(content, report.findings)])
    )


def _alike(content: Mapping[str, Any], findings: Iterable[Finding]) -> list[Finding]:
    """Return the finding about words that look alike, where no text of the content has it alone.

    Names of arguments are read too, and the words of one text beside those of another.
    """
    if any(finding.name == DISGUISED.name for finding in findings):
        return []
    return inspect_words("\n".join(_texts(content)))


def _texts(value: Any) -> Iterator[str]:
    """Yield every text of JSON, names too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from value
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)


def _code(code: Any, language: Any) -> Report:
    if not (isinstance(code, str) and isinstance(language, str)):
        return in_doubt(*_STRANGE)
    blocks = None if language else parse_fences(code)
    if blocks is not None and len(blocks) <= MAX_BLOCKS:
        findings = [
            finding
            for number, block in enumerate(blocks)
            for finding in inspect_code(block.code, block.language, block=number)
        ]
        return Report(tuple(findings), tuple(our_spelling(block.language) for block in blocks))
    whole = inspect_code(code, language)
    if blocks is not None:
        whole.append(_TOO_MANY_BLOCKS)
    elif not language and looks_fenced(code):
        whole.append(_FENCES)
    return Report(tuple(whole), (our_spelling(language),))


def _skimmed(kind: Kind, content: Mapping[str, Any]) -> Report:
    """Return what dangerous lines do, where there was no time to read everything."""
    findings: list[Finding] = []
    if kind is Kind.CODE:
        code, language = content.get("code"), content.get("language") or ""
        if not (isinstance(code, str) and isinstance(language, str)):
            return in_doubt(*_STRANGE)
        blocks = None if language else parse_fences(code)
        if blocks is None or len(blocks) > MAX_BLOCKS:
            blocks = [Block(language, code)]
        parts = [Part(n, (), b.code, b.language, is_code=True) for n, b in enumerate(blocks)]
    elif kind is Kind.TOOL_CALL:
        tool, arguments = content.get("tool"), content.get("arguments")
        if not (isinstance(tool, str) and isinstance(arguments, Mapping)):
            return in_doubt(*_STRANGE)
        findings = about_call(tool, arguments)
        parts = parts_of_call(tool, arguments)
    else:
        parts = parts_of_texts(content)
    room = Room()
    for part in parts:
        if room.is_left:
            findings += skim_code(part.text, part.language, block=part.number, room=room)
        if part.also and room.is_left:
            findings += skim_code(part.text, part.also, block=part.number, room=room)
    findings += _alike(content, findings)
    languages = {
        our_spelling(language): None
        for part in parts
        if part.is_code
        for language in ([part.language, part.also] if part.also else [part.language])
    }
    of_blocks = tuple(our_spelling(part.language) for part in parts)
    return Report(_ordered(findings), of_blocks if kind is Kind.CODE else tuple(languages))


def _call(tool: Any, arguments: Any) -> Report:
    if not (isinstance(tool, str) and isinstance(arguments, Mapping)):
        return in_doubt(*_STRANGE)
    findings, languages = inspect_call(tool, arguments)
    return Report(tuple(findings), languages)


def _ordered(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Put findings in the order of the content; of too many, the gravest are kept."""
    unique = dict.fromkeys(findings)
    if len(unique) <= MAX_FINDINGS:
        return tuple(sorted(unique, key=_place))
    return (_MORE, *sorted(gravest(unique, MAX_FINDINGS - 1), key=_place))


def _place(finding: Finding) -> tuple[int, int, int, str]:
    return finding.block, finding.line, -finding.severity.rank, finding.name
