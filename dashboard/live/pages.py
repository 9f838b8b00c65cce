"""One open page, as the hub sees it."""

from __future__ import annotations

import asyncio
from typing import Any

from dashboard.live.layer import Bell
from dashboard.live.sessions import Visitor

CLOSE_RESTARTING = 1012
CLOSE_TOO_SLOW = 1013
CLOSE_NOT_SIGNED_IN = 4401  # after HTTP 401; 4000-4999 are the application's (RFC 6455, 7.4.2)
CLOSE_NOT_PERMITTED = 4403
_BACKLOG = 20
EVERYTHING = "all"
"""Told instead of a request's id: anything may have changed."""


class OpenPage:
    """News for one page: at most twenty messages, then the page is told to come back."""

    def __init__(self, visitor: Visitor) -> None:
        self.visitor = visitor
        self._news: asyncio.Queue[dict[str, Any] | int] = asyncio.Queue(_BACKLOG)

    def tell(self, bells: list[Bell]) -> None:
        """Queue a message; a page that does not keep up is closed and reads everything."""
        if self._news.full():
            self._end(CLOSE_TOO_SLOW)
        else:
            piece, *more = [_piece(bell) for bell in bells]
            self._news.put_nowait(piece | {"also": more} if more else piece)

    def look_again(self, *, late: bool) -> None:
        """Have the page read everything again, and say whether news come late from now on."""
        if self._news.full():
            self._end(CLOSE_TOO_SLOW)
        else:
            self._news.put_nowait({"id": EVERYTHING, "version": 0, "late": late})

    def dismiss(self) -> None:
        """End the page of somebody who is not signed in any more."""
        self._end(CLOSE_NOT_SIGNED_IN)

    def restart(self) -> None:
        """End the page because the server stops; it comes back by itself."""
        self._end(CLOSE_RESTARTING)

    async def next(self) -> dict[str, Any] | int:
        """Wait for the next piece of news, or the code to close with."""
        return await self._news.get()

    def _end(self, code: int) -> None:
        while not self._news.empty():
            self._news.get_nowait()
        self._news.put_nowait(code)


def _piece(bell: Bell) -> dict[str, Any]:
    piece = {"id": bell.id, "version": bell.version}
    return piece if bell.in_queue else piece | {"in_queue": False}
