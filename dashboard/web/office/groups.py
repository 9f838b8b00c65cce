"""Admins make groups of reviewers, whose votes a policy may ask for by name."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods

from dashboard.accounts import queries
from dashboard.accounts.errors import ChangedMeanwhile, NameTaken
from dashboard.accounts.models import Group, User
from dashboard.accounts.services import groups as services
from dashboard.policies.evaluate import Policy
from dashboard.policies.queries import policy_in_force
from dashboard.web.access import action, actor, admins_only
from dashboard.web.forms import ConfirmNameForm, messages_of, offer_choices, status_of
from dashboard.web.http import PersonRequest
from dashboard.web.office.people import GroupForm, people_page


class MembersForm(forms.Form):
    """Who is in a group."""

    members = forms.MultipleChoiceField(
        label="Members", required=False, widget=forms.CheckboxSelectMultiple
    )
    shown = forms.CharField(required=False, widget=forms.HiddenInput)  # who was in it
    end = forms.CharField(widget=forms.HiddenInput)  # or a form that was cut off would empty it

    def __init__(self, people: Iterable[User], data: Any = None, **more: Any) -> None:
        super().__init__(data, **more)
        self.people = {str(person.pk): person for person in people}
        choices = [(key, _described(person)) for key, person in self.people.items()]
        offer_choices(self, "members", choices)

    def clean_shown(self) -> list[int]:
        """Take apart who was in the group when the page was drawn."""
        return [int(key) for key in self.cleaned_data["shown"].split() if key in self.people]

    def chosen(self) -> list[User]:
        """Return the people who were ticked."""
        return [self.people[key] for key in self.cleaned_data["members"]]


def _described(person: User) -> str:
    if not person.is_active:
        return f"{person.username} (deactivated: does not count)"
    return (
        person.username
        if person.is_reviewer
        else f"{person.username} (not a reviewer: does not count)"
    )


def rules_that_name(group: str, policy: Policy) -> list[str]:
    """Return the names of the rules that ask for the votes of a group."""
    return [
        rule.name
        for rule in policy.rules
        if group in (*rule.demands.groups, rule.demands.escalate_to)
    ]


@admins_only
@action("web:people")
def add_group(request: PersonRequest) -> HttpResponse:
    """Add an empty group, and ask who is in it."""
    form = GroupForm(request.POST, auto_id="group_%s")
    if form.is_valid():
        try:
            new_group = services.create_group(name=form.cleaned_data["name"], by=actor(request))
        except (NameTaken, ValidationError) as error:
            form.add_error("name", messages_of(error))
        else:
            messages.success(request, f"The group {new_group} is added. Now choose its members.")
            return redirect("web:group", new_group.pk)
    return people_page(request, group_form=form)


@admins_only
@require_http_methods(["GET", "HEAD"])
def group(request: PersonRequest, group_id: int) -> HttpResponse:
    """Show one group, and what can be changed about it."""
    return _group_page(request, get_object_or_404(queries.groups(), pk=group_id))


@admins_only
@action("web:group")
def set_members(request: PersonRequest, group_id: int) -> HttpResponse:
    """Say who is in a group."""
    which = get_object_or_404(queries.groups(), pk=group_id)
    form = MembersForm(queries.people(), request.POST)
    if not form.is_valid():
        return _group_page(request, which, members_form=form)
    shown_members = form.cleaned_data["shown"]
    try:
        services.set_members(which, members=form.chosen(), by=actor(request), shown=shown_members)
    except ChangedMeanwhile as error:
        messages.warning(request, str(error))
    else:
        messages.success(request, f"The members of {which} are saved.")
    return redirect("web:group", group_id)


@admins_only
@action("web:group")
def delete(request: PersonRequest, group_id: int) -> HttpResponse:
    """Delete a group, once its name was typed."""
    which = get_object_or_404(queries.groups(), pk=group_id)
    form = ConfirmNameForm(which.name, request.POST)
    if not form.is_valid():
        return _group_page(request, which, confirm_form=form)
    services.delete_group(which, by=actor(request))
    messages.success(request, f"The group {which.name} is deleted.")
    return redirect("web:people")


def _group_page(
    request: PersonRequest,
    group: Group,
    *,
    members_form: MembersForm | None = None,
    confirm_form: ConfirmNameForm | None = None,
) -> HttpResponse:
    members = [str(person.pk) for person in group.members.all()]
    members_form = members_form or MembersForm(
        queries.people(), initial={"members": members, "shown": " ".join(members), "end": "1"}
    )
    confirm_form = confirm_form or ConfirmNameForm(group.name)
    context = {
        "group": group,
        "named_by": rules_that_name(group.name, policy_in_force()),
        "members_form": members_form,
        "confirm_form": confirm_form,
    }
    status = status_of(members_form, confirm_form)
    return render(request, "office/group.html", context, status=status)
