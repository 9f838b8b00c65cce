"""Globs and patterns that take linear time, whatever text they are held against. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache

import re2

from dashboard.policies.rules.readings import (
    normalised,
    with_joints,
    without_humps,
    without_joints,
)

_SPECIAL = frozenset("*?[")
_NOTHING = r"[^\x{0}-\x{10FFFF}]"  # RE2 has no look-ahead to say "never"
_ANYTHING = "(?s:.)"
_PATTERN_BYTES = 1 << 20
_GLOB_BYTES = 1 << 18


class PatternRefused(ValueError):
    """RE2 does not take the pattern."""


class Pattern:
    """A compiled RE2 pattern, for UTF-8 bytes."""

    def __init__(self, text: str, *, max_bytes: int = _PATTERN_BYTES) -> None:
        options = re2.Options()
        options.max_mem = max_bytes
        options.log_errors = False
        options.never_capture = True
        try:
            self._compiled = re2.compile(text.encode(), options)
        except (re2.error, UnicodeEncodeError) as error:
            raise PatternRefused(_reason(error)) from None

    @property
    def size(self) -> int:
        """How many steps it was compiled to; at worst each is taken for each byte of a text."""
        return int(self._compiled.programsize)

    def occurs_in(self, text: bytes) -> bool:
        """Whether it matches anywhere."""
        return self._compiled.search(text) is not None

    def fits(self, text: bytes) -> bool:
        """Whether it matches the whole text."""
        return self._compiled.fullmatch(text) is not None


LEAST_NAMED = 3


def names_something(text: str) -> bool:
    """Whether a glob names a tool, or what the names of several begin with or have in common.

    What may be of any length begins with a letter or digit, or has ``LEAST_NAMED`` of them in a
    row: almost every name has an underscore somewhere, or any one letter. Of other globs one
    character of its own is enough.
    """
    length, pieces = 0, list(_pieces(text))
    characters = [  # "[*]" is an asterisk itself
        inside if not wildcard or (wildcard == "[" and len(inside) == 1) else ""
        for wildcard, inside in pieces
    ]
    if ("*", "") not in pieces:
        return any(characters)
    for position, character in enumerate(characters):
        length = length + 1 if character.isalnum() else 0
        if length >= (LEAST_NAMED if position else 1):
            return True
    return False


@lru_cache(maxsize=512)
def pattern(text: str) -> Pattern:
    """Compile a pattern as an admin wrote it.

    Raises:
        PatternRefused: It is not one that RE2 takes.
    """
    return Pattern(text)


@lru_cache(maxsize=4096)
def glob(text: str) -> Callable[[str], bool]:
    """Return a test with the meaning of ``fnmatch.fnmatchcase``, in linear time."""
    if not _SPECIAL & set(text):
        return lambda name: name == text
    before_star, star, after_star = text.partition("*")
    if star and not _SPECIAL & set(before_star + after_star):
        return lambda name: (
            len(name) >= len(before_star) + len(after_star)
            and name.startswith(before_star)
            and name.endswith(after_star)
        )
    compiled = Pattern("".join(_translated(text)), max_bytes=_GLOB_BYTES)
    return lambda name: compiled.fits(name.encode())


def fits_any(globs: tuple[str, ...]) -> Callable[[str], bool]:
    """Return a test for whether a name fits one of the globs."""
    literals = frozenset(filter(is_literal, globs))
    tests = [glob(text) for text in globs if text not in literals]
    if not tests:
        return literals.__contains__

    def fits(name: str) -> bool:
        if name in literals:
            return True
        for test in tests:  # noqa: SIM110 - half the time of any()
            if test(name):
                return True
        return False

    return fits


def loose_glob(text: str) -> Callable[[str], bool]:
    """Return a test for texts that are folded; true of any where that glob is too large."""
    try:
        return glob(normalised(text).casefold())
    except PatternRefused:
        return lambda _: True


def fits_any_loosely(globs: tuple[str, ...]) -> Callable[[str], bool]:
    """Return a test for spellings of names; true of any where those globs are too large."""
    try:
        return fits_any(loose_globs(globs))
    except PatternRefused:
        return lambda _: True


def loose_globs(globs: tuple[str, ...]) -> tuple[str, ...]:
    """Return globs of names as globs of their spellings.

    A wildcard may stand where words are joined, so only a whole name is also one without joints:
    ``deletex`` is nothing of ``delete_*``.
    """
    return tuple(dict.fromkeys(loose for text in globs for loose in _loose(text)))


def _loose(text: str) -> tuple[str, str]:
    spelled = _spelled(text, with_joints)
    if is_literal(text):
        return spelled, without_joints(spelled)
    return spelled, _spelled(text, without_humps)


def _spelled(text: str, spell: Callable[[str], str]) -> str:
    """Spell what stands for itself in a glob."""
    parts, literal = [], ""
    for wildcard, inside in (*_pieces(text), ("", "")):
        if not wildcard and inside:
            literal += inside
            continue
        parts += [spell(literal), f"[{inside.casefold()}]" if wildcard == "[" else wildcard]
        literal = ""
    return "".join(parts)


def is_literal(text: str) -> bool:
    """Whether a glob fits one name only: itself."""
    return not _SPECIAL & set(text)


def _reason(error: Exception) -> str:
    detail = error.args[0] if error.args else ""
    text = detail.decode(errors="replace") if isinstance(detail, bytes) else str(detail)
    return text or "it cannot be read"


def _translated(text: str) -> Iterator[str]:
    for wildcard, inside in _pieces(text):
        if wildcard == "*":
            yield f"{_ANYTHING}*"
        elif wildcard == "?":
            yield _ANYTHING
        else:
            yield _set(inside) if wildcard else _escaped(inside)


def _pieces(text: str) -> Iterator[tuple[str, str]]:
    """Yield each character of a glob, or each wildcard and, of a set, what stands in it."""
    position = 0
    while position < len(text):
        character, position = text[position], position + 1
        if character == "[" and (end := _end_of_set(text, position)) != -1:
            yield "[", text[position:end]
            position = end + 1
        elif character in "*?":
            yield character, ""
        else:
            yield "", character


def _end_of_set(text: str, start: int) -> int:
    # A bracket right after the opening one (or after its "!") belongs to the set.
    begin = start + text.startswith("!", start)
    return text.find("]", begin + text.startswith("]", begin))


def _set(inside: str) -> str:
    negated = inside.startswith("!")
    ranges = "".join(
        f"{_escaped(low)}-{_escaped(high)}"
        for low, high in _ranges(inside[negated:])
        if low <= high
    )
    if not ranges:
        return _ANYTHING if negated else _NOTHING
    return f"[{'^' if negated else ''}{ranges}]"


def _ranges(inside: str) -> Iterator[tuple[str, str]]:
    # A hyphen between two characters is a range, elsewhere it is itself.
    position = 0
    while position < len(inside):
        low = inside[position]
        is_range = inside[position + 1 : position + 2] == "-" and position + 2 < len(inside)
        high = inside[position + 2] if is_range else low
        yield low, high
        position += 3 if is_range else 1


def _escaped(character: str) -> str:
    return rf"\x{{{ord(character):X}}}"
