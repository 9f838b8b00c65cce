"""Where a draft can come from besides the policy in force: YAML, and starter policies."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from dashboard.policies import queries
from dashboard.policies.evaluate import PolicyError
from dashboard.policies.importing import Import, YamlError, from_yaml
from dashboard.policies.services import drafts
from dashboard.policies.starters import STARTERS, add
from dashboard.web.access import action, admins_only
from dashboard.web.forms_policy import ImportForm
from dashboard.web.http import PersonRequest
from dashboard.web.presenting.policies import compare, known_groups, read, summary
from dashboard.web.views.office.policies.draft import replace


@admins_only
@require_http_methods(["GET", "HEAD", "POST"])
def import_yaml(request: PersonRequest) -> HttpResponse:
    """Say what YAML means, and make it the draft once that was read."""
    if request.method != "POST":
        return _page(request, ImportForm(), {})
    form = ImportForm(request.POST, request.FILES)
    found = _found(form) if form.is_valid() else None
    if found is None:
        return _page(request, form, {}, HTTPStatus.UNPROCESSABLE_ENTITY)
    if request.POST.get("take") == "yes":
        return replace(request, found.policy, "The draft is what you imported.")
    shown = {
        "found": found,
        "yaml": form.cleaned_data["yaml"],
        "summary": summary(found.policy, known_groups()),
        "comparison": compare(queries.policy_in_force(), found.policy),
    }
    return _page(request, ImportForm(initial={"text": form.cleaned_data["yaml"]}), shown)


@admins_only
@action("web:draft")
def take_starter(request: PersonRequest) -> HttpResponse:
    """Add the rules of a starter policy to the draft, or begin with it."""
    named = {starter.key: starter for starter in STARTERS}
    starter = named.get(request.POST.get("starter", ""))
    if starter is None:
        raise Http404
    if request.POST.get("how") == "replace":
        return replace(request, starter.policy, f"The draft is the starter {starter.title!r}.")
    draft = queries.draft_of(request.user)
    present = read(draft.document) if draft else None
    if present is None:
        return redirect("web:draft")
    said = f"The rules of {starter.title!r} are in the draft."
    return replace(request, add(present, starter), said)


def _found(form: ImportForm) -> Import | None:
    try:
        return from_yaml(form.cleaned_data["yaml"])
    except PolicyError as error:
        said = [
            f"{where}: {sentence}" if where else sentence for where, sentence in error.problems
        ]
        form.add_error("text", [*said, "Nothing was imported."])
    except YamlError as error:
        form.add_error("text", [str(error), "Nothing was imported."])
    return None


def _page(
    request: PersonRequest,
    form: ImportForm,
    shown: dict[str, Any],
    status: HTTPStatus = HTTPStatus.OK,
) -> HttpResponse:
    draft = queries.draft_of(request.user)
    stamp = request.POST.get("stamp") or drafts.stamp_of(draft)
    context = {"form": form, "draft": draft, "stamp": stamp, **shown}
    return render(request, "office/policy/import.html", context, status=status)
