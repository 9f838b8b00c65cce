"""What tells a request from others in a list: a title, and one telling line of its content.

Drawn from its headline, which was made where it was inspected. The title is in our words; what an
agent chose in it is drawn as said. The line is the agent's voice alone. Neither is ever more than
drawn text, and nothing is decided by it.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import NamedTuple

from django.core.exceptions import ObjectDoesNotExist
from django.utils.html import format_html
from django.utils.safestring import SafeString

from approval_client.wire import Kind
from dashboard.approvals.models import ApprovalRequest, Edit
from dashboard.inspection.effects import GAINS_RIGHTS, INSTALLS, RUNS_TESTS, STOPS_PROCESSES
from dashboard.inspection.findings import DOUBTS, UNSEEN
from dashboard.inspection.headline import SUDO, Headline, HeadlineArgument, Phrase, Quote
from dashboard.inspection.languages import TEXT, lexer_alias
from dashboard.inspection.parts import parts_of_call
from dashboard.inspection.sentences import SENTENCES
from dashboard.web import words
from dashboard.web.drawing.direction import TextReading, is_expression, turns
from dashboard.web.drawing.markup import EMPTY, trusted
from dashboard.web.drawing.prettyjson import is_plain
from dashboard.web.drawing.redaction import draw_masked


class Summary(NamedTuple):
    """What a row says of a request.

    Attributes:
        title: What it is, in our words.
        line: The agent's voice; empty where the title says it all.
        tool: Of a call, the tool alone, as said.
        values: Of a call, the values that tell it from another of the same tool.
    """

    title: SafeString
    line: SafeString = EMPTY
    tool: SafeString = EMPTY
    values: SafeString = EMPTY


def headline_of(row: ApprovalRequest | Edit) -> Headline | None:
    """Return the headline that was read with a request or an edit; None if there is none."""
    kind = row.kind if isinstance(row, ApprovalRequest) else row.approval.kind
    try:
        return Headline.from_json(kind, row.headline.facts)
    except (ObjectDoesNotExist, KeyError, TypeError, ValueError):
        return None


def summarized(kind: str, headline: Headline | None) -> Summary:
    """Draw the title and the telling line; without a headline the kind is all there is to say."""
    if headline is None:
        return Summary(trusted(words.KINDS[Kind(kind)]))
    return _DRAWN[headline.kind](headline)


def title_of(approval: ApprovalRequest) -> SafeString:
    """Draw the title of a request alone."""
    return summarized(approval.kind, headline_of(approval)).title


def one_line(headline: Headline | None) -> SafeString:
    """Draw one line, for lists that have no title; all of it is the agent's voice."""
    if headline is None:
        return EMPTY
    if headline.kind is Kind.TOOL_CALL:
        lead, rest = _lead(headline), _rest(headline)
        return trusted(" ".join(filter(None, (_tool(headline), lead, rest))))
    return _line(headline)


def leading_sentence(headline: Headline) -> str:
    """Say what the gravest finding is, without a full stop; empty if nothing was found."""
    if headline.leading is None:
        return ""
    if headline.leading.code in SENTENCES:
        return SENTENCES[headline.leading.code].rstrip(".")
    phrase = _phrase(headline.leading)
    return f"{phrase[0].upper()}{phrase[1:]}"


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
    "tool-schema-changed": "has another schema",
    "unknown-call": "calls unknown code",
    "unknown-characters": "hides characters",
    "unknown-import": "imports unknown code",
    "unusual-blanks": "hides characters",
}

_EXACTLY = {
    GAINS_RIGHTS.code: "runs as another user",
    SUDO: "uses sudo",
    INSTALLS.code: "installs code",
    RUNS_TESTS.code: "runs tests",
    STOPS_PROCESSES.code: "stops processes",
    "drops-definition": "drops a definition",
    "deletes-found-files": "deletes files",
    "serves-control": "serves the control system",
}
"""What is said by the code of a finding, where its name says too little."""

_DOUBT = "not fully inspected"

_MOST_EFFECTS = 2


def _titled(subject: SafeString | str, headline: Headline) -> SafeString:
    """Append the gravest findings to the title: two, and whether there are more."""
    phrases = dict.fromkeys(map(_phrase, headline.does))
    phrase = ", ".join(islice(phrases, _MOST_EFFECTS))
    more = " and more" if len(phrases) > _MOST_EFFECTS else ""
    return format_html("{}: {}{}", subject, phrase, more) if phrase else format_html("{}", subject)


def _phrase(phrase: Phrase) -> str:
    if UNSEEN.get(phrase.name) in DOUBTS:
        return _DOUBT
    return _EXACTLY.get(phrase.code) or _DOES.get(phrase.name, phrase.name)


# --- by kind -------------------------------------------------------------------------------------


def _code(headline: Headline) -> Summary:
    aliases = dict.fromkeys(map(lexer_alias, headline.languages))
    names = [words.language(alias) for alias in aliases if alias != TEXT]
    subject = " and ".join(names) or "Code"
    if headline.lines:
        subject = f"{subject}, {_count(headline.lines, 'line')}"
    return Summary(_titled(subject, headline), _line(headline))


def _tool_call(headline: Headline) -> Summary:
    tool, lead, rest = _tool(headline), _lead(headline), _rest(headline)
    subject = _said(trusted(f"{tool} {lead}") if lead else tool)
    return Summary(_titled(subject, headline), rest, _said(tool), lead or rest)


def _plan(headline: Headline) -> Summary:
    if headline.steps is None:
        return Summary(_titled("Plan", headline))
    if not headline.steps:
        return Summary(trusted("Plan without a step"))
    subject = f"Plan, {_count(headline.steps, 'step')}"
    if headline.subject:
        subject = format_html("{}, ends with {}", subject, _said(_name(headline.subject)))
    line = _line(headline)
    if headline.steps > 1:
        more = f"… and {headline.steps - 1} more"
        line = format_html('{} <span class="summary-more">{}</span>', line, more)
    return Summary(_titled(subject, headline), line)


def _memory(headline: Headline) -> Summary:
    subject: SafeString | str = "Memory"
    if headline.subject:
        subject = format_html("Memory of {}", _said(_name(headline.subject)))
    change: SafeString | str
    if headline.told:
        change = _said(_arguments(headline.told))
    elif headline.deletes:
        change = "delete"
    elif headline.added or headline.removed:
        signs = (("+", headline.added), ("−", headline.removed))  # noqa: RUF001 - a minus
        counts = [f"{sign}{count}" for sign, count in signs if count]
        unit = "line" if headline.added + headline.removed == 1 else "lines"
        change = " ".join([*counts, unit])
    else:
        change = "empty text"
    return Summary(_titled(format_html("{}: {}", subject, change), headline), _line(headline))


_DRAWN = {
    Kind.CODE: _code,
    Kind.TOOL_CALL: _tool_call,
    Kind.PLAN: _plan,
    Kind.MEMORY: _memory,
}


def _count(count: int, unit: str) -> str:
    return f"{count:,} {unit}{'' if count == 1 else 's'}"


# --- the agent's voice ---------------------------------------------------------------------------


def _said(html: SafeString) -> SafeString:
    return format_html('<span class="said mono" translate="no">{}</span>', html)


def _line(headline: Headline) -> SafeString:
    reading = TextReading.CODE if headline.kind is Kind.CODE else TextReading.PROSE
    return draw_masked(headline.line.text, headline.line.masks, reading)


def _name(quote: Quote | None) -> SafeString:
    return draw_masked(quote.text, quote.masks, TextReading.LITERAL) if quote else EMPTY


def _arguments(
    arguments: Iterable[HeadlineArgument], tool: Quote | None = None, *, named: bool = False
) -> SafeString:
    """Draw arguments of a call of ``tool``, or what is told of a memory."""
    draw = _named if named else _value
    return trusted(" ".join(draw(argument, tool) for argument in arguments))


def _lead(headline: Headline) -> SafeString:
    return _arguments(headline.told, headline.subject)


def _rest(headline: Headline) -> SafeString:
    return _arguments(headline.others, headline.subject, named=True)


def _tool(headline: Headline) -> SafeString:
    tool, html = headline.subject, _name(headline.subject)
    if tool is None or is_plain(tool.text):
        return html
    escaped = html.replace("\\", r"\\").replace("&quot;", r"\&quot;")
    return trusted(f"&quot;{escaped}&quot;")


def _named(argument: HeadlineArgument, tool: Quote | None) -> SafeString:
    name = _quoted(argument.name, is_word=is_plain(argument.name.text))
    return trusted(f"{name}={_value(argument, tool)}")


def _value(argument: HeadlineArgument, tool: Quote | None) -> SafeString:
    value = _quoted(argument.value, is_word=argument.is_word, reading=_reading(argument, tool))
    if not argument.unit.text:
        return value
    unit = _quoted(argument.unit, is_word=is_plain(argument.unit.text))
    return trusted(f"{value} {unit}")


def _reading(argument: HeadlineArgument, tool: Quote | None) -> TextReading:
    """Say how the page of the request reads a value: what runs keeps the order of its source."""
    text = argument.value.text
    if not turns(text):
        return TextReading.LITERAL
    parts = parts_of_call(tool.text if tool else "", {argument.name.text: text})
    is_code = any(part.is_code for part in parts) or is_expression(text)
    return TextReading.CODE if is_code else TextReading.LITERAL


def _quoted(
    quote: Quote, *, is_word: bool, reading: TextReading = TextReading.LITERAL
) -> SafeString:
    """Draw a name or a value among others: without quotation marks it could read as several."""
    html = draw_masked(quote.text, quote.masks, reading)
    return html if is_word else trusted(f"&quot;{html}&quot;")
