"""The history: every request, filtered, page by page, and exported."""

from __future__ import annotations

import csv
import io
import json
import unicodedata
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus
from threading import Lock
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from asgiref.sync import sync_to_async
from django import forms
from django.core.exceptions import ValidationError
from django.db import close_old_connections, connection
from django.http import HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils.safestring import SafeString
from django.views.decorators.http import require_POST, require_safe

from approval_client.wire import Kind, OutcomeState, Source, Status
from dashboard.accounts.models import User, plain_name
from dashboard.accounts.queries import agents, people
from dashboard.approvals import services
from dashboard.approvals.models import ApprovalRequest, Decision
from dashboard.approvals.rules import history as history_rules
from dashboard.approvals.rules.history import (
    EXPORTED,
    HistoryFilter,
    HistoryPage,
    HistoryPlace,
)
from dashboard.approvals.rules.recall import recall_of
from dashboard.clock import database_now
from dashboard.web import errors, times, words
from dashboard.web.access import actor, for_readers
from dashboard.web.drawing.markup import untrusted
from dashboard.web.drawing.summary import headline_of, summarized
from dashboard.web.forms import BAD_DAY, plain
from dashboard.web.http import PersonRequest

_SOURCES = {
    Source.REVIEWER: "A reviewer",
    Source.POLICY: "The policy",
    Source.GRANT: "A remembered approval",
    Source.DEADLINE: "Nobody: it expired",
    Source.AGENT: "The agent itself",
    Source.ADMIN: "An admin",
}

_BAD_PLACE = "The address of this page is damaged. Begin again with the newest."


def _name(label: str, known: str) -> forms.CharField:
    widget = plain(list=known)
    return forms.CharField(
        label=label, required=False, max_length=100, validators=[plain_name], widget=widget
    )


def _one_of(label: str, what: str, of: dict[Any, str]) -> forms.ChoiceField:
    choices = [(str(word), caption) for word, caption in of.items()]
    unknown = {"invalid_choice": f"There is no such {what}. Choose one of the list."}
    return forms.ChoiceField(
        label=label, required=False, choices=[("", "Any"), *choices], error_messages=unknown
    )


def _day(label: str) -> forms.DateField:
    return forms.DateField(
        label=label,
        required=False,
        input_formats=["%Y-%m-%d"],
        error_messages={"invalid": BAD_DAY},
        widget=forms.DateInput(format="%Y-%m-%d", attrs={"type": "date"}),
    )


class HistoryForm(forms.Form):
    """Which requests, and after which place the page begins."""

    agent = _name("Agent", "agents")
    kind = _one_of("Kind", "kind", words.KINDS)
    tool = forms.CharField(
        label="Tool",
        required=False,
        max_length=200,
        strip=False,
        widget=plain(),
    )
    status = _one_of("Status", "status", words.STATUSES)
    source = _one_of("Answered by", "way to be answered", _SOURCES)
    decided_by = _name("Person", "people")
    run = forms.CharField(
        label="Run contains",
        required=False,
        max_length=200,
        strip=False,
        widget=plain(),
    )
    since = _day("Asked from (day, UTC)")
    until = _day("Asked until (day, UTC)")
    after = forms.CharField(required=False, max_length=100, widget=forms.HiddenInput)

    def clean_after(self) -> HistoryPlace | None:
        """Read the place that a link of ours names."""
        text = self.cleaned_data["after"]
        if not text:
            return None
        try:
            return HistoryPlace.parse(text)
        except (ValueError, OverflowError):
            raise ValidationError(_BAD_PLACE) from None

    def clean(self) -> dict[str, Any]:
        """Refuse days that are in the wrong order."""
        chosen: dict[str, Any] = super().clean() or {}
        since, until = chosen.get("since"), chosen.get("until")
        if since and until and until < since:
            self.add_error("until", "This is before the first day, so no day is left.")
        return chosen

    def wanted(self) -> HistoryFilter:
        """Return the filter, once the form is valid."""
        chosen = {name: value for name, value in self.cleaned_data.items() if name != "after"}
        return HistoryFilter(**chosen)

    def chosen(self) -> dict[str, str]:
        """Return what was filled in, as it stands in the address."""
        return {
            name: str(self.cleaned_data[name])
            for name in self.fields
            if name != "after" and self.cleaned_data[name]
        }


@dataclass(frozen=True, kw_only=True, slots=True)
class HistoryRow:
    """One request. ``summary`` and ``run`` are the agent's voice, drawn.

    Attributes:
        closer: By whom it was answered, where the status does not say it already.
        waited: How long the agent had to wait for that.
        ran: What the agent reports; empty where nothing could run.
    """

    id: UUID
    kind: str
    kind_word: str
    status: str
    status_word: str
    title: SafeString
    summary: SafeString
    agent: str
    run_id: str
    run: SafeString
    asked_at: datetime
    closer: str
    waited: str
    ran: str


def history_rows(
    approvals: Iterable[ApprovalRequest], person: User, now: datetime
) -> list[HistoryRow]:
    """Describe requests that were read with ``rules.history.page()``."""
    return [_row(approval, person, now) for approval in approvals]


def _row(approval: ApprovalRequest, person: User, now: datetime) -> HistoryRow:
    decision: Decision | None = getattr(approval, "decision", None)
    summary = summarized(approval.kind, headline_of(approval))
    status, word = words.standing(approval)
    return HistoryRow(
        id=approval.pk,
        kind=approval.kind,
        kind_word=words.KINDS[Kind(approval.kind)],
        status=status,
        status_word=word,
        title=summary.title,
        summary=summary.line,
        agent=approval.agent.name,
        run_id=approval.run_id,
        run=untrusted(approval.run_id),
        asked_at=approval.submitted_at,
        closer=words.decided_by(decision, person) if decision else "",
        waited=times.length(decision.waited_s) if decision else "",
        ran=_ran(approval, decision, now) if decision else "",
    )


def _ran(approval: ApprovalRequest, decision: Decision, now: datetime) -> str:
    if decision.status != Status.APPROVED:
        return ""
    if recall := recall_of(approval):
        return f"taken back by {recall.person.username}, never started"
    reported = {outcome.state: outcome for outcome in approval.outcomes.all()}
    finished = reported.get(OutcomeState.FINISHED)
    if finished:
        code = f", exit code {finished.exit_code}" if finished.exit_code is not None else ""
        return f"{'ended with an error' if finished.error else 'finished'}{code}"
    if OutcomeState.STARTED in reported:
        return "started, no end reported"
    is_over = decision.valid_until is None or decision.valid_until <= now
    return "never started" if is_over else "not started yet"


_FORMULA = {*"=+-@"}  # in the width of the East too, and behind what no one sees

Rows = Sequence[dict[str, Any]]


def as_csv(rows: Rows) -> str:
    """Write rows as CSV. Everything is quoted, and what a spreadsheet might run is defused."""
    return _csv([_cell(value) for value in record.values()] for record in map(_record, rows))


def csv_head() -> str:
    """Write the names of the columns."""
    return _csv([list(EXPORTED)])


def as_jsonl(rows: Rows) -> str:
    """Write rows as JSON, one object a line, every text as it is."""
    return "".join(f"{json.dumps(_record(row))}\n" for row in rows)


def no_head() -> str:
    """Return no header: each line of JSON Lines has its own keys."""
    return ""


FORMATS: dict[str, tuple[str, Callable[[], str], Callable[[Rows], str]]] = {
    "csv": ("text/csv; charset=utf-8", csv_head, as_csv),
    "jsonl": ("application/jsonl; charset=utf-8", no_head, as_jsonl),
}
"""Name of a format -> its media type, what stands before the rows, and how rows are written."""


def _record(row: dict[str, Any]) -> dict[str, Any]:
    return {name: _plain(value) for name, value in row.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(timespec="microseconds")
    return value if isinstance(value, int | str | list | None) else str(value)


def _csv(lines: Any) -> str:
    out = io.StringIO()
    # A comma that is not a separator somewhere may not make a cell out of a part of one.
    csv.writer(out, quoting=csv.QUOTE_ALL).writerows(lines)
    return out.getvalue()


def _cell(value: Any) -> str:
    text = ", ".join(value) if isinstance(value, list) else "" if value is None else str(value)
    begins = next((char for char in text if char.isprintable() and char != " "), "")
    is_bare = text[:1].isprintable() and not _FORMULA & {*unicodedata.normalize("NFKC", begins)}
    return text if is_bare else f"'{text}"


PAGE_SIZE = 50


@require_safe
@for_readers
def history(request: PersonRequest) -> HttpResponse:
    """Show a page of the history."""
    return _page(request, HistoryForm(request.GET))


@require_POST
@for_readers
def export(request: PersonRequest) -> HttpResponseBase:
    """Stream every row that the filter in the address matches, and record the export.

    By a form, because it writes to the log: a link on another site would write there too.
    """
    form, name = HistoryForm(request.GET), request.POST.get("format", "csv")
    if name not in FORMATS:
        return errors.not_found(request)
    if not form.is_valid():
        return _page(request, form, HTTPStatus.BAD_REQUEST)
    criteria, at = form.wanted(), database_now()
    rows = history_rules.asked_until(criteria, at).count()
    services.record_export(by=actor(request), form=name, filters=form.chosen(), rows=rows)
    response = StreamingHttpResponse(_written(criteria, at, name), content_type=FORMATS[name][0])
    file = f"history-{at.astimezone(UTC):%Y%m%dT%H%M%SZ}.{name}"
    response.headers["Content-Disposition"] = f'attachment; filename="{file}"'
    return response


def _page(request: PersonRequest, form: HistoryForm, status: int = HTTPStatus.OK) -> HttpResponse:
    page, chosen = HistoryPage([], None, None), {}
    if form.is_valid():
        chosen = form.chosen()
        page = history_rules.page(form.wanted(), form.cleaned_data["after"], PAGE_SIZE)
    context: dict[str, Any] = {
        "form": form,
        "rows": history_rows(page.rows, request.user, database_now()),
        "chosen": urlencode(chosen),
        "older": urlencode(chosen | {"after": str(page.older)}) if page.older else "",
        "looked_to": page.looked_to,
        "looked_through": f"{history_rules.LOOKED_THROUGH:,}",
        "from_the_newest": not form.data.get("after"),
        "agents": agents().prefetch_related(None).values_list("name", flat=True),
        "people": people().values_list("username", flat=True),
    }
    return render(request, "desk/history.html", context, status=status)


_READING = Lock()
"""All exports together read one batch at a time, on one connection: however many there are, those
of the handler's pools find theirs.
"""


async def _written(history_filter: HistoryFilter, at: datetime, name: str) -> AsyncIterator[str]:
    """Write batch after batch."""
    _, head, write = FORMATS[name]
    yield head()
    place: HistoryPlace | None = None
    while rows := await sync_to_async(_batch)(history_filter, at, place):
        yield write(rows)
        place = history_rules.place_of(rows[-1])


def _batch(
    history_filter: HistoryFilter, at: datetime, place: HistoryPlace | None
) -> list[dict[str, Any]]:
    with _READING:
        try:
            return history_rules.batch(history_filter, at, place)
        finally:
            # A slow reader has no connection between two batches; a transaction around all stays.
            if not connection.in_atomic_block:
                close_old_connections()
