"""The connections of one process: no more than fit, and those that are idle make room.

A connection takes a file, and without a free file nothing works: no database, no answer. So as
many are accepted as fit. Where more come, the one is closed that has been idle for longest: no
whole request of it is here, and nothing came for the longest time. A request that is being
answered, a wait and an open page are never closed for that. Where nothing is idle, new connections
wait in the kernel.

A new connection goes after all older ones, whoever they are. Were those spared that were answered
before, then a flood of them would close each new one before its first request is read.
"""

from __future__ import annotations

import json
import logging
import time
from http import HTTPStatus
from typing import Any

from daphne.http_protocol import HTTPFactory, WebRequest
from twisted.internet import tcp
from twisted.internet.error import ConnectionAborted
from twisted.python.failure import Failure
from twisted.web.http import HTTPChannel

from approval_client.wire import MAX_BODY_BYTES, MAX_NOTEBOOK_BYTES
from dashboard.approvals.errors import BodyTooLarge, NotebookTooLarge
from dashboard.metrics import PROCESS, REFUSALS

HEADER_S = 15.0
"""How long a request header may take, from its first byte or, for the first one, from the
connection on."""
IDLE_S = 60.0
"""How long a client may pause within a body and between two requests."""
ACCEPTED_AT_ONCE = 100
"""Connections, in one turn of the loop."""
ACCEPTED_OF = 8
"""One turn accepts at most one in so many of those that fit. What clients sent is read in each
turn, so a request that has come is read before its connection can be closed for others."""
TOLD_EVERY_S = 60.0
REFUSED_S = 10.0
"""How long a client may go on sending what was refused. On a connection that is cut at once, most
would never read why."""
LARGE_BODY = 100_000
"""From so many bytes on Twisted keeps a body in a file, and Django may keep it in another."""
LARGE_BODY_OF = 8
"""Of so many connections one may be sending a large body."""
TLS_HANDSHAKE, NOT_TLS = b"\x16\x03", b"HTTP/1.1 400 Bad Request\r\n\r\n"
_NOTEBOOKS = b"/api/v1/notebooks/"
_CLOSING = (b"connection", b"close")

log = logging.getLogger(__name__)


class Room:
    """Which connections there are, and which of them can be closed for others.

    Args:
        most: How many fit. One in ``LARGE_BODY_OF`` may be sending a large body.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._all: set[Connection] = set()
        # Whoever said nothing for the longest time comes first.
        self._idle: dict[Connection, None] = {}
        self._sending: dict[Connection, None] = {}
        self._full: set[Port] = set()
        self._closed, self._told_at = 0, -TOLD_EVERY_S

    def left(self) -> int:
        """How many connections can be accepted, if all that are idle are closed."""
        return max(self._most - len(self._all), 0) + len(self._idle)

    def in_one_turn(self) -> int:
        """How many connections to accept before reading what clients sent."""
        return min(self.left(), max(self._most // ACCEPTED_OF, 1), ACCEPTED_AT_ONCE)

    def enter(self, connection: Connection) -> None:
        """Count a new connection, and close the one that has been idle for longest if needed."""
        if len(self._all) >= self._most and self._idle:
            self._end(next(iter(self._idle)))
        self._all.add(connection)
        self._idle[connection] = None

    def leave(self, connection: Connection) -> None:
        """Forget a connection that has ended."""
        self._all.discard(connection)
        self._idle.pop(connection, None)
        self._sending.pop(connection, None)
        self._go_on()

    def hears(self, connection: Connection) -> None:
        """Note that a client sent something."""
        for order in (self._idle, self._sending):
            if connection in order:
                del order[connection]
                order[connection] = None

    def sends(self, connection: Connection) -> None:
        """Note that a large body begins, and close who is idle in one if there are too many."""
        self._sending[connection] = None
        if len(self._sending) > max(self._most // LARGE_BODY_OF, 1):
            idle_ones = (
                other_connection
                for other_connection in self._sending
                if other_connection in self._idle and other_connection is not connection
            )
            if idle := next(idle_ones, None):
                self._end(idle)
            else:
                connection.abortConnection()  # not now: what it sent is still being read

    def answers(self, connection: Connection) -> None:
        """Note that a request on it is being answered, so it is not idle."""
        self._idle.pop(connection, None)

    def answered(self, connection: Connection) -> None:
        """Note that it is idle again."""
        self._sending.pop(connection, None)
        if connection in self._all:
            self._idle[connection] = None
            self._go_on()

    def wait(self, port: Port) -> None:
        """Accept nothing on ``port`` until there is room."""
        self._tell("none of them is idle, so others have to wait")
        self._full.add(port)
        port.stopReading()

    def _end(self, connection: Connection) -> None:
        self._closed += 1
        self._tell(f"{self._closed} that were idle have been closed for others")
        connection.end()

    def _go_on(self) -> None:
        while self._full and self.left():
            port = self._full.pop()
            if port.connected and not port.disconnecting:
                port.startReading()

    def _tell(self, what: str) -> None:
        # Not each time: a flood of connections must not become a flood of lines.
        now = time.monotonic()
        if now >= self._told_at + TOLD_EVERY_S:
            self._told_at = now
            log.warning(
                "More clients come than fit (%s connections), and %s. Where so many are in use, "
                "raise the limit of open files or run more processes.",
                f"{self._most:,}",
                what,
            )


class Connection(tcp.Server):  # type: ignore[misc]
    """An accepted connection, counted from its first to its last moment."""

    server: Port

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.server.room.enter(self)

    def connectionLost(self, reason: Any) -> None:  # noqa: N802 - Twisted's name
        """Clean up; Twisted calls this once or twice."""
        try:
            super().connectionLost(reason)
        finally:
            self.server.room.leave(self)

    def end(self) -> None:
        """Close it now, and not in the next turn of the loop: its file is needed."""
        self.abortConnection()
        self.connectionLost(Failure(ConnectionAborted()))


class Port(tcp.Port):  # type: ignore[misc]
    """A listening socket that accepts what fits."""

    transport = Connection
    room: Room

    def doRead(self) -> None:  # noqa: N802 - Twisted's name
        """Accept connections."""
        self.numberAccepts = self.room.in_one_turn()
        if self.numberAccepts:
            super().doRead()
        else:
            self.room.wait(self)


class GuardedChannel(HTTPChannel):  # type: ignore[misc]
    """Speaks HTTP on a connection, and has no patience with a header that does not end."""

    has_refused = False
    """Whether 413 was answered: what else comes is thrown away."""
    _in_header = _between = False
    _is_new = True

    def connectionMade(self) -> None:  # noqa: N802 - Twisted's name
        """Expect a header."""
        super().connectionMade()
        self._begin_header()

    def dataReceived(self, data: bytes) -> None:  # noqa: N802 - Twisted's name
        """Read on. Who begins with TLS is told at once that this is plain HTTP."""
        if self._is_new and data.startswith(TLS_HANDSHAKE):
            self.transport.write(NOT_TLS)
            self.transport.loseConnection()
            return
        if self.has_refused:
            return
        self._is_new = False
        if self._between:
            self._begin_header()
        self.transport.server.room.hears(self.transport)
        super().dataReceived(data)

    def resetTimeout(self) -> None:  # noqa: N802 - Twisted's name
        """Give a client more time that has sent something, unless it is still at the header."""
        if not self._in_header:
            super().resetTimeout()

    def allHeadersReceived(self) -> None:  # noqa: N802 - Twisted's name
        """Expect a body, unless the header says that it is too large."""
        self._in_header = False
        if self.length is not None and self.length > self.most():
            self.refuse()
            return
        self.setTimeout(IDLE_S)
        super().allHeadersReceived()
        if self.length is None or self.length >= LARGE_BODY:
            self.transport.server.room.sends(self.transport)

    def allContentReceived(self) -> None:  # noqa: N802 - Twisted's name
        """Have the request answered, unless it is."""
        if self.has_refused:
            return
        self.transport.server.room.answers(self.transport)
        super().allContentReceived()

    def requestDone(self, request: Any) -> None:  # noqa: N802 - Twisted's name
        """Expect another request, now that this one is answered."""
        self._between = True
        self.transport.server.room.answered(self.transport)
        super().requestDone(request)

    def most(self) -> int:
        """How many bytes a body is read of."""
        # What is a little larger is answered by the application, which can say what is wrong.
        return MAX_BODY_BYTES + (MAX_NOTEBOOK_BYTES if self._is_notebook else MAX_BODY_BYTES)

    def refuse(self) -> None:
        """Answer that the body is too large, as the API does, and close in a while."""
        self.has_refused = True
        error = NotebookTooLarge() if self._is_notebook else BodyTooLarge()
        REFUSALS.labels(PROCESS, error.code).inc()
        path = self._path.partition(b"?")[0][:100].decode("latin-1")
        log.warning("A request for %r was refused with 413: its body is too large.", path)
        self.transport.write(_too_large(str(error), error.code))
        self.setTimeout(REFUSED_S)

    @property
    def _is_notebook(self) -> bool:
        return bool(self._path.startswith(_NOTEBOOKS))

    def _begin_header(self) -> None:
        self._in_header, self._between = True, False
        self.setTimeout(HEADER_S)


def _too_large(detail: str, code: str) -> bytes:
    status = HTTPStatus.REQUEST_ENTITY_TOO_LARGE
    fields = {
        "type": "about:blank",
        "title": status.phrase,
        "status": status,
        "code": code,
        "detail": detail,
    }
    body = json.dumps(fields)
    head = (
        f"HTTP/1.1 {status} {status.phrase}\r\nContent-Type: application/problem+json\r\n"
        f"Content-Length: {len(body)}\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n"
    )
    return (head + body).encode()


class CappedRequest(WebRequest):  # type: ignore[misc]
    """Refuses a body over the limit instead of spooling it: Daphne would take gigabytes.

    Forms are left to Django. Twisted would read each of them too, in the thread that serves
    everybody, for something that nobody asks it for.
    """

    taken = 0

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs, parsePOSTFormSubmission=False)

    def handleContentChunk(self, data: bytes) -> None:  # noqa: N802 - Twisted's name
        """Take a piece of the body."""
        self.taken += len(data)
        if self.channel.has_refused:
            return
        if self.taken > self.channel.most():
            self.channel.refuse()
            self.content.close()
            return
        super().handleContentChunk(data)

    @property
    def has_arrived(self) -> bool:
        """Whether all of it is here, so that somebody works on the answer."""
        return hasattr(self, "request_start")

    def handle_reply(self, message: Any) -> None:
        """Take a piece of the answer; while the server stops, it is the connection's last."""
        begins = message["type"] == "http.response.start"
        if begins and self.server.draining and self.channel and self.channel.persistent:
            self.channel.persistent = False  # closes once everything is written
            message = {**message, "headers": [*message.get("headers", ()), _CLOSING]}
        super().handle_reply(message)


class CappedFactory(HTTPFactory):  # type: ignore[misc]
    """Makes channels that read ``CappedRequest``."""

    protocol = GuardedChannel

    def buildProtocol(self, addr: Any) -> Any:  # noqa: N802 - Twisted's name
        """Return the protocol of one connection."""
        protocol = super().buildProtocol(addr)
        protocol.requestFactory = CappedRequest
        return protocol
