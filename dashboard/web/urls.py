"""The URLs of people's pages."""

from __future__ import annotations

from django.urls import URLPattern, path

from dashboard.web import health
from dashboard.web.desk import (
    answer,
    assignment,
    bulk,
    edit,
    extension,
    grant,
    history,
    insight,
    notebook,
    queue,
    reader,
    recall,
    request,
    run,
    snooze,
    view,
)
from dashboard.web.office import (
    account,
    agents,
    audit,
    channels,
    groups,
    hold,
    people,
    sign_in,
    tell_me,
    tools,
    webhooks,
)
from dashboard.web.office.policies import backtest, bench, draft, proposal, revision, rule

app_name = "web"

_desk: list[URLPattern] = [
    path("", queue.queue, name="queue"),
    path("queue", queue.queue_list, name="queue_list"),
    path("mine", queue.due, name="mine"),
    path("gate", hold.banner, name="hold_banner"),
    path("approvals/<uuid:approval_id>", request.show, name="request"),
    path("approvals/<uuid:approval_id>/state", request.show_state, name="state"),
    path("approvals/<uuid:approval_id>/seen", view.seen, name="viewed"),
    path("approvals/<uuid:approval_id>/lines", reader.lines, name="reader"),
    path("approvals/<uuid:approval_id>/outline", reader.outline, name="outline"),
    path("approvals/<uuid:approval_id>/reveal", reader.reveal, name="reveal"),
    path("approvals/<uuid:approval_id>/decide", request.then_show(answer.decide), name="decide"),
    path("approvals/<uuid:approval_id>/notebook", notebook.notebook, name="notebook"),
    path(
        "approvals/<uuid:approval_id>/notebook/<int:cell>/<int:output>.png",
        notebook.picture,
        name="notebook_picture",
    ),
    path(
        "approvals/<uuid:approval_id>/assign", request.then_show(assignment.assign), name="assign"
    ),
    path(
        "approvals/<uuid:approval_id>/release",
        request.then_show(assignment.release),
        name="release",
    ),
    path(
        "approvals/<uuid:approval_id>/hand-over",
        request.then_show(assignment.hand_over),
        name="hand_over",
    ),
    path("approvals/<uuid:approval_id>/snooze", request.then_show(snooze.snooze), name="snooze"),
    path(
        "approvals/<uuid:approval_id>/unsnooze",
        request.then_show(snooze.unsnooze),
        name="unsnooze",
    ),
    path(
        "approvals/<uuid:approval_id>/extend", request.then_show(extension.extend), name="extend"
    ),
    path("approvals/<uuid:approval_id>/take-back", recall.recall, name="recall"),
    path("bulk", bulk.bulk, name="bulk"),
    path("bulk/decide", bulk.decide_all, name="bulk_decide"),
    path("approvals/<uuid:approval_id>/edit", edit.write_edit, name="edit"),
    path("approvals/<uuid:approval_id>/edits/<int:edit_id>", edit.show_edit, name="edit_shown"),
    path("runs/<str:agent_name>", run.run, name="run"),
    path("history", history.history, name="history"),
    path("history/export", history.export, name="history_export"),
    path("insight", insight.insight, name="insight"),
    path("grants", grant.grants, name="grants"),
    path("grants/<int:grant_id>/end", grant.end_grant, name="grant_end"),
]
_office: list[URLPattern] = [
    path("sign-in", sign_in.sign_in, name="sign_in"),
    path("sign-in/<str:secret>", sign_in.sign_in_link, name="sign_in_link"),
    path("sign-out", sign_in.sign_out, name="sign_out"),
    path("session/used", sign_in.used, name="used"),
    path("account", account.account, name="account"),
    path("account/password", account.choose_password, name="choose_password"),
    path("account/told", tell_me.tell_me, name="tell_me"),
    path("account/told/<int:channel_id>/code", tell_me.confirm, name="tell_me_code"),
    path("account/told/<int:channel_id>/again", tell_me.send_again, name="tell_me_again"),
    path("account/told/<int:channel_id>/choice", tell_me.choose, name="tell_me_choice"),
    path("account/told/<int:channel_id>/test", tell_me.try_own, name="tell_me_test"),
    path("account/told/<int:channel_id>/switch", tell_me.switch, name="tell_me_switch"),
    path("account/told/<int:channel_id>/remove", tell_me.remove, name="tell_me_remove"),
    path("people", people.people, name="people"),
    path("people/<int:person_id>", people.person, name="person"),
    path("people/<int:person_id>/roles", people.change_roles, name="person_roles"),
    path("people/<int:person_id>/link", people.new_link, name="person_link"),
    path("people/<int:person_id>/deactivate", people.deactivate, name="person_deactivate"),
    path("people/<int:person_id>/reactivate", people.reactivate, name="person_reactivate"),
    path("people/groups", groups.add_group, name="groups"),
    path("people/groups/<int:group_id>", groups.group, name="group"),
    path("people/groups/<int:group_id>/members", groups.set_members, name="group_members"),
    path("people/groups/<int:group_id>/delete", groups.delete, name="group_delete"),
    path("agents", agents.agents, name="agents"),
    path("agents/<int:agent_id>", agents.agent, name="agent"),
    path("agents/<int:agent_id>/tokens", agents.issue_token, name="agent_token"),
    path("agents/<int:agent_id>/tokens/<int:token_id>/revoke", agents.revoke, name="token_revoke"),
    path("agents/<int:agent_id>/retire", agents.retire, name="agent_retire"),
    path("agents/<int:agent_id>/restore", agents.restore, name="agent_restore"),
    path("agents/<int:agent_id>/webhook", webhooks.webhook, name="webhook"),
    path("agents/<int:agent_id>/webhook/secret", webhooks.new_secret, name="webhook_secret"),
    path("agents/<int:agent_id>/webhook/switch", webhooks.switch, name="webhook_switch"),
    path(
        "agents/<int:agent_id>/webhook/deliveries/<uuid:delivery_id>/again",
        webhooks.again,
        name="webhook_again",
    ),
    path("tools", tools.tools, name="tools"),
    path("channels", channels.channels, name="channels"),
    path("channels/new/<str:kind>", channels.new_channel, name="channel_new"),
    path("channels/<int:channel_id>", channels.channel, name="channel"),
    path("channels/<int:channel_id>/messages", channels.channel_messages, name="channel_messages"),
    path("channels/<int:channel_id>/test", channels.try_channel, name="channel_test"),
    path("channels/<int:channel_id>/secret", channels.new_secret, name="channel_secret"),
    path("channels/<int:channel_id>/switch", channels.switch, name="channel_switch"),
    path("channels/<int:channel_id>/remove", channels.remove, name="channel_remove"),
    path("policies/bench", bench.bench, name="bench"),
    path("policies/backtest", backtest.backtest, name="backtest"),
    path("hold", hold.hold, name="hold"),
    path("hold/lift", hold.lift, name="hold_lift"),
    path("audit", audit.audit, name="audit"),
    path("audit/verify", audit.verify, name="audit_verify"),
    path("audit/verification", audit.verification, name="audit_verification"),
]
_policies: list[URLPattern] = [
    path("policies", revision.policies, name="policies"),
    path("policies/revisions/<int:number>", revision.revision, name="revision"),
    path("policies/revisions/<int:number>/yaml", revision.export, name="revision_yaml"),
    path("policies/revisions/<int:number>/again", revision.publish_again, name="revision_again"),
    path("policies/proposals/<int:proposal_id>", proposal.proposal, name="proposal"),
    path(
        "policies/proposals/<int:proposal_id>/confirm", proposal.confirm, name="proposal_confirm"
    ),
    path(
        "policies/proposals/<int:proposal_id>/withdraw",
        proposal.withdraw,
        name="proposal_withdraw",
    ),
    path("policies/draft", draft.draft, name="draft"),
    path("policies/draft/begin", draft.begin, name="draft_begin"),
    path("policies/draft/from", draft.begin_from, name="draft_from"),
    path("policies/draft/starter", draft.take_starter, name="draft_starter"),
    path("policies/draft/import", draft.import_yaml, name="draft_import"),
    path("policies/draft/modes", draft.save_modes, name="draft_modes"),
    path("policies/draft/rules/new", rule.new_rule, name="rule_new"),
    path("policies/draft/rules/<int:index>", rule.rule, name="rule"),
    path("policies/draft/rules/<int:index>/move", rule.move_rule, name="rule_move"),
    path("policies/draft/rules/<int:index>/remove", rule.remove_rule, name="rule_remove"),
    path("policies/draft/publish", draft.publish, name="draft_publish"),
    path("policies/draft/discard", draft.discard, name="draft_discard"),
]

urlpatterns = [*_desk, *_office, *_policies, path("readyz", health.ready, name="readyz")]
