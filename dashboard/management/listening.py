"""The socket to serve on: opened here, or handed over by whoever started us."""

from __future__ import annotations

import socket

from dashboard.management.preflight import CannotStart

BACKLOG = 2048
_INTERNET = {socket.AF_INET, socket.AF_INET6}


def listen(host: str, port: int) -> socket.socket:
    """Open the address to serve on; port 0 takes any that is free.

    Raises:
        CannotStart: It is taken, not ours to take, or no address at all.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(BACKLOG)
    except (OSError, OverflowError, UnicodeError) as error:
        listener.close()
        raise CannotStart(f"Nothing was started. {_why_not(host, port, error)}") from None
    return listener


def adopt(fd: int) -> socket.socket:
    """Take over a socket that listens already; several processes may share one.

    Raises:
        CannotStart: The descriptor is not a listening TCP socket.
    """
    try:
        listener = socket.socket(fileno=fd)
    except (OSError, OverflowError, ValueError) as error:
        raise CannotStart(_no_listener(fd, str(error))) from None
    is_listening = listener.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)
    if listener.family not in _INTERNET or not is_listening:
        listener.detach()  # it is not ours to close
        raise CannotStart(_no_listener(fd, "it does not listen for TCP connections"))
    return listener


def address(listener: socket.socket) -> tuple[str, int]:
    """Return the host and the port that ``listener`` has."""
    host, port = listener.getsockname()[:2]
    return str(host), int(port)


def _why_not(host: str, port: int, error: Exception) -> str:
    if isinstance(error, OverflowError):
        return f"{port} is not a port. Choose one from 1 to 65535 with --port."
    if isinstance(error, socket.gaierror | UnicodeError):
        return f"{host!r} is not an address of this machine. Choose another with --host."
    return (
        f"Port {port} on {host} cannot be opened ({getattr(error, 'strerror', error)}). Stop what "
        "uses it, or choose another with --port."
    )


def _no_listener(fd: int, why: str) -> str:
    return (
        f"Nothing was started. Descriptor {fd} cannot be served on ({why}). Hand over a listening "
        "TCP socket, or leave --fd out."
    )
