"""An exchange of the client that blocks ends in time, whatever the server sends meanwhile."""

import socket
import threading
import time
from contextlib import contextmanager, suppress

import httpx2
import pytest

from approval_client import Client, _deadlines
from approval_client import _flow as flows
from approval_client._calls import Call
from approval_client._deadlines import deadline

PIECES = 200  # which take a second
DRIPS = {
    "a header": (b"HTTP/1.1 200 OK\r\nX-A: ", b"a"),
    "interim answers": (b"", b"HTTP/1.1 102 Processing\r\n\r\n"),
    "the size of a chunk": (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;x=",
        b"a",
    ),
}


@contextmanager
def dripping(beginning, piece):
    """Serve one connection at a time, and close it after all pieces."""

    def serve():
        with suppress(OSError):
            while True:
                connection, _ = server.accept()
                with connection, suppress(OSError):
                    connection.recv(65_536)
                    connection.sendall(beginning)
                    for _ in range(PIECES):
                        time.sleep(0.005)
                        connection.sendall(piece)

    server = socket.create_server(("127.0.0.1", 0))
    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.getsockname()[1]}"
    finally:
        server.shutdown(socket.SHUT_RDWR)
        server.close()
        thread.join()


def call(timeout_s):
    return (yield Call(method="GET", path="/", timeout_s=timeout_s))


@pytest.mark.parametrize("drip", DRIPS.values(), ids=DRIPS)
def test_an_answer_that_only_drips_is_not_waited_for(drip):
    with dripping(*drip) as url:
        failure = Client(url, "dash_x")._converse(None, call(0.05))

    assert failure.detail.startswith("ReadTimeout")


def test_nor_is_one_that_drips_through_a_proxy(monkeypatch):
    with dripping(*DRIPS["a header"]) as url:
        monkeypatch.setenv("HTTPS_PROXY", url)
        client = Client("https://dashboard.example", "dash_x")
        failure = client._converse(None, call(0.05))

    assert failure.detail.startswith("ReadTimeout")


def test_nor_over_a_transport_that_was_given():
    with dripping(*DRIPS["a header"]) as url, httpx2.HTTPTransport() as transport:
        client = Client(url, "dash_x", transport=transport)
        failures = [client._converse(None, call(0.05)) for _ in range(2)]

    assert [failure.detail.split(":")[0] for failure in failures] == ["ReadTimeout"] * 2


@pytest.fixture
def host(monkeypatch):
    """Have localhost be at some addresses."""

    def host(*addresses):
        def getaddrinfo(name, port, *_, **__):
            ips = addresses if name == "localhost" else [name]
            return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (ip, port)) for ip in ips]

        monkeypatch.setattr(_deadlines.socket, "getaddrinfo", getaddrinfo)

    return host


def test_the_addresses_of_a_host_share_the_time(host):
    tries = []

    class Nowhere:
        def connect_tcp(self, address, port, timeout):
            tries.append((address, port, round(timeout, -2)))
            raise httpx2.ConnectTimeout(f"{address} is dead")

    host("10.0.0.1", "10.0.0.2", "10.0.0.3")
    with (
        deadline(time.monotonic() + 6000),
        pytest.raises(httpx2.ConnectTimeout, match=r"0\.3 is dead"),
    ):
        _deadlines._Backend(Nowhere()).connect_tcp("localhost", 80, timeout=None)

    assert tries == [("10.0.0.1", 80, 2000), ("10.0.0.2", 80, 3000), ("10.0.0.3", 80, 6000)]


def test_a_host_is_reached_at_its_second_address(host):
    with dripping(b"HTTP/1.1 200 OK\r\nContent-Length: 200\r\n\r\n", b"a") as url:
        host("127.0.0.2", "127.0.0.1")
        answer = Client(url.replace("127.0.0.1", "localhost"), "dash_x")._converse(
            None, call(60.0)
        )

    assert answer.status == 200


def test_a_host_that_nobody_knows_is_unreachable(monkeypatch):
    def fail(*_, **__):
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(_deadlines.socket, "getaddrinfo", fail)

    failure = Client("http://localhost", "dash_x")._converse(None, call(60.0))

    assert failure.detail == "ConnectError: [Errno -2] Name or service not known"


def test_a_farewell_is_over_in_time_although_each_of_its_calls_may_take_longer(monkeypatch):
    monkeypatch.setattr(flows, "FAREWELL_S", 0.05)
    failures = []

    class Talk:
        def withdraw(self, _):
            failures.append((yield from call(60.0)))
            failures.append((yield from call(60.0)))

    def stop():
        raise KeyboardInterrupt
        yield

    with dripping(*DRIPS["a header"]) as url, pytest.raises(KeyboardInterrupt):
        Client(url, "dash_x")._converse(Talk(), stop())

    assert [failure.detail.split(":")[0] for failure in failures] == [
        "ReadTimeout",
        "ConnectTimeout",
    ]
