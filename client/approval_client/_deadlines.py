"""The end of a whole exchange, for the client that blocks.

The timeouts of httpx2 are those of each read and write, which a server keeps that sends a byte of
a header now and then. Here each gets only the time that is left of its exchange. Finding the
addresses of a host is not covered: nothing ends ``getaddrinfo`` but the system's own limits.
"""

from __future__ import annotations

import math
import socket
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


class _Deadline(threading.local):
    """When the exchange of this thread must be over, on ``time.monotonic``."""

    at = math.inf

    def left_s(self, timeout_s: float | None, error: type[httpx2.TimeoutException]) -> Any:
        """Return how long a step may take at most; None for as long as it likes.

        Raises:
            httpx2.TimeoutException: There is no time left; it is of the type ``error``.
        """
        if self.at == math.inf:
            return timeout_s
        left_s = self.at - time.monotonic()
        if left_s <= 0:
            raise error("The exchange took too long.")
        return left_s if timeout_s is None else min(timeout_s, left_s)


_deadline = _Deadline()


@contextmanager
def deadline(at: float) -> Iterator[None]:
    """Have what this thread exchanges be over at a moment, or before if that was said already."""
    outer_at, _deadline.at = _deadline.at, min(at, _deadline.at)
    try:
        yield
    finally:
        _deadline.at = outer_at


def keep(http: httpx2.Client) -> None:
    """Have the connections of ``http`` keep the deadline, also those to proxies.

    httpx2 takes no network backend, so this reaches into it. Where a version names these members
    otherwise, the limits are those of each read again, and ``tests/client/test_deadlines`` fails.
    """
    transports = getattr(http, "_transport", None), *getattr(http, "_mounts", {}).values()
    for transport in transports:
        pool = getattr(transport, "_pool", None)
        backend = getattr(pool, "_network_backend", None)
        if backend is not None and not isinstance(backend, _Backend):
            vars(pool)["_network_backend"] = _Backend(backend)


class _Backend:
    """Opens connections, as httpcore2's ``NetworkBackend``."""

    def __init__(self, backend: Any) -> None:
        self._backend = backend

    def connect_tcp(
        self, host: str, port: int, timeout: float | None = None, **kwargs: Any
    ) -> _Stream:
        if _deadline.at == math.inf:
            return _Stream(self._backend.connect_tcp(host, port, timeout=timeout, **kwargs))
        addresses = _addresses(host, port)
        while True:
            left_s = _deadline.left_s(timeout, httpx2.ConnectTimeout) / len(addresses)
            address = addresses.pop(0)
            try:
                return _Stream(self._backend.connect_tcp(address, port, timeout=left_s, **kwargs))
            except Exception:
                if not addresses:
                    raise

    def connect_unix_socket(
        self, *args: Any, timeout: float | None = None, **kwargs: Any
    ) -> _Stream:
        left_s = _deadline.left_s(timeout, httpx2.ConnectTimeout)
        return _Stream(self._backend.connect_unix_socket(*args, timeout=left_s, **kwargs))

    def sleep(self, seconds: float) -> None:
        self._backend.sleep(seconds)


def _addresses(host: str, port: int) -> list[str]:
    """Return where a host is. The backend would give each the whole time."""
    try:
        places = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise httpx2.ConnectError(str(error)) from error
    return [_with_scope(*place[4]) for place in places]


def _with_scope(address: Any, _port: Any, _flow: Any = 0, scope: Any = 0) -> str:
    """Return an address with the link that it is on, which one of IPv6 may need."""
    return f"{address}%{scope}" if scope else str(address)


class _Stream:
    """One connection, as httpcore2's ``NetworkStream``."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> Any:
        left_s = _deadline.left_s(timeout, httpx2.ReadTimeout)
        return self._stream.read(max_bytes, left_s)

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        for start in range(0, len(buffer), _PIECE):
            left_s = _deadline.left_s(timeout, httpx2.WriteTimeout)
            self._stream.write(buffer[start : start + _PIECE], left_s)

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> _Stream:
        left_s = _deadline.left_s(timeout, httpx2.ConnectTimeout)
        return _Stream(self._stream.start_tls(ssl_context, server_hostname, left_s))

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)

    def close(self) -> None:
        self._stream.close()
