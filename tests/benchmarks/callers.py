"""An agent and a reviewer's browser, as the server sees them, over a socket or in one process."""

import asyncio
import json
from http import HTTPStatus
from urllib.parse import urlencode, urlsplit

from tests.benchmarks.http import Connection
from tests.serving import CSRF, fields_of, question

HOLD_S = 50
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
TOKEN = urlencode({"csrfmiddlewaretoken": CSRF}).encode()
# What the page's own form sends beside its hidden fields, when Approve is pressed with it.
PRESSED = {"verdict": "approve", "end_seen": "yes"} | dict.fromkeys(
    ["despite", "in_view", "reason", "approve_reason"], ""
)


class Agent:
    """Asks, waits and reports. What it asked is kept as the dict that the API answered."""

    def __init__(self, connection, token):
        self.connection = connection
        self.headers = {"Authorization": f"Bearer {token}"}

    @classmethod
    async def of(cls, house, number=0):
        """Connect to a running server."""
        token = house.tokens[number % len(house.tokens)]
        return cls(await Connection.open(house.url), token)

    async def submit(self):
        asked = question()
        return await self._ask("POST", "/approvals", asked["headers"], asked["content"])

    async def wait(self, approval):
        """Wait for the answer, as long as the server holds it."""
        return await self._ask("GET", f"/approvals/{approval['id']}/wait?hold={HOLD_S}", {}, b"")

    async def report(self, approval, state):
        body = json.dumps({"state": state, "digest": approval["digest"]}).encode()
        headers = question()["headers"]
        return await self._ask("POST", f"/approvals/{approval['id']}/outcome", headers, body)

    async def _ask(self, method, path, headers, body):
        headers, url = self.headers | headers, f"/api/v1{path}"
        status, answer = await self.connection.request(method, url, headers, body)
        # Asked again, as the client does: it takes as long as it takes.
        while status == HTTPStatus.SERVICE_UNAVAILABLE:
            status, answer = await self.connection.request(method, url, headers, body)
        assert status < 300, (path, status, answer[:500])
        return json.loads(answer)

    def close(self):
        self.connection.close()


class Reviewer:
    """A browser of somebody who is signed in."""

    def __init__(self, connection, headers):
        self.connection, self.headers = connection, headers

    @classmethod
    async def of(cls, house, name="alice"):
        """Connect to a running server."""
        return cls(await Connection.open(house.url), house.headers_of(name))

    async def get(self, path, **headers):
        status, page = await self.connection.request("GET", path, self.headers | headers)
        assert status == 200, (path, status, page[:500])
        return page

    async def read(self, approval):
        """Open the page of a request as a browser does; its form is kept with the request."""
        page = await self.get(f"/approvals/{approval['id']}")
        approval["form"] = fields_of(page.decode())
        path = f"/approvals/{approval['id']}/seen"
        status, _ = await self.connection.request("POST", path, self.headers | FORM, TOKEN)
        assert status < 300, (path, status)
        return page

    def press(self, approval):
        """Return what the browser sends when the person approves."""
        body = urlencode(approval["form"] | PRESSED).encode()
        headers = self.headers | FORM | {"HX-Request": "true"}
        return "POST", f"/approvals/{approval['id']}/decide", headers, body

    async def decide(self, approval, *, draws=True):
        """Approve, with the form of the page; returns the bar that is drawn, unless it is not."""
        method, path, headers, body = self.press(approval)
        if not draws:  # as a browser without scripts
            del headers["HX-Request"]
        status, bar = await self.connection.request(method, path, headers, body)
        assert status in (200, 303), (status, bar[:500])
        return bar

    def close(self):
        self.connection.close()


class Called:
    """An ASGI application in this process, called as if over a connection."""

    def __init__(self, application, url):
        self.application, self.host = application, urlsplit(url).netloc

    async def request(self, method, path, headers=None, body=b""):
        """Return status and body."""
        parts, sent = urlsplit(path), []
        said = {"Host": self.host, "Content-Length": str(len(body))} | (headers or {})
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": parts.path,
            "raw_path": parts.path.encode(),
            "query_string": parts.query.encode(),
            "root_path": "",
            "headers": [(k.lower().encode(), v.encode()) for k, v in said.items()],
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 80),
        }
        arrived = [{"type": "http.request", "body": body, "more_body": False}]

        async def receive():
            return arrived.pop() if arrived else await asyncio.Future()

        async def send(message):
            sent.append(message)

        await self.application(scope, receive, send)
        return sent[0]["status"], b"".join(message.get("body", b"") for message in sent[1:])
