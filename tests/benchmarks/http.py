"""HTTP over a bare socket, so that the load costs as little as it can on a shared machine."""

import asyncio
import json
from urllib.parse import urlsplit

ANSWERS_WITHIN_S = 120  # more than twice as long as a server holds the wait of an agent


class Connection:
    """One keep-alive connection."""

    def __init__(self, reader, writer, host):
        self.reader, self.writer, self.host = reader, writer, host

    @classmethod
    async def open(cls, url):
        parts = urlsplit(url)
        reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
        return cls(reader, writer, parts.netloc)

    async def request(self, method, path, headers=None, body=b""):
        """Return status and body."""
        self.send(method, path, headers, body)
        return await self.receive()

    def send(self, method, path, headers=None, body=b""):
        lines = [f"{method} {path} HTTP/1.1", f"Host: {self.host}", f"Content-Length: {len(body)}"]
        lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
        self.writer.write("\r\n".join([*lines, "", ""]).encode() + body)

    async def receive(self):
        """Return status and body.

        Raises:
            TimeoutError: There was no answer.
        """
        async with asyncio.timeout(ANSWERS_WITHIN_S):
            return await self._receive()

    async def _receive(self):
        head = (await self.reader.readuntil(b"\r\n\r\n")).lower()
        status = int(head.split(b" ", 2)[1])
        if b"transfer-encoding: chunked" in head:
            return status, await self._chunks()
        length = head.partition(b"content-length:")[2].partition(b"\r\n")[0]
        return status, await self.reader.readexactly(int(length or 0))

    async def _chunks(self):
        body = b""
        while size := int(await self.reader.readline(), 16):
            body += (await self.reader.readexactly(size + 2))[:-2]
        await self.reader.readexactly(2)
        return body

    def close(self):
        self.writer.close()


class AgentConnection(Connection):
    """A connection that an agent asks and waits over."""

    token = ""

    async def ask(self, method, path, body=None, key=""):
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        if key:
            headers["Idempotency-Key"] = key
        raw = b"" if body is None else json.dumps(body).encode()
        status, answer = await self.request(method, f"/api/v1{path}", headers, raw)
        assert status < 300, (status, answer)
        return json.loads(answer)
