"""A host that is called back, and what is done to call it."""

import threading
import time
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple

import pytest
from asgiref.sync import async_to_sync, sync_to_async
from django.core import mail

from dashboard.approvals.clock import database_now
from dashboard.notifications.delivering import AGENTS, PEOPLE, Deliverer
from dashboard.notifications.models import Delivery, State
from dashboard.notifications.services import set_webhook


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


@pytest.fixture(autouse=True)
def _this_machine_may_be_called(settings):
    settings.WEBHOOK_NETWORKS = ["127.0.0.0/8"]


@pytest.fixture
def host():
    """A host that takes everything."""
    with hosted() as host:
        yield host


@pytest.fixture
def called_back(agent, ada):
    """Has the agent's host called back at an address; gives the secret."""
    return lambda url, of=agent: set_webhook(agent=of, url=url, by=ada, auth="session:password")[1]


async def read(work, *args):
    return await sync_to_async(work)(*args)


async def _deliver(source):
    deliverer = Deliverer(read, source)
    await deliverer.tick()
    await deliverer.idle()


@pytest.fixture
def deliver():
    """Does what the background does in one second to call hosts back."""
    return partial(async_to_sync(_deliver), AGENTS)


@pytest.fixture
def tell():
    """Does what the background does in one second to tell people."""
    return partial(async_to_sync(_deliver), PEOPLE)


@pytest.fixture
def hurry():
    """Has the time come for everything that waits."""

    def hurry():
        Delivery.objects.filter(state=State.WAITING).update(due_at=database_now())

    return hurry


@pytest.fixture
def mails(settings):
    """Has mail kept in a list instead of sent, and gives the list."""
    backend = "django.core.mail.backends.locmem.EmailBackend"
    settings.MAILERS = {"default": {"BACKEND": backend, "OPTIONS": {}}}
    mail.outbox = []
    return mail.outbox
