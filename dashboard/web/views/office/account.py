"""A person's own page."""

from __future__ import annotations

from http import HTTPStatus

from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from dashboard.accounts.errors import NotPermitted, TooManyAttempts
from dashboard.accounts.services import people, signing_in
from dashboard.web.access import actor, address
from dashboard.web.forms_office import PasswordForm
from dashboard.web.http import PersonRequest
from dashboard.web.views.office.signing_in import (
    LINK_AT_KEY,
    came_by_link_just_now,
    landing,
    slowed,
)

_CHANGED = (
    "Your password is changed. Other browsers that were signed in as you are not any more, and "
    "open sign-in links stopped working."
)


@sensitive_post_parameters("present", "password", "again")
@require_http_methods(["GET", "HEAD", "POST"])
def account(request: PersonRequest) -> HttpResponse:
    """Show a person their roles, and let them change their password."""
    return _password_page(request, "office/account.html")


@sensitive_post_parameters("present", "password", "again")
@require_http_methods(["GET", "HEAD", "POST"])
def choose_password(request: PersonRequest) -> HttpResponse:
    """Offer whoever came by a link to choose a password; they may leave that for later."""
    return _password_page(request, "office/choose_password.html")


def _password_page(request: PersonRequest, template: str) -> HttpResponse:
    data = request.POST if request.method == "POST" else None
    form = PasswordForm(request.user, needs_present=_needs_present(request), data=data)
    if not form.is_valid():
        status = HTTPStatus.UNPROCESSABLE_ENTITY if form.is_bound else HTTPStatus.OK
        return _show(request, template, form, status)
    try:
        _confirm(request, form)
    except NotPermitted as error:
        form.add_error("present", str(error))
        return _show(request, template, form, HTTPStatus.UNPROCESSABLE_ENTITY)
    except TooManyAttempts as error:
        form.add_error("present", str(error))
        return slowed(_show(request, template, form, HTTPStatus.TOO_MANY_REQUESTS), error)
    people.set_password(request.user, password=form.cleaned_data["password"], by=actor(request))
    update_session_auth_hash(request, request.user)  # the others end, this one stays
    request.session.pop(LINK_AT_KEY, None)
    messages.success(request, _CHANGED)
    return redirect(landing(request.user))


def _needs_present(request: PersonRequest) -> bool:
    return request.user.has_usable_password() and not came_by_link_just_now(request)


def _confirm(request: PersonRequest, form: PasswordForm) -> None:
    if present := form.cleaned_data.get("present"):
        signing_in.confirm_password(
            request.user, present, by=actor(request), address=address(request)
        )


def _show(
    request: PersonRequest, template: str, form: PasswordForm, status: HTTPStatus
) -> HttpResponse:
    context = {"form": form, "later": landing(request.user)}
    return render(request, template, context, status=status)
