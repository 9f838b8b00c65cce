"""SQL's ``LIKE``, which ignores the case of every letter."""

from __future__ import annotations

import re
from functools import lru_cache

_WILDCARDS = {"%": ".*", "_": "."}


def is_like(pattern: object, text: object, escape: str) -> bool | None:
    r"""Say whether a text is like a pattern, whose ``%`` and ``_`` stand for any characters.

    Returns:
        None where either is NULL.
    """
    if pattern is None or text is None:
        return None
    return _compiled(str(pattern), escape).search(str(text).casefold()) is not None


@lru_cache(64)  # one search asks of every row
def _compiled(pattern: str, escape: str) -> re.Pattern[str]:
    body = pattern.removeprefix("%")
    start = r"\A" if body == pattern else ""
    tokens = re.findall(f"{re.escape(escape)}.|.", body, re.DOTALL)
    end = r"\Z"
    if tokens[-1:] == ["%"]:
        del tokens[-1]
        end = ""
    middle = (_WILDCARDS.get(token) or re.escape(token[-1].casefold()) for token in tokens)
    return re.compile(start + "".join(middle) + end, re.DOTALL)
