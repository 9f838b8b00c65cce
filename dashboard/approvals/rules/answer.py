"""What a reviewer sends, and whose approval counts."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import prefetch_related_objects

from approval_client.wire import Status
from dashboard.accounts import roles
from dashboard.accounts.models import User
from dashboard.accounts.queries import groups_of
from dashboard.approvals.models import ApprovalRequest, Decision, Edit, Vote
from dashboard.approvals.queries.answer import votes_of
from dashboard.approvals.rules.grant import GrantTerms
from dashboard.approvals.rules.signature import is_signed
from dashboard.approvals.rules.step import StepSaid
from dashboard.approvals.rules.view import masks_of
from dashboard.audit.services import Actor
from dashboard.policies.rules.demands import Required

NO_RIGHT = "Only reviewers can decide."
OWNER = (
    "You own {agent} or issued its token, and the policy requires somebody else to approve its "
    "requests. An admin can add a reviewer, or let owners approve in the policy."
)
EDITOR = "This is your own change, and the policy requires another person to approve it."
GROUPS = "The policy requires an approval from {groups}, and you are not a member."


class Basis(NamedTuple):
    """What the reviewer's page showed. A decision about anything else does not count.

    ``edit_id`` names the edit that the page was about, if any. An approval is then of the edit,
    and a rejection sends it along as a replacement.
    """

    digest: str
    judgement_id: int
    edit_id: int | None = None


@dataclass(frozen=True, kw_only=True)
class ReviewerAnswer:
    """One person's answer to a request.

    Attributes:
        auth: How the reviewer is known, for the record, such as ``"session:password"``.
        shown: What the page displayed, as JSON, kept with the answer.
        remember: What is to be allowed from now on, if the approval is to be remembered.
        viewed: Whether their page showed the request; the first time is recorded with the answer.
        despite: The assignee whom the page showed when somebody else approved all the same.
        repeats: The earlier decision that is repeated for exactly the same question.
        steps: What becomes of each step of a plan that is rejected.
        allow_steps: Whether the steps of the plan may run when they are asked exactly so.
        approves: How many steps of a plan the button named; None if no page named any.
        nonce: What the page chose for a signature, where the policy requires one.
        signed: What the person's device signed, as their browser sent it.
    """

    reviewer: User
    auth: str
    status: Status
    basis: Basis
    reason: str = ""
    shown: Mapping[str, Any] = field(default_factory=dict)
    remember: GrantTerms | None = None
    viewed: bool = False
    despite: str = ""
    repeats: Decision | None = None
    steps: Sequence[StepSaid] = ()
    allow_steps: bool = False
    approves: int | None = None
    nonce: str = ""
    signed: str = ""

    @property
    def end_seen(self) -> bool:
        """Whether the page says that the end of the content was in sight."""
        return bool(self.shown.get("end_seen"))

    @property
    def actor(self) -> Actor:
        """Who answers, for the record."""
        return Actor.of_user(self.reviewer.username, self.auth)


def why_not_count(
    approval: ApprovalRequest,
    required: Required,
    person: User,
    now: datetime,
    groups: Collection[str] | None = None,
    *,
    edit: Edit | None = None,
) -> str:
    """Say why this person's approval would not count; empty if it would.

    ``groups`` are the names of those that the person is in, where they were read before. What
    is approved is ``edit``, if there is one, and else what was asked.
    """
    if not roles.may_decide(person):
        return NO_RIGHT
    if edit and edit.edited_by_id == person.pk and not required.editor_may_approve:
        return EDITOR
    owner_may = required.owner_may_approve
    if not roles.may_approve_for(person, approval.token, owner_may_approve=owner_may):
        return OWNER.format(agent=approval.agent.name)
    if not required.circles:
        return ""
    after_s = (now - approval.submitted_at).total_seconds()
    own_groups = groups_of(person) if groups is None else groups
    if not required.admits(own_groups, after_s=after_s):
        return GROUPS.format(groups=required.groups_in_words(after_s=after_s))
    return ""


def is_enough(vote: Vote, required: Required) -> bool:
    """Whether a vote is enough under ``required``; a stricter policy may ask for more."""
    has_reason = bool(vote.reason.strip()) or not required.reason_required
    is_revealed = not required.reveal_required or not masks_of(json.loads(vote.shown), required)
    is_read = vote.end_seen or not required.whole_content
    return has_reason and is_revealed and is_read and is_signed(vote, required)


def votes_that_count(
    approval: ApprovalRequest,
    required: Required,
    now: datetime,
    votes: Iterable[Vote] | None = None,
    *,
    edit: Edit | None = None,
) -> list[Vote]:
    """The votes of people who may still approve, one for each person.

    A vote does not count if its person has lost the right since, or if it gave less than the
    policy asks for now. ``votes`` are all of the request, in their order, where they were read
    before. A yes to what was asked does not count for an ``edit``, nor the other way round.
    """
    votes = votes_of(approval.pk) if votes is None else list(votes)
    if required.circles:
        prefetch_related_objects(votes, "person__groups")
    counting = dict[int, Vote]()
    for vote in votes:
        if not _is_for(vote, approval, edit) or not is_enough(vote, required):
            continue
        groups = [group.name for group in vote.person.groups.all()] if required.circles else ()
        if not why_not_count(approval, required, vote.person, now, groups, edit=edit):
            counting[vote.person_id] = vote
    return list(counting.values())


def _is_for(vote: Vote, approval: ApprovalRequest, edit: Edit | None) -> bool:
    if edit is None:
        return vote.edit_id is None and vote.digest == approval.digest
    return vote.edit_id == edit.pk and vote.digest == edit.digest
