"""What both clients share: settings, how a call becomes an HTTP request, and what comes back."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from approval_client._asked import Asked
from approval_client._calls import Call, Failure, Reply, Timing
from approval_client._errors import NotConfigured
from approval_client._flow import Conversation, Heard
from approval_client._models import ApprovalRequest
from approval_client._settings import read_settings
from approval_client.wire import PROTOCOL_HEADER

if TYPE_CHECKING:
    import httpx2
else:
    from approval_client import _http as httpx2

STOPPED = "The agent stopped waiting."


class Driver:
    """A client without its connections."""

    def __init__(
        self,
        url: str | None,
        token: str | None,
        *,
        insecure_http: bool,
        clock: Callable[[], float],
    ) -> None:
        self._settings = read_settings(url, token, insecure_http=insecure_http)
        self._timing = Timing(clock=clock)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._settings.url!r})"

    def _conversation(
        self, request: ApprovalRequest | Asked, key: str | None = None, heard: Heard | None = None
    ) -> Conversation:
        key = key or uuid.uuid4().hex
        return Conversation(request, key=key, timing=self._timing, heard=heard)

    def _arguments(self, call: Call) -> dict[str, Any]:
        return {
            "method": call.method,
            "url": self._settings.url + call.path,
            "content": call.content(),
            "headers": call.headers(),
            "timeout": httpx2.Timeout(call.timeout_s),
        }


def reply(response: httpx2.Response) -> Reply:
    """Return what came back, for the flow to judge."""
    return Reply(
        status=response.status_code,
        body=response.content,
        protocol=response.headers.get(PROTOCOL_HEADER, ""),
        retry_after=response.headers.get("Retry-After", ""),
    )


def failure(error: httpx2.HTTPError) -> Failure:
    """Return that nothing came back, in words that cannot hold a token."""
    name = type(error).__name__
    said = f": {error}" if isinstance(error, httpx2.NetworkError) and str(error) else ""
    return Failure(f"{name}{said}")


def unusable(error: Exception) -> NotConfigured:
    """Return the error for an HTTP client that could not be made."""
    return NotConfigured(
        f"The dashboard was not asked and nothing was approved. No HTTP client could be made "
        f"({type(error).__name__}). Check the proxies and certificates in the environment."
    )
