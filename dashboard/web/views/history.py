"""Everything that was ever asked, to be searched and taken along."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode

from asgiref.sync import sync_to_async
from django.db import close_old_connections, connection
from django.http import HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_GET, require_safe

from dashboard.approvals import services
from dashboard.approvals.clock import database_now
from dashboard.approvals.rules import history as history_rules
from dashboard.approvals.rules.history import HistoryFilter, HistoryPlace
from dashboard.web.actors import PersonRequest, actor
from dashboard.web.forms_history import HistoryForm
from dashboard.web.presenting.exporting import FORMATS
from dashboard.web.presenting.history import history_rows
from dashboard.web.views import errors
from dashboard.web.views.reading import for_readers

PAGE_SIZE = 50


@require_safe
@for_readers
def history(request: PersonRequest) -> HttpResponse:
    """Show a page of the history."""
    return _page(request, HistoryForm(request.GET))


@require_GET
@for_readers
def export(request: PersonRequest) -> HttpResponseBase:
    """Stream all that the filter chooses, and record that somebody took it."""
    form, name = HistoryForm(request.GET), request.GET.get("format", "csv")
    if name not in FORMATS:
        return errors.not_found(request)
    if not form.is_valid():
        return _page(request, form, HTTPStatus.BAD_REQUEST)
    wanted, at = form.wanted(), database_now()
    rows = history_rules.asked_until(wanted, at).count()
    services.record_export(by=actor(request), form=name, filters=form.chosen(), rows=rows)
    response = StreamingHttpResponse(_written(wanted, at, name), content_type=FORMATS[name][0])
    file = f"history-{at.astimezone(UTC):%Y%m%dT%H%M%SZ}.{name}"
    response.headers["Content-Disposition"] = f'attachment; filename="{file}"'
    return response


def _page(request: PersonRequest, form: HistoryForm, status: int = HTTPStatus.OK) -> HttpResponse:
    found, older = [], ""
    if form.is_valid():
        found = history_rules.page(form.wanted(), form.cleaned_data["after"], PAGE_SIZE + 1)
    shown, chosen = found[:PAGE_SIZE], form.chosen() if form.is_valid() else {}
    if len(found) > PAGE_SIZE:
        last = shown[-1]
        older = urlencode(chosen | {"after": str(HistoryPlace(last.submitted_at, last.pk))})
    context: dict[str, Any] = {
        "form": form,
        "rows": history_rows(shown, request.user, database_now()),
        "chosen": urlencode(chosen),
        "older": older,
        "from_the_newest": not form.data.get("after"),
    }
    return render(request, "desk/history.html", context, status=status)


async def _written(wanted: HistoryFilter, at: datetime, name: str) -> AsyncIterator[str]:
    """Write batch after batch, as fast as the reader takes them and no faster."""
    _, head, write = FORMATS[name]
    yield head()
    after: HistoryPlace | None = None
    while rows := await sync_to_async(_batch)(wanted, at, after):
        yield write(rows)
        after = history_rules.place_of(rows[-1])


def _batch(
    wanted: HistoryFilter, at: datetime, after: HistoryPlace | None
) -> list[dict[str, Any]]:
    try:
        return history_rules.batch(wanted, at, after)
    finally:
        # A slow reader holds no connection between two batches; a transaction around all is kept.
        if not connection.in_atomic_block:
            close_old_connections()
