"""A question of another process, known by its digest."""

from __future__ import annotations

import re
from dataclasses import dataclass

_DIGEST = re.compile(r"[0-9a-f]{64}", re.ASCII)


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What another process asked: enough to wait for the answer and to use the approval.

    Stands in ``Pending`` for a request whose content is not at hand. Keep the digest where the
    content is kept: an answer about anything else is refused, and so is an edit, which would
    have another digest. The response names no content.

    Raises:
        ValueError: The digest is not one.
    """

    digest: str
    max_wait_s: int | None = None

    def __post_init__(self) -> None:
        if not _DIGEST.fullmatch(self.digest):
            raise ValueError("The digest must be 64 hexadecimal digits. Nothing was asked.")

    @property
    def time_limit_s(self) -> None:
        """How long reviewers have was said by who asked."""
        return

    @property
    def content(self) -> None:
        """The content is not known here."""
        return

    @property
    def notebook(self) -> None:
        """It was sent with the question, if there was one."""
        return

    def body(self) -> str:
        """Return nothing: this was submitted before."""
        return ""
