"""Requests and answers, as our views have them."""

from __future__ import annotations

from contextlib import suppress
from http import HTTPStatus
from ipaddress import IPv6Address

from django.conf import settings
from django.http import HttpRequest, HttpResponseRedirect
from django_htmx.middleware import HtmxDetails

from dashboard.accounts.models import User

PRESSED = "pressed"
"""In the address of the sign-in page: somebody pressed something, and was not signed in."""

LEFT = "left"
"""In the address of the sign-in page: somebody of single sign-on signed out here."""


def client_address(forwarded: str, peer: str) -> str:
    """Return the address that a request came from.

    Behind ``PROXY_COUNT`` trusted proxies it is the one that the outermost of them saw.

    Args:
        forwarded: The header ``X-Forwarded-For``.
        peer: Who is connected.
    """
    hops = forwarded.split(",")
    if settings.PROXY_COUNT and len(hops) >= settings.PROXY_COUNT:
        peer = hops[-settings.PROXY_COUNT].strip()[:100]
    with suppress(ValueError):  # one socket for both families tells IPv4 as ::ffff:192.0.2.1
        return str(IPv6Address(peer).ipv4_mapped or peer)
    return peer


class HtmxRequest(HttpRequest):
    """A request that passed the middleware of django-htmx."""

    htmx: HtmxDetails


class PersonRequest(HtmxRequest):
    """A request of somebody who signed in."""

    user: User


class SeeOther(HttpResponseRedirect):
    """The answer is at another address; a browser gets it, and going back sends nothing twice."""

    status_code = HTTPStatus.SEE_OTHER
