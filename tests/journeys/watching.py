"""Watches the pages of a person: what went wrong without being foreseen fails the journey."""

import re
from contextlib import contextmanager
from urllib.parse import urlsplit

ABORTED = "net::ERR_ABORTED"  # the page was left before it came
OF_AN_ANSWER = re.compile("Failed to load resource: the server responded with a status of")


class Watch:
    """What happened on the pages of one person.

    Attributes:
        complaints: What nobody foresaw, in words.
    """

    def __init__(self):
        self.complaints = []
        self._foreseen = []

    def over(self, page):
        """Watch a page from now on."""
        page.on("response", self._answered)
        page.on("requestfailed", self._failed)
        page.on("console", self._said)
        page.on("pageerror", lambda error: self._complain(f"script error: {error}"))
        page.on("crash", lambda _: self._complain("the page crashed"))
        page.on("websocket", self._connected)

    @contextmanager
    def foreseen(self, status, path):
        """Let one answer of this status come, from an address whose path ends in ``path``."""
        self._foreseen.append((status, path))
        yield
        assert (status, path) not in self._foreseen, f"{path} did not answer {status}"

    def _complain(self, what):
        self.complaints.append(what)

    def _answered(self, response):
        path, status = urlsplit(response.url).path, response.status
        foreseen = [one for one in self._foreseen if one[0] == status and path.endswith(one[1])]
        if foreseen:
            self._foreseen.remove(foreseen[0])
        elif status >= 400:
            self._complain(f"{response.request.method} {path} answered {status}")

    def _failed(self, request):
        if request.failure != ABORTED:
            self._complain(f"{request.method} {request.url} failed: {request.failure}")

    def _said(self, message):
        if message.type == "error" and not OF_AN_ANSWER.match(message.text):
            self._complain(f"console: {message.text}")

    def _connected(self, socket):
        socket.on("socketerror", lambda error: self._complain(f"socket {socket.url}: {error}"))
