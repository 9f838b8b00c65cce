"""Sockets are for our own pages only: the exact scheme, host and port, and nothing without one."""

from __future__ import annotations

import logging
from typing import Any

from django.conf import settings

log = logging.getLogger(__name__)

_LONGEST_SHOWN = 200


class ExactOrigin:
    """Refuses WebSockets that another page opened with a reviewer's cookies.

    A missing origin, ``null``, another port of the same host: all refused.
    """

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve one WebSocket, or close it before it opens."""
        origins = [value for name, value in scope["headers"] if name == b"origin"]
        if origins == [settings.PUBLIC_URL.encode()]:
            await self.app(scope, receive, send)
        else:
            log.warning(
                "A live connection from a page of %r was refused: it is not PUBLIC_URL (%s). "
                "If it is the address that people use, set PUBLIC_URL to it.",
                b", ".join(origins)[:_LONGEST_SHOWN].decode("latin-1") or "nowhere",
                settings.PUBLIC_URL,
            )
            await receive()
            await send({"type": "websocket.close", "code": 4403})
