"""Where reviewers read and decide."""

from __future__ import annotations

from django.urls import URLPattern, path

from dashboard.web.views import (
    attention,
    bulk,
    changing,
    deciding,
    detail,
    gate,
    history,
    insight,
    lines,
    mine,
    notebook,
    queue,
    runs,
)
from dashboard.web.views.office import grants

desk: list[URLPattern] = [
    path("", queue.queue, name="queue"),
    path("queue", queue.queue_list, name="queue_list"),
    path("mine", mine.mine, name="mine"),
    path("gate", gate.gate, name="gate"),
    path("approvals/<uuid:approval_id>", detail.detail, name="detail"),
    path("approvals/<uuid:approval_id>/state", detail.state, name="state"),
    path("approvals/<uuid:approval_id>/seen", attention.seen, name="seen"),
    path("approvals/<uuid:approval_id>/lines", lines.lines, name="lines"),
    path("approvals/<uuid:approval_id>/outline", lines.outline, name="outline"),
    path("approvals/<uuid:approval_id>/reveal", lines.reveal, name="reveal"),
    path("approvals/<uuid:approval_id>/decide", deciding.decide, name="decide"),
    path("approvals/<uuid:approval_id>/notebook", notebook.notebook, name="notebook"),
    path(
        "approvals/<uuid:approval_id>/notebook/<int:cell>/<int:output>.png",
        notebook.picture,
        name="notebook_picture",
    ),
    path("approvals/<uuid:approval_id>/claim", attention.claim, name="claim"),
    path("approvals/<uuid:approval_id>/release", attention.release, name="release"),
    path("approvals/<uuid:approval_id>/hand-over", attention.hand_over, name="hand_over"),
    path("approvals/<uuid:approval_id>/later", attention.put_off, name="put_off"),
    path("approvals/<uuid:approval_id>/back", attention.bring_back, name="bring_back"),
    path("approvals/<uuid:approval_id>/extend", attention.extend, name="extend"),
    path("bulk", bulk.bulk, name="bulk"),
    path("bulk/decide", bulk.decide, name="bulk_decide"),
    path("approvals/<uuid:approval_id>/edit", changing.edit, name="edit"),
    path("approvals/<uuid:approval_id>/edits/<int:edit_id>", changing.change, name="change"),
    path("approvals/<uuid:approval_id>/steps", changing.steps, name="steps"),
    path("runs/<str:agent_name>", runs.run, name="run"),
    path("history", history.history, name="history"),
    path("history/export", history.export, name="history_export"),
    path("insight", insight.insight, name="insight"),
    path("grants", grants.grants, name="grants"),
    path("grants/<int:grant_id>/end", grants.end, name="grant_end"),
]
