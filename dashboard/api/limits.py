"""No request is larger than it may be, whatever server this runs under."""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any

from dashboard.api.problems import TOO_LARGE
from dashboard.wire import MAX_BODY_BYTES


class LimitBody:
    """Answers 413 to a body over 1 MiB, before anything reads it; pages are held to it too."""

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve one HTTP request."""
        if _declared(scope) > MAX_BODY_BYTES:
            await _refuse(send)
            return
        received = 0
        refused = False

        async def counted() -> MutableMapping[str, Any]:
            nonlocal received, refused
            message: MutableMapping[str, Any] = await receive()
            received += len(message.get("body", b""))
            if received > MAX_BODY_BYTES and not refused:
                refused = True
                await _refuse(send)
            return {"type": "http.disconnect"} if refused else message

        async def unless_refused(message: MutableMapping[str, Any]) -> None:
            if not refused:
                await send(message)

        await self.app(scope, counted, unless_refused)


def _declared(scope: Any) -> int:
    for name, value in scope["headers"]:
        if name == b"content-length":
            return int(value) if value.isdigit() else MAX_BODY_BYTES + 1
    return 0


async def _refuse(send: Any) -> None:
    headers = [(k.lower().encode(), v.encode()) for k, v in TOO_LARGE.headers.items()]
    headers += [(b"connection", b"close")]
    status = TOO_LARGE.status
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": TOO_LARGE.body()})
