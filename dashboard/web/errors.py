"""Pages for what went wrong: what happened, what was not done, what to do."""

from __future__ import annotations

import logging
import sys
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.core.exceptions import RequestDataTooBig, TooManyFieldsSent
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string

from dashboard.accounts.queries import admins

log = logging.getLogger(__name__)

_LONGEST_SHOWN = 200


def wrong_address(request: HttpRequest, came: Sequence[tuple[str, str]]) -> HttpResponse:
    """Say that we were asked under another address than ours, what came, and what to set.

    For whoever set up what stands in front of us, so the log has it too. The page needs nothing of
    the request: its host may be one that we do not believe.

    Args:
        request: What came.
        came: What named the other address, such as ``("Host", "127.0.0.1:8000")``. Anybody may
            have written it.
    """
    headers = [(name, text[:_LONGEST_SHOWN]) for name, text in came]
    listing = ", ".join(f"{name} {text!r}" for name, text in headers)
    log.warning(
        "A request came for another address (%s) than PUBLIC_URL (%s), and was refused. Set "
        "PUBLIC_URL to the address that people use, and have the proxy pass the Host header on.",
        listing,
        settings.PUBLIC_URL,
    )
    path = request.get_full_path() if request.method in {"GET", "HEAD"} else "/"
    context = {
        "public_url": settings.PUBLIC_URL,
        "is_local": _is_local(settings.PUBLIC_URL),
        "open": settings.PUBLIC_URL + path,
        "came": headers,
    }
    page = render_to_string("errors/address.html", context)
    return HttpResponse(page, status=HTTPStatus.MISDIRECTED_REQUEST)


def _is_local(url: str) -> bool:
    """Whether an address leads to the very machine whose browser opens it."""
    return urlsplit(url).hostname in {host.strip("[]") for host in settings.LOOPBACK_HOSTS}


def wrong_origin(request: HttpRequest) -> HttpResponse:
    """Refuse a form that did not come from one of our own pages."""
    origin = request.headers.get("Origin", "")
    if origin and request.headers.get("Sec-Fetch-Site") == "same-origin":
        # The browser itself says that the page is of the address that it sent this to.
        return wrong_address(request, [("Origin", origin)])
    log.warning(
        "A form from a page of %r was refused: it is not PUBLIC_URL (%s). If it is the address "
        "that people use, set PUBLIC_URL to it.",
        origin[:_LONGEST_SHOWN] or "nowhere",
        settings.PUBLIC_URL,
    )
    return _page(
        request,
        403,
        "This form came from another site",
        f"It did not come from a page of {settings.PUBLIC_URL}. Nothing was recorded. Open "
        f"{settings.PUBLIC_URL} and try there.",
    )


@login_not_required
def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Refuse a form whose token is missing or old."""
    del reason
    return _page(
        request,
        403,
        "This page is out of date",
        "You signed in or out since it was shown, or cookies are blocked. Nothing was recorded. "
        "Load the page again and try there.",
    )


@login_not_required
def unreadable(request: HttpRequest, exception: Any = None) -> HttpResponse:
    """Refuse what cannot be read, using nothing of the request: that failed already."""
    del request
    if isinstance(exception, RequestDataTooBig | TooManyFieldsSent):
        text = (
            "It is larger than the server takes. Nothing was recorded. Go back, write less, and "
            "send it again."
        )
        return _alone(400, "This form is too large", text)
    text = "It is damaged, or not in a form that the server takes. Nothing was recorded."
    return _alone(400, "This request could not be read", text)


@login_not_required
def not_found(request: HttpRequest, exception: Any = None) -> HttpResponse:
    """Say that there is nothing here."""
    del exception
    text = "The address is wrong, or you may not see what is here."
    return _page(request, 404, "Page not found", text)


def no_role(request: HttpRequest) -> HttpResponse:
    """Tell somebody without any role where they are, what they lack and whom to ask."""
    text = (
        "People decide here what AI agents may run. You are signed in, but you are not permitted "
        f"to see any request until you have a role. Nothing was shown. {whom_to_ask()}"
    )
    # A way back would only lead here again.
    return _page(request, 403, "You have no role yet", text, way_back=False)


_MOST_NAMED = 5


def whom_to_ask() -> str:
    """Say who can give somebody their first role."""
    names = list(admins().values_list("username", flat=True)[:_MOST_NAMED])
    contact = f"an admin ({', '.join(names)})" if names else "whoever runs this server"
    return f"Ask {contact} to give you a role under People and groups, then load this page again."


@login_not_required
def forbidden(request: HttpRequest, exception: Any = None) -> HttpResponse:
    """Say that a page is for others."""
    del exception
    text = "This page is for another role. Nothing was done. Ask an admin for the role."
    return _page(request, 403, "You may not open this page", text)


@login_not_required
def broken(request: HttpRequest) -> HttpResponse:
    """Say that our program or its database failed, using nothing that could fail again.

    Called while the exception is being handled.
    """
    del request
    if isinstance(sys.exc_info()[1], OperationalError | InterfaceError):
        return _unavailable()
    text = (
        "The server failed while making this page. If you were deciding, open the request again: "
        "it says whether your decision was recorded. What was not approved does not run."
    )
    return _alone(500, "Something went wrong", text)


def _unavailable() -> HttpResponse:
    text = (
        "The database is busy, or cannot be reached. If you were deciding, open the request "
        "again: it says whether your decision was recorded. What was not approved does not run."
    )
    response = _alone(503, "The database is not answering", text)
    response.headers["Retry-After"] = "2"
    return response


def _alone(status: int, title: str, text: str) -> HttpResponse:
    page = render_to_string("errors/alone.html", {"title": title, "text": text})
    return HttpResponse(page, status=status)


def _page(
    request: HttpRequest, status: int, title: str, text: str, *, way_back: bool = True
) -> HttpResponse:
    context = {"title": title, "text": text, "way_back": way_back}
    return render(request, "errors/problem.html", context, status=status)
