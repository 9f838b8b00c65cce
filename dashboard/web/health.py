"""For machines that watch this server."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.decorators import login_not_required
from django.db import DatabaseError
from django.http import HttpRequest, JsonResponse

from dashboard.approvals import queries
from dashboard.approvals.rules.readiness import obstacles

ALIVE = b'{"status": "ok"}'

_HEADERS = [
    (b"content-type", b"application/json"),
    (b"content-length", str(len(ALIVE)).encode()),
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
]


class Alive:
    """Answers ``/healthz``: that the process runs, and nothing about what it may do.

    Runs on the event loop, as raw ASGI: slow pages and a database that does not answer do not make
    the process look dead.
    """

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve one HTTP request."""
        if scope["path"] != "/healthz":
            await self.app(scope, receive, send)
        elif scope["method"] in {"GET", "HEAD"}:
            body = ALIVE if scope["method"] == "GET" else b""
            await send({"type": "http.response.start", "status": 200, "headers": _HEADERS})
            await send({"type": "http.response.body", "body": body})
        else:
            headers = [(b"allow", b"GET, HEAD"), (b"content-length", b"0")]
            await send({"type": "http.response.start", "status": 405, "headers": headers})
            await send({"type": "http.response.body", "body": b""})


@login_not_required
def ready(request: HttpRequest) -> JsonResponse:
    """Say whether this server may approve, and if not why.

    A hold is not a fault of the server: it is reported with status 200, so that a load balancer
    keeps the page reachable where admins lift it.
    """
    del request
    why = obstacles()
    held = not why and _is_held()
    reasons = [*why, *(["An admin has put everything on hold."] if held else [])]
    body = {"ready": not why, "may_approve": not reasons, "why": reasons}
    return JsonResponse(body, status=503 if why else 200)


def _is_held() -> bool:
    try:
        return queries.active_hold() is not None
    except DatabaseError:
        return True
