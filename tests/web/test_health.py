"""What machines are told that watch this one, while everything else of it is busy."""

import asyncio
import threading

import pytest

from dashboard.web.handler import ANSWERING, VIEWING, PooledHandler

WITHIN_S = 20  # only of a test that fails


def scope(path, method="GET"):
    return {
        "type": "http",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "headers": [(b"host", b"127.0.0.1:8000")],
        "http_version": "1.1",
        "scheme": "http",
        "client": ["127.0.0.1", 1],
        "server": ["127.0.0.1", 8000],
    }


async def ask(path, method="GET"):
    """Ask the whole application; returns status, headers and body."""
    from dashboard.asgi import application  # noqa: PLC0415 - fills the app registry

    sent = []
    came = iter([{"type": "http.request", "body": b"", "more_body": False}])

    async def receive():
        for message in came:
            return message
        return await asyncio.get_running_loop().create_future()

    async def send(message):
        sent.append(message)

    await application(scope(path, method), receive, send)
    start, *bodies = sent
    return start["status"], dict(start["headers"]), b"".join(one["body"] for one in bodies)


@pytest.fixture
def busy(monkeypatch):
    """Pages that take until the test ends, and how many have begun."""
    begun, end = threading.Semaphore(0), threading.Event()

    def respond(*_):
        begun.release()
        assert end.wait(2 * WITHIN_S)
        raise RuntimeError("The test is over.")

    monkeypatch.setattr(PooledHandler, "_respond", respond)
    yield begun
    end.set()


async def test_it_answers_while_every_thread_is_busy(busy):
    pages = [asyncio.create_task(ask("/", how)) for how in ("GET", "POST") for _ in range(20)]
    for _ in range(ANSWERING + VIEWING):
        await asyncio.to_thread(busy.acquire)

    async with asyncio.timeout(WITHIN_S):
        status, headers, body = await ask("/healthz")
    for page in pages:
        page.cancel()

    assert (status, body) == (200, b'{"status": "ok"}')
    assert headers[b"content-type"] == b"application/json"
    assert headers[b"cache-control"] == b"no-store"


async def test_head_is_answered_with_the_same_headers_and_no_body():
    get, head = await ask("/healthz"), await ask("/healthz", "HEAD")

    assert (head[0], head[1], head[2]) == (200, get[1], b"")


async def test_other_methods_are_refused():
    status, headers, _ = await ask("/healthz", "POST")

    assert (status, headers[b"allow"]) == (405, b"GET, HEAD")
