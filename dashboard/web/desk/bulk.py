"""Similar requests on one page: one in full, and what is different in the others."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from http import HTTPStatus
from typing import Any, NamedTuple
from unicodedata import normalize
from uuid import UUID

from django import forms
from django.core import signing
from django.http import HttpResponse, QueryDict
from django.shortcuts import render
from django.utils.html import strip_tags
from django.utils.safestring import SafeString
from django.views.decorators.http import require_POST, require_safe

from approval_client.wire import JsonError, Kind, Status, canonical_json, parse_json
from dashboard.accounts.models import User
from dashboard.approvals import services
from dashboard.approvals.errors import NotFound, Refused
from dashboard.approvals.models import ApprovalRequest
from dashboard.approvals.rules import bulk as bulk_rules
from dashboard.approvals.rules.bulk import MOST, Alone, JudgedRequest
from dashboard.approvals.rules.judgement import demands_of, report_of
from dashboard.approvals.services import Basis
from dashboard.clock import database_now
from dashboard.inspection.findings import gravest
from dashboard.inspection.parts import Place, parts_of_call
from dashboard.web import times
from dashboard.web.access import auth, for_reviewers
from dashboard.web.desk.likeness import DiffSection, diff_sections
from dashboard.web.desk.request import RequestContent, request_content
from dashboard.web.desk.view import what_was_shown
from dashboard.web.drawing.diff import difference
from dashboard.web.drawing.direction import TextReading
from dashboard.web.drawing.markup import EMPTY, trusted, untrusted, untrusted_as, untrusted_code
from dashboard.web.drawing.prettyjson import is_plain, on_a_line, pretty_json
from dashboard.web.drawing.summary import title_of
from dashboard.web.findings import SEVERITIES, draw_sentence
from dashboard.web.forms import LONGEST_REASON
from dashboard.web.http import PersonRequest
from dashboard.web.times import Moment, TimeLeft

_VERDICTS = {"approve": Status.APPROVED, "reject": Status.REJECTED}


class BulkForm(forms.Form):
    """One answer to many, with one reason."""

    verdict = forms.ChoiceField(choices=list(_VERDICTS.items()))
    reason = forms.CharField(max_length=LONGEST_REASON, required=False)
    end_seen = forms.CharField(max_length=3, required=False)

    @property
    def status(self) -> Status:
        """The status that the answer leads to."""
        return _VERDICTS[self.cleaned_data["verdict"]]

    @property
    def end_was_seen(self) -> str:
        """``"yes"`` if the end of the page was in sight, else empty."""
        return "yes" if self.cleaned_data["end_seen"] == "yes" else ""


def ids_in(address: QueryDict) -> list[UUID]:
    """Read the ids in an address; what is not an id is ignored."""
    field, ids = forms.UUIDField(required=False), list[UUID]()
    for text in address.getlist("id")[:MOST]:
        try:
            ids.append(field.clean(text))
        except forms.ValidationError:
            continue
    return [approval_id for approval_id in ids if approval_id]


_SALT = "approvals.bulk"

_HIDDEN = "Characters in it are hidden or look like others."

_MASKED = "Secrets in it are masked."

_MUCH = "Too much of it is different to be shown here."

_UNKNOWN = trusted("Unknown request")

_MOST_FOUND = 8

_MOST_NAMES, _MOST_COLUMNS = 40, 6
"""What a table of arguments holds; with more, each request is compared with the first."""


@dataclass(frozen=True, kw_only=True, slots=True)
class BulkItem:
    """One request among others that are like it.

    Attributes:
        sections: What is different from the first; empty for the first itself.
        objective: Drawn, also where there is none; None where it is that of the first.
        said: Where the rest of the evidence differs from the first.
        signed: What this page shows of it, signed, for the answer to bring along.
        cells: The name and the value of each argument that differs, where one table holds all.
    """

    id: UUID
    number: int
    asked: Moment
    left: TimeLeft
    sections: list[DiffSection]
    is_same: bool
    objective: SafeString | None
    said: list[DiffSection]
    signed: str
    cells: list[tuple[SafeString, SafeString]] = field(default_factory=list)


class LeftOut(NamedTuple):
    """A request that is answered alone: its title, and why."""

    id: UUID
    title: SafeString
    why: str


class Columns(NamedTuple):
    """The arguments of calls of one tool: the names of those that differ, and the others."""

    differing: list[SafeString]
    shared: list[SafeString]


@dataclass(frozen=True, kw_only=True, slots=True)
class Bulk:
    """Everything there is to read before answering many.

    Attributes:
        reading: The first of them in full, if there is any.
        tool: The tool that all of them call, as said; empty if they are no calls.
        columns: What their arguments are, where one table holds all of them.
        found: What our inspection found in the first: severity, its word, our sentence.
        reason_required: Whether the policy asks why they are approved.
    """

    first: JudgedRequest | None
    reading: RequestContent | None
    tool: SafeString
    columns: Columns | None
    items: list[BulkItem]
    left_out: list[LeftOut]
    found: list[tuple[str, str, SafeString]]
    reason_required: bool

    @property
    def basis(self) -> str:
        """Name these requests in their order, for what somebody wrote and ticked here."""
        return " ".join(str(item.id) for item in self.items)

    @property
    def objective(self) -> SafeString:
        """The purpose of the first, as it stands beside our words on those of others."""
        return _objective(self.reading) if self.reading else EMPTY

    @property
    def say_objective(self) -> bool:
        """Whether any of the others has a purpose of its own."""
        return any(item.objective is not None for item in self.items)


@dataclass(frozen=True, slots=True)
class SignedItem:
    """A request as our page showed it among others."""

    id: UUID
    basis: Basis
    shown: dict[str, Any]


class _Page(NamedTuple):
    """What all items of a page share."""

    first: JudgedRequest
    whole: RequestContent
    person: User
    now: datetime


def bulk_of(ids: Sequence[UUID], person: User, now: datetime, own_host: str) -> Bulk:
    """Draw requests to be answered together; those unlike the first are left out."""
    groups = bulk_rules.sort_out(ids, person, now)
    singles, items = list(groups.alone), list[BulkItem]()
    alike = list[JudgedRequest]()
    page: _Page | None = None
    for judged_request in groups.alike:
        reading = request_content(judged_request.approval, judged_request.judgement, own_host)
        parts = _parts(page.first, judged_request) if page else []
        evidence_parts = _said(page.first.approval, judged_request.approval) if page else []
        if reason := _why_alone(reading, parts + evidence_parts):
            singles.append(Alone(judged_request.approval.pk, reason))
            continue
        page = page or _Page(judged_request, reading, person, now)
        alike.append(judged_request)
        items.append(_bulk_item(judged_request, reading, parts, page, len(items) + 1))
    columns, rows = _table([judged_request.approval for judged_request in alike])
    items = [replace(item, cells=cells) for item, cells in zip(items, rows, strict=True)]
    return Bulk(
        first=page.first if page else None,
        reading=page.whole if page else None,
        tool=_tool(page.first.approval) if page else EMPTY,
        columns=columns,
        items=items,
        left_out=_left_out(singles),
        found=list(_found(page.first)) if page else [],
        reason_required=bool(page and demands_of(page.first.judgement).reason_required),
    )


def _tool(approval: ApprovalRequest) -> SafeString:
    is_call = approval.kind == Kind.TOOL_CALL
    return untrusted(parse_json(approval.content)["tool"]) if is_call else EMPTY


def _found(judged_request: JudgedRequest) -> Iterator[tuple[str, str, SafeString]]:
    findings = gravest(report_of(judged_request.judgement.inspection).findings, _MOST_FOUND)
    for finding in findings:
        yield str(finding.severity), SEVERITIES[finding.severity], draw_sentence(finding)


def _left_out(alone: Sequence[Alone]) -> list[LeftOut]:
    titles = _titles([single.id for single in alone])
    return [LeftOut(single.id, titles.get(single.id, _UNKNOWN), single.why) for single in alone]


def _titles(ids: Sequence[UUID]) -> dict[UUID, SafeString]:
    approvals = ApprovalRequest.objects.filter(pk__in=ids).select_related("headline")
    light = approvals.defer("content", "evidence", "objective")
    return {approval.pk: title_of(approval) for approval in light}


_Path = tuple[str, ...]
"""The names that lead to a value."""

_BREAKS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"

_NOT_GIVEN = trusted('<span class="member-empty">not given</span>')

_OUR_WORDS = (
    "not given",
    "It gives no objective",
    "It gives no objective. Request 1 does.",
    "(the same as 1)",
)
"""What stands where an argument or an objective is missing."""

_Cells = list[tuple[SafeString, SafeString]]


def _table(approvals: Sequence[ApprovalRequest]) -> tuple[Columns | None, list[_Cells]]:
    """Set the arguments of calls in columns, each value whole; only those that differ.

    There is a table only where it tells all that is different: each name stands for one value,
    and nothing differs besides the arguments.
    """
    none: list[_Cells] = [[] for _ in approvals]
    if not approvals or approvals[0].kind != Kind.TOOL_CALL:
        return None, none
    contents = [parse_json(approval.content) for approval in approvals]
    codes = [_code_places(content) for content in contents]
    calls = [dict(_leaves(content.pop("arguments"))) for content in contents]
    paths = list(dict.fromkeys(path for call in calls for path in call))
    differing = [path for path in paths if len({call.get(path) for call in calls}) > 1]
    tells_all = len(set(map(canonical_json, contents))) == 1
    is_clear = len(set(map(_name, paths))) == len(paths)
    is_small = len(paths) <= _MOST_NAMES and len(differing) <= _MOST_COLUMNS
    if not (tells_all and is_clear and is_small):
        return None, none
    shared = [
        untrusted_code(f"{_name(path)}={_beside_others(calls[0][path])}", TextReading.CODE)
        for path in paths
        if path not in differing
    ]
    names = [untrusted_code(_name(path), TextReading.CODE) for path in differing]
    rows = [
        [
            (name, _value(call[path], is_code=path in code) if path in call else _NOT_GIVEN)
            for name, path in zip(names, differing, strict=True)
        ]
        for call, code in zip(calls, codes, strict=True)
    ]
    return Columns(names, shared), rows


def _code_places(content: Mapping[str, Any]) -> frozenset[Place]:
    """Return where the texts stand that the page of a call reads as code."""
    parts = parts_of_call(content["tool"], content["arguments"])
    return frozenset(part.place for part in parts if part.is_code)


def _name(path: _Path) -> str:
    return ".".join(
        name if "." not in name and is_plain(name) else canonical_json(name) for name in path
    )


def _beside_others(text: str) -> str:
    """Write a value, given as JSON, on a line where others stand."""
    value = parse_json(text)
    return on_a_line(value) if isinstance(value, str) and not _is_json(value) else text


def _value(text: str, *, is_code: bool) -> SafeString:
    """Draw a value, given as JSON: a text without its quotes, unless it then reads as another.

    So does one with line breaks at its ends, which nobody sees, and one that reads like our words.
    Code and JSON keep the order of their source, as on the page of the request.
    """
    value = parse_json(text)
    if not isinstance(value, str) or _is_json(value) or value != value.strip(_BREAKS):
        return untrusted_code(text, TextReading.CODE)
    reading = TextReading.CODE if is_code else TextReading.PROSE
    return untrusted_as(text if _reads_like_ours(value) else value, reading)


def _reads_like_ours(text: str) -> bool:
    """Whether a text could be taken, by eye or by ear, for what we say in its place."""
    return _bare(text) in _OURS


def _bare(text: str) -> str:
    return _NO_LETTER.sub("", normalize("NFKC", text)).casefold()


_NO_LETTER = re.compile(r"\W+")
_OURS = frozenset(map(_bare, _OUR_WORDS))


def _is_json(text: str) -> bool:
    try:
        parse_json(text)
    except JsonError:
        return not text.strip()
    return True


def _leaves(value: Mapping[str, Any], before: _Path = ()) -> Iterator[tuple[_Path, str]]:
    """Yield each value that is not an object, as JSON, by the names that lead to it."""
    for key, inner in value.items():
        path = (*before, key)
        if isinstance(inner, Mapping) and inner:
            yield from _leaves(inner, path)
        else:
            yield path, canonical_json(inner)


def read_back(signed: str, person: User) -> SignedItem | None:
    """Read what our page said of one request to this person; None if it did not."""
    try:
        body = signing.loads(signed, salt=_SALT)
    except signing.BadSignature:
        return None
    if body["person"] != person.pk:
        return None
    return SignedItem(UUID(body["id"]), Basis(body["digest"], body["judgement"]), body["shown"])


def _why_alone(reading: RequestContent, parts: Sequence[DiffSection]) -> str:
    if reading.content.warnings:
        return _HIDDEN
    if reading.redacted:
        return _MASKED
    is_cut = reading.leaves_out or any(section.diff.left_out for section in parts)
    return _MUCH if is_cut or reading.is_long or not reading.is_whole else ""


def _parts(first: JudgedRequest, judged_request: JudgedRequest) -> list[DiffSection]:
    return list(diff_sections(first.approval.content, judged_request.approval.content))


def _bulk_item(
    judged_request: JudgedRequest,
    reading: RequestContent,
    parts: list[DiffSection],
    page: _Page,
    number: int,
) -> BulkItem:
    approval = judged_request.approval
    is_first = number == 1
    return BulkItem(
        id=approval.pk,
        number=number,
        asked=times.moment(approval.submitted_at, page.now),
        left=times.time_left(approval.submitted_at, approval.expires_at, page.now),
        sections=parts,
        is_same=not parts,
        objective=None if reading.objective == page.whole.objective else _objective(reading),
        said=[] if is_first else _said(page.first.approval, approval),
        signed=_sign(judged_request, reading, page.person, number),
    )


def _objective(reading: RequestContent) -> SafeString:
    is_ours = _reads_like_ours(strip_tags(reading.objective))
    return trusted(f"&quot;{reading.objective}&quot;") if is_ours else reading.objective


def _said(first: ApprovalRequest, other: ApprovalRequest) -> list[DiffSection]:
    """Show what else the agent says differently, and what it does not say of this one."""
    if first.evidence == other.evidence:
        return []
    old, new = (pretty_json(parse_json(approval.evidence)) for approval in (first, other))
    return [DiffSection("What else it says", difference(old, new, reading=TextReading.QUOTED))]


def _sign(
    judged_request: JudgedRequest, reading: RequestContent, person: User, number: int
) -> str:
    approval = judged_request.approval
    view = what_was_shown(str(approval.pk), reading.shown) or {}
    body = {
        "person": person.pk,
        "id": str(approval.pk),
        "digest": approval.digest,
        "judgement": judged_request.judgement.pk,
        "shown": {**view, "together": number, "as": "difference" if number > 1 else "whole"},
    }
    return signing.dumps(body, salt=_SALT, compress=True)


_INCOMPLETE = (
    "Your browser did not send all that the page showed, or the reason is too long. Nothing "
    "was recorded. Go back, load the page again and decide there."
)


class BulkOutcome(NamedTuple):
    """The result for one request: its status, or why nothing was recorded.

    Attributes:
        number: What the page called it, where perhaps not all were chosen.
    """

    id: UUID
    number: int
    title: SafeString
    status: str
    refusal: str


@require_safe
@for_reviewers
def bulk(request: PersonRequest) -> HttpResponse:
    """Show one in full, and what is different in the others."""
    bulk_view = bulk_of(ids_in(request.GET), request.user, database_now(), request.get_host())
    return render(request, "desk/bulk.html", {"bulk": bulk_view})


@require_POST
@for_reviewers
def decide_all(request: PersonRequest) -> HttpResponse:
    """Answer the chosen requests one by one, and show the result of each."""
    form = BulkForm(request.POST)
    tokens = request.POST.getlist("item")
    signed_items = [read_back(signed, request.user) for signed in tokens[:MOST]]
    if not form.is_valid() or len(tokens) > MOST or not all(signed_items):
        context = {"done": [], "problem": _INCOMPLETE}
        status = HTTPStatus.UNPROCESSABLE_ENTITY
        return render(request, "desk/bulk_done.html", context, status=status)
    items = [item for item in signed_items if item]
    titles = _titles([item.id for item in items])
    outcomes = [
        BulkOutcome(
            item.id,
            item.shown["together"],
            titles.get(item.id, _UNKNOWN),
            *_decide(request, form, item),
        )
        for item in items
    ]
    return render(request, "desk/bulk_done.html", {"done": outcomes, "word": form.status})


def _decide(request: PersonRequest, form: BulkForm, one: SignedItem) -> tuple[str, str]:
    """Return the status, or why nothing was recorded."""
    auth_method = auth(request)
    try:
        services.decide(
            approval_id=one.id,
            answer=services.ReviewerAnswer(
                auth=auth_method,
                reviewer=request.user,
                status=form.status,
                basis=one.basis,
                reason=form.cleaned_data["reason"],
                shown={**one.shown, "end_seen": form.end_was_seen},
                viewed=True,
            ),
        )
    except Refused as refusal:
        with suppress(NotFound):
            services.mark_viewed(approval_id=one.id, person=request.user, auth=auth_method)
        return "", str(refusal)
    return form.status, ""
