"""What the bar offers to who wants a yes to be remembered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.safestring import SafeString

from dashboard.accounts.models import User
from dashboard.approvals.models import ApprovalRequest, Judgement
from dashboard.approvals.rules.grant import (
    GrantScope,
    GrantTerms,
    scopes,
    why_not_by,
    why_not_grantable,
)
from dashboard.approvals.rules.judgement import demands_of, report_of
from dashboard.inspection.masking import candidates, secrets_in_text
from dashboard.inspection.parts import words
from dashboard.web.forms import RememberForm
from dashboard.web.rendering.markup import MASKED, theirs
from dashboard.web.rendering.masking import by_looks
from dashboard.wire import Kind, canonical_json, parse_json

MOST_PINS = 20
"""A call with more arguments offers the first ones; the others may then have any value."""

_LONGEST_NAME, _LONGEST_VALUE = 60, 100
THIS = {
    Kind.CODE: "exactly this code",
    Kind.TOOL_CALL: "exactly this call",
    Kind.PLAN: "exactly this plan",
    Kind.MEMORY: "exactly this change",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Offer:
    """A yes that can be remembered, and for how much more it may count.

    Attributes:
        this: What it would be at the least, in our words.
        tool: The tool's name, drawn; empty unless it is a tool call.
        pins: Arguments with their values, drawn, whose values may have to be the same.
        is_cut: Whether the call has more arguments than are offered.
        scope: What was chosen by a form that came back; else the least.
        is_back: Whether the form was sent for this, and something in it has to be mended.
    """

    this: str
    agent: str
    tool: SafeString
    names: list[str]
    pins: list[SafeString]
    is_cut: bool
    form: RememberForm
    scope: str
    is_back: bool

    def terms(self, scope: GrantScope) -> GrantTerms:
        """Return what was chosen, once the form is valid."""
        return self.form.terms(scope, self.names)


def offer(
    approval: ApprovalRequest,
    judgement: Judgement,
    person: User,
    sent: Mapping[str, Any] | None = None,
) -> Offer | None:
    """Return what can be allowed from now on; None if a yes to this cannot be remembered.

    Args:
        approval: What is asked, with its agent.
        judgement: What the policy says of it.
        person: Whose yes it would be.
        sent: The form, if it was sent.
    """
    required, report = demands_of(judgement), report_of(judgement.inspection)
    if why_not_grantable(approval, required, report) or why_not_by(person, required):
        return None
    content = parse_json(approval.content) if GrantScope.TOOL in scopes(approval) else {}
    arguments: dict[str, Any] = content.get("arguments", {})
    names = sorted(arguments)[:MOST_PINS]
    pins = [pin(name, arguments[name]) for name in names]
    return Offer(
        this=THIS[Kind(approval.kind)],
        agent=approval.agent.name,
        tool=theirs(content.get("tool", "")),
        names=names,
        pins=pins,
        is_cut=len(arguments) > len(names),
        form=RememberForm(has_run=bool(approval.run_id), pins=pins, data=_sent(sent)),
        scope=_chosen(sent) or str(GrantScope.CONTENT),
        is_back=bool(_chosen(sent)),
    )


def pin(name: str, value: Any, longest: int = _LONGEST_VALUE) -> SafeString:
    """Draw an argument with its value, cut to what fits and with all masked that looks secret."""
    said = f"{_cut(name, _LONGEST_NAME)} = "
    if isinstance(value, str) and (0, len(value)) in secrets_in_text(value, words(name)):
        return theirs(said) + MASKED
    text, end = said + canonical_json(value), len(said) + longest
    if len(text) <= end:
        return by_looks(text)
    # What is cut in two would not look like what it is.
    inside = (start for start, stop in candidates(text) if start < end < stop)
    return by_looks(f"{text[: next(inside, end)]}…")


def _cut(text: str, longest: int) -> str:
    return f"{text[:longest]}…" if len(text) > longest else text


def _sent(sent: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    # Perhaps this was not offered when the page was made.
    return sent if sent and "for_s" in sent else None


def _chosen(sent: Mapping[str, Any] | None) -> str:
    verdict = str(sent.get("verdict", "")) if sent else ""
    return next((str(scope) for scope in GrantScope if verdict == f"remember-{scope}"), "")
