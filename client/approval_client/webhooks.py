"""Receiving the dashboard's webhooks: is it from the dashboard, is it fresh, is it new?

An event is a hint. It says which request was decided and is not an approval: fetch the answer with
``Client.get`` or ``Client.wait``, which verify it. The signature is that of the Standard Webhooks
specification (``webhook-id``, ``webhook-timestamp``, ``webhook-signature``), so other libraries
for it verify the same.
"""

from __future__ import annotations

import hmac
import re
import time
from base64 import b64decode
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from threading import Lock
from typing import Any, cast

from approval_client._answers import DIGEST, ID, Fields, Malformed, strictly
from approval_client._errors import DashboardError, NotConfigured
from approval_client.wire import WEBHOOK_SECRET_PREFIX, Status, webhook_signature

__all__ = ["Event", "NotGenuine", "OtherEvent", "Seen", "verify"]

TOLERANCE_S = 300
_SECONDS = re.compile(r"[0-9]{1,12}", re.ASCII)
_MOST_SIGNATURES = 10
_KIND = re.compile(r"[a-z0-9_]+(\.[a-z0-9_]+)+", re.ASCII)  # as the specification wants it
_DECIDED = {f"approval.{status}" for status in Status if status is not Status.PENDING}
_SHORTEST_KEY = 24  # bytes, as the specification wants it


class NotGenuine(DashboardError):
    """This is not a webhook of the dashboard, or is too old. Do nothing, and answer HTTP 400."""


@dataclass(frozen=True, kw_only=True)
class Event:
    """A message with a valid signature: a request was decided.

    Attributes:
        message_id: The same at every attempt to deliver this message.
        id: The approval request.
        digest: That of what was asked.
    """

    message_id: str
    id: str
    status: Status
    decided_at: datetime
    digest: str


@dataclass(frozen=True, kw_only=True)
class OtherEvent:
    """A message with a valid signature that says something else, or what this release ignores.

    Attributes:
        message_id: The same at every attempt to deliver this message.
        type: What it is, such as ``"approval.submitted"``.
        data: What it says, as JSON.
    """

    message_id: str
    type: str
    data: Mapping[str, Any]


def verify(
    headers: Mapping[str, str], body: bytes, secret: str, tolerance_s: float = TOLERANCE_S
) -> Event | OtherEvent:
    """Verify that the dashboard sent a webhook, just now, and return what it says.

    Somebody who recorded a message can send it again within ``tolerance_s``. So keep the
    ``message_id`` of every message for that long, for example in ``Seen``.

    Args:
        headers: Those of the HTTP request, whatever the case of their names.
        body: The bytes that were received, not parsed.
        secret: What the dashboard showed when the webhook was set up, ``whsec_…``.
        tolerance_s: How far the clocks may be apart, and how long a message may be on its way.

    Returns:
        An ``Event`` if something was decided, else an ``OtherEvent``. An agent's webhook is sent
        nothing but the former.

    Raises:
        NotGenuine: The signature or the time is wrong or missing, or it makes no sense.
        NotConfigured: The secret is not valid.
        TypeError: The body is not bytes.
    """
    if not isinstance(body, bytes | bytearray):
        raise TypeError("The body must be the bytes that were received. Nothing was verified.")
    key = _key(secret)
    header_map = {name.lower(): value for name, value in headers.items()}
    message_id, sent_at = header_map.get("webhook-id", ""), header_map.get("webhook-timestamp", "")
    if not ID.fullmatch(message_id) or not _SECONDS.fullmatch(sent_at):
        raise _not_genuine("Its webhook-id or webhook-timestamp is missing or malformed.")
    expected = webhook_signature(key, message_id, int(sent_at), bytes(body)).encode()
    signatures = header_map.get("webhook-signature", "").encode("utf-8", "replace").split(b" ")
    # All of them, so that the time this takes does not tell which one was right.
    if not sum([hmac.compare_digest(expected, mac) for mac in signatures[:_MOST_SIGNATURES]]):
        raise _not_genuine("Its signature does not match the secret.")
    if not abs(time.time() - int(sent_at)) <= tolerance_s:
        raise _not_genuine(f"It was sent more than {tolerance_s:g} s ago, or a clock is wrong.")
    try:
        return strictly(bytes(body), lambda fields: _event(fields, message_id))
    except Malformed as error:
        raise _not_genuine(f"It is not an event: {error}.") from None


class Seen:
    """Remembers which messages were dealt with, in this process. Safe to share between threads.

    Where several processes receive, keep the ids in a store that they share instead.

    Args:
        keep_s: For how long: twice the tolerance, for clocks may be wrong in both directions.
        most: How many; the oldest are forgotten first.
        clock: Seconds that never run backwards; given in tests.
    """

    def __init__(
        self,
        keep_s: float = 2 * TOLERANCE_S,
        most: int = 100_000,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._keep_s, self._most, self._clock = keep_s, most, clock
        self._at: OrderedDict[str, float] = OrderedDict()
        self._lock = Lock()

    def first(self, event: Event | OtherEvent) -> bool:
        """Say whether this message comes for the first time, and remember it."""
        with self._lock:
            now = self._clock()
            while self._at and next(iter(self._at.values())) <= now - self._keep_s:
                self._at.popitem(last=False)
            if event.message_id in self._at:
                return False
            self._at[event.message_id] = now
            if len(self._at) > self._most:
                self._at.popitem(last=False)
            return True

    def forget(self, event: Event | OtherEvent) -> None:
        """Forget a message that could not be dealt with: it counts as new when it comes again."""
        with self._lock:
            self._at.pop(event.message_id, None)


def _key(secret: str) -> bytes:
    try:
        key = b64decode(secret.strip().removeprefix(WEBHOOK_SECRET_PREFIX), validate=True)
    except ValueError:
        key = b""
    if len(key) < _SHORTEST_KEY:
        raise NotConfigured(
            "The webhook's secret is not valid. Nothing was verified. Copy it again, with its "
            f"{WEBHOOK_SECRET_PREFIX}."
        )
    return key


def _event(fields: Fields, message_id: str) -> Event | OtherEvent:
    data, kind = fields.object("data"), fields.matching("type", _KIND)
    if kind not in _DECIDED:
        payload = cast("dict[str, Any]", fields.any("data"))
        return OtherEvent(message_id=message_id, type=kind, data=payload)
    status = data.status("status")
    if kind != f"approval.{status}":
        raise Malformed("its type and its status do not match")
    return Event(
        message_id=message_id,
        id=data.matching("id", ID),
        status=status,
        decided_at=data.moment("decided_at"),
        digest=data.matching("digest", DIGEST),
    )


def _not_genuine(reason: str) -> NotGenuine:
    return NotGenuine(f"This webhook was refused, and nothing was done. {reason}")
