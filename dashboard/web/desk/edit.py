"""A reviewer's edit beside the request: written, shown, and answered."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from http import HTTPStatus
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from approval_client.wire import Kind, Status
from dashboard.accounts import roles
from dashboard.accounts.models import User
from dashboard.accounts.queries import reviewers
from dashboard.accounts.services.passkeys import why_none_counts
from dashboard.approvals import services
from dashboard.approvals.errors import AlreadyClosed, Refused, SignatureMissing
from dashboard.approvals.models import ApprovalRequest, Edit, Inspection, Judgement
from dashboard.approvals.queries.hold import present_stop
from dashboard.approvals.rules import edit as edit_rules
from dashboard.approvals.rules.answer import why_not_count
from dashboard.approvals.rules.edit import ALLOWED_FOR, edited, judged_now, report_of_edit
from dashboard.approvals.rules.judgement import demands_of
from dashboard.approvals.rules.step import count_of_steps
from dashboard.approvals.rules.view import is_revealed
from dashboard.clock import now_in
from dashboard.policies.evaluate import Effect
from dashboard.policies.rules.demands import Required
from dashboard.web import errors, times
from dashboard.web.access import auth, for_readers, for_reviewers
from dashboard.web.content import TOO_LONG, too_long
from dashboard.web.desk.answer import (
    AnswerForm,
    VoteProgress,
    record,
    status_of_refusal,
    vote_progress,
)
from dashboard.web.desk.editor import (
    SECRETS_INSIDE,
    EditUnreadable,
    address_of,
    content_of,
    edit_named,
    editor,
    why_no_editor,
)
from dashboard.web.desk.grant import runnable_steps
from dashboard.web.desk.judgement import demands_in_words, last_judgement
from dashboard.web.desk.likeness import DiffSection, diff_sections
from dashboard.web.desk.queue import listing_of
from dashboard.web.desk.reader import redacted_places
from dashboard.web.desk.request import SIGNED, RequestContent, request_content, state_of
from dashboard.web.desk.signature import pressed_before, to_sign
from dashboard.web.desk.step import AnsweredSteps, answered_steps
from dashboard.web.http import PersonRequest, SeeOther
from dashboard.web.times import Moment

_ONCE = (
    f"The agent may run exactly this, once, in this run and within "
    f"{times.length(ALLOWED_FOR.total_seconds())}, without asking again."
)

_WORDS = "The agent is told it, and has to ask again to run it. {}"


@dataclass(frozen=True, kw_only=True, slots=True)
class EditView:
    """A change, ready for the page.

    Attributes:
        sentences: What the policy says of it; ``demands`` is what its approval takes.
        is_replacement: Whether it can only be sent with a rejection.
        once: What happens when it is sent with a rejection.
        why_not: Why it cannot be approved by this person; empty if it can.
        approves: How many steps of a plan it leaves.
        runs: Which steps may be allowed to run, in words.
    """

    id: int
    by: str
    is_mine: bool
    at: Moment
    digest: str
    sections: list[DiffSection]
    steps: AnsweredSteps
    approves: int
    reading: RequestContent
    sentences: list[str]
    demands: list[str]
    required: Required
    is_replacement: bool
    once: str
    why_not: str
    progress: VoteProgress | None
    runs: str


def edit_view(
    approval: ApprovalRequest,
    edit: Edit,
    judgement: Judgement,
    person: User,
    *,
    now: datetime,
    host: str,
) -> EditView:
    """Show ``edit`` to ``person``, on a page that ``host`` serves."""
    evaluation = judged_now(edit, approval, judgement)
    required, is_mine = evaluation.demands, edit.edited_by_id == person.pk
    why_not = _why_not(approval, edit, required, person, now)
    rejected = f"The policy rejects this now. {evaluation.reason}"
    reading = _edited_content(approval, edit, person, host, required)
    # Its difference may hold a secret that the edit does not, and that they had shown.
    redacts = reading.redacts and not is_revealed(approval.pk, person.pk)
    edit.approval = approval
    return EditView(
        id=edit.pk,
        by="you" if is_mine else edit.edited_by.username,
        is_mine=is_mine,
        at=times.moment(edit.edited_at, now),
        digest=edit.digest,
        sections=_sections(approval, edit, redacts=redacts),
        steps=answered_steps(approval, edit, redacts=redacts),
        approves=count_of_steps(edit.content) if approval.kind == Kind.PLAN else 0,
        reading=reading,
        sentences=evaluation.sentences,
        demands=demands_in_words(required, approval),
        required=required,
        is_replacement=not approval.accepts_edits,
        once=_once(edit, judgement, person, now),
        why_not=rejected if evaluation.effect is Effect.REJECT else why_not,
        progress=vote_progress(approval, required, person, now, edit=edit),
        runs=runnable_steps(approval, edit.content, required, report_of_edit(edit), person=person),
    )


def edit_page_name(approval: ApprovalRequest, edit: Edit) -> str:
    """Name what the page of an edit shows, for its signature: not what the request's page does."""
    return f"{approval.pk}/edits/{edit.pk}"


def _why_not(
    approval: ApprovalRequest, edit: Edit, required: Required, person: User, now: datetime
) -> str:
    if why_not := why_not_count(approval, required, person, now, edit=edit):
        return why_not
    if too_long(Kind(approval.kind), edit.content):
        return TOO_LONG
    if required.proof and (why_not := why_none_counts(person, now)):
        return f"{SIGNED} {why_not}"
    stop = present_stop()
    return stop.why if stop else ""


def _once(edit: Edit, judgement: Judgement, person: User, now: datetime) -> str:
    why_not = edit_rules.why_not_allowed(edit, judgement, person, now)
    return _WORDS.format(why_not) if why_not else _ONCE


def _edited_content(
    approval: ApprovalRequest, edit: Edit, person: User, host: str, required: Required
) -> RequestContent:
    """Draw the edited content as if it had been asked."""
    judgement = Judgement(inspection=Inspection(report=edit.report))
    name = edit_page_name(approval, edit)
    content = edited(approval, edit.content)
    return request_content(content, judgement, host, person, name=name, required=required)


def _sections(approval: ApprovalRequest, edit: Edit, *, redacts: bool) -> list[DiffSection]:
    is_plan = approval.kind == Kind.PLAN
    return [] if is_plan else list(diff_sections(approval.content, edit.content, redacts=redacts))


@require_http_methods(["GET", "HEAD", "POST"])
@for_reviewers
def write_edit(request: PersonRequest, approval_id: UUID) -> HttpResponse:
    """Show the content in a text field, or save the edit and show it."""
    approval = services.current(approval_id)
    may_edit = approval.status == Status.PENDING and not why_no_editor(approval)
    base = edit_named(approval, request.GET.get("from", ""))
    if may_edit and redacted_places(approval, request.user, base):
        messages.error(request, SECRETS_INSIDE)
        may_edit = False
    if not may_edit:
        return SeeOther(address_of(approval, base))
    if request.method != "POST":
        return _editor_page(request, approval, base)
    try:
        new_content = content_of(approval, request.POST.get("text", ""))
        edit = services.propose_edit(
            approval_id=approval_id, editor=request.user, auth=auth(request), content=new_content
        )
    except AlreadyClosed:
        return SeeOther(reverse("web:request", args=[approval_id]))
    except (EditUnreadable, Refused) as refusal:
        return _editor_page(request, approval, base, str(refusal))
    return SeeOther(reverse("web:edit_shown", args=[approval_id, edit.pk]))


@require_http_methods(["GET", "HEAD", "POST"])
@for_readers
def show_edit(request: PersonRequest, approval_id: UUID, edit_id: int) -> HttpResponse:
    """Show an edit beside the request, or record the answer to it."""
    approval = services.current(approval_id)
    edit = edit_named(approval, str(edit_id))
    if edit is None:
        return errors.not_found(request)
    if request.method != "POST":
        return _edit_page(request, approval, edit)
    if not roles.may_decide(request.user):
        return errors.forbidden(request)
    try:
        pressed_before(request)
        record(request, approval_id, AnswerForm(request.POST), edit)
    except Refused as refusal:
        return _edit_page(request, services.current(approval_id), edit, refusal)
    return SeeOther(reverse("web:request", args=[approval_id]))


def _editor_page(
    request: PersonRequest, approval: ApprovalRequest, base: Edit | None, refusal: str = ""
) -> HttpResponse:
    sent_text = request.POST.get("text", "") if request.method == "POST" else None
    context = {
        "approval": approval,
        "state": state_of(approval, request.user, now_in(approval)),
        "editor": replace(
            editor(approval, base, sent_text),
            base=str(base.pk) if base else "",
            who_approves=_who_approves(approval, request.user),
            in_clear=is_revealed(approval.pk, request.user.pk),
        ),
        "listing": listing_of(request),
        "refusal": refusal,
    }
    status = HTTPStatus.UNPROCESSABLE_ENTITY if refusal else HTTPStatus.OK
    return render(request, "desk/edit.html", context, status=status)


def _who_approves(approval: ApprovalRequest, person: User) -> str:
    """Say before anything is typed that its author cannot approve it; empty if they can."""
    required = demands_of(last_judgement(approval))
    if not approval.accepts_edits or required.editor_may_approve:
        return ""
    if reviewers().exclude(pk=person.pk).exists():
        return "The policy asks for that. They find your version on this request's page."
    remedy = "add one under People" if person.is_admin else "ask an admin to add one"
    return f"There is no other reviewer yet: {remedy}, or reject with a reason instead."


def _edit_page(
    request: PersonRequest,
    approval: ApprovalRequest,
    kept: Edit,
    refusal: Refused | None = None,
) -> HttpResponse:
    now, form = now_in(approval), request.POST if refusal else None
    context = {
        "approval": approval,
        "state": state_of(approval, request.user, now),
        "change": edit_view(
            approval,
            kept,
            last_judgement(approval),
            request.user,
            now=now,
            host=request.get_host(),
        ),
        "listing": listing_of(request),
        "refusal": "" if isinstance(refusal, SignatureMissing) else str(refusal or ""),
        "signing": to_sign(request, refusal),
        "reason": form.get("reason", "") if form else "",
        "approve_reason": form.get("approve_reason", "") if form else "",
    }
    status = status_of_refusal(refusal) if refusal else HTTPStatus.OK
    return render(request, "desk/edit_shown.html", context, status=status)
