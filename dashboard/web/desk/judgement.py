"""The policy's judgement of a request: why a person is asked, and what approval takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from approval_client.wire import Source, Status
from dashboard.approvals.models import ApprovalRequest, Decision, Judgement
from dashboard.approvals.rules.judgement import demands_of, explained
from dashboard.policies.evaluate import Effect
from dashboard.policies.judgements.grounds import Says
from dashboard.policies.judgements.wording import plainly
from dashboard.policies.rules.demands import Circle, Required
from dashboard.policies.rules.wording import people
from dashboard.web.drawing import moments
from dashboard.web.drawing.markup import untrusted

_NOBODY = "Why nobody was asked"

_PERSON = "Why a person is asked"

_REMEMBERED = "Why a person would have been asked"


@dataclass(frozen=True, kw_only=True, slots=True)
class JudgementView:
    """What a policy said of a request.

    Attributes:
        brief: Why it waits for somebody, or did not, in a sentence.
        sentences: How it came to that, and what the policy asks for.
        demands: Who may approve only later.
        earlier: The sentences of the judgement before, if this one says something else.
    """

    heading: str
    brief: SafeString
    sentences: list[str]
    demands: list[str]
    revision: int
    judged_at: datetime
    earlier: list[str]
    earlier_revision: int


def judgement_view(approval: ApprovalRequest, judgements: Sequence[Judgement]) -> JudgementView:
    """Say why ``approval`` waits for somebody, or did not; the last judgement counts."""
    judgement = judgements[-1]
    reviewed = judgement.effect == Effect.REVIEW
    previous = judgements[-2] if len(judgements) > 1 else judgement
    changed = _identity(previous) != _identity(judgement)
    return JudgementView(
        heading=_heading(approval, reviewed=reviewed),
        brief=_brief(judgement),
        sentences=explained(judgement).sentences,
        demands=demands_in_words(demands_of(judgement), approval) if reviewed else [],
        revision=judgement.revision_id,
        judged_at=judgement.judged_at,
        earlier=explained(previous).sentences if changed else [],
        earlier_revision=previous.revision_id,
    )


def demands_in_words(required: Required, approval: ApprovalRequest) -> list[str]:
    """Say who may approve only later, which the sentences about the rules cannot."""
    return [_may_join_later(circle, approval) for circle in required.circles if circle.later]


def count_of_people(count: int) -> str:
    """Say how many people."""
    return "1 person" if count == 1 else f"{count} people"


def _heading(approval: ApprovalRequest, *, reviewed: bool) -> str:
    decision: Decision | None = getattr(approval, "decision", None)
    if approval.status != Status.PENDING and decision and decision.source == Source.GRANT:
        return _REMEMBERED
    return _PERSON if reviewed else _NOBODY


_NAMED = {
    Effect.REVIEW: (Says.ASKS, Says.DEMANDS),
    Effect.APPROVE: (Says.APPROVES,),
    Effect.REJECT: (Says.REJECTS,),
}
"""What the rules say that the page names."""

_DOES = {Effect.APPROVE: "approves this", Effect.REJECT: "rejects this"}

_BY_EFFECT = {
    Effect.REVIEW: "No rule covers this, so a person decides.",
    Effect.APPROVE: "Your policy asks nobody about this.",
    Effect.REJECT: "Your policy rejects this.",
}


def _brief(judgement: Judgement) -> SafeString:
    """Say in a sentence what of the policy led here, and what it asks for."""
    evaluation = explained(judgement)
    effect, grounds = evaluation.effect, evaluation.grounds
    does = _DOES.get(effect) or _who_approves(evaluation.demands)
    rules = grounds.saying(*_NAMED[effect]) if grounds else []
    if rules:
        names = format_html_join(" and ", "<em>{}</em>", ((untrusted(name),) for name in rules))
        several, mark = "s" if len(rules) > 1 else "", ":" if effect is Effect.REVIEW else ""
        return format_html("Rule{} {}{} {}.", several, names, mark, does)
    sentences = plainly(grounds, None) if grounds else []
    return format_html("{}", next(reversed(sentences), _BY_EFFECT[effect]))


def _who_approves(required: Required) -> str:
    """Say who has to approve, as in ``two people must approve, with a reason``."""
    groups = required.groups_in_words(after_s=0)
    of = f" of {groups}" if groups else ""
    reason = ", with a reason" if required.reason_required else ""
    proof = ", and sign it with a passkey" if required.proof else ""
    return f"{people(required.approvals)}{of} must approve{reason}{proof}"


def _identity(judgement: Judgement) -> tuple[str, str, str]:
    return judgement.effect, judgement.demands, judgement.trace


def _may_join_later(circle: Circle, approval: ApprovalRequest) -> str:
    at = approval.submitted_at + timedelta(seconds=circle.later_from_s)
    names = " and ".join(circle.later)
    begins, ends = moments.clock(at), moments.clock(approval.expires_at)
    if at < approval.expires_at:
        return format_html("From {} on {} may approve too.", begins, names)
    sentence = "From {} on {} could approve too, but the time limit ends before that, at {}."
    return format_html(sentence, begins, names, ends)


def last_judgement(approval: ApprovalRequest) -> Judgement:
    """Return the judgement that counts: the newest."""
    return list(approval.judgements.all())[-1]
