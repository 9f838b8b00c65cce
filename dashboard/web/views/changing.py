"""A reviewer makes something else of a request: an edit, a replacement, answers to steps."""

from __future__ import annotations

from http import HTTPStatus
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from dashboard.accounts import roles
from dashboard.approvals import services
from dashboard.approvals.clock import database_now
from dashboard.approvals.errors import AlreadyClosed, NotFound, Refused
from dashboard.approvals.models import ApprovalRequest, Edit
from dashboard.web.actors import PersonRequest, auth
from dashboard.web.forms import DecisionForm
from dashboard.web.forms_steps import Incomplete, steps_said
from dashboard.web.presenting import change as presenting
from dashboard.web.presenting import editing
from dashboard.web.presenting.reader import masked_places
from dashboard.web.presenting.standing import last_judgement, standing
from dashboard.web.views import deciding, detail, errors
from dashboard.web.views.deciding import SeeOther
from dashboard.web.views.queue import listing
from dashboard.web.views.reading import for_readers, for_reviewers
from dashboard.wire import Kind, Status, parse_json


@require_http_methods(["GET", "HEAD", "POST"])
@for_reviewers
def edit(request: PersonRequest, approval_id: UUID) -> HttpResponse:
    """Show the content in a text field, or keep what was made of it and show that."""
    try:
        approval = services.current(approval_id)
    except NotFound:
        return errors.not_found(request)
    may_edit = approval.status == Status.PENDING and not editing.why_no_editor(approval)
    base = editing.named(approval, request.GET.get("from", ""))
    if may_edit and masked_places(approval, request.user, base):
        messages.error(request, editing.MASKED)
        may_edit = False
    if not may_edit:
        return SeeOther(shown_at(approval, base))
    if request.method != "POST":
        return _editor(request, approval, base)
    try:
        made = editing.content_of(approval, request.POST.get("text", ""))
        kept = services.propose_edit(
            approval_id=approval_id, editor=request.user, auth=auth(request), content=made
        )
    except AlreadyClosed:
        return SeeOther(reverse("web:detail", args=[approval_id]))
    except (editing.Unreadable, Refused) as refusal:
        return _editor(request, approval, base, str(refusal))
    return SeeOther(reverse("web:change", args=[approval_id, kept.pk]))


def shown_at(approval: ApprovalRequest, edit: Edit | None) -> str:
    """Return the address of a request's page, or of what was made of it."""
    if edit:
        return reverse("web:change", args=[approval.pk, edit.pk])
    return reverse("web:detail", args=[approval.pk])


@require_http_methods(["GET", "HEAD", "POST"])
@for_readers
def change(request: PersonRequest, approval_id: UUID, edit_id: int) -> HttpResponse:
    """Show a change beside what was asked, or record the answer to it."""
    try:
        approval = services.current(approval_id)
    except NotFound:
        return errors.not_found(request)
    kept = editing.named(approval, str(edit_id))
    if kept is None:
        return errors.not_found(request)
    if request.method != "POST":
        return _change(request, approval, kept)
    if not roles.may_decide(request.user):
        return errors.forbidden(request)
    try:
        services.mark_viewed(approval_id=approval_id, person=request.user, auth=auth(request))
        deciding.record(request, approval_id, DecisionForm(request.POST), edit_id)
    except Refused as refusal:
        return _change(request, services.current(approval_id), kept, refusal)
    return SeeOther(reverse("web:detail", args=[approval_id]))


@require_POST
@for_reviewers
def steps(request: PersonRequest, approval_id: UUID) -> HttpResponse:
    """Take the answers to the steps of a plan: show what is left of it, or reject with them."""
    try:
        approval = services.current(approval_id)
        if approval.kind != Kind.PLAN:
            return errors.not_found(request)
        return _steps(request, approval)
    except NotFound:
        return errors.not_found(request)
    except Refused as refusal:
        status = deciding.status_of(refusal)
        return detail.page(request, services.current(approval_id), status, refusal)


def _steps(request: PersonRequest, approval: ApprovalRequest) -> HttpResponse:
    try:
        said = steps_said(request.POST, len(parse_json(approval.content)["steps"]))
    except Incomplete as wrong:
        raise deciding.Incomplete(str(wrong)) from None
    if request.POST.get("verdict") == "reject":
        services.mark_viewed(approval_id=approval.pk, person=request.user, auth=auth(request))
        deciding.record(request, approval.pk, DecisionForm(request.POST), steps=said)
        return SeeOther(reverse("web:detail", args=[approval.pk]))
    kept = services.propose_part(
        approval_id=approval.pk, editor=request.user, auth=auth(request), steps=said
    )
    return SeeOther(reverse("web:change", args=[approval.pk, kept.pk]))


def _editor(
    request: PersonRequest, approval: ApprovalRequest, base: Edit | None, refusal: str = ""
) -> HttpResponse:
    sent = request.POST.get("text", "") if request.method == "POST" else None
    context = {
        "approval": approval,
        "standing": standing(approval, request.user, database_now()),
        "editor": editing.editor(approval, base, sent),
        "listing": listing(request),
        "refusal": refusal,
    }
    status = HTTPStatus.UNPROCESSABLE_ENTITY if refusal else HTTPStatus.OK
    return render(request, "desk/edit.html", context, status=status)


def _change(
    request: PersonRequest,
    approval: ApprovalRequest,
    kept: Edit,
    refusal: Refused | None = None,
) -> HttpResponse:
    now, sent = database_now(), request.POST if refusal else None
    context = {
        "approval": approval,
        "standing": standing(approval, request.user, now),
        "change": presenting.change(
            approval,
            kept,
            last_judgement(approval),
            request.user,
            now=now,
            host=request.get_host(),
        ),
        "listing": listing(request),
        "refusal": str(refusal or ""),
        "reason": sent.get("reason", "") if sent else "",
        "approve_reason": sent.get("approve_reason", "") if sent else "",
    }
    status = deciding.status_of(refusal) if refusal else HTTPStatus.OK
    return render(request, "desk/change.html", context, status=status)
