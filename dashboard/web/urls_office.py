"""Where people sign in, and where admins and auditors work."""

from __future__ import annotations

from django.urls import URLPattern, path

from dashboard.web.views.office import (
    account,
    agents,
    audit,
    backtest,
    bench,
    groups,
    hold,
    people,
    signing_in,
    webhooks,
)

office: list[URLPattern] = [
    path("sign-in", signing_in.sign_in, name="sign_in"),
    path("sign-in/<str:secret>", signing_in.sign_in_link, name="sign_in_link"),
    path("sign-out", signing_in.sign_out, name="sign_out"),
    path("account", account.account, name="account"),
    path("account/password", account.choose_password, name="choose_password"),
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
    path("policies/bench", bench.bench, name="bench"),
    path("policies/backtest", backtest.backtest, name="backtest"),
    path("hold", hold.hold, name="hold"),
    path("hold/lift", hold.lift, name="hold_lift"),
    path("audit", audit.audit, name="audit"),
]
