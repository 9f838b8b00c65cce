"""A person's own page, and their password."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.password_validation import validate_password
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from dashboard.accounts.errors import NotPermitted, TooManyAttempts
from dashboard.accounts.models import User
from dashboard.accounts.services import browsers, people, signing_in
from dashboard.accounts.services.factors import has_factor
from dashboard.accounts.services.linking import is_linked
from dashboard.web.access import actor
from dashboard.web.errors import whom_to_ask
from dashboard.web.forms import LONGEST_PASSWORD
from dashboard.web.http import PersonRequest
from dashboard.web.office.present import PresentForm, confirm_present, needs_present
from dashboard.web.office.sign_in import LINK_AT_KEY, landing, slowed


def _new_password() -> forms.Widget:
    return forms.PasswordInput(attrs={"autocomplete": "new-password"})


_RULES = "At least 12 characters; not a common password, and not like your name."


class PasswordForm(PresentForm):
    """A new password, and the present one where that is asked for."""

    password = forms.CharField(
        label="New password", strip=False, max_length=LONGEST_PASSWORD, widget=_new_password()
    )
    again = forms.CharField(
        label="New password, again",
        strip=False,
        max_length=LONGEST_PASSWORD,
        widget=_new_password(),
    )

    def __init__(self, person: User, *, needs_present: bool, data: Any = None) -> None:
        super().__init__(data)
        self.person = person
        self.fields["password"].help_text = _RULES
        if not needs_present:
            del self.fields["present"]

    def clean_password(self) -> str:
        """Check the password against the password rules."""
        password: str = self.cleaned_data["password"]
        validate_password(password, self.person)
        return password

    def clean(self) -> None:
        """Compare the two."""
        password, again = (self.cleaned_data.get(name) for name in ("password", "again"))
        if password and again and password != again:
            self.add_error("again", "The two passwords differ. Nothing was changed.")


_SINGLE_SIGN_ON = "You sign in by single sign-on, so you have no password. Nothing was changed."
_CHANGED = (
    "Your password is changed. Your other browsers are signed out, and your sign-in links have "
    "ended."
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
    if not signing_in.may_use_password(request.user):
        return _no_password(request)
    data = request.POST if request.method == "POST" else None
    form = PasswordForm(request.user, needs_present=needs_present(request), data=data)
    if not form.is_valid():
        status = HTTPStatus.UNPROCESSABLE_ENTITY if form.is_bound else HTTPStatus.OK
        return _show(request, template, form, status)
    try:
        confirm_present(request, form)
    except NotPermitted as error:
        form.add_error("present", str(error))
        return _show(request, template, form, HTTPStatus.UNPROCESSABLE_ENTITY)
    except TooManyAttempts as error:
        form.add_error("present", str(error))
        return slowed(_show(request, template, form, HTTPStatus.TOO_MANY_REQUESTS), error)
    key = request.session.session_key or ""
    people.set_password(
        request.user, password=form.cleaned_data["password"], by=actor(request), but=key
    )
    update_session_auth_hash(request, request.user)  # the others ended, this one goes on
    browsers.note_new_key(key, request.session.session_key or "")
    request.session.pop(LINK_AT_KEY, None)
    messages.success(request, _CHANGED)
    return redirect(landing(request.user))


def _no_password(request: PersonRequest) -> HttpResponse:
    if request.method != "POST":
        return _show(request, "office/account.html", None, HTTPStatus.OK)
    messages.error(request, _SINGLE_SIGN_ON)
    return redirect("web:account")


def _show(
    request: PersonRequest, template: str, form: PasswordForm | None, status: HTTPStatus
) -> HttpResponse:
    # Whom to ask is read only where somebody has no role and the page says so.
    is_protected = has_factor(request.user)
    context = {
        "form": form,
        "provider": settings.OIDC_ISSUER and settings.OIDC_NAME,
        "is_linked": is_linked(request.user),
        "has_factor": is_protected,
        "advised": request.user.is_admin and not is_protected,
        "later": landing(request.user),
        "whom_to_ask": whom_to_ask,
    }
    return render(request, template, context, status=status)
