"""The socket to serve on: opened, or handed over."""

import os
import socket

import pytest

from dashboard.management.listening import address, adopt, listen
from dashboard.management.preflight import CannotStart


@pytest.fixture
def opened():
    """Keep sockets to close them."""
    sockets = []
    yield lambda listener: sockets.append(listener) or listener
    for listener in sockets:
        listener.close()


def refusal(function, *arguments):
    with pytest.raises(CannotStart) as refused:
        function(*arguments)
    return str(refused.value)


def test_port_0_takes_a_free_port(opened):
    host, port = address(opened(listen("127.0.0.1", 0)))

    assert host == "127.0.0.1"
    assert port > 0


def test_an_address_of_the_newer_protocol_is_opened(opened):
    assert address(opened(listen("::1", 0)))[0] == "::1"


def test_a_taken_port_is_refused(opened):
    port = address(opened(listen("127.0.0.1", 0)))[1]

    assert refusal(listen, "127.0.0.1", port) == (
        f"Nothing was started. Port {port} on 127.0.0.1 cannot be opened (Address already in "
        "use). Stop what uses it, or choose another with --port."
    )


@pytest.mark.parametrize("port", [-1, 65536])
def test_a_number_that_is_no_port_is_refused(port):
    assert refusal(listen, "127.0.0.1", port) == (
        f"Nothing was started. {port} is not a port. Choose one from 1 to 65535 with --port."
    )


@pytest.mark.parametrize("host", ["no.such.invalid", "a" * 70 + ".example"])
def test_a_name_that_is_no_address_is_refused(host):
    assert refusal(listen, host, 0) == (
        f"Nothing was started. {host!r} is not an address of this machine. Choose another with "
        "--host."
    )


def test_a_listening_socket_is_taken_over(opened):
    given = opened(listen("127.0.0.1", 0))

    adopted = opened(adopt(os.dup(given.fileno())))

    assert address(adopted) == address(given)


def test_a_descriptor_that_is_not_open_is_refused():
    assert refusal(adopt, 999).startswith("Nothing was started. Descriptor 999 cannot be served")


@pytest.mark.parametrize("family", [socket.AF_UNIX, socket.AF_INET])
def test_a_socket_that_does_not_listen_for_tcp_is_refused(opened, family):
    quiet = opened(socket.socket(family, socket.SOCK_STREAM))

    assert refusal(adopt, quiet.fileno()) == (
        f"Nothing was started. Descriptor {quiet.fileno()} cannot be served on (it does not "
        "listen for TCP connections). Hand over a listening TCP socket, or leave --fd out."
    )
