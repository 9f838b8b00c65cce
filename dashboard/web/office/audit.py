"""Auditors read the audit log, and have it verified."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db.models import CharField, Q, Value
from django.db.models.functions import Cast, Replace
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils.safestring import SafeString
from django.views.decorators.http import require_http_methods, require_safe

from approval_client.wire import canonical_json, parse_json
from dashboard.accounts.queries import agents, people
from dashboard.approvals.models import ApprovalRequest
from dashboard.audit import queries, services
from dashboard.audit.heads import keeping_problem
from dashboard.audit.models import AuditEntry, AuditVerification
from dashboard.audit.names import agent_name, user_name
from dashboard.audit.queries import LogFilter
from dashboard.clock import database_now
from dashboard.web import times
from dashboard.web.access import action, actor, auditors_only
from dashboard.web.drawing.markup import untrusted
from dashboard.web.forms import offer_choices, plain
from dashboard.web.http import PersonRequest
from dashboard.web.office.events import GROUPS, named_in, sentence
from dashboard.web.times import Moment

_LARGEST_SEQ = 2**63 - 1

_HEAD = re.compile(r"([0-9]{1,18}):([0-9a-f]{64})", re.ASCII)

_SLOW_S = 15

PAGE_SIZE = 100


class AuditForm(forms.Form):
    """Which entries of the audit log. All of it is picked from lists."""

    person = forms.ChoiceField(label="Person", required=False)
    agent = forms.ChoiceField(label="Agent", required=False)
    kind = forms.ChoiceField(
        label="Kind of event",
        required=False,
        choices=[("", "Any"), *((key, words) for key, (words, _) in GROUPS.items())],
    )
    since = forms.DateField(
        label="From day (UTC)", required=False, widget=forms.DateInput(attrs={"type": "date"})
    )
    until = forms.DateField(
        label="To day (UTC)", required=False, widget=forms.DateInput(attrs={"type": "date"})
    )
    before = forms.IntegerField(
        required=False, min_value=1, max_value=_LARGEST_SEQ, widget=forms.HiddenInput
    )

    def __init__(self, data: Any) -> None:
        super().__init__(data)
        for name, rows in (("person", people()), ("agent", agents().prefetch_related(None))):
            column = "username" if name == "person" else "name"
            names = rows.values_list(column, flat=True)
            offer_choices(self, name, [("", "Anybody"), *((each, each) for each in names)])

    def clean(self) -> None:
        """Refuse days that are in the wrong order."""
        since, until = (self.cleaned_data.get(name) for name in ("since", "until"))
        if since and until and until < since:
            self.add_error("until", "This is before the first day, so no day is left.")

    def wanted(self) -> LogFilter:
        """Return the filter, once the form is valid."""
        chosen = self.cleaned_data
        person, agent = chosen["person"], chosen["agent"]
        names = (*([user_name(person)] if person else []), *([agent_name(agent)] if agent else []))
        _, of_kind = GROUPS.get(chosen["kind"], ("", {}))
        return LogFilter(
            names=names,
            mentions=(queries.mentions_of_person(person) if person else Q())
            | (queries.mentions_of_agent(agent) if agent else Q()),
            subjects=_requests_of(agent) if agent else None,
            actions=tuple(of_kind),
            since=_midnight(chosen["since"]),
            until=_midnight(_day_after(chosen["until"])),
            before=chosen["before"],
        )


def _requests_of(agent: str) -> Any:
    # As hexadecimal digits, which is how SQLite keeps ids and what is left of those in the log.
    hexadecimal = Replace(Cast("pk", CharField()), Value("-"), Value(""))
    return ApprovalRequest.objects.filter(agent__name=agent).values_list(hexadecimal, flat=True)


def _day_after(day: date | None) -> date | None:
    return None if day is None or day == date.max else day + timedelta(days=1)


def _midnight(day: Any) -> datetime | None:
    return datetime.combine(day, time(0, 0), UTC) if day else None


class VerifyForm(forms.Form):
    """Has the log verified, against a head that was kept if there is one."""

    head = forms.CharField(
        label="A head that you kept",
        required=False,
        max_length=100,
        help_text="Leave it empty to verify without one.",
        widget=plain(placeholder="1042:0123…cdef", **{"class": "mono"}),
    )

    def clean_head(self) -> tuple[int, str] | None:
        """Take a head apart."""
        text: str = self.cleaned_data["head"]
        if not text:
            return None
        match = _HEAD.fullmatch(text)
        if not match:
            raise ValidationError(
                "This is not a head: a head is a number, a colon and 64 characters. Nothing "
                "was verified."
            )
        return int(match[1]), match[2]


@dataclass(frozen=True)
class EntryRow:
    """One entry, ready for the page. ``details`` may hold anybody's words, drawn as such."""

    entry: AuditEntry
    said: SafeString
    exactly: str
    details: list[tuple[str, SafeString]]


@dataclass(frozen=True, slots=True)
class VerificationView:
    """How far a verification is, or what it found.

    Attributes:
        state: ``running``, ``whole`` or ``broken``.
        is_stuck: Whether nothing has taken it up for a while.
    """

    verification: AuditVerification
    state: str
    asked: Moment
    is_stuck: bool


@auditors_only
@require_http_methods(["GET", "HEAD"])
def audit(request: PersonRequest) -> HttpResponse:
    """Show the newest entries, and the head to keep elsewhere."""
    return _page(request, VerifyForm())


@auditors_only
@action("web:audit")
def verify(request: PersonRequest) -> HttpResponse:
    """Have the whole log verified in the background."""
    form = VerifyForm(request.POST)
    if not form.is_valid():
        return _page(request, form, status=422)
    services.ask_to_verify(actor(request), form.cleaned_data["head"])
    messages.info(request, "The log is being verified. You can leave this page.")
    return redirect("web:audit")


@auditors_only
@require_safe
def verification(request: PersonRequest) -> HttpResponse:
    """Show how far the verification is, for the page that waits for it."""
    context = {"verified": _verified(), "head": queries.head()}
    return render(request, "office/_verification.html", context)


def _page(request: PersonRequest, verify_form: VerifyForm, status: int = 200) -> HttpResponse:
    form = AuditForm(request.GET)
    entries = queries.newest(form.wanted(), PAGE_SIZE + 1) if form.is_valid() else []
    page_entries = entries[:PAGE_SIZE]
    references = named_in(page_entries)
    backup = queries.last_backup()
    context = {
        "form": form,
        "verify_form": verify_form,
        "verified": _verified(),
        "head": queries.head(),
        "heads_problem": keeping_problem(),
        "backed_up": times.moment(backup.at, database_now()) if backup else None,
        "rows": [_row(entry, sentence(entry, references)) for entry in page_entries],
        "older": _older(request.GET, page_entries[-1].seq) if len(entries) > PAGE_SIZE else "",
        "from_the_newest": not form.data.get("before"),
        "is_filtered": any(request.GET.get(name) for name in form.fields),
    }
    return render(request, "office/audit.html", context, status=status)


def _verified() -> VerificationView | None:
    last_check = queries.last_verification()
    if last_check is None:
        return None
    now = database_now()
    state = "broken" if last_check.problem else "whole" if last_check.ended_at else "running"
    is_old = (now - last_check.asked_at).total_seconds() > _SLOW_S
    moment = times.moment(last_check.ended_at or last_check.asked_at, now)
    return VerificationView(last_check, state, moment, is_stuck=is_old and not last_check.seq)


def _older(query: QueryDict, before: int) -> str:
    query = query.copy()
    query["before"] = str(before)
    return query.urlencode()


def _row(entry: AuditEntry, said: SafeString) -> EntryRow:
    exactly = entry.at.astimezone(UTC).isoformat(timespec="microseconds")
    return EntryRow(entry, said, exactly, list(_details(entry.details)))


def _details(text: str) -> Iterator[tuple[str, SafeString]]:
    for name, value in parse_json(text).items():
        yield name, untrusted(value if isinstance(value, str) else canonical_json(value))
