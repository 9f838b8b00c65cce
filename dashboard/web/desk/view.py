"""What a person is shown of a request, what they have seen of it, and who is viewing it now."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby
from operator import itemgetter
from typing import Any
from uuid import UUID

from django.core import signing
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_POST

from approval_client.wire import parse_json
from dashboard.accounts.models import User
from dashboard.approvals import services
from dashboard.approvals.models import ApprovalRequest, Judgement
from dashboard.approvals.rules.judgement import grounds_of, report_of
from dashboard.approvals.rules.view import (
    ServedText,
    TextPart,
    is_revealed,
    masks_that_count,
    missing,
    presence,
)
from dashboard.clock import database_now
from dashboard.policies.rules.demands import Required
from dashboard.web.access import auth, for_readers
from dashboard.web.content import ApprovedMemory, Content, fits, may_redact, render_content
from dashboard.web.drawing.blocks import ContentBlock
from dashboard.web.drawing.windows import CHARACTERS, LINES, Window, is_small
from dashboard.web.findings import Found, found
from dashboard.web.http import PersonRequest

AT_ONCE, CHARACTERS_AT_ONCE = 2 * LINES, 2 * CHARACTERS
"""How many lines and characters a page begins with, however many texts there are."""


@dataclass(frozen=True, slots=True)
class Unread:
    """Parts of one text that were not served yet, one after the other. ``words`` are ours."""

    words: str
    href: str
    parts: int


def laid_out(content: Content, approval_id: UUID) -> Content:
    """Say of each text how many of its windows the page begins with, and where the others are."""
    reader = reverse("web:reader", args=[approval_id])
    lines_left, chars_left, blocks = AT_ONCE, CHARACTERS_AT_ONCE, []
    for block in content.blocks:
        count = 1 if min(lines_left, chars_left) > 0 or is_small(block.text) or block.is_raw else 0
        window = block.code.windows[0]
        if count and not block.is_raw:
            lines_left -= window.last - window.first + 1
            chars_left -= window.end - window.start
        count = len(block.code.windows) if _is_compared(content, block) else count
        blocks.append(replace(block, href=reader, drawn=count))
    return replace(content, blocks=blocks)


def laid_out_whole(content: Content) -> Content:
    """Have the page begin with every window of every text."""
    blocks = [replace(block, drawn=len(block.code.windows)) for block in content.blocks]
    return replace(content, blocks=blocks)


def texts_in_parts(content: Content) -> list[ServedText]:
    """Return the texts that the page does not hold whole: each is served in parts."""
    return [ServedText(block.code.digest, len(block.code.windows)) for block in _in_parts(content)]


def parts_on_page(content: Content) -> list[TextPart]:
    """Return the parts that the page begins with, of texts that it does not hold whole."""
    return [
        part
        for block in _in_parts(content)
        for window in block.code.windows[: block.drawn]
        for part in parts_served(block, window)
    ]


def parts_served(block: ContentBlock, window: Window) -> list[TextPart]:
    """Return the part in a window; none if something in it is redacted that has to be read."""
    inside = (
        run for run in block.code.redacted if run.start < window.end and window.start < run.end
    )
    if not all(block.holds_token(run) for run in inside):
        return []
    return [TextPart(block.code.digest, window.number)]


def unread(content: Content, unread_parts: Collection[TextPart]) -> list[Unread]:
    """Say what is unread in words, neighbours together."""
    parts, is_one = frozenset(unread_parts), len(content.to_be_read) == 1
    return [gap for block in _in_parts(content) for gap in _unread_of(block, parts, is_one=is_one)]


def _in_parts(content: Content) -> list[ContentBlock]:
    return [block for block in content.to_be_read if block.drawn < len(block.code.windows)]


def _is_compared(content: Content, block: ContentBlock) -> bool:
    """Whether a comparison of memories draws all of its lines."""
    memory = content.memory
    if memory is None or memory.compared is None:
        return False
    return block.number in (memory.content, memory.existing or memory.content)


def _unread_of(
    block: ContentBlock, unread_parts: Collection[TextPart], *, is_one: bool
) -> Iterator[Unread]:
    windows = [
        w for w in block.code.windows if TextPart(block.code.digest, w.number) in unread_parts
    ]
    # Consecutive numbers keep their distance to their position.
    for _, group in groupby(enumerate(windows), lambda one: one[1].number - one[0]):
        together = list(map(itemgetter(1), group))
        first_window, last_window = together[0], together[-1]
        text = "" if is_one else f"Text {block.number + 1}, "
        words = f"{text}{line_range(first_window.first, last_window.last)}"
        href = f"{block.href}?block={block.number}&part={first_window.number}"
        yield Unread(words, href, len(together))


def line_range(start: int, end: int) -> str:
    """Name lines."""
    return f"line {start:,}" if start == end else f"lines {start:,} to {end:,}"


_SALT = "approvals.shown"


def what_was_shown(name: str, signed: str) -> dict[str, Any] | None:
    """Return what the page ``name`` displayed; None if the signature is not ours."""
    try:
        payload = signing.loads(signed, salt=_SALT)
    except signing.BadSignature:
        return None
    return payload["shown"] if payload["id"] == name else None


def drawn_content(
    approval: ApprovalRequest,
    judgement: Judgement,
    earlier: ApprovalRequest | None = None,
    *,
    redacts: bool = False,
    is_whole: bool = False,
) -> tuple[Found, Content]:
    """Draw the content, in parts or whole, with marks where findings are, and list those."""
    content = _drawn(approval, earlier, redacts=redacts)
    laid = laid_out_whole(content) if is_whole else laid_out(content, approval.pk)
    grounds = grounds_of(judgement)
    tool_class = grounds.tool_class if grounds else ""
    return found(report_of(judgement.inspection), laid, tool_class)


def drawn_for(
    approval: ApprovalRequest,
    judgement: Judgement,
    person: User | None,
    earlier: ApprovalRequest | None,
    *,
    is_whole: bool,
) -> tuple[bool, tuple[Found, Content]]:
    """Draw the content for a person, and say whether secrets in it are redacted for them."""

    def draw(*, redacts: bool) -> tuple[Found, Content]:
        return drawn_content(approval, judgement, earlier, redacts=redacts, is_whole=is_whole)

    redacts = may_redact(report_of(judgement.inspection))
    drawing = draw(redacts=redacts)
    # Few contents hold a secret, and only of those somebody may have had it shown.
    has_some = redacts and (drawing[1].redacted or drawing[1].secrets)
    if has_some and person and is_revealed(approval.pk, person.pk):
        return False, draw(redacts=False)
    return redacts, drawing


def redacts_for(approval: ApprovalRequest, judgement: Judgement, person: User | None) -> bool:
    """Say whether secrets are redacted: until ``person`` reveals them, and where that is safe."""
    if not may_redact(report_of(judgement.inspection)):
        return False
    return person is None or not is_revealed(approval.pk, person.pk)


def redacted_secrets(
    approval: ApprovalRequest, judgement: Judgement, person: User
) -> frozenset[str]:
    """Return the secrets that are redacted for ``person``, to redact them elsewhere too."""
    redacts = redacts_for(approval, judgement, person)
    return drawn_content(approval, judgement, redacts=True)[1].secrets if redacts else frozenset()


def masks_to_reveal(content: Content, required: Required) -> int:
    """Return how many masks somebody has to reveal before their approval counts."""
    return masks_that_count(content.redacted, content.redacted_tokens, required)


def parts_missing(
    approval: ApprovalRequest, content: Content, served: list[TextPart], person: User | None
) -> list[TextPart]:
    """Return the parts that were not served to ``person``, neither before nor in ``served``."""
    texts = texts_in_parts(content)
    if person is None or not texts:
        return []
    return [part for part in missing(approval.pk, person.pk, texts) if part not in served]


def _drawn(
    approval: ApprovalRequest, earlier: ApprovalRequest | None, *, redacts: bool
) -> Content:
    if not fits(approval):
        return Content([])
    earlier_content = parse_json(earlier.content) if earlier else {}
    approved = ApprovedMemory(earlier_content.get("operation", ""), earlier_content.get("content"))
    return render_content(approval.kind, approval.content, approved, redacts=redacts)


def signed_view(name: str, view: dict[str, Any]) -> str:
    """Sign what the page called ``name`` displays; ``what_was_shown`` reads it back."""
    return signing.dumps({"id": name, "shown": view}, salt=_SALT, compress=True)


def viewers_of(approval_id: UUID, person: User, now: datetime) -> str:
    """Say who else has a request open."""
    return viewing_now(presence([approval_id], person, now).viewing.get(approval_id, []))


def viewing_now(names: Sequence[str]) -> str:
    """Say that these people are viewing the request."""
    if not names:
        return ""
    *heads, tail = names
    return f"{', '.join(heads)} and {tail} are viewing" if heads else f"{tail} is viewing"


@require_POST
@for_readers
def seen(request: PersonRequest, approval_id: UUID) -> HttpResponse:
    """Record that the person sees the request, and show who else does."""
    services.mark_viewed(approval_id=approval_id, person=request.user, auth=auth(request))
    services.note_viewing(approval_id=approval_id, person=request.user)
    viewing = viewers_of(approval_id, request.user, database_now())
    return render(request, "desk/_viewing.html", {"viewing": viewing})
