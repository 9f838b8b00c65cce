"""Admins manage people."""

from __future__ import annotations

from django import forms
from django.conf import settings
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from dashboard.accounts import queries
from dashboard.accounts.errors import ChangedMeanwhile, LastAdmin, NameTaken, NotPermitted
from dashboard.accounts.models import ROLES, User
from dashboard.accounts.services import people as services
from dashboard.accounts.services.factors import has_factor
from dashboard.accounts.services.linking import is_linked
from dashboard.accounts.services.passkeys import passkeys_of, why_not_confirmed
from dashboard.accounts.services.signing_in import make_link
from dashboard.web.access import action, actor, admins_only
from dashboard.web.forms import ConfirmNameForm, messages_of, plain, status_of
from dashboard.web.http import PersonRequest
from dashboard.web.office.factors import proof_context
from dashboard.web.office.passkeys import rows_of


class RolesForm(forms.Form):
    """What a person may do. A box that is missing takes a right away and never gives one."""

    roles = forms.MultipleChoiceField(
        label="Roles",
        required=False,
        widget=forms.CheckboxSelectMultiple,
        choices=[
            ("reviewer", "Reviewer: decides requests"),
            ("admin", "Admin: manages people, agents, policy and hold; does not decide"),
            ("auditor", "Auditor: reads the audit log"),
        ],
    )

    def flags(self) -> dict[str, bool]:
        """Return each role with whether the person is to have it."""
        return {role: role in self.cleaned_data["roles"] for role in ROLES}


class ChangeRolesForm(RolesForm):
    """What somebody may do from now on, and what they could do when the page was drawn."""

    shown = forms.CharField(required=False, widget=forms.HiddenInput)


class InviteForm(RolesForm):
    """Somebody new."""

    username = forms.CharField(
        label="Name",
        max_length=100,
        help_text="Letters, digits and . _ @ + -",
        widget=plain(),
    )
    field_order = ["username", "roles"]


class GroupForm(forms.Form):
    """A new group."""

    name = forms.CharField(
        max_length=100,
        help_text="Letters, digits and . _ @ + -",
        widget=plain(),
    )


_CLOSED = "This person is deactivated, so no link was made. Reactivate them first."


@admins_only
@require_http_methods(["GET", "HEAD", "POST"])
def people(request: PersonRequest) -> HttpResponse:
    """List everybody, and invite somebody new."""
    form = InviteForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        try:
            person = services.create_person(
                username=form.cleaned_data["username"], roles=form.flags(), by=actor(request)
            )
        except (NameTaken, ValidationError) as error:
            form.add_error("username", messages_of(error))
        else:
            return _link_page(request, person)
    return people_page(request, form=form)


def people_page(
    request: PersonRequest, *, form: InviteForm | None = None, group_form: GroupForm | None = None
) -> HttpResponse:
    """Show everybody and every group, with forms that were perhaps refused."""
    form, group_form = form or InviteForm(), group_form or GroupForm(auto_id="group_%s")
    context = {
        "people": queries.people(),
        "groups": queries.groups(),
        "form": form,
        "group_form": group_form,
        "may_make_links": settings.SIGN_IN_LINKS,
    }
    return render(request, "office/people.html", context, status=status_of(form, group_form))


@admins_only
@require_http_methods(["GET", "HEAD"])
def person(request: PersonRequest, person_id: int) -> HttpResponse:
    """Show one person, and what can be changed about them."""
    return _person_page(request, get_object_or_404(User, pk=person_id))


@admins_only
@action("web:person")
def change_roles(request: PersonRequest, person_id: int) -> HttpResponse:
    """Give and take roles."""
    account = get_object_or_404(User, pk=person_id)
    form = ChangeRolesForm(request.POST)
    if not form.is_valid():
        return _person_page(request, account, roles_form=form)
    try:
        shown_roles = form.cleaned_data["shown"].split()
        services.change_roles(account, roles=form.flags(), by=actor(request), shown=shown_roles)
    except ChangedMeanwhile as error:
        messages.warning(request, str(error))
        return redirect("web:person", person_id)
    except LastAdmin as error:
        form.add_error("roles", str(error))
        return _person_page(request, account, roles_form=form)
    messages.success(request, f"The roles of {account} are saved.")
    return redirect("web:person", person_id)


@admins_only
@action("web:person")
def new_link(request: PersonRequest, person_id: int) -> HttpResponse:
    """Make a sign-in link and show it, once."""
    account = get_object_or_404(User, pk=person_id)
    if not account.is_active:
        messages.warning(request, _CLOSED)
        return redirect("web:person", person_id)
    return _link_page(request, account)


@admins_only
@action("web:person")
def deactivate(request: PersonRequest, person_id: int) -> HttpResponse:
    """Deactivate an account, once its name was typed."""
    account = get_object_or_404(User, pk=person_id)
    form = ConfirmNameForm(account.username, request.POST)
    if form.is_valid():
        try:
            services.set_active(account, active=False, by=actor(request))
        except LastAdmin as error:
            form.add_error("name", str(error))
    if not form.is_valid():
        return _person_page(request, account, confirm_form=form)
    messages.success(
        request, f"{account} is deactivated. Their sessions and sign-in links have ended."
    )
    return redirect("web:people")


@admins_only
@action("web:person")
def reactivate(request: PersonRequest, person_id: int) -> HttpResponse:
    """Reactivate an account."""
    account = get_object_or_404(User, pk=person_id)
    services.set_active(account, active=True, by=actor(request))
    messages.success(request, f"{account} is active again, with the same roles.")
    return redirect("web:person", person_id)


def _person_page(
    request: PersonRequest,
    person: User,
    *,
    roles_form: ChangeRolesForm | None = None,
    confirm_form: ConfirmNameForm | None = None,
) -> HttpResponse:
    roles_form = roles_form or ChangeRolesForm(
        initial={"roles": person.roles, "shown": " ".join(person.roles)}
    )
    confirm_form = confirm_form or ConfirmNameForm(person.username)
    keys, by = passkeys_of(person), actor(request)
    context = {
        "person": person,
        "roles_form": roles_form,
        "confirm_form": confirm_form,
        "is_linked": is_linked(person),
        "may_make_links": settings.SIGN_IN_LINKS,
        "has_factor": has_factor(person),
        "passkeys": [
            {**row, "why_not": "" if row["counts"] else why_not_confirmed(key, request.user, by)}
            for key, row in zip(keys, rows_of(keys), strict=True)
        ],
        "own_factor": has_factor(request.user),
        **proof_context(request, request.user),
    }
    status = status_of(roles_form, confirm_form)
    return render(request, "office/person.html", context, status=status)


def _link_page(request: PersonRequest, person: User) -> HttpResponse:
    # Shown in the answer to the form itself: to show it on a page of its own it would have to be
    # stored in clear in between.
    try:
        secret = make_link(person, by=actor(request))
    except NotPermitted as error:
        messages.warning(request, str(error))
        return redirect("web:person", person.pk)
    url = settings.PUBLIC_URL + reverse("web:sign_in_link", args=[secret])
    return render(request, "office/new_link.html", {"person": person, "url": url})
