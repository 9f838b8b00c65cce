"""Requests that are alike, on one page: one in full, and what is different in the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from django.core import signing
from django.utils.safestring import SafeString

from dashboard.accounts.models import User
from dashboard.approvals.models import ApprovalRequest
from dashboard.approvals.rules import bulk as bulk_rules
from dashboard.approvals.rules.bulk import Alone, JudgedRequest
from dashboard.approvals.rules.judgement import demands_of
from dashboard.approvals.services import Basis
from dashboard.web.presenting import chain, times
from dashboard.web.presenting.chain import Section
from dashboard.web.presenting.difference import difference
from dashboard.web.presenting.reading import Reading, read, what_was_shown
from dashboard.web.presenting.times import Moment, TimeLeft
from dashboard.web.rendering.prettyjson import pretty_json
from dashboard.wire import parse_json

_SALT = "approvals.bulk"
_HIDDEN = "Characters in it are hidden or look like others."
_MASKED = "Secrets in it are masked."
_MUCH = "Too much of it is different to be shown here."


@dataclass(frozen=True, kw_only=True, slots=True)
class Item:
    """One request among others that are like it.

    Attributes:
        sections: What is different from the first; empty for the first itself.
        objective: Drawn, where it is not that of the first; the agent's voice.
        said: What else the agent says of it and not of the first, and the other way round.
        signed: What this page shows of it, signed, for the answer to bring along.
    """

    id: UUID
    number: int
    asked: Moment
    left: TimeLeft
    sections: list[Section]
    is_same: bool
    objective: SafeString
    said: list[Section]
    signed: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Bulk:
    """Everything there is to read before answering many.

    Attributes:
        reading: The first of them in full, if there is any.
        reason_required: Whether the policy asks why they are approved.
    """

    first: JudgedRequest | None
    reading: Reading | None
    items: list[Item]
    alone: list[Alone]
    reason_required: bool


@dataclass(frozen=True, slots=True)
class Shown:
    """A request as our page showed it among others."""

    id: UUID
    basis: Basis
    shown: dict[str, Any]


class _Page(NamedTuple):
    """What all items of a page share."""

    first: JudgedRequest
    whole: Reading
    person: User
    now: datetime


def bulk(ids: Sequence[UUID], person: User, now: datetime, own_host: str) -> Bulk:
    """Draw requests for an answer to all of them; what is not like the first is left out."""
    found = bulk_rules.sort_out(ids, person, now)
    alone, items = list(found.alone), list[Item]()
    page: _Page | None = None
    for one in found.alike:
        reading = read(one.approval, one.judgement, own_host)
        parts = _parts(page.first, one) if page else []
        said = _said(page.first.approval, one.approval) if page else []
        if why := _why_alone(reading, parts + said):
            alone.append(Alone(one.approval.pk, why))
            continue
        page = page or _Page(one, reading, person, now)
        items.append(_item(one, reading, parts, page, len(items) + 1))
    return Bulk(
        first=page.first if page else None,
        reading=page.whole if page else None,
        items=items,
        alone=alone,
        reason_required=bool(page and demands_of(page.first.judgement).reason_required),
    )


def read_back(signed: str, person: User) -> Shown | None:
    """Read what our page said of one request to this person; None if it did not."""
    try:
        said = signing.loads(signed, salt=_SALT)
    except signing.BadSignature:
        return None
    if said["person"] != person.pk:
        return None
    return Shown(UUID(said["id"]), Basis(said["digest"], said["judgement"]), said["shown"])


def _why_alone(reading: Reading, parts: Sequence[Section]) -> str:
    if reading.content.warnings:
        return _HIDDEN
    if reading.masked:
        return _MASKED
    is_cut = reading.leaves_out or any(section.diff.left_out for section in parts)
    return _MUCH if is_cut or reading.is_long or not reading.is_whole else ""


def _parts(first: JudgedRequest, one: JudgedRequest) -> list[Section]:
    return list(chain.sections(first.approval.content, one.approval.content))


def _item(
    one: JudgedRequest, reading: Reading, parts: list[Section], page: _Page, number: int
) -> Item:
    approval = one.approval
    is_first = number == 1
    return Item(
        id=approval.pk,
        number=number,
        asked=times.moment(approval.submitted_at, page.now),
        left=times.time_left(approval.submitted_at, approval.expires_at, page.now),
        sections=parts,
        is_same=not parts,
        objective=SafeString("")
        if reading.objective == page.whole.objective
        else reading.objective,
        said=[] if is_first else _said(page.first.approval, approval),
        signed=_sign(one, reading, page.person, number),
    )


def _said(first: ApprovalRequest, other: ApprovalRequest) -> list[Section]:
    """Show what else the agent says differently, and what it does not say of this one."""
    if first.evidence == other.evidence:
        return []
    old, new = (pretty_json(parse_json(one.evidence)) for one in (first, other))
    return [Section("What else it says", difference(old, new))]


def _sign(one: JudgedRequest, reading: Reading, person: User, number: int) -> str:
    approval = one.approval
    shown = what_was_shown(str(approval.pk), reading.shown) or {}
    said = {
        "person": person.pk,
        "id": str(approval.pk),
        "digest": approval.digest,
        "judgement": one.judgement.pk,
        "shown": {**shown, "together": number, "as": "difference" if number > 1 else "whole"},
    }
    return signing.dumps(said, salt=_SALT, compress=True)
