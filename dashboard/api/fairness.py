"""No token takes more of a process than its share: a bucket of requests and one of bytes for each.

Counted before Django hears of a request, so that refusing one costs next to nothing. In memory:
with several processes a token has its share of each.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import OrderedDict
from collections.abc import Callable, MutableMapping
from hashlib import blake2b
from typing import Any

from django.conf import settings

from dashboard.api.problems import Problem
from dashboard.paths import header_of, is_submission, token_of

SUBMISSION_COSTS = 5
"""A submission is inspected, judged and stored: about what five other requests cost."""
_API = "/api/v1/"
_MOST_KEPT = 10_000  # buckets; one that was forgotten is full again
_MINUTE_S = 60


class Bucket:
    """What is left of one minute's share. It fills up again at an even rate."""

    __slots__ = ("_at", "left", "share")

    def __init__(self, share: float, now: float) -> None:
        self.share = self.left = share
        self._at = now

    def fill(self, now: float) -> None:
        """Add what has come since the last time."""
        self.left = min(self.share, self.left + (now - self._at) * self.share / _MINUTE_S)
        self._at = now

    def wait_s(self, wanted: float) -> float:
        """Return how long it takes until ``wanted`` is there, in seconds; 0 if it is."""
        return max(0.0, wanted - self.left) * _MINUTE_S / self.share


class FairShare:
    """Answers 429 to a token that has used up its share of requests or of bytes."""

    def __init__(
        self, app: Any, clock: Callable[[], float] = time.monotonic, slow_s: float = 1.0
    ) -> None:
        self.app = app
        self._slow_s = slow_s
        self._clock = clock
        self._kept: OrderedDict[bytes, tuple[Bucket, Bucket]] = OrderedDict()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve one HTTP request."""
        key = _bearer(scope) if scope["path"].startswith(_API) else None
        if key is None:
            await self.app(scope, receive, send)
            return
        requests, octets = self._buckets(key)
        cost = SUBMISSION_COSTS if is_submission(scope["method"], scope["path"]) else 1
        # A body is counted as it comes, so the next one waits for what the last one took.
        wait_s = max(requests.wait_s(cost), octets.wait_s(1))
        if wait_s > 0:
            await asyncio.sleep(min(wait_s, self._slow_s))  # who does not wait is held up
            await _refuse(send, math.ceil(wait_s))
            return
        requests.left -= cost

        async def counted() -> MutableMapping[str, Any]:
            message: MutableMapping[str, Any] = await receive()
            octets.left -= len(message.get("body", b""))
            return message

        await self.app(scope, counted, send)

    def _buckets(self, key: bytes) -> tuple[Bucket, Bucket]:
        now = self._clock()
        buckets = self._kept.get(key)
        if buckets is None:
            share = settings.KIB_PER_MINUTE * 1024
            buckets = Bucket(settings.REQUESTS_PER_MINUTE, now), Bucket(share, now)
            self._kept[key] = buckets
            if len(self._kept) > _MOST_KEPT:
                self._kept.popitem(last=False)
        self._kept.move_to_end(key)
        for bucket in buckets:
            bucket.fill(now)
        return buckets


def _bearer(scope: Any) -> bytes | None:
    authorization = header_of(scope, b"authorization").decode("latin-1")
    if not authorization:
        return None
    return blake2b(token_of(authorization).encode(), digest_size=16).digest()


async def _refuse(send: Any, wait_s: int) -> None:
    problem = Problem(
        "too_many_requests",
        "This token has used up its share of this server. Nothing was done. Send the same "
        f"request again in {wait_s} s, or have an operator raise REQUESTS_PER_MINUTE or "
        "KIB_PER_MINUTE.",
        retry_after_s=wait_s,
    )
    body = problem.body()
    raw = [(k.lower().encode(), v.encode()) for k, v in problem.headers.items()]
    raw.append((b"content-length", str(len(body)).encode()))
    await send({"type": "http.response.start", "status": problem.status, "headers": raw})
    await send({"type": "http.response.body", "body": body})
