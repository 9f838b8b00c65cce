"""What an operation on an agent's memory does, by the words of its name."""

from __future__ import annotations

from enum import StrEnum

from dashboard.inspection.parts import words


class MemoryEffect(StrEnum):
    """What becomes of what is stored."""

    ADDS = "adds"
    REPLACES = "replaces"
    DELETES = "deletes"
    UNKNOWN = "unknown"


_WORDS = {
    MemoryEffect.ADDS: ("add append create insert learn memorize push remember save store",),
    MemoryEffect.REPLACES: (
        "change correct edit modify overwrite replace revise rewrite set update upsert",
    ),
    MemoryEffect.DELETES: (
        "clean cleanup clear del delete destroy discard drop empty erase evict expire expunge",
        "flush forget invalidate nuke prune purge redact remove reset retract revoke rm truncate",
        "unlearn unset wipe",
    ),
}

_BY_WORD = {
    word: effect for effect, lines in _WORDS.items() for line in lines for word in line.split()
}

_LOOKED_AT = 2000  # characters


def memory_effect(operation: str) -> MemoryEffect:
    """Return what an operation does: unknown where its words say nothing, or several things."""
    its_words = words(operation[:_LOOKED_AT]).split("_")
    effects = {_BY_WORD[word] for word in its_words if word in _BY_WORD}
    return effects.pop() if len(effects) == 1 else MemoryEffect.UNKNOWN
