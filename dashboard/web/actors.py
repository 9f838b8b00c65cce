"""Who is acting, for the record."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest

from dashboard.accounts.models import User
from dashboard.audit.services import Actor

AUTH_KEY = "auth"
"""In the session: how its person signed in, ``"password"`` or ``"link"``."""


class PersonRequest(HttpRequest):
    """A request of somebody who signed in."""

    user: User


def auth(request: HttpRequest) -> str:
    """How the person behind ``request`` is known, such as ``"session:password"``."""
    return f"session:{request.session.get(AUTH_KEY, 'unknown')}"


def actor(request: PersonRequest) -> Actor:
    """Return the person behind ``request`` as the audit log names them."""
    return Actor(f"user:{request.user.username}", auth(request))


def address(request: HttpRequest) -> str:
    """Return the address that ``request`` came from.

    Behind ``PROXY_COUNT`` trusted proxies it is the one that the outermost of them saw.
    """
    forwarded = request.headers.get("X-Forwarded-For", "").split(",")
    if settings.PROXY_COUNT and len(forwarded) >= settings.PROXY_COUNT:
        return str(forwarded[-settings.PROXY_COUNT]).strip()[:100]
    return str(request.META.get("REMOTE_ADDR", ""))
