"""Try a policy on everything that was asked lately. Everybody who may look may try."""

from __future__ import annotations

from datetime import timedelta

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods

from dashboard.approvals.clock import database_now
from dashboard.web.access import any_role
from dashboard.web.forms_bench import USUAL_DAYS, BacktestForm
from dashboard.web.http import PersonRequest
from dashboard.web.presenting.backtest import MOST_REQUESTS, Backtest, replay
from dashboard.web.presenting.candidates import IN_FORCE
from dashboard.web.views.office.refusals import status_of


@any_role
@require_http_methods(["GET", "HEAD"])
def backtest(request: PersonRequest) -> HttpResponse:
    """Show the form, and what came out once it was sent: it takes a while, and changes nothing."""
    if "days" not in request.GET:
        wanted = {"policy": request.GET.get("policy", ""), "days": USUAL_DAYS}
        return _page(request, BacktestForm(request.user, initial=wanted))
    form = BacktestForm(request.user, {"policy": IN_FORCE, **request.GET.dict()})
    return _page(request, form, _run(request, form) if form.is_valid() else None)


def _run(request: PersonRequest, form: BacktestForm) -> Backtest:
    now = database_now()
    since = now - timedelta(days=form.cleaned_data["days"])
    return replay(form.cleaned_data["policy"], since, request.user, now)


def _page(
    request: PersonRequest, form: BacktestForm, result: Backtest | None = None
) -> HttpResponse:
    context = {"form": form, "result": result, "most": MOST_REQUESTS}
    return render(request, "office/backtest.html", context, status=status_of(form))
