"""The long poll, as raw ASGI: while it waits it holds no thread and no database connection.

A Django view would pin a thread for each agent that waits (2,000 of them: 2,002 threads).
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, NamedTuple
from urllib.parse import parse_qs
from uuid import UUID

from django.db import DatabaseError

from approval_client.wire import Status
from dashboard.accounts import tokens
from dashboard.accounts.models import AgentToken
from dashboard.api import answers, problems
from dashboard.api.auth import by_secret
from dashboard.api.views import DEFAULT_HOLD_S, MAX_HOLD_S
from dashboard.approvals import services
from dashboard.approvals.errors import NotFound, Refused
from dashboard.approvals.queries.agent import token_asking
from dashboard.live.hub import Answer, TooManyWaits
from dashboard.live.push import current_hub
from dashboard.logs import trouble
from dashboard.paths import header_of

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

_PATH = re.compile(r"/api/v1/approvals/([0-9a-fA-F-]{36})/wait")
_JSON = {"Content-Type": "application/json", "Cache-Control": "no-store"}

log = logging.getLogger(__name__)


class LongPolling:
    """Answers waits, and hands everything else to ``app``."""

    def __init__(self, app: App) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one HTTP request."""
        wait = _asked_for(scope)
        if wait is None:
            await self.app(scope, receive, send)
            return
        body = await _answer(wait, scope, receive)
        if isinstance(body, problems.Problem):
            await _respond(send, body.status, dict(body.headers), body.body())
        elif body is not None:
            await _respond(send, 200, _JSON, body)


class Wanted(NamedTuple):
    """What an agent waits for, and for how many seconds at the most."""

    approval_id: UUID
    hold_s: float


def _asked_for(scope: Scope) -> Wanted | None:
    """Return what to wait for; None leaves the request, and its errors, to ninja."""
    match = _PATH.fullmatch(scope["path"])
    if match is None or scope["method"] != "GET":
        return None
    try:
        parameters = parse_qs(scope["query_string"].decode(), keep_blank_values=True)
        if parameters.keys() - {"hold"}:
            return None
        *_, text = parameters.get("hold", [str(DEFAULT_HOLD_S)])  # of two, the last one counts
        wait = Wanted(UUID(match[1]), float(text))
    except ValueError:
        return None
    # Python reads the digits of every script, and ninja only ours.
    return wait if text.isascii() and 0 <= wait.hold_s <= MAX_HOLD_S else None


class WaitingAgent(NamedTuple):
    """Who waits, in as little memory as it takes: two thousand of these may be held."""

    token_id: int
    agent_id: int


class Snapshot(NamedTuple):
    """What was to be answered at some moment, and until when, in UTC, that could hold."""

    answer: bytes
    holds_until: datetime | None


async def _answer(wait: Wanted, scope: Scope, receive: Receive) -> bytes | problems.Problem | None:
    hub = current_hub()
    try:
        asker = await hub.read(_who_asks, _bearer(scope), wait.approval_id)
        if asker is None:
            return problems.UNAUTHORIZED
        with hub.waiting(wait.approval_id, asker.token_id) as closed:
            return await _wait(wait, asker, closed, receive)
    except TooManyWaits:
        return problems.TOO_MANY_WAITS
    except Refused as error:
        return problems.of_refusal(error)
    except DatabaseError as error:
        trouble(log, "A wait ended early, for the database did not answer", error)
        return problems.UNAVAILABLE


async def _wait(
    wait: Wanted, asker: WaitingAgent, closed: Answer, receive: Receive
) -> bytes | problems.Problem | None:
    # Read only after entering, or a decision in between would be missed for a tick.
    look = await current_hub().read(_look, wait.approval_id, asker.agent_id)
    if look.holds_until is None or not wait.hold_s:
        return look.answer
    if not await _hold(receive, closed, look.holds_until, wait.hold_s):
        return None
    return await _conclude(wait, asker, look, closed)


def _who_asks(secret: str, approval_id: UUID) -> WaitingAgent | None:
    # Before anything is noted as polled: an agent that waits is shown to people as waiting.
    def look_up(hash_: str) -> AgentToken | None:
        return token_asking.first(hash_, approval_id)

    token = by_secret(secret, lambda secret: tokens.find(secret, look_up))
    if token is None:
        return None
    if not vars(token)["owns"]:
        raise NotFound
    return WaitingAgent(token.pk, token.agent_id)


def _look(approval_id: UUID, agent_id: int) -> Snapshot:
    answerable = services.of_agent(approval_id, agent_id)
    pending = answerable.approval.status == Status.PENDING
    return Snapshot(
        answers.to_json(answerable), answerable.approval.expires_at if pending else None
    )


async def _hold(receive: Receive, closed: Answer, until: datetime, hold_s: float) -> bool:
    """Wait for the end; says whether the agent is still there.

    The three ends (closed, out of time, gone) meet in one await, because a task of its own for
    each of two thousand hang-ups that never come takes 4 kB.
    """
    left_s = (until - datetime.now(UTC)).total_seconds()
    try:
        async with asyncio.timeout(min(hold_s, max(left_s, 0) + 0.05)) as limit:

            def over(_: Answer) -> None:
                # Another end may have come in this very turn of the loop: a limit that is over
                # refuses to be moved, and then there is nothing left to move.
                with suppress(RuntimeError):
                    limit.reschedule(0)

            closed.add_done_callback(over)
            try:
                while (await receive())["type"] != "http.disconnect":
                    pass
            finally:
                closed.remove_done_callback(over)
    except TimeoutError:
        return True
    return False


async def _conclude(
    wait: Wanted, asker: WaitingAgent, look: Snapshot, closed: Answer
) -> bytes | problems.Problem:
    hub = current_hub()
    if closed.done() and (approval := closed.result()):
        return answers.closed(look.answer, approval)
    if closed.done() and not hub.closed:
        return problems.UNAUTHORIZED  # the token was revoked while it waited
    if not hub.closed and look.holds_until and look.holds_until <= datetime.now(UTC):
        look = await hub.read(_look, wait.approval_id, asker.agent_id)
    return answers.still(look.answer)


def _bearer(scope: Scope) -> str:
    scheme, _, secret = header_of(scope, b"authorization").decode("latin-1").partition(" ")
    return secret if scheme.lower() == "bearer" else ""


async def _respond(send: Send, status: int, headers: dict[str, str], body: bytes) -> None:
    raw = [(k.lower().encode(), v.encode()) for k, v in headers.items()]
    raw.append((b"content-length", str(len(body)).encode()))
    raw.append((b"x-content-type-options", b"nosniff"))
    await send({"type": "http.response.start", "status": status, "headers": raw})
    await send({"type": "http.response.body", "body": body})
