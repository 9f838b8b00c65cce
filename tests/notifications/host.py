"""A host on the loopback address that is called, and how it answers."""

import threading
import time
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple

import pytest

from dashboard.notifications.sending import Sent

FOR_THE_EARLIER_ADDRESS = pytest.mark.parametrize(
    "outcome",
    [
        Sent(taken=False, is_gone=True, said="It answered 410."),
        Sent(taken=False, said="It answered 503.", retry_after_s=3600.0),
    ],
    ids=["gone", "busy"],
)
"""What an address answers that is another one by then."""


class Call(NamedTuple):
    path: str
    headers: dict
    body: bytes


class Host:
    """Answers with the given statuses one after the other, and with the last one for ever."""

    def __init__(self, *statuses):
        self.statuses = list(statuses) or [204]
        self.calls = []
        self.more, self.body = {}, b""  # headers and content of the answer
        self.held = threading.Event()  # set: answers at once
        self.held.set()
        self.slow_s = 0.0
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.url = f"http://127.0.0.1:{self.server.server_port}/hook"

    def _handler(host):  # noqa: N805 - "self" is the handler's
        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                host.calls.append(Call(self.path, dict(self.headers), body))
                host.held.wait(5)
                time.sleep(host.slow_s)
                with suppress(BrokenPipeError):  # whoever called has given up
                    self._answer()

            def _answer(self):
                many = len(host.statuses) > 1
                self.send_response(host.statuses.pop(0) if many else host.statuses[0])
                headers = {"Location": "http://127.0.0.1:1/elsewhere"} | host.more
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(host.body)

            do_GET = do_PUT = do_POST  # noqa: N815 - as the library names them

            def log_message(self, *_):
                """Say nothing."""

        return Handler


@contextmanager
def hosted(*statuses):
    host = Host(*statuses)
    thread = threading.Thread(target=host.server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield host
    finally:
        host.held.set()
        host.server.shutdown()
        thread.join()
        host.server.server_close()
