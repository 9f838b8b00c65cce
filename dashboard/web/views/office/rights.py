"""Who may open which page. The right is looked up in the database at each request."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from http import HTTPStatus
from typing import Any, TypeVar, cast

from django.http import HttpResponse
from django.shortcuts import redirect, render

from dashboard.accounts import roles
from dashboard.accounts.models import User
from dashboard.accounts.services.people import ROLES
from dashboard.web.actors import PersonRequest

View = TypeVar("View", bound=Callable[..., HttpResponse])


def admins_only(view: View) -> View:
    """Close a view to everybody but admins."""
    return _closed(view, roles.may_administer, "admins")


def auditors_only(view: View) -> View:
    """Close a view to everybody but auditors and admins."""
    return _closed(view, roles.may_audit, "auditors and admins")


def any_role(view: View) -> View:
    """Close a view to people whom nobody gave a role."""
    return _closed(view, roles.may_look, "people with a role")


def action(page: str) -> Callable[[View], View]:
    """Have a view take POST only; whoever opens its address otherwise is led to ``page``.

    That happens to people who had to sign in again before their form was taken. Of the view's
    arguments the page takes the first, if there is one.
    """

    def guard(view: View) -> View:
        @wraps(view)
        def guarded(request: PersonRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            if request.method != "POST":
                return redirect(page, *list(kwargs.values())[:1])
            return view(request, *args, **kwargs)

        return cast("View", guarded)

    return guard


def refused(request: PersonRequest, who: str) -> HttpResponse:
    """Say that a page is not for this person, and for whom it is."""
    held = [role for role in ROLES if getattr(request.user, f"is_{role}")]
    text = f"This is for {who}. You are signed in as {request.user.username}, "
    if held:
        text += f"who is {' and '.join(held)}. Nothing was done; ask an admin for the role."
    else:
        text += "who has no role yet. Nothing was done; an admin has to give you one first."
    context = {"title": "You may not do this", "text": text}
    return render(request, "errors/problem.html", context, status=HTTPStatus.FORBIDDEN)


def _closed(view: View, right: Callable[[User], bool], who: str) -> View:
    @wraps(view)
    def closed(request: PersonRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        return view(request, *args, **kwargs) if right(request.user) else refused(request, who)

    return cast("View", closed)
