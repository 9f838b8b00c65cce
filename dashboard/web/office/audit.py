"""Auditors read the audit log."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC
from uuid import UUID

from django import forms
from django.db.models import QuerySet
from django.http import HttpResponse, QueryDict
from django.shortcuts import render
from django.utils.safestring import SafeString
from django.views.decorators.http import require_http_methods

from approval_client.wire import canonical_json, parse_json
from dashboard.audit import queries
from dashboard.audit.models import AuditEntry
from dashboard.web.access import auditors_only
from dashboard.web.drawing.markup import untrusted
from dashboard.web.forms import plain
from dashboard.web.http import PersonRequest

_LARGEST_SEQ = 2**63 - 1


class AuditForm(forms.Form):
    """Which entries of the audit log."""

    actor = forms.CharField(
        label="Actor begins with", required=False, max_length=200, widget=plain()
    )
    subject = forms.CharField(
        label="Subject begins with", required=False, max_length=200, widget=plain()
    )
    before = forms.IntegerField(
        required=False, min_value=1, max_value=_LARGEST_SEQ, widget=forms.HiddenInput
    )


PAGE_SIZE = 100


@dataclass(frozen=True)
class EntryRow:
    """One entry, ready for the page. ``details`` may hold anybody's words, drawn as such."""

    entry: AuditEntry
    exactly: str
    approval_id: UUID | None
    details: list[tuple[str, SafeString]]


@auditors_only
@require_http_methods(["GET", "HEAD"])
def audit(request: PersonRequest) -> HttpResponse:
    """Show the newest entries, and the head to keep elsewhere."""
    form = AuditForm(request.GET)
    entries = list(_wanted(form)[: PAGE_SIZE + 1]) if form.is_valid() else []
    shown = entries[:PAGE_SIZE]
    context = {
        "form": form,
        "head": queries.head(),
        "rows": [_row(entry) for entry in shown],
        "older": _older(request.GET, shown[-1].seq) if len(entries) > PAGE_SIZE else "",
        "from_the_newest": not form.data.get("before"),
    }
    return render(request, "office/audit.html", context)


def _wanted(form: AuditForm) -> QuerySet[AuditEntry]:
    chosen = form.cleaned_data
    entries = AuditEntry.objects.order_by("-seq")
    if chosen["before"]:
        entries = entries.filter(seq__lt=chosen["before"])
    if chosen["actor"]:
        entries = entries.filter(actor__startswith=chosen["actor"])
    if chosen["subject"]:
        entries = entries.filter(subject__startswith=chosen["subject"])
    return entries


def _older(query: QueryDict, before: int) -> str:
    query = query.copy()
    query["before"] = str(before)
    return query.urlencode()


def _row(entry: AuditEntry) -> EntryRow:
    return EntryRow(
        entry,
        entry.at.astimezone(UTC).isoformat(timespec="microseconds"),
        _approval_id(entry.subject),
        list(_details(entry.details)),
    )


def _approval_id(subject: str) -> UUID | None:
    try:
        return UUID(subject)
    except ValueError:
        return None


def _details(text: str) -> Iterator[tuple[str, SafeString]]:
    for name, value in parse_json(text).items():
        yield name, untrusted(value if isinstance(value, str) else canonical_json(value))
