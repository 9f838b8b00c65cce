"""What a reviewer answers, and what the answer rests on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from approval_client.wire import Status
from dashboard.accounts.models import User
from dashboard.approvals.editing import judged_now
from dashboard.approvals.granting import Terms
from dashboard.approvals.judging import as_judged
from dashboard.approvals.models import ApprovalRequest, Decision, Edit, Judgement
from dashboard.approvals.partial import StepSaid
from dashboard.approvals.stepping import Inspected
from dashboard.audit.services import Actor
from dashboard.policies.evaluate import Evaluation


class Basis(NamedTuple):
    """What the reviewer's page had shown: a decision about anything else does not count.

    ``edit_id`` is of what a reviewer made of the content, if the page was about that. A yes is
    then to the edit, and a no sends it along as a replacement.
    """

    digest: str
    judgement_id: int
    edit_id: int | None = None


@dataclass(frozen=True, kw_only=True)
class Answer:
    """One person's answer to a request.

    Attributes:
        auth: How the reviewer is known, for the record, such as ``"session:password"``.
        shown: What the page displayed, as JSON, kept with the answer.
        remember: What is to be allowed from now on, if the yes is to be remembered.
        despite: Who else is on it, as the page showed when the yes was given all the same.
        repeats: The decision that is given again, to exactly the same question.
        steps: What becomes of each step of a plan that is rejected.
        allow_steps: Whether the steps of the plan may run when they are asked exactly so.
    """

    reviewer: User
    auth: str
    status: Status
    basis: Basis
    reason: str = ""
    shown: Mapping[str, Any] = field(default_factory=dict)
    remember: Terms | None = None
    despite: str = ""
    repeats: Decision | None = None
    steps: Sequence[StepSaid] = ()
    allow_steps: bool = False

    @property
    def end_seen(self) -> bool:
        """Whether the page says that the end of the content was in sight; silence is no."""
        return bool(self.shown.get("end_seen"))

    @property
    def actor(self) -> Actor:
        """Who answers, for the record."""
        return Actor(f"user:{self.reviewer.username}", self.auth)


@dataclass(frozen=True)
class Asked:
    """A locked, pending request, the answer to it, and what else the answer rests on."""

    approval: ApprovalRequest
    given: Answer
    now: datetime
    steps: Sequence[Inspected]
    edit: Edit | None = None

    @property
    def digest(self) -> str:
        """The name of the content that is said yes to."""
        return self.edit.digest if self.edit else self.approval.digest

    def evaluation(self, judgement: Judgement) -> Evaluation:
        """What holds for that content."""
        judgement.approval = self.approval
        if self.edit is None:
            return as_judged(judgement)
        return judged_now(self.edit, self.approval, judgement)
