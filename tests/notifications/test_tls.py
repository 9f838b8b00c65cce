"""Over TLS the host has to be the one that is meant, although its address is what is called."""

import asyncio
import socket
import ssl
from datetime import UTC, datetime, timedelta

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from dashboard.notifications import sending
from tests.notifications.conftest import hosted

NAME = "host.example.org"
PEM = serialization.Encoding.PEM


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """A file with a certificate that somebody signed themselves, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, NAME)])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(NAME)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    plain = (PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    file = tmp_path_factory.mktemp("tls") / "host.pem"
    file.write_bytes(made.public_bytes(PEM) + key.private_bytes(*plain))
    return file


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
