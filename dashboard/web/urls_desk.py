"""Where reviewers read and decide."""

from __future__ import annotations

from django.urls import URLPattern, path

from dashboard.web.views import changing, deciding, detail, gate, history, queue, runs
from dashboard.web.views.office import grants

desk: list[URLPattern] = [
    path("", queue.queue, name="queue"),
    path("queue", queue.queue_list, name="queue_list"),
    path("gate", gate.gate, name="gate"),
    path("approvals/<uuid:approval_id>", detail.detail, name="detail"),
    path("approvals/<uuid:approval_id>/state", detail.state, name="state"),
    path("approvals/<uuid:approval_id>/seen", detail.seen, name="seen"),
    path("approvals/<uuid:approval_id>/decide", deciding.decide, name="decide"),
    path("approvals/<uuid:approval_id>/edit", changing.edit, name="edit"),
    path("approvals/<uuid:approval_id>/edits/<int:edit_id>", changing.change, name="change"),
    path("approvals/<uuid:approval_id>/steps", changing.steps, name="steps"),
    path("runs/<str:agent_name>", runs.run, name="run"),
    path("history", history.history, name="history"),
    path("history/export", history.export, name="history_export"),
    path("grants", grants.grants, name="grants"),
    path("grants/<int:grant_id>/end", grants.end, name="grant_end"),
]
