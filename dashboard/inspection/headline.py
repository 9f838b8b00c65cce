"""What lists say of a content, as facts: what it is, what it does, and one telling line of it.

Made once, where the content is inspected, and kept: so one request has one title everywhere.
``web.drawing.summary`` says it in words. What the agent wrote stands here as it wrote it, cut and
with the places of what looks like a secret. Pure, and within the sandbox: texts are hostile.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import chain, islice
from typing import Any, NamedTuple, Self, TypeVar

from approval_client.wire import Kind
from dashboard.inspection.effects import GAINS_RIGHTS
from dashboard.inspection.fences import parse_fences
from dashboard.inspection.findings import UNSEEN, Finding, Report, Severity
from dashboard.inspection.memories import MemoryEffect, memory_effect
from dashboard.inspection.notes import names
from dashboard.inspection.parts import words as spelled
from dashboard.inspection.redaction import Run, candidates, secrets_in_text

T = TypeVar("T")

LONGEST = 160
LONGEST_VALUE = 60
SUDO = "sudo"
"""The code of rights that are gained by ``sudo``."""

_LOOKED_AT = 8_000
"""Characters of one text: of what is longer, the beginning tells it from others."""

_MOST_FINDINGS = 50
_MOST_PHRASES = 8
_RANKS = {severity: severity.rank for severity in Severity}
_SUDO = re.compile(r"(?:\b|\\[nt])sudo\b")


class Quote(NamedTuple):
    """The beginning of what the agent wrote, on one line.

    Attributes:
        masks: Where in it something looks like a secret: from, to.
    """

    text: str = ""
    masks: tuple[Run, ...] = ()


_NOTHING = Quote()


class HeadlineArgument(NamedTuple):
    """One argument of a call.

    Attributes:
        value: As JSON writes it, without quotation marks.
        unit: Of an amount, such as a currency.
        is_word: Whether the value needs no quotation marks.
    """

    name: Quote
    value: Quote
    unit: Quote = _NOTHING
    is_word: bool = True


class Phrase(NamedTuple):
    """Something that was found, as a title names it: a finding, and the code of what it says."""

    name: str
    code: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Headline:
    """What lists say of a content.

    Attributes:
        severity: The gravest that was found; None if nothing was.
        has_doubts: Whether something could not be read or followed.
        leading: The gravest finding.
        found: The names of all findings, in order.
        does: What the title says of it, the gravest first.
        line: One telling line; empty where the title says it all.
        languages: Of code, by block.
        lines: Of code; 0 where there are none, or they could not be counted.
        subject: Of a call its tool, of a plan its last step, of memory whose it is.
        told: Of a call, the arguments that its title names. Of a memory, the operation, where its
            words do not say what it does.
        others: Of a call, more of its arguments.
        shape: Of a call, its tool and the names of its arguments; empty where they are not known.
        steps: Of a plan; None where they are not known.
        added: Of memory, lines. ``removed`` likewise.
        deletes: Whether memory is deleted.
    """

    kind: Kind
    severity: Severity | None = None
    has_doubts: bool = False
    leading: Phrase | None = None
    found: tuple[str, ...] = ()
    does: tuple[Phrase, ...] = ()
    line: Quote = _NOTHING
    languages: tuple[str, ...] = ()
    lines: int = 0
    subject: Quote | None = None
    told: tuple[HeadlineArgument, ...] = ()
    others: tuple[HeadlineArgument, ...] = ()
    shape: str = ""
    steps: int | None = None
    added: int = 0
    removed: int = 0
    deletes: bool = False

    def to_json(self) -> str:
        """Write the text that is stored; what is empty is left out."""
        facts = {
            item.name: value
            for item in fields(self)
            if (value := getattr(self, item.name)) != item.default and item.name != "kind"
        }
        return json.dumps(facts, separators=(",", ":"), ensure_ascii=False)

    @classmethod
    def from_json(cls, kind: str, text: str) -> Self:
        """Read what ``to_json`` wrote.

        Raises:
            KeyError, TypeError, ValueError: It is something else.
        """
        facts = json.loads(text)
        if not isinstance(facts, dict):
            raise ValueError("This is no headline.")  # noqa: TRY004 - as other text that is none
        return cls(kind=Kind(kind), **{name: _READ[name](facts[name]) for name in facts})


def unread_headline(kind: Kind, report: Report) -> Headline:
    """Say only what the report says, of what could not be read for a headline."""
    return Headline(kind=kind, **_findings(report, "", Severity.INFO))


def make_headline(kind: Kind, content: Any, report: Report) -> Headline:
    """Say what lists say of a content. Total: content of no known shape has little to say."""
    make = _MAKERS[kind]
    return make(content if isinstance(content, Mapping) else {}, report)


def add_to_headline(headline: Headline, finding: Finding) -> Headline:
    """Return what lists say once a finding about the whole of it comes to what was found."""
    phrase, present = Phrase(finding.name, finding.code), headline.severity
    is_graver = present is None or _RANKS[finding.severity] > _RANKS[present]
    does = (phrase, *headline.does) if is_graver else (*headline.does, phrase)
    return replace(
        headline,
        severity=finding.severity if is_graver else present,
        leading=phrase if is_graver else headline.leading,
        found=tuple(sorted({*headline.found, finding.name})),
        does=does[:_MOST_PHRASES],
    )


def parse_content(text: str | bytes) -> Any:
    """Parse JSON for a headline: numbers stay as the agent wrote them."""
    return json.loads(text, parse_int=_Number, parse_float=_Number)


class _Number(str):
    """A number as the agent wrote it."""

    __slots__ = ()


# --- what was found ------------------------------------------------------------------------------


def _findings(report: Report, text: str, least: Severity) -> dict[str, Any]:
    """Return the facts about the findings.

    Args:
        text: What was inspected, or its beginning.
        least: What is less grave is not said in a title.
    """
    ordered = _gravest(report.findings)
    leading = (f for f in ordered[:_MOST_FINDINGS] if _RANKS[f.severity] >= _RANKS[least])
    phrases = dict.fromkeys(_phrase(finding, text) for finding in leading)
    return {
        "severity": report.highest,
        "has_doubts": report.has_doubts,
        "leading": _phrase(ordered[0], text) if ordered else None,
        "found": tuple(sorted(report.names)),
        "does": tuple(islice(phrases, _MOST_PHRASES)),
    }


def _gravest(findings: Iterable[Finding]) -> list[Finding]:
    """Put the gravest first, what is certain before doubts, in the order of the content."""
    return sorted(findings, key=lambda f: (-_RANKS[f.severity], f.name in UNSEEN, f.block, f.line))


def _phrase(finding: Finding, text: str) -> Phrase:
    code = finding.code
    if code == GAINS_RIGHTS.code and _SUDO.search(text):
        code = SUDO
    return Phrase(finding.name, code)


# --- what the agent wrote ------------------------------------------------------------------------


def _quote(text: str) -> Quote:
    """Take the beginning of a line; a secret that the cut would shorten still is one."""
    text = text[:_LOOKED_AT]
    masks = candidates(text)
    if len(text) <= LONGEST:
        return Quote(text, tuple(masks))
    end = next((start for start, stop in masks if start < LONGEST < stop), LONGEST)
    return Quote(f"{text[:end]}…", _clipped(masks, end))


def _name(text: str) -> Quote:
    """Take the first line of a name."""
    line = _first_line(text[:_LOOKED_AT])
    return _beginning(line, secrets_in_text(line))


def _beginning(text: str, masks: Iterable[Run]) -> Quote:
    end = min(len(text), LONGEST_VALUE)
    cut = "…" if len(text) > end else ""
    # Where a secret stands again it is no less one.
    again = {
        (at.start(), at.end())
        for start, stop in masks
        for at in re.finditer(re.escape(text[start:stop]), text)
    }
    return Quote(f"{text[:end]}{cut}", _clipped(sorted(again), end))


def _clipped(masks: Iterable[Run], end: int) -> tuple[Run, ...]:
    """Return what stands before ``end``, each run apart."""
    apart: list[Run] = []
    for start, stop in masks:
        begin = max(start, apart[-1][1]) if apart else start
        until = min(stop, end)
        if begin < until:
            apart.append((begin, until))
    return tuple(apart)


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.split("\n") if line.strip()), "")


# --- code ----------------------------------------------------------------------------------------

# Nothing in these gives back what it took: a line of blanks would be tried once a blank.
_DULL = re.compile(
    r"""\s*+(?:
        $ | \# | // | -- | /\* | \*[\s/] | ``` | \"{3} | '{3} | @\w
        | (?:import|from|package|using|require|include)\b
        | set\s+[-+] | shopt\b | trap\b
        | (?:begin|commit|end|start\s+transaction|rollback)\s*+;?\s*+$
        | [\[\](){}<>;,:]++\s*+$
        | (?:try|else|finally|then|do|done|fi|esac|pass|break|continue|return)\s*+[:;{]?\s*+$
    )""",
    re.VERBOSE | re.IGNORECASE,
)

_IDLE = re.compile(
    r"""\s*+(?:
        (?:self\.)?_?log(?:ger|ging)?\b | \w+\s*=\s*logging\b | console\.
        | (?:print|echo|printf|puts|exit|sys\.exit|return|raise|assert)\b
        | (?:async\s+)?(?:def|class|function|func|fn)\b
        | (?:el)?if\b | main\(\) | asyncio\.run\(main\(\)\) | \w+\.show\(\)
    )""",
    re.VERBOSE,
)

_CALL = re.compile(r"[\w\])]\s?\(")

_CALLS_BY_WORD = {"bash", "batch", "powershell", "sql", ""}  # no brackets are needed to call

_GOES_ON = re.compile(r"(?:[(\[{,\\|]|&&)\s*+\Z")

_MOST_JOINED = 6

_MOST_LINES = 400
"""Lines that are looked through for a telling one, from the end."""


def _code(content: Mapping[str, Any], report: Report) -> Headline:
    code = content.get("code")
    code = code if isinstance(code, str) else ""
    blocks = _blocks(code)
    line_count = sum(map(_lines_of_block, blocks)) if blocks else _lines_of_block(code)
    return Headline(
        kind=Kind.CODE,
        languages=report.languages,
        lines=line_count,
        line=_quote(_telling_line(code, report)),
        **_findings(report, code[:_LOOKED_AT], min(_highest(report), Severity.MEDIUM, key=_rank)),
    )


def _highest(report: Report) -> Severity:
    return report.highest or Severity.INFO


def _rank(severity: Severity) -> int:
    return _RANKS[severity]


def _telling_line(code: str, report: Report) -> str:
    """Return the line of the gravest finding, else the last one that calls something."""
    lines = code.split("\n")
    places = chain(_found_in(code, report, lines), _called_in(lines, report))
    telling = next(places, None)
    if telling is None:
        return next((line.strip() for line in lines if line.strip()), "")
    return _joined(lines, telling, is_sql="sql" in report.languages)


def _found_in(code: str, report: Report, lines: Sequence[str]) -> Iterator[int]:
    starts = _starts(code, report)
    for finding in _gravest(report.findings)[:_MOST_FINDINGS]:
        at = starts.get(finding.block, len(lines)) + finding.line - 1
        if not finding.line or at >= len(lines) or _DULL.match(lines[at][:_LOOKED_AT]):
            continue
        if _RANKS[finding.severity] >= _RANKS[Severity.MEDIUM] or not _IDLE.match(
            lines[at][:_LOOKED_AT]
        ):
            yield at


def _blocks(code: str) -> list[str]:
    """Return the code of each block where the whole text is fenced; none elsewhere."""
    fenced = parse_fences(code) if code.startswith("```") else None
    return [block.code for block in fenced or ()]


def _lines_of_block(code: str) -> int:
    """Count as the page does: the break at the end begins no line."""
    return code.count("\n") + (not code.endswith("\n")) if code else 0


def _starts(code: str, report: Report) -> dict[int, int]:
    """Return in which line, from 0, each block of code begins."""
    blocks = _blocks(code)
    if not blocks:
        return {0: 0} if len(report.languages) <= 1 else {}
    starts, at = dict[int, int](), 1
    for number, block in enumerate(blocks):
        starts[number] = at
        at += block.count("\n") + 4  # its end, an empty line, and the next beginning
    return starts


def _called_in(lines: Sequence[str], report: Report) -> Iterator[int]:
    """Yield the last line that calls something."""
    numbers = range(len(lines) - 1, max(-1, len(lines) - 1 - _MOST_LINES), -1)
    begins = {at: lines[at][:_LOOKED_AT] for at in numbers}
    places = [at for at in numbers if not _DULL.match(begins[at])]
    by_word = bool(report.languages) and report.languages[-1] in _CALLS_BY_WORD
    tests: tuple[Callable[[str], object], ...] = (
        lambda line: not _IDLE.match(line) and (by_word or _CALL.search(line)),
        lambda line: not _IDLE.match(line),
        lambda _: True,
    )
    for test in tests:
        yield from islice((at for at in places if test(begins[at])), 1)


def _joined(lines: Sequence[str], at: int, *, is_sql: bool) -> str:
    """Return a statement on one line, where it goes on in the next ones."""
    statement = lines[at][:_LOOKED_AT].strip()
    for line in lines[at + 1 : at + _MOST_JOINED]:
        goes_on = _GOES_ON.search(statement) or (is_sql and not statement.endswith(";"))
        if not goes_on or len(statement) > LONGEST:
            break
        beginning = statement.removesuffix("\\").rstrip()
        statement = f"{beginning} {line[:_LOOKED_AT].strip()}".rstrip()
    return statement


# --- tool calls ----------------------------------------------------------------------------------

_AMOUNTS = names("amount total price sum cost refund charge payment transfer")
_TARGETS = names(
    "target to recipient recipients host hostname url uri path file filename file_path filepath "
    "folder directory dir table database bucket topic queue channel pv device address email user "
    "user_id username customer account account_id order order_id id name repo repository branch "
    "service environment env cluster namespace query q search sql command cmd"
)
_SIZES = names("value setpoint quantity qty count number n limit size days percent")
_UNITS = names("currency unit units ccy")

_DEEPEST = 3
_MOST_SCALARS = 40
_UNRANKED = 3
_IN_TITLE = 2
_IN_LINE = 8
_WORD = re.compile(r"[^\s\"'=]+")


class _Scalar(NamedTuple):
    key: str
    name: str
    value: str
    unit: str

    @property
    def rank(self) -> int:
        """What a reader wants to know first: how much, of what, and how many."""
        ranking = (_AMOUNTS, _TARGETS, _SIZES)
        return next((rank for rank, among in enumerate(ranking) if self.name in among), _UNRANKED)


def _tool_call(content: Mapping[str, Any], report: Report) -> Headline:
    tool, arguments = content.get("tool"), content.get("arguments")
    name = tool if isinstance(tool, str) else ""
    arguments = arguments if isinstance(arguments, Mapping) else {}
    scalars = list(islice(_scalars(arguments), _MOST_SCALARS))
    telling = sorted((s for s in scalars if _fits_in_title(s)), key=lambda s: s.rank)[:_IN_TITLE]
    in_line = sorted((s for s in scalars if s not in telling), key=lambda s: s.rank)[:_IN_LINE]
    return Headline(
        kind=Kind.TOOL_CALL,
        subject=_name(name),
        told=tuple(map(_argument, telling)),
        others=tuple(map(_argument, in_line)),
        shape=_shape(name, arguments),
        **_findings(report, _beginning_of(content), Severity.MEDIUM),
    )


_LONGEST_SHAPE = 300


def _shape(tool: str, arguments: Mapping[str, Any]) -> str:
    """Name what alike calls share, in few characters."""
    shape = json.dumps([tool, *arguments])
    return shape if len(shape) <= _LONGEST_SHAPE else hashlib.sha256(shape.encode()).hexdigest()


def _beginning_of(content: Mapping[str, Any]) -> str:
    return json.dumps(content)[:_LOOKED_AT]


def _scalars(value: Mapping[str, Any], depth: int = 1) -> Iterator[_Scalar]:
    """Yield what is not an object, in order; a unit stands with its amount."""
    spellings = {key: spelled(key[:_LOOKED_AT]) for key in value}
    units = [value[key] for key, name in spellings.items() if name in _UNITS]
    unit = units[0] if len(units) == 1 and isinstance(units[0], str) else ""
    has_amount = not (_AMOUNTS | _SIZES).isdisjoint(spellings.values())
    for key, inner in value.items():
        name = spellings[key]
        if isinstance(inner, Mapping):
            if depth < _DEEPEST:
                yield from _scalars(inner, depth + 1)
        elif isinstance(inner, list):
            yield _Scalar(key, "", _list(inner), "")
        elif not (unit and has_amount and name in _UNITS):
            counts = name in _AMOUNTS or name in _SIZES
            yield _Scalar(key, name, _written(inner), unit if counts else "")


def _list(values: Sequence[Any]) -> str:
    shown_values = values[:_IN_LINE]
    texts = ["…" if isinstance(item, list | dict) else _written(item) for item in shown_values]
    return f"[{', '.join(texts)}{', …' if len(values) > len(shown_values) else ''}]"


def _written(value: Any) -> str:
    return value[:_LOOKED_AT] if isinstance(value, str) else json.dumps(value)


def _fits_in_title(scalar: _Scalar) -> bool:
    is_short = len(scalar.value) <= LONGEST_VALUE and "\n" not in scalar.value
    return bool(scalar.value.strip()) and is_short and scalar.rank < _UNRANKED


def _argument(scalar: _Scalar) -> HeadlineArgument:
    is_word = bool(_WORD.fullmatch(scalar.value))
    unit = _value(scalar.unit, "") if scalar.unit else _NOTHING
    return HeadlineArgument(
        _value(scalar.key, ""), _value(scalar.value, scalar.key), unit, is_word
    )


def _value(text: str, name: str) -> Quote:
    """Take the beginning of a value on one line, masked where its name says it is a secret."""
    inside = json.dumps(text[:_LOOKED_AT], ensure_ascii=False)[1:-1]
    return _beginning(inside, secrets_in_text(inside, name))


# --- plans and memories --------------------------------------------------------------------------

STEP_CAPABILITY = ("capability", "tool", "agent")
"""The members that say who does a step; the first that is there counts."""

STEP_OBJECTIVE = ("task_objective", "objective", "task", "goal", "description", "title")


def _plan(content: Mapping[str, Any], report: Report) -> Headline:
    facts = _findings(report, "", Severity.MEDIUM)
    steps = content.get("steps")
    if not isinstance(steps, list) or not all(isinstance(step, Mapping) for step in steps):
        return Headline(kind=Kind.PLAN, **facts)
    if not steps:
        return Headline(kind=Kind.PLAN, steps=0, **facts)
    ends = _texts(steps[-1], (*STEP_CAPABILITY, *STEP_OBJECTIVE))
    begins = _texts(steps[0], STEP_OBJECTIVE)[:1] + _texts(steps[0], STEP_CAPABILITY)[:1]
    begins = begins or _texts(steps[0], tuple(steps[0]))[:1]
    first_step = " · ".join(begins) or json.dumps(steps[0], ensure_ascii=False)
    return Headline(
        kind=Kind.PLAN,
        steps=len(steps),
        subject=_name(ends[0]) if ends else None,
        line=_quote(first_step),
        **facts,
    )


def _texts(step: Mapping[str, Any], members: Sequence[str]) -> list[str]:
    values = (step.get(name) for name in members)
    texts = (text[:_LOOKED_AT].strip() for text in values if isinstance(text, str))
    return [text for text in texts if text]


def _memory(content: Mapping[str, Any], report: Report) -> Headline:
    new, old = (_lines_of(content.get(name)) for name in ("content", "existing"))
    user = content.get("user_id")
    operation = str(content.get("operation", ""))
    effect = memory_effect(operation)
    deletes, is_known = effect is MemoryEffect.DELETES, effect is not MemoryEffect.UNKNOWN
    if new == old:  # by the agent's word alone
        old = []
    added, removed = Counter(new) - Counter(old), Counter(old) - Counter(new)
    changed = new if deletes else [line for line in new if line in added] or new
    return Headline(
        kind=Kind.MEMORY,
        subject=_name(user) if isinstance(user, str) else None,
        told=() if is_known else (_argument(_Scalar("operation", "operation", operation, "")),),
        deletes=deletes,
        added=added.total() if is_known else 0,
        removed=removed.total() if is_known else 0,
        line=_quote(next((line.strip() for line in changed if line.strip()), "")),
        **_findings(report, "", Severity.MEDIUM),
    )


def _lines_of(text: Any) -> list[str]:
    return text.split("\n") if isinstance(text, str) and text else []


_MAKERS: Mapping[Kind, Callable[[Mapping[str, Any], Report], Headline]] = {
    Kind.CODE: _code,
    Kind.TOOL_CALL: _tool_call,
    Kind.PLAN: _plan,
    Kind.MEMORY: _memory,
}


def _exactly(kind: type[T]) -> Callable[[Any], T]:
    def read(value: Any) -> T:
        if type(value) is not kind:
            raise TypeError(f"{value!r} is no {kind.__name__}.")
        return value

    return read


_read_text, _read_count, _read_flag = _exactly(str), _exactly(int), _exactly(bool)


def _read_texts(facts: Any) -> tuple[str, ...]:
    return tuple(map(_read_text, facts))


def _read_phrase(facts: Any) -> Phrase:
    name, code = facts
    return Phrase(_read_text(name), _read_text(code))


def _read_quote(facts: Any) -> Quote:
    text, masks = facts
    runs = ((_read_count(start), _read_count(end)) for start, end in masks)
    return Quote(_read_text(text), tuple(runs))


def _read_arguments(facts: Any) -> tuple[HeadlineArgument, ...]:
    return tuple(
        HeadlineArgument(
            _read_quote(name), _read_quote(value), _read_quote(unit), _read_flag(is_word)
        )
        for name, value, unit, is_word in facts
    )


_READ: Mapping[str, Callable[[Any], Any]] = {
    "severity": Severity,
    "has_doubts": _read_flag,
    "leading": _read_phrase,
    "found": _read_texts,
    "does": lambda facts: tuple(map(_read_phrase, facts)),
    "line": _read_quote,
    "languages": _read_texts,
    "lines": _read_count,
    "shape": _read_text,
    "steps": _read_count,
    "added": _read_count,
    "removed": _read_count,
    "deletes": _read_flag,
    "subject": _read_quote,
    "told": _read_arguments,
    "others": _read_arguments,
}
