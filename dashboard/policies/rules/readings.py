"""What programs may read a value as, beside what it says. Pure, and in linear time.

Agents choose how they write what they ask for, and tools differ in what they take: other case,
JSON in a text, ``"0x3"`` for 3. Nothing here is certain, so it is for rules that reject or review.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from contextlib import suppress
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from itertools import chain, islice
from json import JSONDecoder
from typing import Any

from dashboard.inspection.hidden import replaced

MOST_LEAVES = 5_000
"""Values within one value that are looked at; a hostile agent sends half a million."""

_LONGEST_FOLDED = 10_000  # characters; names are shorter
_PIECE = 128  # characters: to normalise a long row of marks takes its square
_BLANKS = " \t\r\n\f\v\xa0\ufeff"
_ROW_OF_BLANKS = re.compile(r"\s+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_JOINTS = str.maketrans(dict.fromkeys("-. ", "_"))
_LONGEST_SPELLING = 400
_PREFIX = re.compile(r"__|[.:/]")
_BETWEEN_PARTS = re.compile(r"__|[^\w\s-]")
_BETWEEN_WORDS = re.compile(r"[\W_]+")
_LONGEST_NUMBER = 5_000  # characters; JSON numbers are shorter
_AROUND_NUMBERS = _BLANKS + "$€£'\"=+"
_BETWEEN_THOUSANDS = re.compile(r"(?<=\d)[^\w+-](?=\d{3}(?!\d))")
_WORDS = {
    True: frozenset(["true", "yes", "on", "t", "y"]),
    False: frozenset(["false", "no", "off", "f", "n", ""]),
}


def folded(text: str) -> str:
    """Return a text as those read it who mind neither case, nor width, nor blanks around it."""
    return _folded(text) if len(text) <= _LONGEST_FOLDED else text.casefold().strip(_BLANKS)


@lru_cache(maxsize=256)
def _folded(text: str) -> str:
    return normalised(text).casefold().strip(_BLANKS)


def normalised(text: str) -> str:
    """Return a text in NFKC, piece by piece."""
    if text.isascii():
        return text
    pieces = (text[at : at + _PIECE] for at in range(0, len(text), _PIECE))
    return "".join(unicodedata.normalize("NFKC", piece) for piece in pieces)


@lru_cache(maxsize=4)  # each may be a megabyte
def without_hidden(text: str) -> str:
    """Return a text as those read it who drop what nobody sees; blanks of all kinds stay."""
    return replaced(text, lambda run, _: "".join(filter(_is_blank, run)))


def with_single_blanks(text: str) -> str:
    """Return a text as those read it to whom all blanks in a row are one."""
    return _ROW_OF_BLANKS.sub(" ", text)


def _is_blank(character: str) -> bool:
    return character in " \t\r\n" or unicodedata.category(character) == "Zs"


def spelling(name: str) -> str:
    """Return a name as those read it who mind no spelling: ``deleteFile`` as ``delete_file``."""
    return with_joints(without_hidden(name).strip(_BLANKS)).strip("_:/()")[:_LONGEST_SPELLING]


def with_joints(text: str) -> str:
    """Return a part of a name with ``_`` for whatever joins words: humps, blanks and signs."""
    return without_humps(_HUMP.sub("_", text))


def without_humps(text: str) -> str:
    """Return a part of a name with ``_`` for the signs and blanks that join words."""
    return normalised(text).casefold().translate(_JOINTS)


def without_joints(spelled: str) -> str:
    """Return a spelling without what joins words: ``delete_file`` as ``deletefile``.

    In ``DELETEFILE`` nothing tells where a word begins.
    """
    return spelled.replace("_", "")


@lru_cache(maxsize=1024)
def spellings(name: str) -> tuple[str, ...]:
    """Return how a name may be read, with and without what joins its words."""
    return _with_bare((spelling(name),))


@lru_cache(maxsize=1024)
def tool_spellings(tool: str) -> tuple[str, ...]:
    """Return how the names by which a tool may be called may be read."""
    return _with_bare(tool_readings(tool))


@lru_cache(maxsize=1024)
def operation_spellings(operation: str) -> tuple[str, ...]:
    """Return how an operation on memory may be read: as a tool, or as any part of its name.

    ``memory.delete``, ``delete bob``, ``deleteBob`` and ``delete(bob)`` may all delete.
    """
    parts = map(spelling, _BETWEEN_PARTS.split(operation))
    single_words = _BETWEEN_WORDS.split(with_joints(operation))
    return _with_bare((*tool_readings(operation), *filter(None, (*parts, *single_words))))


def _with_bare(spelled: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*spelled, *map(without_joints, spelled))))


def tool_readings(tool: str) -> tuple[str, ...]:
    """Return the names by which a tool may be called, with and without what stands before it.

    ``mcp__orders__get`` is how agents call the tool ``get`` of the MCP server ``orders``, and
    ``orders.get`` how others do.
    """
    rests = (spelling(tool[match.end() :]) for match in _PREFIX.finditer(tool))
    return tuple(dict.fromkeys((spelling(tool), *filter(None, rests))))


def leaves(value: Any) -> list[Any] | None:
    """Return a value and all within it, names too, also within texts that are JSON.

    The texts of a list stand there as one too: many programs take a command word by word.

    Returns:
        None where there are more than ``MOST_LEAVES``, lists and objects too, or too deep for us.
    """
    parts, pending = [], [value]
    while pending:
        part = pending.pop()
        try:
            inner = _within(part)
        except RecursionError:
            return None
        if not isinstance(part, dict | list):
            parts.append(part)
        elif len(part) > 1 and isinstance(part, list) and all(isinstance(t, str) for t in part):
            parts.append(" ".join(part))
        pending += inner
        if len(parts) + len(pending) > MOST_LEAVES:
            return None
    return parts


def _within(part: Any) -> Iterable[Any]:
    if isinstance(part, dict):
        return islice(chain(part, part.values()), MOST_LEAVES + 1)
    if isinstance(part, list):
        return islice(part, MOST_LEAVES + 1)
    return unpacked(part) if isinstance(part, str) else ()


@lru_cache(maxsize=4)  # each may be a megabyte
def unpacked(text: str) -> list[Any]:
    """Return what a text holds that is JSON: nothing, one value, or several one after another.

    Raises:
        RecursionError: It is too deep.
    """
    at = _begin(text, 0)
    documents: list[Any] = []
    while at < len(text) and text[at] in '[{"' and len(documents) <= MOST_LEAVES:
        try:
            document, at = _DECODER.raw_decode(text, at)
        except ValueError:
            break
        documents.append(document)
        at = _begin(text, at)
    return documents


def _begin(text: str, at: int) -> int:
    while at < len(text) and text[at] in _BLANKS:
        at += 1
    return at


def _flat(pairs: list[tuple[str, Any]]) -> list[Any]:
    """Keep names, and values under a name that stands twice."""
    return [part for pair in pairs for part in pair]


def _number_or_text(text: str) -> Any:
    return int(text) if len(text) < 1000 else text  # noqa: PLR2004 - Python reads no longer ones


_DECODER = JSONDecoder(object_pairs_hook=_flat, parse_int=_number_or_text, strict=False)


def may_be_truth(value: Any, *, truth: bool) -> bool:
    """Whether a tool may read a value as true or as false, unless it is certainly the other."""
    if isinstance(value, str):
        word = folded(value)
        opposites = _WORDS[not truth] | {"0" if truth else "1"}
        return word not in opposites
    if isinstance(value, bool | int | float):
        return bool(value) is truth
    return not truth if not value else truth or isinstance(value, list | dict)


def is_word_of_truth(text: Any, *, truth: bool) -> bool:
    """Whether a text is a word for true or for false, such as yes."""
    return isinstance(text, str) and text != "" and folded(text) in _WORDS[truth]


def numbers_in(text: str) -> set[Decimal]:
    """Return the numbers that a text may be read as, all of it: ``0x3``, ``1,000``, ``$5``."""
    if len(text) > _LONGEST_NUMBER:
        return set()
    plain = text.strip(_AROUND_NUMBERS)
    joined = _BETWEEN_THOUSANDS.sub("", plain)
    bases = (text, plain, plain.replace(",", ""), joined)
    spelled = {each.replace(",", ".") for each in bases}
    numbers = {number for each in spelled if (number := decimal(each)) is not None}
    with suppress(ValueError):
        numbers.add(Decimal(int(plain, 0)))
    return numbers


def decimal(text: str) -> Decimal | None:
    """Return the number that a text is in decimal, None if it is none or not finite."""
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    return number if number.is_finite() else None
