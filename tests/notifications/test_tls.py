"""Over TLS the host has to be the one that is meant, although its address is what is called."""

import asyncio
import socket
import ssl

import pytest

from dashboard.notifications import sending
from tests.certificates import self_signed
from tests.notifications.host import hosted

NAME = "host.example.org"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """A file with a certificate that somebody signed themselves, and its key."""
    return self_signed(NAME, tmp_path_factory.mktemp("tls") / "host.pem")


@pytest.fixture
def port(certificate, monkeypatch):
    """The port of a host on this machine, which every name is resolved to."""

    async def getaddrinfo(self, host, port, **_):
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]

    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate)
    with hosted(200) as host:
        host.server.socket = context.wrap_socket(host.server.socket, server_side=True)
        with monkeypatch.context() as patched:
            patched.setattr(asyncio.BaseEventLoop, "getaddrinfo", getaddrinfo)
            yield host.server.server_port


@pytest.fixture
def trusted(certificate, monkeypatch):
    context = ssl.create_default_context(cafile=certificate)
    monkeypatch.setattr(sending, "_trust", lambda: context)


async def test_a_trusted_certificate_of_that_name_is_enough(port, trusted):
    sent = await sending.send(f"https://{NAME}:{port}/hook", {}, b"{}")

    assert sent[:2] == (True, "It answered 200.")


async def test_another_name_is_not_that_host(port, trusted):
    sent = await sending.send(f"https://other.example.org:{port}/hook", {}, b"{}")

    assert sent.taken is False
    assert sent.said.startswith("Its certificate is not trusted: Hostname mismatch")


async def test_a_certificate_that_nobody_vouches_for_is_not_trusted(port):
    sent = await sending.send(f"https://{NAME}:{port}/hook", {}, b"{}")

    assert sent[:2] == (False, "Its certificate is not trusted: self-signed certificate.")
