"""What tells a request from others in a list: a title, and one telling line of its content.

The title is in our words; what an agent chose in it is drawn as said. The line is the agent's
voice alone. Neither is ever more than drawn text, and nothing is decided by it.

A queue may hold fifty requests of a megabyte each, so only the beginning and the end of the stored
text are read. The text is our canonical JSON: members stand in the order of their names.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any, NamedTuple

from django.utils.html import format_html
from django.utils.safestring import SafeString

from approval_client.wire import Kind
from dashboard.inspection.effects import GAINS_RIGHTS, INSTALLS, RUNS_TESTS, STOPS_PROCESSES
from dashboard.inspection.fences import parse_fences
from dashboard.inspection.findings import UNSEEN, Finding, Report, Severity
from dashboard.inspection.languages import TEXT, lexer_alias
from dashboard.inspection.notes import names
from dashboard.inspection.parts import words as spelled
from dashboard.inspection.redaction import candidates
from dashboard.web import words
from dashboard.web.drawing.direction import Reading
from dashboard.web.drawing.markup import EMPTY, trusted
from dashboard.web.drawing.redaction import KnownSecrets, redacted, secrets_in_value

HEAD, TAIL = 8_000, 600
"""How many characters of the stored text, from each end, are enough."""

_LONGEST = 160

_LONGEST_VALUE = 60

_MOST_FINDINGS = 50
"""The gravest are enough to say what it does."""

_NOTHING = Report()


class Summary(NamedTuple):
    """What a row says of a request.

    Attributes:
        title: What it is, in our words.
        line: The agent's voice; empty where the title says it all.
        tool: Of a call, the tool alone, as said.
        values: Of a call, the values that tell it from another of the same tool.
        shape: Of a call, its tool and the names of its arguments; empty where they are not known.
    """

    title: SafeString
    line: SafeString
    tool: SafeString = EMPTY
    values: SafeString = EMPTY
    shape: str = ""


def summarized(
    kind: str, head: str, tail: str, report: Report = _NOTHING, *, lines: int = 0
) -> Summary:
    """Return the title and the telling line of a request.

    Args:
        kind: What is asked for.
        head: The first characters of its content, or all of them.
        tail: The last characters.
        report: What our inspection found in it.
        lines: How many lines its code has, where ``head`` does not hold all of it.
    """
    content = _parsed(head)
    report = Report(tuple(_gravest(report.findings)[:_MOST_FINDINGS]), report.languages)
    match kind:
        case Kind.CODE:
            return _code(content, head, report, lines)
        case Kind.TOOL_CALL:
            return _tool_call(content, head, tail, report)
        case Kind.PLAN:
            return _plan(content, head, report)
        case _:
            return _memory(content, head, report)


def title(
    kind: str, head: str, tail: str, report: Report = _NOTHING, *, lines: int = 0
) -> SafeString:
    """Return the title alone."""
    return summarized(kind, head, tail, report, lines=lines).title


def summary(kind: str, head: str, tail: str) -> SafeString:
    """Return one drawn line, for lists that have no title; all of it is the agent's voice."""
    if kind == Kind.TOOL_CALL:
        call = _called(_parsed(head), head, tail)
        return trusted(" ".join(filter(None, (call.tool, call.telling, call.rest))))
    return summarized(kind, head, tail).line or _redacted(head)


class _Number(str):
    """A number as the agent wrote it."""

    __slots__ = ()


def _parsed(head: str) -> Any:
    """Read the content if ``head`` is all of it; else None. It was valid when it came in."""
    try:
        return json.loads(head, parse_int=_Number, parse_float=_Number)
    except (ValueError, RecursionError):
        return None


def _said(html: SafeString) -> SafeString:
    return format_html('<span class="said mono" translate="no">{}</span>', html)


def _titled(said: SafeString | str, report: Report, text: str = "") -> SafeString:
    """Add to what it is what it does, as far as our inspection saw that."""
    does = effects(report, text)
    return format_html("{}: {}", said, does) if does else format_html("{}", said)


# --- what our inspection saw ---------------------------------------------------------------------

_DOES = {
    "background-job": "keeps running in the background",
    "control-characters": "hides characters",
    "control-system-read": "reads the control system",
    "control-system-write": "writes to the control system",
    "credentials": "touches credentials",
    "deserialisation": "unpickles data",
    "disk-write": "writes to a disk",
    "dynamic-code": "runs text as code",
    "file-delete": "deletes files",
    "file-read": "reads files",
    "file-write": "writes files",
    "folding-characters": "has look-alike letters",
    "hidden-text": "hides text",
    "invisible-characters": "hides characters",
    "look-alike-characters": "has look-alike letters",
    "network": "uses the network",
    "pipe-to-shell": "pipes text to a shell",
    "privilege-change": "changes permissions",
    "process-execution": "runs programs",
    "recursive-delete": "deletes a folder",
    "row-of-blanks": "pushes text out of view",
    "sql-delete": "deletes rows",
    "sql-drop": "drops data",
    "sql-grant": "changes database rights",
    "sql-update": "updates rows",
    "sql-without-where": "changes every row",
    "sql-write": "writes to a database",
    "system-change": "changes the system",
    "text-direction": "reorders text",
    "unknown-call": "calls unknown code",
    "unknown-characters": "hides characters",
    "unknown-import": "imports unknown code",
    "unusual-blanks": "hides characters",
}

_EXACTLY = {
    GAINS_RIGHTS.code: "runs as another user",
    INSTALLS.code: "installs code",
    RUNS_TESTS.code: "runs tests",
    STOPS_PROCESSES.code: "stops processes",
}

_RANKS = {severity: severity.rank for severity in Severity}

_DOUBT = "not fully inspected"

_MOST_EFFECTS = 2

_SUDO = re.compile(r"(?:\b|\\[nt])sudo\b")


def effects(report: Report, text: str = "") -> str:
    """Say in a few of our words what was found: the gravest two, and whether there is more.

    ``text`` is what was inspected, or its beginning.
    """
    found = _gravest(report.findings)
    if not found:
        return ""
    least = min(_RANKS[found[0].severity], _RANKS[Severity.MEDIUM])
    phrases = dict.fromkeys(_does(f, text) for f in found if _RANKS[f.severity] >= least)
    named = ", ".join(islice(phrases, _MOST_EFFECTS))
    return f"{named} and more" if len(phrases) > _MOST_EFFECTS else named


def _gravest(findings: Iterable[Finding]) -> list[Finding]:
    """Put the gravest first, what is certain before doubts, in the order of the content."""
    return sorted(findings, key=lambda f: (-_RANKS[f.severity], f.name in UNSEEN, f.block, f.line))


def _does(finding: Finding, text: str) -> str:
    if finding.is_doubt:
        return _DOUBT
    if finding.code == GAINS_RIGHTS.code and _SUDO.search(text):
        return "uses sudo"
    return _EXACTLY.get(finding.code) or _DOES.get(finding.name, finding.name)


# --- code ----------------------------------------------------------------------------------------

_DULL = re.compile(
    r"""\s*(?:
        $ | \# | // | -- | /\* | \*[\s/] | ``` | \"{3} | '{3} | @\w
        | (?:import|from|package|using|require|include)\b
        | set\s+[-+] | shopt\b | trap\b
        | (?:begin|commit|end|start\s+transaction|rollback)\s*;?\s*$
        | [\[\](){}<>;,:]+\s*$
        | (?:try|else|finally|then|do|done|fi|esac|pass|break|continue|return)\s*[:;{]?\s*$
    )""",
    re.VERBOSE | re.IGNORECASE,
)

_IDLE = re.compile(
    r"""\s*(?:
        (?:self\.)?_?log(?:ger|ging)?\b | \w+\s*=\s*logging\b | console\.
        | (?:print|echo|printf|puts|exit|sys\.exit|return|raise|assert)\b
        | (?:async\s+)?(?:def|class|function|func|fn)\b
        | (?:el)?if\b | main\(\) | asyncio\.run\(main\(\)\) | \w+\.show\(\)
    )""",
    re.VERBOSE,
)

_CALL = re.compile(r"[\w\])]\s?\(")

_CALLS_BY_WORD = {"bash", "batch", "powershell", "sql", ""}  # no brackets are needed to call

_GOES_ON = re.compile(r"(?:[(\[{,\\|]|&&)\s*\Z")

_MOST_JOINED = 6

_MOST_LINES = 400
"""Lines that are looked through for a telling one, from the end."""


def _code(content: Any, head: str, report: Report, lines: int) -> Summary:
    code = content.get("code", "") if isinstance(content, dict) else _member("code", head)
    code = code if isinstance(code, str) else ""
    is_whole = content is not None
    blocks = _blocks(code)
    written = sum(map(_lines_of_block, blocks)) if blocks else _lines_of_block(code)
    size = _lines(written if is_whole else lines or written, is_least=not (is_whole or lines))
    language = _languages(report)
    line = _telling_line(code, report, is_whole=is_whole)
    return Summary(
        _titled(f"{language}, {size}", report, code), _redacted(line or head, Reading.QUOTED)
    )


def _languages(report: Report) -> str:
    aliases = dict.fromkeys(map(lexer_alias, report.languages))
    return " and ".join(words.language(one) for one in aliases if one != TEXT) or "Code"


def _lines(count: int, *, is_least: bool) -> str:
    more = "over " if is_least else ""
    return f"{more}{count:,} line{'' if count == 1 else 's'}"


def _telling_line(code: str, report: Report, *, is_whole: bool) -> str:
    """Return the line of the gravest finding, else the last one that calls something."""
    lines = code.split("\n")
    places = chain(_found_in(code, report, lines), _called_in(lines, report, is_whole=is_whole))
    telling = next(places, None)
    if telling is None:
        return next((line.strip() for line in lines if line.strip()), "")
    return _joined(lines, telling, is_sql="sql" in report.languages)


def _found_in(code: str, report: Report, lines: Sequence[str]) -> Iterator[int]:
    starts = _starts(code, report)
    for finding in report.findings:
        at = starts.get(finding.block, len(lines)) + finding.line - 1
        if not finding.line or at >= len(lines) or _DULL.match(lines[at]):
            continue
        if _RANKS[finding.severity] >= _RANKS[Severity.MEDIUM] or not _IDLE.match(lines[at]):
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


def _called_in(lines: Sequence[str], report: Report, *, is_whole: bool) -> Iterator[int]:
    """Yield the last line that calls something; of what is cut, the first."""
    first = max(0, len(lines) - _MOST_LINES)
    places = [at for at in range(first, len(lines)) if not _DULL.match(lines[at])]
    places = places[::-1] if is_whole else places
    by_word = bool(report.languages) and report.languages[-1] in _CALLS_BY_WORD
    tests: tuple[Callable[[str], object], ...] = (
        lambda line: not _IDLE.match(line) and (by_word or _CALL.search(line)),
        lambda line: not _IDLE.match(line),
        lambda _: True,
    )
    for test in tests:
        yield from islice((at for at in places if test(lines[at])), 1)


def _joined(lines: Sequence[str], at: int, *, is_sql: bool) -> str:
    """Return a statement on one line, where it goes on in the next ones."""
    said = lines[at].strip()
    for line in lines[at + 1 : at + _MOST_JOINED]:
        goes_on = _GOES_ON.search(said) or (is_sql and not said.endswith(";"))
        if not goes_on or len(said) > _LONGEST:
            break
        before = said.removesuffix("\\").rstrip()
        said = f"{before} {line.strip()}".rstrip()
    return said


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
_PLAIN_VALUE = re.compile(r"[^\s\"'=]+")


class _Scalar(NamedTuple):
    key: str
    name: str
    value: str
    unit: str

    @property
    def rank(self) -> int:
        """What a reader wants to know first: how much, of what, and how many."""
        known = (_AMOUNTS, _TARGETS, _SIZES)
        return next((rank for rank, among in enumerate(known) if self.name in among), _UNRANKED)


class _Call(NamedTuple):
    """A call, drawn: its tool, the values that matter, and the others."""

    tool: SafeString
    telling: SafeString
    rest: SafeString
    shape: str = ""


def _tool_call(content: Any, head: str, tail: str, report: Report) -> Summary:
    call = _called(content, head, tail)
    said = _said(trusted(f"{call.tool} {call.telling}") if call.telling else call.tool)
    title = _titled(said, _grave(report), head)
    return Summary(title, call.rest, _said(call.tool), call.telling or call.rest, call.shape)


def _called(content: Any, head: str, tail: str) -> _Call:
    name = content.get("tool") if isinstance(content, dict) else _last_member("tool", tail)
    name = name if isinstance(name, str) else ""
    arguments = content.get("arguments") if isinstance(content, dict) else None
    if not isinstance(arguments, dict):
        return _Call(
            _cut(name), EMPTY, _redacted(head.removeprefix('{"arguments":'), Reading.QUOTED)
        )
    scalars = list(islice(_scalars(arguments), _MOST_SCALARS))
    telling = sorted((s for s in scalars if _fits_in_title(s)), key=lambda s: s.rank)[:_IN_TITLE]
    rest = sorted((s for s in scalars if s not in telling), key=lambda s: s.rank)[:_IN_LINE]
    return _Call(
        _cut(name),
        trusted(" ".join(map(_in_title, telling))),
        trusted(" ".join(map(_in_line, rest))),
        json.dumps([name, *arguments]),
    )


def _grave(report: Report) -> Report:
    """Leave out what a sign beside the title says well enough."""
    grave = (f for f in report.findings if _RANKS[f.severity] >= _RANKS[Severity.MEDIUM])
    return Report(tuple(grave), report.languages)


def _scalars(value: Mapping[str, Any], depth: int = 1) -> Iterator[_Scalar]:
    """Yield what is not an object, in order; a unit stands with its amount."""
    units = [text for key, text in value.items() if spelled(key) in _UNITS]
    unit = units[0] if len(units) == 1 and isinstance(units[0], str) else ""
    has_amount = any(spelled(key) in _AMOUNTS | _SIZES for key in value)
    for key, inner in value.items():
        name = spelled(key)
        if isinstance(inner, Mapping):
            if depth < _DEEPEST:
                yield from _scalars(inner, depth + 1)
        elif isinstance(inner, list):
            yield _Scalar(key, "", _list(inner), "")
        elif not (unit and has_amount and name in _UNITS):
            counts = name in _AMOUNTS or name in _SIZES
            yield _Scalar(key, name, _written(inner), unit if counts else "")


def _list(values: Sequence[Any]) -> str:
    first = values[:_IN_LINE]
    said = ["…" if isinstance(one, list | dict) else _written(one) for one in first]
    return f"[{', '.join(said)}{', …' if len(values) > len(first) else ''}]"


def _written(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _fits_in_title(scalar: _Scalar) -> bool:
    is_short = len(scalar.value) <= _LONGEST_VALUE and "\n" not in scalar.value
    return bool(scalar.value.strip()) and is_short and scalar.rank < _UNRANKED


def _in_title(scalar: _Scalar) -> SafeString:
    value = _value(scalar.value, scalar.key)
    return trusted(f"{value} {_value(scalar.unit, '')}") if scalar.unit else value


def _in_line(scalar: _Scalar) -> SafeString:
    return trusted(f"{_value(scalar.key, '')}={_in_title(scalar)}")


def _value(text: str, name: str) -> SafeString:
    """Draw the beginning of a value on one line, masked where its name says it is a secret."""
    inside = json.dumps(text, ensure_ascii=False)[1:-1]
    secrets = [inside[span.start : span.end] for span in secrets_in_value(inside, name)]
    html = KnownSecrets(secrets).draw(inside, _LONGEST_VALUE, Reading.LITERAL)
    cut = "…" if len(inside) > _LONGEST_VALUE else ""
    return trusted(f"{html}{cut}" if _PLAIN_VALUE.fullmatch(text) else f"&quot;{html}{cut}&quot;")


# --- plans and memories --------------------------------------------------------------------------

_WHO = ("capability", "tool", "agent")
_WHAT = ("task_objective", "objective", "task", "goal", "description", "title")
_DELETES = {"delete", "forget", "remove", "clear"}


def _plan(content: Any, head: str, report: Report) -> Summary:
    steps = content.get("steps") if isinstance(content, dict) else None
    if not isinstance(steps, list) or not all(isinstance(step, dict) for step in steps):
        first = _first_text(head.removeprefix('{"steps":['))
        return Summary(_titled("Plan", _grave(report)), _redacted(first))
    if not steps:
        return Summary(trusted("Plan without a step"), EMPTY)
    count = f"Plan, {len(steps)} step{'' if len(steps) == 1 else 's'}"
    last = _texts(steps[-1], (*_WHO, *_WHAT))
    ends = format_html("{}, ends with {}", count, _said(_cut(last[0]))) if last else count
    said = _texts(steps[0], _WHAT)[:1] + _texts(steps[0], _WHO)[:1]
    said = said or _texts(steps[0], tuple(steps[0]))[:1]
    line = _redacted(" · ".join(said) or json.dumps(steps[0], ensure_ascii=False))
    if len(steps) > 1:
        more = f"… and {len(steps) - 1} more"
        line = format_html('{} <span class="summary-more">{}</span>', line, more)
    return Summary(_titled(ends, _grave(report)), line)


def _texts(step: Mapping[str, Any], members: Sequence[str]) -> list[str]:
    values = (step.get(name) for name in members)
    return [text.strip() for text in values if isinstance(text, str) and text.strip()]


def _memory(content: Any, head: str, report: Report) -> Summary:
    if not isinstance(content, dict):
        first = _first_line(_member("content", head))
        return Summary(_titled("Memory", _grave(report)), _redacted(first or head))
    new, old = (_lines_of(content.get(name)) for name in ("content", "existing"))
    whose = content.get("user_id")
    of = format_html("Memory of {}", _said(_cut(whose))) if isinstance(whose, str) else "Memory"
    if str(content.get("operation", "")).strip().lower() in _DELETES:
        return Summary(_titled(format_html("{}: delete", of), _grave(report)), _first_of(new))
    added, removed = Counter(new) - Counter(old), Counter(old) - Counter(new)
    counts = [f"{sign}{count.total()}" for sign, count in (("+", added), ("−", removed)) if count]  # noqa: RUF001 - a minus
    unit = "line" if added.total() + removed.total() == 1 else "lines"
    changed = format_html("{}: {}", of, " ".join([*counts, unit]) if counts else "no change")
    line = _first_of([line for line in new if line in added] or new)
    return Summary(_titled(changed, _grave(report)), line)


def _lines_of(text: Any) -> list[str]:
    return text.split("\n") if isinstance(text, str) and text else []


def _first_of(lines: Sequence[str]) -> SafeString:
    return _redacted(next((line.strip() for line in lines if line.strip()), ""))


# --- what is cut ---------------------------------------------------------------------------------

_STRING = r'(?:[^"\\]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*'


def _member(name: str, head: str) -> str:
    found = re.match(rf'{{"{name}":"({_STRING})', head)
    return _unescaped(found[1]) if found else ""


def _last_member(name: str, tail: str) -> str:
    found = re.search(rf'"{name}":"({_STRING})"}}\Z', tail)
    return _unescaped(found[1]) if found else ""


def _first_text(steps: str) -> str:
    """Return the first value that is a text, after its key, or the step as it is."""
    found = re.match(rf'{{"{_STRING}":"({_STRING})', steps)
    return _unescaped(found[1]) if found else steps


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.split("\n") if line.strip()), "")


def _unescaped(inside: str) -> str:
    return str(json.loads(f'"{inside}"', strict=False))


def _cut(text: str) -> SafeString:
    line = _first_line(text)
    secrets = [line[span.start : span.end] for span in secrets_in_value(line, "")]
    html = KnownSecrets(secrets).draw(line, _LONGEST_VALUE, Reading.LITERAL)
    return trusted(f"{html}…") if len(line) > _LONGEST_VALUE else html


def _redacted(line: str, reading: Reading = Reading.PROSE) -> SafeString:
    """Draw the beginning of a line; a secret that the cut would shorten still is one."""
    return redacted(line if len(line) <= _LONGEST else f"{line[: _cut_at(line)]}…", reading)


def _cut_at(line: str) -> int:
    """Return where to cut: before a secret that would be cut in two."""
    cut = (start for start, end in candidates(line) if start < _LONGEST < end)
    return next(cut, _LONGEST)
