"""Where the policy is read, drafted and published."""

from __future__ import annotations

from django.urls import URLPattern, path

from dashboard.web.views.office.policies import draft, importing, in_force, proposals, rules

policy: list[URLPattern] = [
    path("policies", in_force.policies, name="policies"),
    path("policies/revisions/<int:number>", in_force.revision, name="revision"),
    path("policies/revisions/<int:number>/yaml", in_force.export, name="revision_yaml"),
    path("policies/revisions/<int:number>/again", in_force.publish_again, name="revision_again"),
    path("policies/proposals/<int:proposal_id>", proposals.proposal, name="proposal"),
    path(
        "policies/proposals/<int:proposal_id>/confirm", proposals.confirm, name="proposal_confirm"
    ),
    path(
        "policies/proposals/<int:proposal_id>/withdraw",
        proposals.withdraw,
        name="proposal_withdraw",
    ),
    path("policies/draft", draft.draft, name="draft"),
    path("policies/draft/begin", draft.begin, name="draft_begin"),
    path("policies/draft/from", draft.begin_from, name="draft_from"),
    path("policies/draft/starter", importing.take_starter, name="draft_starter"),
    path("policies/draft/import", importing.import_yaml, name="draft_import"),
    path("policies/draft/modes", draft.save_modes, name="draft_modes"),
    path("policies/draft/rules/new", rules.new_rule, name="rule_new"),
    path("policies/draft/rules/<int:index>", rules.rule, name="rule"),
    path("policies/draft/rules/<int:index>/move", rules.move_rule, name="rule_move"),
    path("policies/draft/rules/<int:index>/remove", rules.remove_rule, name="rule_remove"),
    path("policies/draft/publish", draft.publish, name="draft_publish"),
    path("policies/draft/discard", draft.discard, name="draft_discard"),
]
