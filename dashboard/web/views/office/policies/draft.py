"""The draft of an admin: what they are working on, until it is published or thrown away."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods

from dashboard.accounts.errors import NotPermitted
from dashboard.policies import queries
from dashboard.policies.errors import DraftMoved, PolicyRefusal
from dashboard.policies.evaluate import Policy
from dashboard.policies.models import PolicyRevision
from dashboard.policies.services import current_revision, drafts
from dashboard.policies.starters import STARTERS
from dashboard.web.access import action, actor, admins_only, refused
from dashboard.web.forms_policy import ModesForm, PublishForm, choices_of
from dashboard.web.http import PersonRequest
from dashboard.web.presenting.policies import compare, known_groups, read, summary
from dashboard.web.views.office.policies.publishing import put_refusal, tell_what_was_published


@admins_only
@require_http_methods(["GET", "HEAD"])
def draft(request: PersonRequest) -> HttpResponse:
    """Show the draft, what it would change, and where it can be published."""
    return draft_page(request)


@admins_only
@action("web:draft")
def begin(request: PersonRequest) -> HttpResponse:
    """Begin a draft from the policy in force, or go on with the one there is."""
    drafts.begin_draft(request.user)
    return redirect("web:draft")


@admins_only
@action("web:draft")
def begin_from(request: PersonRequest) -> HttpResponse:
    """Make an old revision the draft."""
    number = request.POST.get("revision", "")
    is_number = number.isdecimal() and len(number) < len(str(2**63))
    which = get_object_or_404(PolicyRevision, pk=int(number) if is_number else 0)
    policy = read(which.document)
    if policy is None:
        return redirect("web:revision", which.number)
    return replace(request, policy, f"The draft is what revision {which.number} said.")


@admins_only
@action("web:draft")
def save_modes(request: PersonRequest) -> HttpResponse:
    """Change everything but the rules."""
    form = ModesForm(request.POST, auto_id="modes_%s")
    if not form.is_valid():
        return draft_page(request, modes_form=form, status=HTTPStatus.UNPROCESSABLE_ENTITY)
    try:
        drafts.save_modes(request.user, form.policy(), stamp=form.cleaned_data["stamp"])
    except DraftMoved as error:
        form.add_error(None, str(error))
        return draft_page(request, modes_form=form, status=HTTPStatus.CONFLICT)
    messages.success(request, "The modes are saved in the draft. Nothing is published yet.")
    return redirect("web:draft")


@admins_only
@action("web:draft")
def discard(request: PersonRequest) -> HttpResponse:
    """Throw the draft away."""
    try:
        drafts.discard_draft(request.user, stamp=request.POST.get("stamp", ""))
    except DraftMoved as error:
        return moved(request, error)
    messages.success(request, "The draft is discarded. The policy in force did not change.")
    return redirect("web:policies")


@admins_only
@action("web:draft")
def publish(request: PersonRequest) -> HttpResponse:
    """Publish the draft that was shown."""
    present, held = current_revision(), queries.draft_of(request.user)
    policy = read(held.document) if held else None
    form = PublishForm(
        compare(queries.policy_in_force(), policy).word if policy else "", request.POST
    )
    if not form.is_valid():
        return draft_page(request, form=form, status=HTTPStatus.UNPROCESSABLE_ENTITY)
    try:
        published = drafts.publish_draft(
            request.user,
            stamp=form.cleaned_data["stamp"],
            based_on=form.cleaned_data["based_on"],
            note=form.cleaned_data["note"],
            confirmed=form.cleaned_data["confirm"],
            by=actor(request),
        )
    except NotPermitted:
        return refused(request, "admins")
    except PolicyRefusal as error:
        return draft_page(request, form=form, status=put_refusal(form, error))
    tell_what_was_published(request, published, present=present.number)
    return redirect("web:policies")


def replace(request: PersonRequest, policy: Policy, said: str) -> HttpResponse:
    """Make ``policy`` the draft, unless the draft is another one than the page showed."""
    try:
        drafts.replace_draft(request.user, policy, stamp=request.POST.get("stamp", ""))
    except DraftMoved as error:
        return moved(request, error)
    messages.success(request, f"{said} Nothing is published yet.")
    return redirect("web:draft")


def moved(request: PersonRequest, error: DraftMoved) -> HttpResponse:
    """Show the draft as it is now, and that nothing was done to it."""
    messages.error(request, str(error))
    return draft_page(request, status=HTTPStatus.CONFLICT)


def draft_page(
    request: PersonRequest,
    *,
    modes_form: ModesForm | None = None,
    form: PublishForm | None = None,
    status: HTTPStatus = HTTPStatus.OK,
) -> HttpResponse:
    """Show the draft, with forms that were perhaps refused."""
    held, present = queries.draft_of(request.user), current_revision()
    policy = read(held.document) if held else None
    context: dict[str, Any] = {
        "draft": held,
        "stamp": drafts.stamp_of(held),
        "present": present,
    }
    if policy:
        comparison = compare(queries.policy_in_force(), policy)
        context |= {
            "summary": summary(policy, known_groups()),
            "comparison": comparison,
            "modes_form": modes_form or ModesForm(initial=choices_of(policy), auto_id="modes_%s"),
            "form": form or PublishForm(comparison.word),
            "starters": STARTERS,
            "two_people": settings.POLICY_TWO_PEOPLE,
        }
    return render(request, "office/policy/draft.html", context, status=status)
