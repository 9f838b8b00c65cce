"""Many agents and browsers at once, each on a connection of its own that is open already."""

import asyncio
import json
from contextlib import asynccontextmanager
from urllib.parse import urlencode

from tests.serving import fields_of, question


class Talker:
    """An HTTP/1.1 connection that sends one request at a time."""

    def __init__(self, reader, writer, headers):
        self.reader, self.writer, self.headers = reader, writer, headers

    def send(self, method, path, body=b"", **headers):
        """Write a request; ``answer`` reads what comes back."""
        if method == "POST":
            headers["Content-Length"] = str(len(body))
        lines = [f"{name}: {value}" for name, value in (self.headers | headers).items()]
        head = "\r\n".join([f"{method} {path} HTTP/1.1", *lines, "", ""])
        self.writer.write(head.encode() + body)

    async def answer(self):
        """Read an answer; returns (status, headers, body), or (0, {}, b"") if there was none."""
        try:
            return await self._read()
        except (asyncio.IncompleteReadError, OSError):
            return 0, {}, b""

    async def ask(self, method, path, body=b"", **headers):
        self.send(method, path, body, **headers)
        return await self.answer()

    def close(self):
        self.writer.transport.abort()

    async def _read(self):
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1").rstrip()
        status, *lines = head.split("\r\n")
        headers = dict(line.lower().split(": ", 1) for line in lines)
        body = b""
        if "content-length" in headers:
            body = await self.reader.readexactly(int(headers["content-length"]))
        elif "transfer-encoding" in headers:
            body = await self._read_chunks()
        return int(status.split()[1]), headers, body

    async def _read_chunks(self):
        body = b""
        while size := int(await self.reader.readuntil(b"\r\n"), 16):
            body += (await self.reader.readexactly(size + 2))[:-2]
        await self.reader.readexactly(2)
        return body


class Asker(Talker):
    """An agent on the wire."""

    async def submit(self, **more):
        asked = question(**more)
        reply = await self.ask("POST", "/api/v1/approvals", asked["content"], **asked["headers"])
        assert reply[0] == 201, reply
        return json.loads(reply[2])

    def begin_to_wait(self, approval, hold=25):
        self.send("GET", f"/api/v1/approvals/{approval['id']}/wait?hold={hold}")

    async def told(self):
        """Read the answer to a wait; returns (HTTP status, what the request's status is)."""
        status, _, body = await self.answer()
        return status, json.loads(body)["status"] if status == 200 else body


class Decider(Talker):
    """A browser on the wire: it has read the page of a request and may answer."""

    async def read(self, approval):
        """Load the page; says whether it came."""
        status, _, page = await self.ask("GET", f"/approvals/{approval['id']}")
        if status == 200:
            self.approval, self.form = approval, fields_of(page.decode())
        return status == 200

    def decide(self, verdict="approve"):
        body = urlencode(self.form | {"verdict": verdict}).encode()
        kind = {"Content-Type": "application/x-www-form-urlencoded"}
        self.send("POST", f"/approvals/{self.approval['id']}/decide", body, **kind)


@asynccontextmanager
async def talking(house):
    """Give functions that open connections: ``asker(number)`` and ``decider(name)``."""
    opened = []

    async def open_(kind, headers):
        host = house.url.removeprefix("http://")
        streams = await asyncio.open_connection(*host.split(":"))
        opened.append(kind(*streams, {"Host": host} | headers))
        return opened[-1]

    def asker(number=0):
        return open_(Asker, {"Authorization": f"Bearer {house.tokens[number]}"})

    def decider(name="alice"):
        return open_(Decider, house.headers_of(name))

    try:
        yield asker, decider
    finally:
        for talker in opened:
            talker.close()
        await asyncio.sleep(0)
