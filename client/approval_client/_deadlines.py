"""The end of a whole exchange, for the client that blocks.

The timeouts of httpx2 are those of each read and write, which a server keeps that sends a byte of
a header now and then. Here each gets only the time that is left of its exchange.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import ssl

    import httpx2
else:
    from approval_client import _http as httpx2

_PIECE = 1 << 16  # bytes that are written at a time


class Deadline(threading.local):
    """When the exchange of this thread must be over, on ``time.monotonic``."""

    at = math.inf

    @contextmanager
    def set(self, at: float) -> Iterator[None]:
        """Set it for a while, but no later than it is."""
        outer_at, self.at = self.at, min(at, self.at)
        try:
            yield
        finally:
            self.at = outer_at

    def left_s(self, timeout_s: float | None, error: type[httpx2.TimeoutException]) -> float:
        """Return how long a step may take at most.

        Raises:
            httpx2.TimeoutException: There is no time left; it is of the type ``error``.
        """
        left_s = self.at - time.monotonic()
        if left_s <= 0:
            raise error("The exchange took too long.")
        return left_s if timeout_s is None else min(timeout_s, left_s)

    def keep(self, http: httpx2.Client) -> None:
        """Have the connections of ``http`` keep it, also those to proxies.

        httpx2 takes no network backend, so this reaches into it. ``tests/client/test_deadlines``
        fails when a version of httpx2 or httpcore2 names these members otherwise.
        """
        for transport in (http._transport, *http._mounts.values()):  # noqa: SLF001 - see above
            if isinstance(transport, httpx2.HTTPTransport):
                pool: Any = transport._pool  # noqa: SLF001 - see above
                pool._network_backend = _Backend(pool._network_backend, self)  # noqa: SLF001 - see above


class _Backend:
    """Opens connections, as httpcore2's ``NetworkBackend``."""

    def __init__(self, backend: Any, deadline: Deadline) -> None:
        self._backend, self._deadline = backend, deadline

    def connect_tcp(self, *args: Any, timeout: float | None = None, **kwargs: Any) -> _Stream:
        left_s = self._deadline.left_s(timeout, httpx2.ConnectTimeout)
        stream = self._backend.connect_tcp(*args, timeout=left_s, **kwargs)
        return _Stream(stream, self._deadline)

    def sleep(self, seconds: float) -> None:
        self._backend.sleep(seconds)


class _Stream:
    """One connection, as httpcore2's ``NetworkStream``."""

    def __init__(self, stream: Any, deadline: Deadline) -> None:
        self._stream, self._deadline = stream, deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> Any:
        left_s = self._deadline.left_s(timeout, httpx2.ReadTimeout)
        return self._stream.read(max_bytes, left_s)

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        for start in range(0, len(buffer), _PIECE):
            left_s = self._deadline.left_s(timeout, httpx2.WriteTimeout)
            self._stream.write(buffer[start : start + _PIECE], left_s)

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> _Stream:
        left_s = self._deadline.left_s(timeout, httpx2.ConnectTimeout)
        stream = self._stream.start_tls(ssl_context, server_hostname, left_s)
        return _Stream(stream, self._deadline)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)

    def close(self) -> None:
        self._stream.close()
