"""Take an approval back before the agent starts what was approved."""

from __future__ import annotations

from uuid import UUID

from django import forms
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from dashboard.approvals import services
from dashboard.clock import now_in
from dashboard.web.access import auth, for_readers
from dashboard.web.desk.answer import result_of
from dashboard.web.desk.judgement import last_judgement
from dashboard.web.desk.request import request_content, then_show
from dashboard.web.forms import LONGEST_REASON, cleaned
from dashboard.web.http import PersonRequest


class RecallForm(forms.Form):
    """Says why. Without a reason the service refuses, in its own words."""

    reason = forms.CharField(
        max_length=LONGEST_REASON,
        required=False,
        error_messages={"max_length": "The reason is too long. Shorten it."},
    )


def recall(request: PersonRequest, approval_id: UUID) -> HttpResponseBase:
    """Ask why, and take the approval back."""
    return (
        _take_back(request, approval_id)
        if request.method == "POST"
        else _ask(request, approval_id)
    )


@require_http_methods(["GET", "HEAD"])
@for_readers
def _ask(request: PersonRequest, approval_id: UUID) -> HttpResponse:
    approval = services.current(approval_id)
    # Whether it is on hold shows on the request's own page.
    result = result_of(approval, request.user, now_in(approval), stop=None)
    if result is None or not result.may_recall:
        return redirect("web:request", approval_id)  # which says how it stands
    content = request_content(approval, last_judgement(approval), request.get_host(), request.user)
    context = {"approval": approval, "title": content.title, "result": result}
    return render(request, "desk/recall.html", context)


@then_show
def _take_back(request: PersonRequest, approval_id: UUID) -> None:
    reason = cleaned(RecallForm(request.POST))["reason"]
    services.recall(
        approval_id=approval_id, person=request.user, auth=auth(request), reason=reason
    )
