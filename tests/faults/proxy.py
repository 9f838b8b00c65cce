"""A way to a service that can be closed, and that can freeze: it accepts and says nothing."""

import asyncio
import threading
from contextlib import suppress
from urllib.parse import urlsplit, urlunsplit


class Proxy:
    """Passes bytes on to ``upstream``, from a thread of its own; ``url`` is the way through."""

    def __init__(self, upstream):
        self._upstream = urlsplit(upstream)
        self._port = 0
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._server = None
        self._connections = set()

    def __enter__(self):
        self._thread.start()
        self._run(self._prepare())
        self.open()
        return self

    def __exit__(self, *_):
        self.close()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    @property
    def url(self):
        user, at, _ = self._upstream.netloc.rpartition("@")
        return urlunsplit(self._upstream._replace(netloc=f"{user}{at}127.0.0.1:{self._port}"))

    def open(self):
        """Let connections in, at the same address as before, and everything through."""
        self.thaw()
        self._run(self._listen())

    def close(self):
        """Cut every connection and refuse new ones."""
        self._run(self._shut())

    def freeze(self):
        """Go on accepting, and pass nothing on."""
        self._loop.call_soon_threadsafe(self._flowing.clear)

    def thaw(self):
        """Pass on everything that waited."""
        self._loop.call_soon_threadsafe(self._flowing.set)

    def _run(self, work):
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(10)

    async def _prepare(self):
        self._flowing = asyncio.Event()
        self._flowing.set()

    async def _listen(self):
        if self._server and self._server.is_serving():
            return
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self._port)
        self._port = self._server.sockets[0].getsockname()[1]

    async def _shut(self):
        # asyncio leaks what it accepted and had not begun to serve when its server closes.
        for socket in self._server.sockets:
            self._loop.remove_reader(socket.fileno())
        await asyncio.sleep(0.01)
        self._server.close()
        connections = list(self._connections)
        for task in connections:
            task.cancel()
        await asyncio.gather(*connections, return_exceptions=True)

    async def _serve(self, reader, writer):
        task = asyncio.current_task()
        self._connections.add(task)
        try:
            there = await asyncio.open_connection(self._upstream.hostname, self._upstream.port)
            try:
                await self._pass_on((reader, writer), there)
            finally:
                there[1].transport.abort()
        except (OSError, asyncio.CancelledError):
            pass  # cut, by us or by them
        finally:
            writer.transport.abort()
            self._connections.discard(task)

    async def _pass_on(self, here, there):
        ways = [self._one_way(here[0], there[1]), self._one_way(there[0], here[1])]
        tasks = [asyncio.ensure_future(way) for way in ways]
        try:
            await asyncio.wait(tasks, return_when="FIRST_COMPLETED")
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _one_way(self, reader, writer):
        with suppress(OSError):
            while data := await reader.read(65536):
                await self._flowing.wait()
                writer.write(data)
                await writer.drain()
