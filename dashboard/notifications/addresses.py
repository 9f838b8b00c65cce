"""Where may be called back. Admins name the address; what it resolves to is checked each time."""

from __future__ import annotations

import asyncio
import socket
from ipaddress import ip_address

import httpx2
from django.conf import settings

from dashboard.notifications.errors import AddressRefused
from dashboard.notifications.networks import PLAIN, IPAddress, check_reachable

LONGEST_URL = 500
_PORTS = {"https": 443, "http": 80}
_LAST_PORT = 65_535


def checked_url(text: str) -> httpx2.URL:
    """Return an address that may be called, as far as can be said without looking up its name.

    Read by the parser that will send the calls, so that both mean the same host.

    Raises:
        AddressRefused: It is not allowed; the message says why.
    """
    if len(text) > LONGEST_URL or not text.isascii() or not text.isprintable() or " " in text:
        raise AddressRefused(f"An address may have at most {LONGEST_URL} plain characters.")
    try:
        url = httpx2.URL(text)
    except httpx2.InvalidURL:
        raise AddressRefused("This is not a valid address.") from None
    if url.scheme not in _PORTS or not url.host:
        raise AddressRefused("The address must be https://host/path.")
    if url.port is not None and not 0 < url.port <= _LAST_PORT:
        raise AddressRefused("The port in this address is not valid.")
    if url.userinfo or url.fragment:
        raise AddressRefused("The address must not contain a user name, password or fragment.")
    try:
        literal = ip_address("127.0.0.1" if url.host == "localhost" else url.host)
    except ValueError:  # a name, which is looked up at each call
        if url.scheme == "http":
            raise AddressRefused(PLAIN) from None
    else:
        check_address(literal, url.scheme)
    return url


def shown_url(text: str) -> str:
    """Return the part of an address that may be drawn and logged: paths are often secrets."""
    checked = checked_url(text)
    return f"{checked.scheme}://{checked.netloc.decode('ascii')}"


def check_address(address: IPAddress, scheme: str) -> None:
    """Refuse an address that nothing is sent to.

    Raises:
        AddressRefused: It is not of the public internet and no setting allows it, or the scheme
            is plain http and it is another machine's.
    """
    check_reachable(address, scheme, settings.WEBHOOK_NETWORKS)


async def resolved(url: httpx2.URL) -> list[IPAddress]:
    """Return every address of a checked URL's host; one that is refused refuses all.

    Raises:
        AddressRefused: One is refused, or the name cannot be resolved.
    """
    port = url.port or _PORTS[url.scheme]
    loop = asyncio.get_running_loop()
    try:
        entries = await loop.getaddrinfo(url.host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise AddressRefused(f"The name {url.host} cannot be resolved.") from None
    addresses = list(dict.fromkeys(ip_address(entry[4][0]) for entry in entries))
    for address in addresses:
        check_address(address, url.scheme)
    return addresses
