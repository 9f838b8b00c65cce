"""The verbs about requests. Each is one transaction, and each may be repeated safely."""

from dashboard.approvals.services._answers import Answer, Basis
from dashboard.approvals.services._replacing import why_not_allowed
from dashboard.approvals.services.cancel import cancel
from dashboard.approvals.services.claim import claim, hand_over, release, release_lost_claims
from dashboard.approvals.services.decide import decide
from dashboard.approvals.services.edit import propose_edit, propose_part
from dashboard.approvals.services.expire import expire, expire_overdue
from dashboard.approvals.services.export import record_export
from dashboard.approvals.services.extend import extend
from dashboard.approvals.services.grants import end_forbidden_grants, revoke_grant
from dashboard.approvals.services.hold import lift_hold, place_hold
from dashboard.approvals.services.judge_again import judge_pending_again
from dashboard.approvals.services.notebooks import forget_notebooks, send_notebook
from dashboard.approvals.services.polls import note_polls
from dashboard.approvals.services.put_off import bring_back, put_off
from dashboard.approvals.services.reading import note_served, reveal
from dashboard.approvals.services.report import Report, report_outcome
from dashboard.approvals.services.revoke import retire_agent, revoke_token
from dashboard.approvals.services.submit import submit
from dashboard.approvals.services.view import mark_viewed, note_looking

__all__ = [
    "Answer",
    "Basis",
    "Report",
    "bring_back",
    "cancel",
    "claim",
    "decide",
    "end_forbidden_grants",
    "expire",
    "expire_overdue",
    "extend",
    "forget_notebooks",
    "hand_over",
    "judge_pending_again",
    "lift_hold",
    "mark_viewed",
    "note_looking",
    "note_polls",
    "note_served",
    "place_hold",
    "propose_edit",
    "propose_part",
    "put_off",
    "record_export",
    "release",
    "release_lost_claims",
    "report_outcome",
    "retire_agent",
    "reveal",
    "revoke_grant",
    "revoke_token",
    "send_notebook",
    "submit",
    "why_not_allowed",
]
