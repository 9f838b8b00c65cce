"""Admins say what groups at the provider give here, and who those are that it does not know."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from dashboard.accounts import queries
from dashboard.accounts.errors import NameTaken, NotRecognised
from dashboard.accounts.models import ROLES, Group, GroupMapping, UnknownIdentity, User
from dashboard.accounts.services import browsers, identity, mapping
from dashboard.web.access import action, actor, admins_only
from dashboard.web.forms import messages_of, offer_choices, plain, status_of
from dashboard.web.http import PersonRequest

_ROLE, _GROUP = "role:", "group:"


class MappingForm(forms.Form):
    """What a group at the provider gives here."""

    claim = forms.CharField(
        label="Group at the provider",
        max_length=200,
        help_text="Exactly as the provider sends it. Entra ID sends ids, not names.",
        widget=plain(),
    )
    gives = forms.ChoiceField(label="What it gives here")

    def __init__(self, data: Any = None) -> None:
        super().__init__(data)
        self.groups = {f"{_GROUP}{group.pk}": group for group in Group.objects.order_by("name")}
        roles = [(f"{_ROLE}{role}", f"the role {role}") for role in ROLES]
        groups = [(key, f"a place in the group {group}") for key, group in self.groups.items()]
        offer_choices(self, "gives", [*roles, *groups])

    def chosen(self) -> dict[str, Any]:
        """Return what it gives, as the service takes it."""
        gives = self.cleaned_data["gives"]
        if group := self.groups.get(gives):
            return {"claim": self.cleaned_data["claim"], "group": group}
        return {"claim": self.cleaned_data["claim"], "role": gives.removeprefix(_ROLE)}


class NameForm(forms.Form):
    """Whose a name at the provider is."""

    username = forms.CharField(max_length=150)


@admins_only
@require_http_methods(["GET", "HEAD", "POST"])
def single_sign_on(request: PersonRequest) -> HttpResponse:
    """Show the table of groups and who was not let in; add to the table."""
    if request.method != "POST":
        return _page(request, MappingForm())
    form = MappingForm(request.POST)
    if form.is_valid():
        try:
            mapping.add_mapping(**form.chosen(), by=actor(request))
        except (NameTaken, ValidationError) as error:
            form.add_error("claim", messages_of(error))
        else:
            messages.success(request, "Added. It counts from the next sign-in of each person.")
            return redirect("web:single_sign_on")
    return _page(request, form)


@admins_only
@action("web:single_sign_on", arguments=0)
def remove_mapping(request: PersonRequest, mapping_id: int) -> HttpResponse:
    """Have a group at the provider give something no longer."""
    if mapping.remove_mapping(mapping_id, by=actor(request)):
        messages.success(request, "Removed. Whoever has it keeps it until you take it away here.")
    return redirect("web:single_sign_on")


@admins_only
@action("web:single_sign_on", arguments=0)
def link_unknown(request: PersonRequest, unknown_id: int) -> HttpResponse:
    """Say who somebody is who was not let in."""
    unknown = get_object_or_404(UnknownIdentity, pk=unknown_id)
    form = NameForm(request.POST)
    name = form.cleaned_data["username"] if form.is_valid() else ""
    person = User.objects.filter(username__iexact=name).first() if name else None
    if person is None:
        called = repr(name) if name else "that"
        messages.error(
            request, f"Nobody here is called {called}. Nothing was linked. Add them first."
        )
        return redirect("web:single_sign_on")
    try:
        identity.link_unknown(unknown, person, by=actor(request))
    except NotRecognised as error:
        messages.error(request, str(error))
    else:
        messages.success(
            request, f"From now on {unknown.username or unknown.subject} comes in as {person}."
        )
    return redirect("web:single_sign_on")


@admins_only
@action("web:single_sign_on", arguments=0)
def forget_unknown(request: PersonRequest, unknown_id: int) -> HttpResponse:
    """Take somebody off the list. They are not let in, and are listed anew when they come."""
    UnknownIdentity.objects.filter(pk=unknown_id).delete()
    messages.success(request, "Taken off the list. If they come again, they are listed anew.")
    return redirect("web:single_sign_on")


@admins_only
@action("web:person")
def unlink(request: PersonRequest, person_id: int) -> HttpResponse:
    """Have somebody no longer sign in by single sign-on."""
    person = get_object_or_404(User, pk=person_id)
    browsers.unlink(person, by=actor(request))
    messages.success(
        request, f"{person} no longer comes in by single sign-on. Sessions that did have ended."
    )
    return redirect("web:person", person_id)


def _page(request: PersonRequest, form: MappingForm) -> HttpResponse:
    context = {
        "provider": settings.OIDC_ISSUER and settings.OIDC_NAME,
        "issuer": settings.OIDC_ISSUER,
        "claim": settings.OIDC_GROUPS_CLAIM,
        "callback": settings.PUBLIC_URL + reverse("web:provider_callback"),
        "logout": settings.PUBLIC_URL + reverse("web:provider_signed_out"),
        "mappings": GroupMapping.objects.select_related("group"),
        "unknown": UnknownIdentity.objects.all()[:_MOST],
        "people": queries.people(),
        "form": form,
    }
    status = status_of(form) if form.is_bound else HTTPStatus.OK
    return render(request, "office/single_sign_on.html", context, status=status)


_MOST = 100
