"""How the gate does: times, shares, and what is worth a look."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from dashboard.approvals.clock import database_now
from dashboard.approvals.rules import insight as insight_rules
from dashboard.web.actors import PersonRequest
from dashboard.web.forms_insight import LAST_DAYS, TABLES, InsightForm
from dashboard.web.presenting import insight as presenting
from dashboard.web.presenting import insight_chart, insight_notes
from dashboard.web.views.reading import for_readers


@require_safe
@for_readers
def insight(request: PersonRequest) -> HttpResponse:
    """Show the figures of a period, and one table of them."""
    form = InsightForm(request.GET)
    if not form.is_valid():
        context = {"form": form}
        return render(request, "desk/insight.html", context, status=HTTPStatus.BAD_REQUEST)
    return render(request, "desk/insight.html", {"form": form, **_found(form, request)})


def _found(form: InsightForm, request: PersonRequest) -> dict[str, Any]:
    person, period = request.user, form.period(database_now())
    asked = insight_rules.asked(period, with_rules=form.table == "rule")
    yeses = insight_rules.yeses(period)
    return {
        "asked": len(asked),
        "is_cut": len(asked) == insight_rules.MOST,
        "figures": presenting.overview(asked, yeses),
        "chart": insight_chart.chart(asked, period),
        "table": presenting.table(form, asked, yeses, period, person),
        "notes": insight_notes.notes(asked, yeses, period, person),
        "sees_everybody": presenting.sees_everybody(person),
        "first": period.since.date(),
        "periods": [(days, _period(form, days), _is_open(form, days)) for days in LAST_DAYS],
        "tables": [(words, _table(form, by), by == form.table) for by, words in TABLES.items()],
    }


def _period(form: InsightForm, days: int) -> str:
    return urlencode(form.address(days=days, since=None, until=None))


def _is_open(form: InsightForm, days: int) -> bool:
    return not form.is_own_days and form.days_back == days


def _table(form: InsightForm, by: str) -> str:
    return urlencode(form.address(by=by, sort=None))
