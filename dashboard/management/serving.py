"""Daphne, with an end that loses nothing.

Plain Daphne drops every request in flight on SIGTERM. This stops listening, has waiting agents
told "pending", lets every decision finish and answer, and exits.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from typing import Any, NoReturn

from daphne.http_protocol import HTTPFactory, WebRequest
from daphne.server import Server
from daphne.ws_protocol import WebSocketProtocol
from twisted.internet import reactor as twisted_reactor

from dashboard.live.push import current_hub
from dashboard.wire import MAX_BODY_BYTES, MAX_NOTEBOOK_BYTES

DRAIN_S = 10.0
CLOSE_AFTER_S = 0.2
CLOSE_NORMAL = 1000
_NOTEBOOKS = b"/api/v1/notebooks/"

Work = Callable[[], Coroutine[Any, Any, None]]

reactor: Any = twisted_reactor
log = logging.getLogger(__name__)


class CappedRequest(WebRequest):  # type: ignore[misc]
    """Hangs up on a body over the limit instead of spooling it: Daphne would take gigabytes."""

    taken = 0

    def handleContentChunk(self, data: bytes) -> None:  # noqa: N802 - Twisted's name
        """Take a piece of the body."""
        self.taken += len(data)
        if self.taken > self._most():
            self.channel.transport.abortConnection()
            return
        super().handleContentChunk(data)

    def _most(self) -> int:
        # What is a little larger is answered by the application, which can say what is wrong.
        path = getattr(self.channel, "_path", b"")  # Twisted tells the request itself at its end
        is_notebook = path.startswith(_NOTEBOOKS)
        return MAX_BODY_BYTES + (MAX_NOTEBOOK_BYTES if is_notebook else MAX_BODY_BYTES)


class CappedFactory(HTTPFactory):  # type: ignore[misc]
    """Makes connections that read ``CappedRequest``."""

    def buildProtocol(self, addr: Any) -> Any:  # noqa: N802 - Twisted's name
        """Return the protocol of one connection."""
        protocol = super().buildProtocol(addr)
        protocol.requestFactory = CappedRequest
        return protocol


class PageSocket(WebSocketProtocol):  # type: ignore[misc]
    """Closes with the codes of RFC 6455 too, which Autobahn keeps applications from sending."""

    def serverClose(self, code: int | None = None) -> None:  # noqa: N802 - Daphne's name
        """Close because the application says so."""
        self.sendCloseFrame(code=code or CLOSE_NORMAL)


class DrainingServer(Server):  # type: ignore[misc]
    """Serves on an open socket until SIGTERM or SIGINT, then drains.

    Args:
        fileno: The listening socket; several processes may share one.
        background: Work to do beside serving, started with the loop and cancelled at the end.

    Attributes:
        gave_up: It ended before everything was answered, so threads may still be busy.
    """

    def __init__(self, application: Any, *, fileno: int, background: Iterable[Work]) -> None:
        self.draining = self.gave_up = False
        self._serve = application
        self._background = background
        self._tasks: list[asyncio.Task[None]] = []
        super().__init__(
            self._told_of_the_end,
            endpoints=[f"fd:fileno={fileno}"],
            signal_handlers=False,
            server_name="",
            ready_callable=self._begin,
        )

    def _begin(self) -> None:
        self.http_factory.__class__ = CappedFactory
        self.ws_factory.protocol = PageSocket
        loop = asyncio.get_event_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._drain_soon)
        self._tasks = [loop.create_task(work()) for work in self._background]

    async def _told_of_the_end(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            send = self._closing(send)
        await self._serve(scope, receive, send)

    def _closing(self, send: Callable[[Any], Awaitable[None]]) -> Callable[[Any], Awaitable[None]]:
        # Asked when the answer begins: a request that was in flight at SIGTERM is among the last.
        async def closing(message: Any) -> None:
            if self.draining and message["type"] == "http.response.start":
                headers = [*message.get("headers", []), (b"connection", b"close")]
                message = {**message, "headers": headers}
            await send(message)

        return closing

    def _drain_soon(self) -> None:
        if self.draining:
            self._give_up()  # asked twice: at once
            return
        self.draining = True
        self._tasks.append(asyncio.get_event_loop().create_task(self._drain()))

    async def _drain(self) -> None:
        for listener in self.listeners:
            listener.addCallback(lambda port: port.stopListening())
        self._stop_background()
        current_hub().dismiss()
        try:
            async with asyncio.timeout(DRAIN_S):
                await self._until_answered()
        except TimeoutError:
            self._give_up()
            return
        await current_hub().close()
        reactor.stop()

    def _give_up(self) -> None:
        log.warning("Ending with %s requests unanswered.", len(self._open()))
        self.gave_up = True
        self._stop_background()
        reactor.stop()

    def _stop_background(self) -> None:
        for task in self._tasks:
            if task is not asyncio.current_task():
                task.cancel()

    async def _until_answered(self) -> None:
        quiet_s = 0.0
        while quiet_s < CLOSE_AFTER_S:  # keep-alive connections may hold one more request
            await asyncio.sleep(0.02)
            quiet_s = 0.0 if self._open() else quiet_s + 0.02

    def _open(self) -> list[Any]:
        return [p for p, details in self.connections.items() if "disconnected" not in details]

    def kill_all_applications(self) -> Any:
        """Cancel what is left; Daphne's own fails on a connection whose application has ended."""
        for details in self.connections.values():
            details.setdefault("application_instance", asyncio.get_event_loop().create_future())
        return super().kill_all_applications()

    def leave_now(self) -> NoReturn:
        """End the process with status 1, whatever its threads still wait for.

        A thread that waits for a lock of the database would keep the process for as long. What
        it had begun the database takes back; nobody was told that it was done.
        """
        logging.shutdown()
        os._exit(1)
