"""Grants: what one covers, and when one can be made."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Any

from approval_client.wire import Kind, canonical_json, parse_json
from dashboard.accounts import roles
from dashboard.accounts.models import User
from dashboard.accounts.queries import groups_of
from dashboard.approvals.models import ApprovalRequest, Grant
from dashboard.inspection.findings import Report, Severity
from dashboard.policies.rules.arguments import are_distinct, has_alike
from dashboard.policies.rules.demands import Required

ONLY_LATE = (
    "Your approval counts only because half of the time is over, so it cannot be remembered."
)
DEFAULT_FOR_S = 8 * 3600
LONGEST_FOR_S = 30 * 24 * 3600
MOST_USES = 10_000
LONGEST_NAME = 60
"""Characters of an argument's name that a person is shown."""

FOLDERS = ("execution_folder_path", "working_directory")
"""Keys of the evidence by which an agent says in which folder something runs."""

CIRCUMSTANCES = ("execution_mode", "project_folder_path", *FOLDERS)
"""Keys of the evidence by which an agent says what changes what the same content does."""

_PLAIN_NAME = re.compile(rf"[\w.-]{{1,{LONGEST_NAME}}}")


class GrantScope(StrEnum):
    """What a grant covers, from the least to the most."""

    CONTENT = "content"
    ARGUMENTS = "arguments"
    TOOL = "tool"


@dataclass(frozen=True, kw_only=True)
class GrantTerms:
    """What a reviewer wants to allow from now on.

    Attributes:
        this_run: Only in the run that the request belongs to.
        arguments: Names of the arguments whose values have to be the same, for ``ARGUMENTS``.
        for_s: How long, in seconds.
        most_uses: How often at most; None means as often as it is asked for.
    """

    scope: GrantScope
    this_run: bool
    arguments: tuple[str, ...] = ()
    for_s: int = DEFAULT_FOR_S
    most_uses: int | None = None


def is_as_remembered(
    grants: Sequence[Grant], terms: GrantTerms | None, *, for_steps: bool
) -> bool:
    """Whether an approval that is sent again asks for what was remembered with the first one.

    Args:
        grants: What was remembered with the first one.
        terms: What is to be remembered now.
        for_steps: Whether the steps of the plan are to be allowed.
    """
    if terms is None:
        return bool(grants) == for_steps
    return len(grants) == 1 and _is_on(grants[0], terms)


def _is_on(grant: Grant, terms: GrantTerms) -> bool:
    arguments = terms.arguments if terms.scope is GrantScope.ARGUMENTS else ()
    length = timedelta(seconds=terms.for_s)
    present = (grant.scope, bool(grant.run_id), grant.most_uses, grant.expires_at)
    same = (terms.scope, terms.this_run, terms.most_uses, grant.made_at + length)
    return present == same and set(parse_json(grant.arguments)) == set(arguments)


def may_end(grant: Grant, person: User) -> bool:
    """Whether a person may end a grant: whoever made it and may still decide, and an admin."""
    made_it = grant.made_by_id == person.pk and roles.may_decide(person)
    return made_it or roles.may_administer(person)


def why_not_by(person: User, required: Required) -> str:
    """Say why this person's approval cannot be remembered; empty if it can.

    A grant answers new requests at once, when those who join at half time do not count yet.
    """
    in_time = required.admits(groups_of(person), after_s=0)
    return "" if in_time else ONLY_LATE


def why_not_grantable(approval: ApprovalRequest, required: Required, report: Report) -> str:
    """Say why an approval of this request cannot be remembered; empty if it can."""
    if not required.grants_allowed:
        return "The policy does not allow remembering this approval."
    if required.approvals > 1:
        return "Several people must approve this each time, so the approval cannot be remembered."
    if not approval.accepts_grants:
        return "The agent asked for an answer to this one request only."
    if report.has_doubts:
        return "This is not fully inspected, so the approval cannot be remembered."
    return ""


def scopes(approval: ApprovalRequest) -> list[GrantScope]:
    """The scopes that make sense for a request: only tool calls have more than their content.

    A name such as ``path="/tmp", mode`` would be read as another condition than it is. Of two
    names that some tools read as one, the values of neither would ever answer.
    """
    if approval.kind != Kind.TOOL_CALL:
        return [GrantScope.CONTENT]
    names = parse_json(approval.content).get("arguments", {})
    is_plain = all(map(_PLAIN_NAME.fullmatch, names)) and are_distinct(names)
    return [scope for scope in GrantScope if is_plain or scope is not GrantScope.ARGUMENTS]


def severities(report: Report) -> dict[str, str]:
    """The findings that an approval of this covers: name -> the highest severity."""
    highest: dict[str, str] = {}
    for finding in sorted(report.findings, key=lambda f: f.severity.rank):
        highest[finding.name] = str(finding.severity)
    return highest


def covers(grant: Grant, approval: ApprovalRequest, content: Any, report: Report) -> bool:
    """Say whether a grant in force answers this request: the same agent, run, kind and scope.

    A finding that the approval did not cover, or a graver one, is not covered.
    """
    if (grant.agent_id, grant.kind) != (approval.agent_id, approval.kind) or report.has_doubts:
        return False
    if grant.run_id and grant.run_id != approval.run_id:
        return False
    return _is_within(grant, approval, content) and _no_graver(grant, report)


def _is_within(grant: Grant, approval: ApprovalRequest, content: Any) -> bool:
    match grant.scope:
        case GrantScope.CONTENT:
            return grant.digest == approval.digest
        case GrantScope.TOOL:
            return bool(content["tool"] == grant.tool)
        case GrantScope.ARGUMENTS:
            same = content["tool"] == grant.tool
            return same and _agree(parse_json(grant.arguments), content.get("arguments", {}))
    return False


def _agree(expected: dict[str, Any], arguments: Any) -> bool:
    """Whether arguments have these values, and none is there again in another spelling."""
    return isinstance(arguments, dict) and all(
        _PLAIN_NAME.fullmatch(name)  # earlier versions let others be named
        and name in arguments
        and canonical_json(arguments[name]) == canonical_json(value)
        and not has_alike(arguments, name)
        for name, value in expected.items()
    )


def _no_graver(grant: Grant, report: Report) -> bool:
    covered = {
        name: Severity(severity).rank for name, severity in json.loads(grant.findings).items()
    }
    return all(f.severity.rank <= covered.get(f.name, -1) for f in report.findings)
