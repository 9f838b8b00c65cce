"""What one admin proposed and another one has to publish."""

from __future__ import annotations

from http import HTTPStatus

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods

from dashboard.accounts import roles
from dashboard.accounts.errors import NotPermitted
from dashboard.policies import queries
from dashboard.policies.errors import NotOpen, PolicyRefusal
from dashboard.policies.models import PolicyProposal
from dashboard.policies.services import current_revision, proposals
from dashboard.web.access import action, actor, admins_only, any_role
from dashboard.web.http import PersonRequest
from dashboard.web.office.policies.policy import (
    compare,
    known_names,
    policy_summary,
    proposal_view,
    read_policy,
)
from dashboard.web.office.policies.publishing import ConfirmForm, put_refusal


@any_role
@require_http_methods(["GET", "HEAD"])
def proposal(request: PersonRequest, proposal_id: int) -> HttpResponse:
    """Show what is proposed, and what it would change."""
    return _page(request, _found(proposal_id))


@admins_only
@action("web:proposal")
def confirm(request: PersonRequest, proposal_id: int) -> HttpResponse:
    """Publish what another admin proposed."""
    which = _found(proposal_id)
    if read_policy(which.document) is None:
        return redirect("web:proposal", proposal_id)
    form = ConfirmForm(_word(which), request.POST)
    if not form.is_valid():
        return _page(request, which, form, HTTPStatus.UNPROCESSABLE_ENTITY)
    try:
        revision = proposals.confirm(
            which, person=request.user, by=actor(request), confirmed=form.cleaned_data["confirm"]
        )
    except NotOpen as error:
        messages.error(request, str(error))
        return redirect("web:proposal", proposal_id)
    except (PolicyRefusal, NotPermitted) as error:
        return _page(request, which, form, put_refusal(form, error))
    messages.success(request, f"Revision {revision.number} is in force.")
    return redirect("web:policies")


@admins_only
@action("web:proposal")
def withdraw(request: PersonRequest, proposal_id: int) -> HttpResponse:
    """Close a proposal without publishing it."""
    try:
        proposals.withdraw(_found(proposal_id), person=request.user, by=actor(request))
    except (PolicyRefusal, NotPermitted) as error:
        messages.error(request, str(error))
        return redirect("web:proposal", proposal_id)
    messages.success(request, "The proposal is withdrawn. The policy in force did not change.")
    return redirect("web:policies")


def _word(which: PolicyProposal) -> str:
    policy = read_policy(which.document)
    return compare(queries.policy_in_force(), policy).word if policy else ""


def _found(proposal_id: int) -> PolicyProposal:
    rows = PolicyProposal.objects.select_related("author", "closed_by", "published")
    return get_object_or_404(rows, pk=proposal_id)


def _page(
    request: PersonRequest,
    which: PolicyProposal,
    form: ConfirmForm | None = None,
    status: HTTPStatus = HTTPStatus.OK,
) -> HttpResponse:
    policy = read_policy(which.document)
    view = proposal_view(which, queries.policy_in_force(), current_revision().number)
    person = request.user
    is_own = which.author_id == person.pk
    may_act = roles.may_administer(person) and not (is_own or which.closed_at)
    context = {
        "proposed": view,
        "summary": policy_summary(policy, known_names()) if policy else None,
        "form": form or ConfirmForm(_word(which)),
        "is_own": is_own,
        "why_not": proposals.why_not_second(which, person, actor(request)) if may_act else "",
    }
    return render(request, "office/policy/proposal.html", context, status=status)
