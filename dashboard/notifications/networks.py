"""Which addresses may be called. Standard library only, so that a child process may ask too."""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_network

from dashboard.notifications.errors import AddressRefused

IPAddress = IPv4Address | IPv6Address
PLAIN = "Plain http is allowed for this machine only. Use https."
_NAT64 = IPv6Network("64:ff9b::/96")  # the last 32 bits are the IPv4 address that is meant
_NOT_PUBLIC = (
    IPv4Network("192.88.99.0/24"),  # relays of 6to4
    IPv6Network("fec0::/10"),  # site-local, from before fc00::/7
    IPv6Network("3fff::/20"),  # for documents
)
"""What Python 3.11 takes for public all the same."""


def check_reachable(address: IPAddress, scheme: str, allowed: Iterable[str]) -> None:
    """Refuse an address that nothing is sent to.

    Args:
        address: One that a name was resolved to, or that stands in a URL.
        scheme: Of the call, ``"http"`` or ``"https"``.
        allowed: Networks that may be called although they are not public: ``WEBHOOK_NETWORKS``.

    Raises:
        AddressRefused: It is not of the public internet and none of ``allowed``, or the scheme is
            plain http and it is another machine's.
    """
    target = _meant(address)
    if scheme == "http" and not target.is_loopback:
        raise AddressRefused(PLAIN)
    networks = [ip_network(text) for text in allowed]
    if any(target in network for network in networks if network.version == target.version):
        return
    if not _is_public(target):
        raise AddressRefused(
            f"{address} is not on the public internet. Nothing is sent there unless "
            "WEBHOOK_NETWORKS names its network."
        )


def _meant(address: IPAddress) -> IPAddress:
    """Return the IPv4 address that stands in an IPv6 one, where there is one."""
    if isinstance(address, IPv4Address):
        return address
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address


def _is_public(address: IPAddress) -> bool:
    # Tunnels hold an IPv4 address that nobody here can judge.
    tunnel = isinstance(address, IPv6Address) and (address.sixtofour or address.teredo)
    special = address.is_multicast or address.is_reserved or address.is_unspecified
    missed = any(address in network for network in _NOT_PUBLIC)
    return address.is_global and not special and not tunnel and not missed
