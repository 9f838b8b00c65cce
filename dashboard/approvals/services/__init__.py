"""The verbs about requests. Each is one transaction, and each may be repeated safely."""

from dashboard.approvals.services._answers import Answer, Basis
from dashboard.approvals.services._replacing import why_not_allowed
from dashboard.approvals.services.cancel import cancel
from dashboard.approvals.services.decide import decide
from dashboard.approvals.services.edit import propose_edit
from dashboard.approvals.services.expire import expire, expire_overdue
from dashboard.approvals.services.export import record_export
from dashboard.approvals.services.grants import end_forbidden_grants, revoke_grant
from dashboard.approvals.services.hold import lift_hold, place_hold
from dashboard.approvals.services.judge_again import judge_pending_again
from dashboard.approvals.services.polls import note_polls
from dashboard.approvals.services.report import Report, report_outcome
from dashboard.approvals.services.revoke import retire_agent, revoke_token
from dashboard.approvals.services.submit import submit
from dashboard.approvals.services.view import mark_viewed

__all__ = [
    "Answer",
    "Basis",
    "Report",
    "cancel",
    "decide",
    "end_forbidden_grants",
    "expire",
    "expire_overdue",
    "judge_pending_again",
    "lift_hold",
    "mark_viewed",
    "note_polls",
    "place_hold",
    "propose_edit",
    "record_export",
    "report_outcome",
    "retire_agent",
    "revoke_grant",
    "revoke_token",
    "submit",
    "why_not_allowed",
]
