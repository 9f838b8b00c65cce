"""Which version of the protocol agents and server speak, said with each call and each answer."""

from __future__ import annotations

from collections.abc import Iterable, MutableMapping
from typing import Any

from approval_client.wire import (
    PROTOCOL,
    PROTOCOL_HEADER,
    UNSUPPORTED_PROTOCOL,
    protocol_version,
)
from dashboard.api.problems import Problem

_NAME = PROTOCOL_HEADER.lower().encode()
_OURS = (_NAME, str(PROTOCOL).encode())
_UNSAID = "1"  # by curl, and by programs of before there were versions


class Protocol:
    """Refuses calls of another version before anything reads them, and signs every answer."""

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve one HTTP request."""
        if not scope["path"].startswith("/api/"):
            await self.app(scope, receive, send)
            return

        async def signed(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", ()), _OURS]}
            await send(message)

        if problem := _refusal(scope["headers"]):
            await _respond(signed, problem)
        else:
            await self.app(scope, receive, signed)


def _refusal(headers: Iterable[tuple[bytes, bytes]]) -> Problem | None:
    versions = [value.decode("latin-1") for name, value in headers if name == _NAME]
    for header in versions or [_UNSAID]:
        version = protocol_version(header)
        if not version:
            return _problem(
                f"{PROTOCOL_HEADER} is {header[:40]!r}: send {PROTOCOL}, or leave it out."
            )
        if version != PROTOCOL:
            older = "the server" if version > PROTOCOL else "approval-client, or what asks instead"
            return _problem(
                f"This call speaks version {version} of the protocol and this server speaks "
                f"version {PROTOCOL}: upgrade {older}."
            )
    return None


def _problem(detail: str) -> Problem:
    return Problem(UNSUPPORTED_PROTOCOL, f"{detail} Nothing was done.")


async def _respond(send: Any, problem: Problem) -> None:
    body = problem.body()
    headers = {**problem.headers, "Content-Length": str(len(body)), "Connection": "close"}
    raw = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": problem.status, "headers": raw})
    await send({"type": "http.response.body", "body": body})
