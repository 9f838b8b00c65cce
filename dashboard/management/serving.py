"""Daphne, with an end that loses nothing.

Plain Daphne drops every request in flight on SIGTERM. This stops listening, has waiting agents
told "pending", lets every request that has arrived finish and answer, and exits.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import sys
from collections.abc import Callable, Coroutine, Iterable
from contextlib import suppress
from typing import Any, NoReturn

from daphne.server import Server
from daphne.ws_protocol import WebSocketProtocol
from twisted.internet import reactor as twisted_reactor
from twisted.internet.defer import maybeDeferred
from twisted.internet.endpoints import AdoptedStreamServerEndpoint
from twisted.internet.error import ReactorNotRunning

from dashboard.live.push import current_hub
from dashboard.management.connections import CappedFactory, Connection, Port, Room

DRAIN_S = 10.0
"""How long a stop waits for answers that are being made."""
SLOW_CLIENT_S = 3.0
"""How long it waits for clients that are still sending a request, or still reading an answer."""
CLOSE_AFTER_S = 0.2
CLOSE_NORMAL = 1000
SWITCH_S = 0.0005
"""How long a thread keeps the interpreter from others that want it. A decision gives it away at
each statement, and gets it back this late where a page is being drawn: Python's 5 ms add up."""

Work = Callable[[], Coroutine[Any, Any, None]]

reactor: Any = twisted_reactor
log = logging.getLogger(__name__)


class PageSocket(WebSocketProtocol):  # type: ignore[misc]
    """Closes with the codes of RFC 6455 too, which Autobahn keeps applications from sending."""

    def serverClose(self, code: int | None = None) -> None:  # noqa: N802 - Daphne's name
        """Close because the application says so."""
        self.sendCloseFrame(code=code or CLOSE_NORMAL)


class DrainingServer(Server):  # type: ignore[misc]
    """Serves on an open socket until SIGTERM or SIGINT, then drains.

    Args:
        fileno: The listening socket; several processes may share one.
        is_shared: Whether somebody else holds that socket too, and serves who connects to it.
        connections: How many fit into this process.
        background: Work to do beside serving, started with the loop and cancelled at the end.

    Attributes:
        gave_up: It ended before everything was answered, so threads may still be busy.
    """

    def __init__(
        self,
        application: Any,
        *,
        fileno: int,
        is_shared: bool,
        connections: int,
        background: Iterable[Work],
    ) -> None:
        self.draining = self.gave_up = False
        self._is_shared, self._room = is_shared, Room(connections)
        sys.setswitchinterval(SWITCH_S)
        self._background = background
        self._ports: list[Any] = []
        self._tasks: list[asyncio.Task[None]] = []
        super().__init__(
            application,
            endpoints=["fd"],
            signal_handlers=False,
            server_name="",
            ready_callable=self._begin,
        )
        self._fileno = fileno
        self.endpoints: list[str] = []  # Daphne insists on one, and it is adopted here

    def listen_success(self, port: Any) -> Any:
        """Keep the port: only it can stop listening, and Daphne forgets it."""
        super().listen_success(port)
        port.__class__, port.room = Port, self._room
        self._ports.append(port)
        return port

    def listen_error(self, failure: Any) -> None:
        """End with a failure where there is nothing to serve on."""
        self.gave_up = True
        super().listen_error(failure)

    def _begin(self) -> None:
        self.http_factory.__class__ = CappedFactory
        self.ws_factory.protocol = PageSocket
        loop = asyncio.get_event_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._drain_soon)
        self._tasks = [loop.create_task(work()) for work in self._background]
        reactor.callWhenRunning(self._adopt)

    def _adopt(self) -> None:
        # Twisted would read the description of an endpoint by looking for plugins everywhere, and
        # keep a list of them where it is installed.
        with socket.socket(fileno=os.dup(self._fileno)) as duplicate:
            family = duplicate.family  # of another one, clients' addresses are half read
        endpoint = AdoptedStreamServerEndpoint(reactor, self._fileno, family)
        listener = endpoint.listen(self.http_factory)
        listener.addCallbacks(self.listen_success, self.listen_error)
        self.listeners.append(listener)

    def _drain_soon(self) -> None:
        if self.draining:
            self._give_up("It was asked to stop twice")
            return
        self.draining = True
        self._tasks.append(asyncio.get_event_loop().create_task(self._drain()))

    async def _drain(self) -> None:
        try:
            async with asyncio.timeout(DRAIN_S):
                await self._stop_listening()
                self._stop_background()
                current_hub().dismiss()
                log.info("Stopping. No new connections are accepted; %s", self._left())
                await self._until_answered()
            self._hang_up()
            await current_hub().close()
        except TimeoutError:
            self._give_up(f"Not everything was answered within {DRAIN_S:.0f} s")
        except Exception:
            log.exception("The server could not stop in order.")
            self._give_up("It could not stop in order")
        else:
            reactor.stop()

    async def _stop_listening(self) -> None:
        for port in self._ports:
            count = port.sessionno if self._is_shared else None
            while port.sessionno != count:  # or the close would cut off whoever waits here
                count = port.sessionno
                port.doRead()
            await maybeDeferred(port.stopListening).asFuture(asyncio.get_running_loop())

    def _hang_up(self) -> None:
        # Now, or a request that comes while the hub closes would be begun and cut off.
        for reader in reactor.getReaders():
            if isinstance(reader, Connection):
                reader.loseConnection()

    def _give_up(self, reason: str) -> None:
        log.warning("%s, so the server ends at once: %s", reason, self._left())
        self.gave_up = True
        self._stop_background()
        with suppress(ReactorNotRunning):  # it was stopped already
            reactor.stop()

    def _stop_background(self) -> None:
        for task in self._tasks:
            if task is not asyncio.current_task():
                task.cancel()

    async def _until_answered(self) -> None:
        loop = asyncio.get_running_loop()
        slow_until, quiet_s = loop.time() + SLOW_CLIENT_S, 0.0
        while quiet_s < CLOSE_AFTER_S:  # keep-alive connections may hold one more request
            await asyncio.sleep(0.02)
            busy = self._unanswered() or (loop.time() < slow_until and self._slow())
            quiet_s = 0.0 if busy else quiet_s + 0.02

    def _open(self) -> list[Any]:
        return [p for p, details in self.connections.items() if "disconnected" not in details]

    def _unanswered(self) -> list[Any]:
        """Requests that have arrived, and pages that have not said goodbye."""
        return [client for client in self._open() if getattr(client, "has_arrived", True)]

    def _slow(self) -> list[Any]:
        """What clients have not sent whole or not read whole yet."""
        unread = [client for client in reactor.getWriters() if isinstance(client, Connection)]
        return [
            client for client in self._open() if not getattr(client, "has_arrived", True)
        ] + unread

    def _left(self) -> str:
        return f"{len(self._unanswered())} requests and pages are open."

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
