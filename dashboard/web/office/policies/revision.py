"""The policy in force, and every revision before it."""

from __future__ import annotations

from http import HTTPStatus

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods

from dashboard.accounts.errors import NotPermitted
from dashboard.policies import queries
from dashboard.policies.errors import PolicyRefusal
from dashboard.policies.formats.policy_yaml import to_yaml
from dashboard.policies.models import PolicyRevision
from dashboard.policies.services import current_revision, publish
from dashboard.policies.services.drafts import stamp_of
from dashboard.web.access import action, actor, admins_only, any_role, refused
from dashboard.web.http import PersonRequest
from dashboard.web.office.policies.policy import (
    compare,
    known_names,
    policy_summary,
    proposal_view,
    read_policy,
    revision_rows,
)
from dashboard.web.office.policies.publishing import (
    PublishForm,
    put_refusal,
    tell_what_was_published,
)

SHOWN = 20


@any_role
@require_http_methods(["GET", "HEAD"])
def policies(request: PersonRequest) -> HttpResponse:
    """Show the policy in force, what waits for a second admin, and the history."""
    revision, policy = current_revision(), queries.policy_in_force()
    newest = queries.revisions()
    cursor = request.GET.get("before", "")
    if cursor.isdecimal() and len(cursor) < len(str(2**63)):
        newest = newest.filter(number__lt=int(cursor))
    rows = list(newest[: SHOWN + 1])
    context = {
        "revision": revision,
        "summary": policy_summary(policy, known_names()),
        "proposals": [proposal_view(p, policy, revision.number) for p in queries.open_proposals()],
        "draft": queries.draft_of(request.user),
        "rows": revision_rows(rows)[:SHOWN],
        "older": rows[SHOWN - 1].number if len(rows) > SHOWN else None,
    }
    return render(request, "office/policies.html", context)


@any_role
@require_http_methods(["GET", "HEAD"])
def revision(request: PersonRequest, number: int) -> HttpResponse:
    """Show one revision whole."""
    return _page(request, get_object_or_404(queries.revisions(), pk=number))


@any_role
@require_http_methods(["GET", "HEAD"])
def export(request: PersonRequest, number: int) -> HttpResponse:
    """Hand out one revision as YAML."""
    del request
    which = get_object_or_404(PolicyRevision, pk=number)
    policy = read_policy(which.document)
    if policy is None:
        return redirect("web:revision", number)
    headers = {"Content-Disposition": f'attachment; filename="policy-{number}.yaml"'}
    content_type = "application/yaml; charset=utf-8"
    return HttpResponse(to_yaml(policy), content_type=content_type, headers=headers)


@admins_only
@action("web:revision")
def publish_again(request: PersonRequest, number: int) -> HttpResponse:
    """Publish an old revision as a new one."""
    which = get_object_or_404(queries.revisions(), pk=number)
    present, policy = current_revision(), read_policy(which.document)
    if policy is None:
        return redirect("web:revision", number)
    form = PublishForm(compare(queries.policy_in_force(), policy).word, request.POST)
    if not form.is_valid():
        return _page(request, which, form, HTTPStatus.UNPROCESSABLE_ENTITY)
    try:
        published = publish(
            policy,
            author=request.user,
            note=form.cleaned_data["note"],
            by=actor(request),
            based_on=form.cleaned_data["based_on"],
            confirmed=form.cleaned_data["confirm"],
        )
    except NotPermitted:
        return refused(request, "admins")
    except PolicyRefusal as error:
        return _page(request, which, form, put_refusal(form, error))
    tell_what_was_published(request, published, present=present.number)
    return redirect("web:policies")


def _page(
    request: PersonRequest,
    which: PolicyRevision,
    form: PublishForm | None = None,
    status: HTTPStatus = HTTPStatus.OK,
) -> HttpResponse:
    present, policy = current_revision(), read_policy(which.document)
    comparison = compare(queries.policy_in_force(), policy) if policy else None
    earlier = queries.revisions().filter(number=which.number - 1)
    draft = queries.draft_of(request.user)
    context = {
        "row": revision_rows([which, *earlier])[0],
        "present": present,
        "summary": policy_summary(policy, known_names()) if policy else None,
        "yaml": to_yaml(policy) if policy else "",
        "comparison": comparison,
        "form": form or PublishForm(comparison.word if comparison else ""),
        "draft": draft,
        "stamp": stamp_of(draft),
    }
    return render(request, "office/policy/revision.html", context, status=status)
