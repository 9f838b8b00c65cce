"""Requests and answers, as our views have them."""

from __future__ import annotations

from http import HTTPStatus

from django.http import HttpRequest, HttpResponseRedirect
from django_htmx.middleware import HtmxDetails

from dashboard.accounts.models import User

PRESSED = "pressed"
"""In the address of the sign-in page: somebody pressed something, and was not signed in."""


class HtmxRequest(HttpRequest):
    """A request that passed the middleware of django-htmx."""

    htmx: HtmxDetails


class PersonRequest(HtmxRequest):
    """A request of somebody who signed in."""

    user: User


class SeeOther(HttpResponseRedirect):
    """The answer is at another address; a browser gets it, and going back sends nothing twice."""

    status_code = HTTPStatus.SEE_OTHER
