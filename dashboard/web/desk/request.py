"""The page of a request: its content, which never changes, and its state, which follows events."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import wraps
from html import unescape
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils.html import strip_tags
from django.utils.safestring import SafeString
from django.views.decorators.http import require_POST, require_safe
from django_htmx.http import HttpResponseClientRedirect

from approval_client.wire import Kind, Status, parse_json
from dashboard.accounts import roles
from dashboard.accounts.models import User
from dashboard.accounts.services.passkeys import why_none_counts
from dashboard.approvals import services
from dashboard.approvals.errors import (
    AssignedToAnother,
    NotFound,
    Refused,
    SignatureMissing,
    StaleBasis,
    StepsUncounted,
    Stopped,
)
from dashboard.approvals.models import ApprovalRequest, Edit, Judgement
from dashboard.approvals.queries.hold import active_hold, stop_in
from dashboard.approvals.queries.queue import waiting
from dashboard.approvals.rules import likeness
from dashboard.approvals.rules import notebook as notebook_rules
from dashboard.approvals.rules.answer import why_not_count
from dashboard.approvals.rules.judgement import demands_of, report_of
from dashboard.approvals.rules.queue import PersonalQueue, was_abandoned
from dashboard.approvals.rules.snooze import snoozed_by
from dashboard.approvals.rules.step import count_of_steps
from dashboard.approvals.rules.view import TextPart
from dashboard.clock import now_in
from dashboard.policies.rules.demands import Required
from dashboard.web import times, words
from dashboard.web.access import for_readers, is_in_sight
from dashboard.web.content import TOO_LONG, Content, fits, lines_of_json
from dashboard.web.desk.answer import (
    PRESETS,
    RepeatOffer,
    RequestResult,
    VoteProgress,
    repeat_offer,
    result_of,
    status_of_refusal,
    vote_progress,
)
from dashboard.web.desk.assignment import AssignmentPanel, assignment_panel
from dashboard.web.desk.editor import why_no_editor
from dashboard.web.desk.evidence import EvidenceField, evidence_fields
from dashboard.web.desk.grant import GrantOffer, grant_offer, runnable_steps
from dashboard.web.desk.judgement import JudgementView, judgement_view, last_judgement
from dashboard.web.desk.likeness import earlier_request
from dashboard.web.desk.notebook import pinned_notebook
from dashboard.web.desk.queue import listing_of, queue_of, tab_of
from dashboard.web.desk.signature import to_sign
from dashboard.web.desk.step import confirm_page
from dashboard.web.desk.view import (
    Unread,
    drawn_for,
    masks_to_reveal,
    parts_missing,
    parts_on_page,
    signed_view,
    texts_in_parts,
    unread,
)
from dashboard.web.drawing.code import RENDERER_VERSION
from dashboard.web.drawing.links import NotebookLink, notebook_link
from dashboard.web.drawing.markup import untrusted
from dashboard.web.drawing.redaction import KnownSecrets
from dashboard.web.drawing.summary import title_of
from dashboard.web.findings import Found
from dashboard.web.http import PersonRequest, SeeOther
from dashboard.web.times import Moment, TimeLeft

MOST_LINES_SAID = 5_000
"""Evidence that is longer is left out, and that is said."""

_LINE = 60  # characters of an objective that need no unfolding

_MOST_WARNINGS = 20  # kept by name; so what a form brings along stays small


@dataclass(frozen=True, kw_only=True, slots=True)
class RequestContent:
    """Everything there is to read before deciding.

    Attributes:
        title: What it is and what it does; what the agent chose in it is drawn as said.
        own_title: The same in our words alone, for a window's title, which draws nothing.
        before: For memory: the request that was approved last for the same one.
        evidence_left_out: Whether the agent says more than can be drawn.
        is_whole: Whether every line can be read, here or window by window.
        redacts: Whether secrets are redacted, if there are any.
        served: The parts of long texts that this page holds.
        owed: What of long texts was not served to this person yet.
        found: What our inspection found in it.
        shown: What this page displays, signed, for the decision to bring along.
    """

    title: SafeString
    own_title: str
    heading: str
    content: Content
    before: ApprovalRequest | None
    is_whole: bool
    redacts: bool
    served: list[TextPart]
    owed: list[Unread]
    to_reveal: int
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
        """How much was not served yet or has to be revealed; 0 if nothing is left to read."""
        return len(self.owed) + self.to_reveal

    @property
    def redacted(self) -> int:
        """How many places are redacted."""
        return self.content.redacted

    @property
    def is_brief(self) -> bool:
        """Whether all of the objective fits on two lines, even on a phone."""
        return len(strip_tags(self.objective)) <= _LINE and "\n" not in self.objective

    @property
    def says_something(self) -> bool:
        """Whether the agent says anything besides its objective."""
        return self.says_more or bool(self.notebook_path or self.notebook)

    @property
    def says_more(self) -> bool:
        """Whether it says anything besides its objective and where its notebook is."""
        return bool(self.fields) or self.evidence_left_out

    @property
    def leaves_out(self) -> bool:
        """Whether some of what the agent says is not drawn."""
        items = (item for field in self.fields for item in field.items)
        return self.evidence_left_out or any(item.left_out for item in items)


def request_content(
    approval: ApprovalRequest,
    judgement: Judgement,
    own_host: str,
    person: User | None = None,
    *,
    name: str = "",
    required: Required | None = None,
) -> RequestContent:
    """Draw what an approval request says, for a page that ``own_host`` serves to a person.

    ``name`` is what the page is of, for its signature: the request, unless it says otherwise.
    ``required`` is what is demanded of who approves it, if that is not what the judgement says.
    What is not the request itself is drawn whole, for only the request is served in parts.
    """
    memory = likeness.memory_approved_before(approval)
    redacts, (findings, page_content) = drawn_for(
        approval, judgement, person, memory, is_whole=bool(name)
    )
    served_parts = parts_on_page(page_content)
    missing_parts = parts_missing(approval, page_content, served_parts, person)
    evidence = parse_json(approval.evidence)
    path, link = _notebook(evidence)
    left_out = lines_of_json(approval.evidence) >= MOST_LINES_SAID
    title = title_of(approval)
    return RequestContent(
        title=title,
        own_title=_own_title(approval, title),
        heading=_heading(approval, page_content),
        content=page_content,
        before=memory,
        is_whole=fits(approval),
        redacts=redacts,
        served=served_parts,
        owed=unread(page_content, missing_parts),
        to_reveal=masks_to_reveal(page_content, required or demands_of(judgement)),
        found=findings,
        objective=KnownSecrets(page_content.secrets).draw(approval.objective),
        fields=[] if left_out else evidence_fields(evidence, page_content.secrets),
        evidence_left_out=left_out,
        notebook_path=untrusted(path),
        notebook=notebook_link(link, own_host) if link else None,
        shown=signed_view(
            name or str(approval.pk), _shown(page_content, findings, is_whole=fits(approval))
        ),
    )


def _own_title(approval: ApprovalRequest, sentence: SafeString) -> str:
    if "<" in sentence:
        return f"{words.KINDS[Kind(approval.kind)]} from {approval.agent.name}"
    return unescape(sentence)


def _heading(approval: ApprovalRequest, content: Content) -> str:
    heading = words.HEADINGS[Kind(approval.kind)]
    return words.MEMORY_HEADINGS.get(content.memory.effect, heading) if content.memory else heading


def _notebook(evidence: dict[str, Any]) -> tuple[str, str]:
    """Take the path and the link of the notebook out of the evidence, where they are texts."""
    path, link = (evidence.get(name) for name in ("notebook_path", "notebook_link"))
    if isinstance(path, str):
        del evidence["notebook_path"]
    if isinstance(link, str):
        del evidence["notebook_link"]
    if notebook_rules.is_digest(evidence.get("notebook")):
        del evidence["notebook"]  # desk.notebook says what became of it
    return path if isinstance(path, str) else "", link if isinstance(link, str) else ""


def _shown(content: Content, findings: Found, *, is_whole: bool) -> dict[str, Any]:
    warnings = content.warnings
    views = "\n".join(f"{block.code.digest}{block.code.redacted}" for block in content.blocks)
    return {
        "renderer": RENDERER_VERSION,
        "view": hashlib.sha256(views.encode()).hexdigest(),
        "lines": content.lines,
        "whole": is_whole,
        "texts": texts_in_parts(content),
        "masked": content.redacted,
        "masked_tokens": content.redacted_tokens,
        "warnings": warnings[:_MOST_WARNINGS],
        "warning_count": len(warnings),
        "inspector": findings.inspector,
        "findings": findings.shown,
        "finding_count": len(findings.shown) + findings.more,
    }


@dataclass(frozen=True, slots=True)
class ProposedEdit:
    """An edit that waits for approval."""

    id: int
    by: str
    at: Moment


@dataclass(frozen=True, kw_only=True, slots=True)
class EditOffer:
    """What is offered beside Approve and Reject.

    Attributes:
        word: What the way to the editor is called; empty if there is none.
        proposed: What was written already, the newest first.
        steps: How many steps can be answered each on its own; 0 if none can.
        part_needs_another: Whether somebody else has to approve a part of the plan.
        accepts: Whether the agent takes a changed content.
        runs: Which steps may be allowed to run when they are asked exactly so, in words.
    """

    word: str
    proposed: list[ProposedEdit]
    steps: int
    part_needs_another: bool
    accepts: bool
    runs: str


def edit_offer(
    approval: ApprovalRequest, judgement: Judgement, person: User, at: datetime
) -> EditOffer:
    """Return the edits that ``person``, a reviewer, can make and those that exist."""
    is_plan = approval.kind == Kind.PLAN
    report = report_of(judgement.inspection)
    return EditOffer(
        word="" if why_no_editor(approval) else _word(approval),
        proposed=[_proposed(edit, person, at) for edit in list(approval.edits.all())[::-1]],
        steps=count_of_steps(approval.content) if is_plan and fits(approval) else 0,
        part_needs_another=not demands_of(judgement).editor_may_approve,
        accepts=approval.accepts_edits,
        runs=runnable_steps(
            approval, approval.content, demands_of(judgement), report, person=person
        ),
    )


def _word(approval: ApprovalRequest) -> str:
    return "Edit" if approval.accepts_edits else "Replacement"


def _proposed(edit: Edit, person: User, at: datetime) -> ProposedEdit:
    by = "you" if edit.edited_by_id == person.pk else edit.edited_by.username
    return ProposedEdit(edit.pk, by, times.moment(edit.edited_at, at))


_LOOKS_AHEAD = 50


SIGNED = "The policy requires your passkey to sign this."
_READER = "You can read this. Only reviewers decide; an admin can make you one."


@dataclass(frozen=True, kw_only=True, slots=True)
class RequestState:
    """Whether the request is open, what the person may do, and how it ended.

    Attributes:
        why_not_approve: Why Approve is not offered; empty if it is.
        progress: Who approved so far, where several have to.
        required: What the policy asks of who approves.
        edit_offer: The edits that can be made; None for people who may not decide.
        grant_offer: How this approval can be remembered; None if it cannot.
        assignment: Who is assigned to it, while it is open.
        repeat_offer: An earlier answer to the same content that can be given again.
        stamp: Changes whenever anything that is shown here does.
        next_id: The next request to read, if any.
    """

    status: str
    status_word: str
    asked: Moment
    left: TimeLeft | None
    is_abandoned: bool
    judgement: JudgementView
    may_decide: bool
    why_not_approve: str
    progress: VoteProgress | None
    required: Required
    edit_offer: EditOffer | None
    grant_offer: GrantOffer | None
    assignment: AssignmentPanel | None
    repeat_offer: RepeatOffer | None
    judgement_id: int
    result: RequestResult | None
    stamp: str
    next_id: UUID | None

    @property
    def presets(self) -> list[tuple[str, str]]:
        """Reasons for a rejection that are one press."""
        return PRESETS

    @property
    def asks_for_the_end(self) -> bool:
        """Whether the form has to ask, without script, if the reader read to the end."""
        has_voted = self.progress is not None and bool(self.progress.mine)
        return self.required.whole_content and not self.why_not_approve and not has_voted


def state_of(
    approval: ApprovalRequest,
    person: User,
    now: datetime,
    form: Mapping[str, Any] | None = None,
    *,
    own: PersonalQueue | None = None,
    among_snoozed: bool = False,
) -> RequestState:
    """Say where ``approval``, read with ``whole()``, stands for ``person``.

    ``form`` is the form that they sent, if it was refused: what they chose stays. ``own`` is
    their queue, where it was read before. ``among_snoozed`` is set where they work through what
    they snoozed.
    """
    stop = stop_in(approval)
    judgement, is_open = last_judgement(approval), approval.status == Status.PENDING
    required = demands_of(judgement)
    may_decide = is_open and roles.may_decide(person)
    why_not = _why_not(approval, required, person, now, stop=stop) if is_open else ""
    is_abandoned = was_abandoned(approval, now)
    ended = result_of(approval, person, now, stop=stop)
    progress = vote_progress(approval, required, person, now) if is_open else None
    may_yes = may_decide and not why_not
    presence = own.presence if own else None
    panel = is_open and assignment_panel(
        approval, required, person, now, known_presence=presence, may_act=may_decide
    )
    is_done = bool((progress and progress.mine) or (panel and panel.snoozed_until))
    goes_on = is_done or not may_decide
    status, word = words.standing(approval)
    why_stopped = stop.why if stop else ""
    stamp: tuple[object, ...] = (approval.version, judgement.pk, why_stopped)
    stamp = (*stamp, may_decide, why_not, progress, is_abandoned)
    return RequestState(
        status=status,
        status_word=word,
        asked=times.moment(approval.submitted_at, now),
        left=_left(approval, now) if is_open else None,
        is_abandoned=is_abandoned,
        judgement=judgement_view(approval, list(approval.judgements.all())),
        may_decide=may_decide,
        why_not_approve=why_not,
        progress=progress,
        required=required,
        edit_offer=edit_offer(approval, judgement, person, now) if may_decide else None,
        grant_offer=grant_offer(approval, judgement, person, form) if may_yes else None,
        assignment=panel or None,
        repeat_offer=_repeat_offer(approval, person, now, may_yes=may_yes) if may_decide else None,
        judgement_id=judgement.pk,
        result=ended,
        stamp=_stamp(*stamp, panel and panel.stamp, ended and _stamp_of(ended)),
        next_id=_next(approval, person, now, among_snoozed=among_snoozed) if goes_on else None,
    )


def _left(approval: ApprovalRequest, now: datetime) -> TimeLeft:
    return times.time_left(approval.submitted_at, approval.expires_at, now)


def _repeat_offer(
    approval: ApprovalRequest, person: User, now: datetime, *, may_yes: bool
) -> RepeatOffer | None:
    again = repeat_offer(approval, last_judgement(approval), person, now)
    return again if again and (may_yes or not again.is_yes) else None


def _why_not(
    approval: ApprovalRequest,
    required: Required,
    person: User,
    now: datetime,
    *,
    stop: Stopped | None,
) -> str:
    if not roles.may_decide(person):
        return _READER
    if why_not := why_not_count(approval, required, person, now):
        return f"{why_not} You can still reject it."
    if not fits(approval):
        return TOO_LONG
    if required.proof and (why_not := why_none_counts(person, now)):
        return f"{SIGNED} {why_not} You can still reject it."
    return f"{stop.why} You can still reject." if stop else ""


def _stamp_of(ended: RequestResult) -> tuple[object, ...]:
    return ended.since, ended.grant, ended.recall, ended.may_recall


def _stamp(*shown: object) -> str:
    return hashlib.sha256(repr(shown).encode()).hexdigest()[:16]


def _next(
    approval: ApprovalRequest, person: User, now: datetime, *, among_snoozed: bool
) -> UUID | None:
    """Return the most urgent request that this person can still answer and an agent waits for."""
    queue, snoozed = waiting(now).exclude(pk=approval.pk), snoozed_by(person, now)
    queue = queue.filter(pk__in=snoozed) if among_snoozed else queue.exclude(pk__in=snoozed)
    ahead = queue.exclude(votes__person=person).select_related("agent__webhook")
    ahead = ahead.defer("content", "evidence", "objective")
    candidates = list(ahead[:_LOOKS_AHEAD])
    waits = (candidate.pk for candidate in candidates if not was_abandoned(candidate, now))
    return next(waits, candidates[0].pk if candidates else None)


@require_safe
@for_readers
def show(request: PersonRequest, approval_id: UUID) -> HttpResponse:
    """Show a request in full."""
    approval = services.current(approval_id)
    return request_page(request, approval)


@require_safe
@for_readers
def show_state(request: PersonRequest, approval_id: UUID) -> HttpResponse:
    """Show what of a request may have changed: its status line and the decision bar."""
    approval = services.current(approval_id)
    return state_bar(request, approval)


def request_page(
    request: PersonRequest,
    approval: ApprovalRequest,
    status: int = 200,
    refusal: Refused | None = None,
) -> HttpResponse:
    """Answer with the page of a request, and why an answer to it was refused.

    Where the list is there already, the answer is the pane beside it alone.
    """
    reading = request_content(approval, last_judgement(approval), request.get_host(), request.user)
    if reading.served and is_in_sight(request):
        services.note_served(approval_id=approval.pk, person=request.user, parts=reading.served)
    now = now_in(approval)
    own_queue = None if request.htmx.target == "pane" else queue_of(request.user)
    state = _context(request, approval, refusal, own_queue)
    past_request = earlier_request(approval, request.user, now, redacts=reading.redacts)
    about = {"before": past_request, "pinned": pinned_notebook(approval, now)}
    context = {**state, **about, "reading": reading}
    if own_queue is None:
        return render(request, "desk/_opened.html", context, status=status)
    context["listing"] = listing_of(request, own_queue)
    return render(request, "desk/request.html", context, status=status)


def state_bar(
    request: PersonRequest,
    approval: ApprovalRequest,
    status: int = 200,
    refusal: Refused | None = None,
) -> HttpResponse:
    """Answer with the part of the page that follows events."""
    state = _context(request, approval, refusal)
    return render(request, "desk/_state.html", state, status=status)


def _context(
    request: PersonRequest,
    approval: ApprovalRequest,
    refusal: Refused | None,
    personal: PersonalQueue | None = None,
) -> dict[str, Any]:
    form = request.POST if refusal else None
    among_snoozed = tab_of(request) == "snoozed"
    now = now_in(approval)
    return {
        "approval": approval,
        "hold": active_hold() if vars(approval)["held"] else None,
        "state": state_of(
            approval, request.user, now, form, own=personal, among_snoozed=among_snoozed
        ),
        "refusal": "" if isinstance(refusal, SignatureMissing) else str(refusal or ""),
        "signing": to_sign(request, refusal),
        "is_stale": isinstance(refusal, StaleBasis),
        "despite": refusal.name if isinstance(refusal, AssignedToAnother) else "",
        "reason": form.get("reason", "") if form else "",
        "because": form.getlist("because") if form else [],
        "approve_reason": form.get("approve_reason", "") if form else "",
    }


def then_show(act: Callable[[PersonRequest, UUID], str | None]) -> Callable[..., HttpResponseBase]:
    """Make a view of what a form asks for: do it, then show the request as it stands.

    A refusal is shown on the same page, except that of a plan whose steps were not counted: what
    would be approved is listed then. ``act`` may return the address to go on to.
    """

    @require_POST
    @for_readers
    @wraps(act)
    def view(request: PersonRequest, /, approval_id: UUID) -> HttpResponse:
        try:
            address = act(request, approval_id)
        except NotFound:
            raise  # which ``for_readers`` answers, unlike other refusals
        except Refused as refusal:
            if isinstance(refusal, StepsUncounted) and not request.htmx:
                return confirm_page(request, services.current(approval_id))
            answer = state_bar if request.htmx else request_page
            status = status_of_refusal(refusal)
            return answer(request, services.current(approval_id), status, refusal)
        here = reverse("web:request", args=[approval_id])
        if not request.htmx:
            return SeeOther(address or here)
        if address and urlsplit(address).path != here:
            return HttpResponseClientRedirect(address)
        return state_bar(request, services.current(approval_id))

    return view
