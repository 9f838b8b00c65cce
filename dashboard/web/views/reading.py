"""Who is let in to the desk."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from dashboard.accounts import roles
from dashboard.web.actors import PersonRequest
from dashboard.web.views import errors

P = ParamSpec("P")
View = Callable[Concatenate[PersonRequest, P], HttpResponseBase]


def for_readers(view: View[P]) -> View[P]:
    """Show a page to people who may look; the others are told what they lack."""

    @wraps(view)
    def guarded(request: PersonRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        if not roles.may_look(request.user):
            return errors.may_not(request)
        return view(request, *args, **kwargs)

    return guarded


def for_reviewers(view: View[P]) -> View[P]:
    """Let reviewers in; the others are told what they lack."""

    @for_readers
    @wraps(view)
    def guarded(request: PersonRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        if not roles.may_decide(request.user):
            return errors.forbidden(request)
        return view(request, *args, **kwargs)

    return guarded


def is_in_sight(request: HttpRequest) -> bool:
    """Say whether a person has the answer before them, as far as their browser tells.

    What it fetches ahead of them is not, and neither is what a page from elsewhere, perhaps an
    agent's on another port, has it fetch with their session.
    """
    if "prefetch" in request.headers.get("Sec-Purpose", ""):
        return False
    is_ours = request.headers.get("Sec-Fetch-Site", "none") in {"same-origin", "none"}
    return is_ours or request.headers.get("Sec-Fetch-Dest") == "document"
