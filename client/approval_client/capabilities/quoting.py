"""Writes what an agent says into a message so that it cannot pass for the message's own words."""

from __future__ import annotations

import re
from collections.abc import Iterable

SHOWN = 500  # characters of one quotation; the request itself holds all of it
_BACKTICKS = re.compile("`+")
_LINK = re.compile(
    r"https?://(?:[a-z0-9_.-]+|\[[0-9a-f:.]+\])(?::[0-9]{1,5})?(?:[/?#][a-z0-9/?#:@!$&',;=%+._~-]*)?",
    re.IGNORECASE | re.ASCII,
)


def quoted(words: object) -> str:
    """Return ``words`` as Markdown code on one line, with what is hidden in them spelled out."""
    text = str(words)
    visible_text = "".join(_visible(text[:SHOWN]))
    ticks = "`" * (_longest_run(visible_text) + 1)
    padding = " " if visible_text.startswith("`") or visible_text.endswith("`") else ""
    more = f" … ({len(text) - SHOWN:,} more characters)" if len(text) > SHOWN else ""
    return f"{ticks}{padding}{visible_text or '(nothing)'}{padding}{ticks}{more}"


def block(words: object) -> str:
    """Return ``words`` whole, as a Markdown block of code that nothing in them can end."""
    visible_text = "".join(_visible(str(words), keep="\n\t"))
    fence = "`" * max(3, _longest_run(visible_text) + 1)
    return f"{fence}\n{visible_text}\n{fence}"


def is_web_address(link: object) -> bool:
    """Say whether ``link`` is a plain http(s) address that can stand in a Markdown link.

    Names of users and passwords before the host, brackets and everything outside ASCII are not
    plain: they can make an address read like another one.
    """
    return isinstance(link, str) and _LINK.fullmatch(link) is not None


def _visible(text: str, keep: str = "") -> Iterable[str]:
    for character in text:
        is_visible = character.isprintable() or character in keep
        yield character if is_visible else character.encode("unicode_escape").decode()


def _longest_run(text: str) -> int:
    return max(map(len, _BACKTICKS.findall(text)), default=0)
