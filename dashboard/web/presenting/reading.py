"""What a request asks: the part of its page that never changes under the reader."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

from django.core import signing
from django.utils.safestring import SafeString

from dashboard.accounts.models import User
from dashboard.approvals.models import ApprovalRequest, Judgement
from dashboard.approvals.rules import likeness
from dashboard.approvals.rules import notebook as notebook_rules
from dashboard.approvals.rules.judgement import report_of
from dashboard.approvals.rules.view import TextPart, is_revealed, missing
from dashboard.inspection.findings import Report, Severity
from dashboard.web.presenting import coverage, words
from dashboard.web.presenting.coverage import Owed
from dashboard.web.presenting.findings import Found, found
from dashboard.web.rendering.code import RENDERER_VERSION
from dashboard.web.rendering.content import Content, render_content
from dashboard.web.rendering.evidence import EvidenceField, evidence_fields
from dashboard.web.rendering.links import NotebookLink, notebook_link
from dashboard.web.rendering.markup import theirs
from dashboard.web.rendering.masking import Known
from dashboard.web.rendering.memories import Approved
from dashboard.wire import Kind, parse_json

MOST_LINES = 100_000
"""What is longer nobody reads, so it is not served and cannot be approved in a browser."""

MOST_LINES_SAID = 5_000
"""Evidence that is longer is left out, and that is said."""

TOO_LONG = (
    "This has more lines than a page can show whole, and nobody should approve what nobody can "
    "read. Reject it and ask for less at once."
)
_MOST_WARNINGS = 20  # kept by name; so what a form brings along stays small
_SALT = "approvals.shown"
_BREAKS = {Kind.CODE: ("\\n",), Kind.MEMORY: ("\\n",)}
_BREAKS_OF_JSON = ("\\n", ",", "{", "[")


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """Everything there is to read before deciding.

    Attributes:
        wish: One sentence of ours about what the agent wants.
        before: For memory: the request that was approved last for the same one.
        evidence_left_out: Whether the agent says more than can be drawn.
        is_whole: Whether every line can be read, here or window by window.
        masks: Whether secrets are masked, if there are any.
        served: The parts of long texts that this page holds.
        owed: What of long texts was not served to this person yet.
        found: What our inspection found in it.
        shown: What this page displays, signed, for the decision to bring along.
    """

    wish: str
    heading: str
    content: Content
    before: ApprovalRequest | None
    is_whole: bool
    masks: bool
    served: list[TextPart]
    owed: list[Owed]
    found: Found
    objective: SafeString
    fields: list[EvidenceField]
    evidence_left_out: bool
    notebook_path: SafeString
    notebook: NotebookLink | None
    shown: str

    @property
    def is_long(self) -> bool:
        """Whether there is more than the page begins with."""
        return any(block.drawn < len(block.code.windows) for block in self.content.to_be_read)

    @property
    def unread(self) -> int:
        """How much was not served yet or is masked; 0 if everything is on the page or was."""
        return len(self.owed) + self.masked

    @property
    def masked(self) -> int:
        """How many places are masked."""
        return self.content.masked

    @property
    def says_something(self) -> bool:
        """Whether the agent gave any reason at all."""
        return self.says_more or bool(self.notebook_path or self.notebook)

    @property
    def says_more(self) -> bool:
        """Whether it says anything besides where its notebook is."""
        return bool(self.objective or self.fields) or self.evidence_left_out

    @property
    def leaves_out(self) -> bool:
        """Whether some of what the agent says is not drawn."""
        items = (item for field in self.fields for item in field.items)
        return self.evidence_left_out or any(item.left_out for item in items)


def read(
    approval: ApprovalRequest,
    judgement: Judgement,
    own_host: str,
    person: User | None = None,
    *,
    name: str = "",
) -> Reading:
    """Draw what an approval request says, for a page that ``own_host`` serves to a person.

    ``name`` is what the page is of, for its signature: the request, unless it says otherwise.
    What is not the request itself is drawn whole, for only the request is served in parts.
    """
    content = parse_json(approval.content)
    before = likeness.memory_approved_before(approval)
    masks = masks_for(approval, judgement, person)
    findings, drawn = contents(approval, judgement, before, masks=masks, is_whole=bool(name))
    served = coverage.parts_on_page(drawn)
    missing = _missing(approval, drawn, served, person)
    evidence = parse_json(approval.evidence)
    path, link = _notebook(evidence)
    left_out = _breaks(approval.evidence, _BREAKS_OF_JSON) >= MOST_LINES_SAID
    return Reading(
        wish=_wish(approval, content, drawn),
        heading=_heading(approval, drawn),
        content=drawn,
        before=before,
        is_whole=fits(approval),
        masks=masks,
        served=served,
        owed=coverage.owed(drawn, missing),
        found=findings,
        objective=Known(drawn.secrets).said(approval.objective),
        fields=[] if left_out else evidence_fields(evidence, drawn.secrets),
        evidence_left_out=left_out,
        notebook_path=theirs(path),
        notebook=notebook_link(link, own_host) if link else None,
        shown=_sign(name or str(approval.pk), _shown(drawn, findings, is_whole=fits(approval))),
    )


def fits(approval: ApprovalRequest) -> bool:
    """Say whether the content is short enough to be drawn whole, without drawing it."""
    return not too_long(Kind(approval.kind), approval.content)


def too_long(kind: Kind, content: str, most: int = MOST_LINES) -> bool:
    """Say whether canonical content has too many lines, without drawing it."""
    return _breaks(content, _BREAKS.get(kind, _BREAKS_OF_JSON)) >= most


def what_was_shown(name: str, signed: str) -> dict[str, Any] | None:
    """Return what a page said it displayed, or None if no page of ours said so of ``name``."""
    try:
        said = signing.loads(signed, salt=_SALT)
    except signing.BadSignature:
        return None
    return said["shown"] if said["id"] == name else None


def contents(
    approval: ApprovalRequest,
    judgement: Judgement,
    before: ApprovalRequest | None = None,
    *,
    masks: bool = False,
    is_whole: bool = False,
) -> tuple[Found, Content]:
    """Draw the content, in parts or whole, with marks where findings are, and list those."""
    drawn = _drawn(approval, before, masks=masks)
    laid = coverage.whole(drawn) if is_whole else coverage.laid_out(drawn, approval.pk)
    return found(report_of(judgement.inspection), laid)


def masks_for(approval: ApprovalRequest, judgement: Judgement, person: User | None) -> bool:
    """Say whether secrets are masked: until ``person`` had them shown, and where that is safe."""
    if not may_mask(report_of(judgement.inspection)):
        return False
    return person is None or not is_revealed(approval.pk, person.pk)


def masked_secrets(
    approval: ApprovalRequest, judgement: Judgement, person: User
) -> frozenset[str]:
    """Return what of a content is masked for ``person``, to be masked where it stands again."""
    masks = masks_for(approval, judgement, person)
    return contents(approval, judgement, masks=True)[1].secrets if masks else frozenset()


def may_mask(report: Report) -> bool:
    """Say whether nothing grave was found: a mask could hide just that."""
    return report.highest is not Severity.HIGH


def _missing(
    approval: ApprovalRequest, drawn: Content, served: list[TextPart], person: User | None
) -> list[TextPart]:
    texts = coverage.texts(drawn)
    if person is None or not texts:
        return []
    return [part for part in missing(approval.pk, person.pk, texts) if part not in served]


def _drawn(approval: ApprovalRequest, before: ApprovalRequest | None, *, masks: bool) -> Content:
    if not fits(approval):
        return Content([])
    last = parse_json(before.content) if before else {}
    approved = Approved(last.get("operation", ""), last.get("content"))
    return render_content(approval.kind, approval.content, approved, masks=masks)


def _breaks(text: str, marks: tuple[str, ...]) -> int:
    """Count what becomes a line when JSON is laid out: at most that many lines are drawn."""
    return sum(text.count(mark) for mark in marks)


def _wish(approval: ApprovalRequest, content: Any, drawn: Content) -> str:
    operation = content.get("operation") if approval.kind == Kind.MEMORY else ""
    languages = [block.language for block in drawn.blocks]
    return words.wish(Kind(approval.kind), languages=languages, operation=str(operation))


def _heading(approval: ApprovalRequest, drawn: Content) -> str:
    is_deletion = drawn.memory is not None and drawn.memory.is_deletion
    return words.FORGOTTEN if is_deletion else words.HEADINGS[Kind(approval.kind)]


def _notebook(evidence: dict[str, Any]) -> tuple[str, str]:
    """Take the path and the link of the notebook out of the evidence, where they are texts."""
    path, link = (evidence.get(name) for name in ("notebook_path", "notebook_link"))
    if isinstance(path, str):
        del evidence["notebook_path"]
    if isinstance(link, str):
        del evidence["notebook_link"]
    if notebook_rules.is_digest(evidence.get("notebook")):
        del evidence["notebook"]  # presenting.pinned says what became of it
    return path if isinstance(path, str) else "", link if isinstance(link, str) else ""


def _shown(drawn: Content, findings: Found, *, is_whole: bool) -> dict[str, Any]:
    warnings = drawn.warnings
    views = "\n".join(f"{block.code.digest}{block.code.masked}" for block in drawn.blocks)
    return {
        "renderer": RENDERER_VERSION,
        "view": hashlib.sha256(views.encode()).hexdigest(),
        "lines": drawn.lines,
        "whole": is_whole,
        "texts": coverage.texts(drawn),
        "masked": drawn.masked,
        "warnings": warnings[:_MOST_WARNINGS],
        "warning_count": len(warnings),
        "inspector": findings.inspector,
        "findings": findings.shown,
        "finding_count": len(findings.shown) + findings.more,
    }


def _sign(name: str, shown: dict[str, Any]) -> str:
    return signing.dumps({"id": name, "shown": shown}, salt=_SALT, compress=True)
