"""No request is larger than it may be, whatever server this runs under."""

from __future__ import annotations

import re
from collections.abc import MutableMapping
from typing import Any

from approval_client.wire import MAX_BODY_BYTES, MAX_NOTEBOOK_BYTES
from dashboard.api.problems import NOTEBOOK_TOO_LARGE, TOO_LARGE
from dashboard.paths import header_of

_NOTEBOOK = re.compile(r"/api/v1/notebooks/[0-9a-f]{64}", re.ASCII)


def most_bytes(method: str, path: str) -> int:
    """Return how many bytes the body of a request may have."""
    is_notebook = method == "PUT" and _NOTEBOOK.fullmatch(path)
    return MAX_NOTEBOOK_BYTES if is_notebook else MAX_BODY_BYTES


class LimitBody:
    """Answers 413 to a body over its limit, before anything reads it; pages are held to it too."""

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve one HTTP request."""
        most = most_bytes(scope["method"], scope["path"])
        if _declared(scope) > most:
            await _refuse(send, most)
            return
        received = 0
        refused = False

        async def counted() -> MutableMapping[str, Any]:
            nonlocal received, refused
            message: MutableMapping[str, Any] = await receive()
            received += len(message.get("body", b""))
            if received > most and not refused:
                refused = True
                await _refuse(send, most)
            return {"type": "http.disconnect"} if refused else message

        async def unless_refused(message: MutableMapping[str, Any]) -> None:
            if not refused:
                await send(message)

        await self.app(scope, counted, unless_refused)


def _declared(scope: Any) -> int:
    length = header_of(scope, b"content-length") or b"0"
    return int(length) if length.isdigit() else MAX_NOTEBOOK_BYTES + 1


async def _refuse(send: Any, most: int) -> None:
    problem = TOO_LARGE if most == MAX_BODY_BYTES else NOTEBOOK_TOO_LARGE
    headers = [(k.lower().encode(), v.encode()) for k, v in problem.headers.items()]
    headers += [(b"connection", b"close")]
    status = problem.status
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": problem.body()})
