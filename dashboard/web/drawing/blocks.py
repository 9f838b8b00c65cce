"""A text of the content as the page draws it: its lines, and the marks beside them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from django.utils.safestring import SafeString

from dashboard.inspection.parts import Part, Place, words
from dashboard.inspection.redaction import is_token
from dashboard.web.drawing.code import ColourBudget, RenderedCode, render_code
from dashboard.web.drawing.direction import TextReading
from dashboard.web.drawing.markup import EMPTY, untrusted
from dashboard.web.drawing.prettyjson import pretty_json
from dashboard.web.drawing.redaction import KnownSecrets, secrets_in_code, secrets_in_value
from dashboard.web.drawing.text import Span, apart


class BlockNote(NamedTuple):
    """What was found in a line, said under it. Its words are ours.

    Attributes:
        doubt: What was not done, where the finding is a doubt.
        lines: Which lines it is about, where that is not its own line alone.
    """

    severity: str
    severity_word: str
    sentence: SafeString
    doubt: str
    name: str
    lines: str


@dataclass(frozen=True, slots=True)
class Mark:
    """The mark beside one line.

    Attributes:
        severity: The highest of what was found in the line.
        finding: The number of the finding that its sign leads to.
        words: What a screen reader says for the sign; empty where a finding only goes on.
        notes: What is said under the line; of a sentence that repeats, the first time.
    """

    severity: str
    finding: int
    words: str
    notes: tuple[BlockNote, ...] = ()


def line_id(block: int, line: int) -> str:
    """Name a line of the page; blocks count from 0, lines from 1."""
    return f"line-{block}-{line}"


def finding_id(number: int) -> str:
    """Name a finding of the page."""
    return f"finding-{number}"


RAW_JSON = "Raw JSON"

_LONGEST_PLACE = 60  # characters; of a longer one the end is shown


@dataclass(frozen=True, slots=True)
class ContentBlock:
    """One text of what would happen.

    Attributes:
        title: What it is, in our words.
        language: How it is read: a lexer's name or ``"text"``, never the agent's spelling.
        code: The block itself, complete.
        remarks: Sentences of ours that belong above it.
        named: The language as the agent spelled it; perhaps empty.
        number: Which block it is, from 0.
        is_inspected: Whether findings name it by its number and count its lines.
        is_raw: Whether it repeats, as JSON, what other blocks show.
        place: Where among the arguments it stands, in the agent's words; perhaps empty.
        marks: Line -> what is said beside it.
        text: The text itself, as it was sent.
        secrets: What is redacted in it.
        href: Where its windows are read one by one; empty where it is drawn whole.
        drawn: How many of its windows stand on the page.
        finding_page: Where the list of findings stands, if that is another page.
    """

    title: str
    language: str
    code: RenderedCode
    remarks: list[str]
    named: SafeString
    number: int = 0
    is_inspected: bool = False
    is_raw: bool = False
    place: SafeString = EMPTY
    marks: Mapping[int, Mark] = field(default_factory=dict)
    text: str = ""
    secrets: frozenset[str] = frozenset()
    href: str = ""
    drawn: int = 1
    finding_page: str = ""

    @property
    def lines(self) -> int:
        """How many lines people count: the break at the end begins no line."""
        return self.code.line_count - (self.code.line_count > 1 and self.text.endswith("\n"))

    def holds_token(self, run: Span) -> bool:
        """Whether what is redacted there is a token of a known form."""
        return not run.is_all and is_token(self.text, run.start, run.end)

    @property
    def must_be_seen(self) -> bool:
        """Whether something was found in it or is hidden in it, so that it is never folded."""
        return bool(self.marks or self.code.warnings)


class BlockDraft(NamedTuple):
    """A block before it is rendered.

    ``named_value`` is what it is called, of a text that is a value and no code.
    """

    title: str
    text: str
    language: str = ""
    remarks: tuple[str, ...] = ()
    named: str = ""
    is_inspected: bool = False
    is_raw: bool = False
    place: str = ""
    named_value: str | None = None


def rendered(drafts: Iterable[BlockDraft], *, redacts: bool = False) -> list[ContentBlock]:
    """Render blocks, in their order; JSON comes last when the time for colours is spent.

    ``redacts`` says whether secrets are redacted, in each text and in the JSON of all of them.
    """
    budget = ColourBudget()
    blocks: list[ContentBlock] = []
    secrets: set[str] = set()
    for number, draft in sorted(enumerate(drafts), key=lambda one: one[1].is_raw):
        runs = _spans(draft, secrets) if redacts else ()
        blocks.append(_rendered(number, draft, budget, runs))
        secrets |= blocks[-1].secrets
    return sorted(blocks, key=lambda block: block.number)


def _spans(draft: BlockDraft, secrets: set[str]) -> tuple[Span, ...]:
    if draft.is_raw:
        return KnownSecrets(secrets).occurrences(draft.text)
    if draft.named_value is not None:
        return secrets_in_value(draft.text, draft.named_value)
    return secrets_in_code(draft.text, draft.language)


def raw(content: Any) -> BlockDraft:
    """Return the whole of a content, as JSON that is laid out for reading."""
    return BlockDraft(RAW_JSON, pretty_json(content), "json", is_raw=True)


def of_part(part: Part) -> BlockDraft:
    """Return a text from within JSON; its block has the number of the part.

    One that is read in two languages has no colours: those of one would show what the other runs
    as a comment or a string.
    """
    language = part.language or "" if part.is_code and not part.also else ""
    place, name = _spelled(part.place), None if part.is_code else _name(part.place)
    return BlockDraft(
        "Text", part.text, language, is_inspected=True, place=place, named_value=name
    )


def with_marks(block: ContentBlock, marks: Mapping[int, Mark]) -> ContentBlock:
    """Put marks beside the lines of a block."""
    return replace(block, marks=marks)


def _name(place: Place) -> str:
    """Return the nearest key, in one spelling."""
    return next((words(step) for step in reversed(place) if isinstance(step, str)), "")


def _rendered(
    number: int, draft: BlockDraft, budget: ColourBudget, runs: tuple[Span, ...]
) -> ContentBlock:
    reading = None if draft.named_value is None else TextReading.PROSE
    code = render_code(draft.text, draft.language, budget, apart(runs), reading)
    return ContentBlock(
        title=draft.title,
        language=code.language,
        code=code,
        remarks=list(draft.remarks),
        named=untrusted(draft.named),
        number=number,
        is_inspected=draft.is_inspected,
        is_raw=draft.is_raw,
        place=untrusted(draft.place),
        text=draft.text,
        secrets=frozenset(draft.text[run.start : run.end] for run in runs),
    )


def _spelled(place: Place) -> str:
    steps = [str(step + 1) if isinstance(step, int) else step[-_LONGEST_PLACE:] for step in place]
    text = ", ".join(steps)
    return f"…{text[-_LONGEST_PLACE:]}" if len(text) > _LONGEST_PLACE else text
