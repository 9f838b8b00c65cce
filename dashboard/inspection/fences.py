"""Several code blocks sent as one fenced text, as AutoGen does, and how far that can be undone.

What the agent asked for, and what its digest names, is always the whole text. Blocks are a way to
read it. A framework that is called directly, not through a model's reply, can put fences inside
a block; if they fit the pattern perfectly, nobody can tell. So one block is certain, and several
blocks are a reading that the page has to call one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

_FENCE = "```"
_OPENING = re.compile(r"```([A-Za-z0-9_+#.-]{0,30})")
_FENCED_LINE = re.compile(r"^[ \t]*```", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block: the language as its author spelled it, perhaps empty, and the code."""

    language: str
    code: str


def join_blocks(blocks: Iterable[Block]) -> str:
    """Write blocks as AutoGen 0.7.5 does for its approval function."""
    return "\n\n".join(f"{_FENCE}{block.language}\n{block.code}\n{_FENCE}" for block in blocks)


def parse_fences(text: str) -> list[Block] | None:
    """Return the blocks that ``text`` was joined from, or None if it can be read otherwise.

    None also if any block holds three backticks anywhere: AutoGen never extracts such code from
    a reply, so somebody put them there.
    """
    blocks = []
    lines = iter(text.split("\n"))
    for line in lines:
        opening = _OPENING.fullmatch(line)
        if not opening:
            return None
        code = _until_closed(lines)
        if code is None:
            return None
        blocks.append(Block(opening[1], code))
        if next(lines, "") != "":  # one empty line between blocks
            return None
    return blocks if join_blocks(blocks) == text else None


def looks_fenced(text: str) -> bool:
    """Say whether a line of ``text`` begins like a fence, whether or not it can be parsed."""
    return _FENCED_LINE.search(text) is not None


def _until_closed(lines: Iterable[str]) -> str | None:
    code: list[str] = []
    for line in lines:
        if line == _FENCE:
            return "\n".join(code)
        if _FENCE in line:
            return None
        code.append(line)
    return None
