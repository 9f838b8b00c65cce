"""What an operation on an agent's memory does, by the words of its name."""

from __future__ import annotations

import re
from enum import StrEnum

from dashboard.inspection.notes import names
from dashboard.inspection.parts import words


class MemoryEffect(StrEnum):
    """What becomes of what is stored."""

    ADDS = "adds"
    REPLACES = "replaces"
    DELETES = "deletes"
    UNKNOWN = "unknown"


_WORDS = {
    MemoryEffect.ADDS: names("add append create insert learn memorize push remember save store"),
    MemoryEffect.REPLACES: names("""
        change correct edit modify overwrite replace revise rewrite set update upsert
    """),
    MemoryEffect.DELETES: names("""
        clean cleanup clear del delete destroy discard drop empty erase evict expire expunge flush
        forget invalidate nuke prune purge redact remove reset retract revoke rm scrub truncate
        unlearn unset wipe
    """),
}
_BY_WORD = {word: effect for effect, its_words in _WORDS.items() for word in its_words}
_OBJECTS = names("""
    all archival block content core document documents entities entity entries entry fact facts in
    into item items key line mcp memories memory message messages note notes observation
    observations profile record records text to tool user value vector vectors
""")
"""What is added or replaced, which changes nothing about that."""

_OPPOSITES = names("cancel de dont never no not off revert rollback stop un undo")
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9 _.:/()-]{0,199}")


def memory_effect(operation: str) -> MemoryEffect:
    """Return what an operation does: unknown where its words say nothing, or several things.

    A deletion may name what is deleted. Beside an addition, a word that we do not know could turn
    it round.
    """
    if not _PLAIN.fullmatch(operation):
        return MemoryEffect.UNKNOWN
    its_words = set(words(operation).split("_"))
    effects = {_BY_WORD[word] for word in its_words if word in _BY_WORD}
    if len(effects) != 1 or its_words & _OPPOSITES:
        return MemoryEffect.UNKNOWN
    [effect] = effects
    is_plain = effect is MemoryEffect.DELETES or its_words <= _BY_WORD.keys() | _OBJECTS
    return effect if is_plain else MemoryEffect.UNKNOWN
