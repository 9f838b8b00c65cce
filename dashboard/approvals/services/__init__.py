"""The verbs about requests. Each is one transaction, and each may be repeated safely."""

from dashboard.approvals.rules.answer import Basis, ReviewerAnswer
from dashboard.approvals.services.acceptance import Voided, accept_clock, accept_database
from dashboard.approvals.services.agent import retire_agent, revoke_token
from dashboard.approvals.services.answer import decide
from dashboard.approvals.services.assignment import (
    assign,
    hand_over,
    release,
    release_lost_assignments,
)
from dashboard.approvals.services.backfill import Backfill, left_to_backfill
from dashboard.approvals.services.closing import cancel, current, expire, expire_overdue, of_agent
from dashboard.approvals.services.edit import propose_edit, propose_part
from dashboard.approvals.services.extension import extend
from dashboard.approvals.services.grant import end_forbidden_grants, revoke_grant
from dashboard.approvals.services.history import record_export
from dashboard.approvals.services.hold import TO_CONFIRM, lift_hold, place_hold, watch_database
from dashboard.approvals.services.insight import sum_up
from dashboard.approvals.services.judgement import judge_pending_again
from dashboard.approvals.services.notebook import forget_notebooks, send_notebook
from dashboard.approvals.services.proof import compare, verify_on
from dashboard.approvals.services.recall import recall
from dashboard.approvals.services.report import OutcomeReport, report_outcome
from dashboard.approvals.services.snooze import snooze, unsnooze
from dashboard.approvals.services.submit import submit
from dashboard.approvals.services.tool import ClassChange, class_tools
from dashboard.approvals.services.view import (
    forget_viewings,
    mark_viewed,
    note_polls,
    note_served,
    note_viewing,
    note_waiting,
    reveal,
)

__all__ = [
    "TO_CONFIRM",
    "Backfill",
    "Basis",
    "ClassChange",
    "OutcomeReport",
    "ReviewerAnswer",
    "Voided",
    "accept_clock",
    "accept_database",
    "assign",
    "cancel",
    "class_tools",
    "compare",
    "current",
    "decide",
    "end_forbidden_grants",
    "expire",
    "expire_overdue",
    "extend",
    "forget_notebooks",
    "forget_viewings",
    "hand_over",
    "judge_pending_again",
    "left_to_backfill",
    "lift_hold",
    "mark_viewed",
    "note_polls",
    "note_served",
    "note_viewing",
    "note_waiting",
    "of_agent",
    "place_hold",
    "propose_edit",
    "propose_part",
    "recall",
    "record_export",
    "release",
    "release_lost_assignments",
    "report_outcome",
    "retire_agent",
    "reveal",
    "revoke_grant",
    "revoke_token",
    "send_notebook",
    "snooze",
    "submit",
    "sum_up",
    "unsnooze",
    "verify_on",
    "watch_database",
]
