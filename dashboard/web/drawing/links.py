"""Whether an agent's link to a notebook may be one on our page. Nothing is ever fetched.

A browser reads an address more generously than Python does, so only spellings that both read
alike become links.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address
from urllib.parse import SplitResult, urlsplit

from django.utils.safestring import SafeString

from dashboard.inspection.hidden import hidden_characters
from dashboard.web.drawing.markup import untrusted

MAX_LENGTH = 2000

_HOST = re.compile(r"[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*")

_READ_AS_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")

_LOOPBACK = "this computer"


@dataclass(frozen=True, slots=True)
class NotebookLink:
    """A link with its host apart, so that the page can emphasise where it leads.

    Attributes:
        url: ``before + host + after``, or None if it must not be a link.
        shown: The whole as the agent sent it, with hidden characters drawn.
        reason: Why it is not a link; empty if it is one.
    """

    url: str | None
    host: str
    before: str
    after: str
    shown: SafeString
    reason: str


class _NoLink(Exception):
    """Why a text does not become a link."""


def notebook_link(link: str, own_host: str) -> NotebookLink:
    """Decide whether ``link`` may be clicked on a page that is served as ``own_host``.

    Args:
        link: What the agent sent.
        own_host: The host of our own page, with or without a port.
    """
    try:
        parts = _split(link)
        host = _host(parts)
        _refuse_our_own(host, own_host)
        port = "" if parts.port is None else f":{parts.port}"
    except _NoLink as refusal:
        return NotebookLink(None, "", "", "", untrusted(link), str(refusal))
    except ValueError:
        return NotebookLink(None, "", "", "", untrusted(link), "This is not a valid address.")
    prefix = f"{parts.scheme}://"
    suffix = port + link[len(prefix) + len(parts.netloc) :].replace(" ", "%20")
    return NotebookLink(f"{prefix}{host}{suffix}", host, prefix, suffix, untrusted(link), "")


def _split(link: str) -> SplitResult:
    if len(link) > MAX_LENGTH:
        raise _NoLink(f"The address is longer than {MAX_LENGTH} characters.")
    if hidden_characters(link) or link != link.strip() or "\t" in link or "\n" in link:
        raise _NoLink("The address holds hidden characters or line breaks.")
    if "\\" in link:
        raise _NoLink("The address holds a backslash, which browsers read as a slash.")
    parts = urlsplit(link)
    if parts.scheme not in ("http", "https"):
        raise _NoLink("Only http and https addresses become links.")
    if "@" in parts.netloc:
        raise _NoLink("The address holds a user name or password, which can pass for a host.")
    return parts


def _host(parts: SplitResult) -> str:
    """Return the host as a browser will look it up: punycode, or an IP address in full."""
    name = parts.hostname or ""
    if not name:
        raise _NoLink("The address names no host.")
    if ":" in name and "%" not in name:
        return f"[{IPv6Address(name)}]"
    name = name.encode("idna").decode().lower().removesuffix(".")
    if not _HOST.fullmatch(name):
        raise _NoLink("The host of the address is not spelled like one.")
    if _READ_AS_NUMBER.fullmatch(name.rpartition(".")[2]):
        return str(IPv4Address(name))  # and no other way to write one
    return name


def _refuse_our_own(host: str, own_host: str) -> None:
    our_host = urlsplit(f"//{own_host}").hostname or ""
    if _same(host) == _same(our_host):
        raise _NoLink(
            "The address is on the host of this dashboard. Cookies ignore ports, so a page there "
            "could act as you. Copy the address if you trust it."
        )


def _same(host: str) -> str:
    """Return one name for all that a browser may take for the same host."""
    name = host.strip("[]").lower().removesuffix(".")
    if name == "localhost" or name.endswith(".localhost"):
        return _LOOPBACK
    try:
        address = ip_address(name)
    except ValueError:
        return name
    if isinstance(address, IPv6Address):
        address = address.ipv4_mapped or address
    return _LOOPBACK if address.is_loopback or address.is_unspecified else str(address)
