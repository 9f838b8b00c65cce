"""The shape of what the inspectors are measured with, and how it is kept in files."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

_HEAD = "=== "


class Snippet(NamedTuple):
    """One piece of code and what has to be found in it.

    Attributes:
        names: Findings of which at least one must be there; empty for what does no harm.
    """

    title: str
    language: str
    text: str
    names: frozenset[str]


def read(name: str, language: str) -> list[Snippet]:
    """Read a file beside this one: ``=== title: names`` above each snippet."""
    found: list[Snippet] = []
    for part in f"\n{Path(__file__).with_name(name).read_text()}".split(f"\n{_HEAD}")[1:]:
        head, _, text = part.partition("\n")
        title, _, names = head.partition(":")
        found.append(Snippet(title.strip(), language, text.strip("\n"), frozenset(names.split())))
    return found
