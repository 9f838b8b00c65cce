"""One line of the log for each HTTP request, its id, and how long it took."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import MutableMapping
from secrets import token_hex
from typing import Any

from django.conf import settings

from dashboard import tracing
from dashboard.logs import REQUEST_ID
from dashboard.metrics import HTTP_SECONDS, PROCESS
from dashboard.paths import header_of

_ID = re.compile(rb"[A-Za-z0-9_.-]{1,64}")
_OF_APPROVAL = re.compile(r"/api/v1/approvals(?P<id>/[0-9a-f-]{36}(/(?P<verb>[a-z]+))?)?")
_LONGEST_PATH = 300
_QUIET = {"/healthz", "/readyz", "/metrics"}
"""Asked every few seconds by whoever watches: a line for each would hide all others."""

log = logging.getLogger("dashboard.requests")


class RequestLog:
    """Gives each request an id, that of a trusted proxy or a new one, and logs how it ended."""

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve one HTTP request."""
        request_id = _id_of(scope)
        REQUEST_ID.set(request_id)  # each request is a task of its own, and so a context
        header = (b"x-request-id", request_id.encode())
        began, began_ns, status = time.perf_counter(), time.time_ns(), 0

        async def noted(message: MutableMapping[str, Any]) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message = {**message, "headers": [*message.get("headers", ()), header]}
            await send(message)

        try:
            await self.app(scope, receive, noted)
        finally:
            _note(scope, status, time.perf_counter() - began)
            _trace(scope, status, began_ns)


def _id_of(scope: Any) -> str:
    if settings.PROXY_COUNT:  # anybody else could make two requests look like one
        request_id = header_of(scope, b"x-request-id")
        if _ID.fullmatch(request_id):
            return request_id.decode()
    return token_hex(8)


def _note(scope: Any, status: int, took_s: float) -> None:
    path, method = scope["path"], scope["method"]
    HTTP_SECONDS.labels(PROCESS, _kind(path), str(status or "none")).observe(took_s)
    if path in _QUIET or (path.startswith("/static/") and status in {200, 304}):
        return
    # Without the query, which may hold what somebody searched for.
    took_ms = round(took_s * 1000)
    path = path[:_LONGEST_PATH]
    fields = {"method": method, "path": path, "status": status, "ms": took_ms}
    log.info(
        "%s %s %s %s ms",
        method,
        path.encode("unicode_escape").decode(),
        status or "no answer",
        took_ms,
        extra={"fields": fields},
    )


def _trace(scope: Any, status: int, began_ns: int) -> None:
    """Record what an agent asked for as a part of its trace."""
    if match := _OF_APPROVAL.fullmatch(scope["path"]):
        name = "approval." + (match["verb"] or ("look" if match["id"] else "submit"))
        parent = header_of(scope, b"traceparent").decode("latin-1") or None
        tracing.record(name, parent, began_ns, **{"http.response.status_code": status})


def _kind(path: str) -> str:
    if path.startswith("/api/"):
        return "wait" if path.endswith("/wait") else "api"
    if path.startswith("/static/"):
        return "static"
    return "watching" if path in _QUIET else "page"
