"""For machines that watch this server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse

from dashboard.approvals.queries.hold import active_hold
from dashboard.approvals.queries.present import log_problem
from dashboard.approvals.rules.readiness import obstacles
from dashboard.audit.services import reach_head
from dashboard.live.push import current_hub
from dashboard.live.threads import DatabaseThread
from dashboard.web.metrics import MetricsDoor

ALIVE = b'{"status": "ok"}'
READY_WITHIN_S = 2.0
"""A database that takes longer to say whether it can record is not one to decide with."""
_SLOW = f"The database did not answer within {READY_WITHIN_S:.0f} s."

Reply = tuple[HTTPStatus, bytes]


class Watched:
    """Answers ``/healthz``, that the process runs, ``/readyz``, if it may approve, ``/metrics``.

    As raw ASGI, on the event loop: slow pages do not make the process look dead, and neither does
    a database that does not answer. One check at a time, in a thread of its own, serves all who
    ask meanwhile. Everything else begins the hub, which watches the database from then on.
    """

    def __init__(self, app: Any) -> None:
        self.app = app
        self._read = DatabaseThread("readiness")
        self._check: asyncio.Task[Reply] | None = None
        self._metrics = MetricsDoor()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve one HTTP request."""
        if scope["path"] not in {"/healthz", "/readyz", "/metrics"}:
            await current_hub().looked_at_database()
            await self.app(scope, receive, send)
        elif scope["method"] not in {"GET", "HEAD"}:
            await _send(send, HTTPStatus.METHOD_NOT_ALLOWED, b"", [(b"allow", b"GET, HEAD")])
        else:
            status, body, content_type = await self._answer(scope)
            more = [(b"content-type", content_type.encode())]
            await _send(send, status, body, more, hides_body=scope["method"] == "HEAD")

    async def _answer(self, scope: Any) -> tuple[HTTPStatus, bytes, str]:
        if scope["path"] == "/metrics":
            return await self._metrics.answer(scope)
        is_alive = scope["path"] == "/healthz"
        status, body = (HTTPStatus.OK, ALIVE) if is_alive else await self._ready()
        return status, body, "application/json"

    async def _ready(self) -> Reply:
        loop = asyncio.get_running_loop()
        if self._check is None or self._check.done() or self._check.get_loop() is not loop:
            self._check = loop.create_task(self._read(readiness))
        try:
            return await asyncio.wait_for(asyncio.shield(self._check), READY_WITHIN_S)
        except TimeoutError:
            return _said([_SLOW], [_SLOW])


async def _send(
    send: Any,
    status: HTTPStatus,
    body: bytes,
    more: Sequence[tuple[bytes, bytes]] = (),
    *,
    hides_body: bool = False,
) -> None:
    headers = [
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
        (b"x-content-type-options", b"nosniff"),
        *more,
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": b"" if hides_body else body})


def readiness() -> Reply:
    """Say whether this server may approve, and if not why.

    A hold is not a fault of the server: it is reported with status 200, so that a load balancer
    keeps the page reachable where admins lift it.
    """
    faults = obstacles() or _log_obstacles() or _lock_obstacles()
    is_held = not faults and _is_held()
    return _said(faults, [*faults, *(["An admin has put everything on hold."] if is_held else [])])


def _said(why: list[str], reasons: list[str]) -> Reply:
    body = {"ready": not why, "may_approve": not reasons, "why": reasons}
    status = HTTPStatus.SERVICE_UNAVAILABLE if why else HTTPStatus.OK
    return status, json.dumps(body).encode()


@login_not_required
def ready(request: HttpRequest) -> HttpResponse:
    """Answer ``/readyz`` where ``Watched`` does not stand in front."""
    del request
    status, body = readiness()
    return HttpResponse(body, status=status, content_type="application/json")


def _lock_obstacles() -> list[str]:
    """Say whether the end of the log, which every decision takes, can be had."""
    try:
        reach_head()
    except DatabaseError as error:
        return [f"Nothing can be recorded: {str(error).strip()}."]
    return []


def _log_obstacles() -> list[str]:
    if not settings.READY_NEEDS_WHOLE_LOG:
        return []
    try:
        problem = log_problem()
    except DatabaseError as error:
        return [f"The database does not answer: {str(error).strip()}."]
    if not problem:
        return []
    sentence = (
        "The last verification of the audit log failed. An auditor sees why on the audit page. "
        f"Find out what happened, then run `{settings.OPERATOR_COMMAND} verify_audit` again."
    )
    return [sentence]


def _is_held() -> bool:
    try:
        return active_hold() is not None
    except DatabaseError:
        return True
