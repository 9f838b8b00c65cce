"""Try a policy on one question. Everybody who may look may try; nothing is stored."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from dashboard.accounts.models import User
from dashboard.accounts.queries import agents
from dashboard.approvals.models import ApprovalRequest
from dashboard.approvals.rules.past_cases import past
from dashboard.policies.inspecting import inspect
from dashboard.policies.questions import Question
from dashboard.web.actors import PersonRequest
from dashboard.web.forms_bench import CandidateForm, PastedForm, PastForm, as_typed, id_in
from dashboard.web.presenting import words
from dashboard.web.presenting.candidates import IN_FORCE
from dashboard.web.presenting.rows import closer
from dashboard.web.presenting.trial import HEADLINES, tried
from dashboard.web.views.office.refusals import status_of
from dashboard.web.views.office.rights import any_role
from dashboard.wire import Status

_NONE_SUCH = "There is no such request. Nothing was tried."


@any_role
@require_http_methods(["GET", "HEAD", "POST"])
def bench(request: PersonRequest) -> HttpResponse:
    """Show what a policy answers to pasted content (POST) or to a past request (GET)."""
    if request.method == "POST":
        return _pasted(request)
    if "request" in request.GET:
        return _past(request)
    return _page(request, _empty(request))


def _pasted(request: PersonRequest) -> HttpResponse:
    form = PastedForm(request.user, request.POST)
    if not form.is_valid():
        return _page(request, form)
    chosen = form.cleaned_data
    return _page(request, form, trial=tried(chosen["policy"], _question(chosen)))


def _past(request: PersonRequest) -> HttpResponse:
    wanted = request.GET.dict()
    if not wanted["request"]:
        return _page(request, PastForm(request.user, initial=wanted), tab="past")
    form = PastForm(request.user, {"policy": IN_FORCE, **wanted})
    found = past(form.cleaned_data["request"]) if form.is_valid() else None
    if form.is_valid() and found is None:
        form.add_error("request", _NONE_SUCH)
    if found is None:
        return _page(request, form, tab="past")
    return _page(
        request,
        form,
        tab="past",
        trial=tried(form.cleaned_data["policy"], found.question),
        past=found,
        then=HEADLINES[found.effect],
        ended=_ended(found.approval, request.user),
    )


def _ended(approval: ApprovalRequest, person: User) -> str:
    if approval.status == Status.PENDING:
        return "It still waits for an answer."
    said = f"{words.STATUSES[Status(approval.status)]} {closer(approval.decision, person)}"
    return f"{said.strip()}."


def _empty(request: PersonRequest) -> PastedForm:
    initial: dict[str, Any] = {"policy": request.GET.get("policy", "")}
    copied = id_in(request.GET.get("copy", ""))
    found = past(copied) if copied else None
    return PastedForm(request.user, initial=initial | (as_typed(found.question) if found else {}))


def _page(request: PersonRequest, form: CandidateForm, **more: Any) -> HttpResponse:
    names = agents().values_list("name", flat=True)
    context = {"form": form, "tab": "pasted", "agents": names, **more}
    return render(request, "office/bench.html", context, status=status_of(form))


def _question(said: dict[str, Any]) -> Question:
    return Question(
        kind=said["kind"],
        content=said["content"],
        report=inspect(said["kind"], said["content"]),
        agent=said["agent"],
        asked_at=said["asked_at"] or timezone.now(),
        capability=said["capability"],
        execution_mode=said["execution_mode"],
        run_id=said["run"],
        repeated=said["repeated"] or 0,
    )
