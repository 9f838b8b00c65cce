"""Tools: listed when asked for, classed by admins, and asked about anew when they change."""

import json

import pytest
from django.db import DatabaseError, connection, transaction

from approval_client.wire import Kind, Source, Status
from dashboard.approvals import services
from dashboard.approvals.errors import NotAllowed, StaleBasis
from dashboard.approvals.models import ApprovalRequest, Grant, Tool
from dashboard.approvals.rules.grant import GrantScope, GrantTerms
from dashboard.approvals.rules.judgement import explained, judged_anew
from dashboard.approvals.services import ClassChange, class_tools
from dashboard.audit.models import AuditEntry
from dashboard.policies.evaluate import Effect
from tests import make

pytestmark = pytest.mark.django_db

SCHEMA = {"type": "object", "properties": {"user": {"type": "string"}}}
OTHER = {"type": "object", "properties": {"user": {"type": "string"}, "all": {"type": "boolean"}}}
NAMES = {"name": "Ok", "effect": "approve", "when": {"tools": ["delete_user"]}}
EDITS = {"name": "E", "effect": "review", "demands": {"editor_may_approve": True}}
CHANGED = "tool-schema-changed"


def ask(token, schema=SCHEMA, *, tool="delete_user", annotations=None, user="u1", **more):
    evidence = {"tool_schema": schema, "tool_annotations": annotations}
    return make.pending(
        token,
        kind=Kind.TOOL_CALL,
        capability=tool,
        content={"tool": tool, "arguments": {"user": user}},
        evidence={name: value for name, value in evidence.items() if value is not None},
        **more,
    )


def classed(tool, after, by, *, before=""):
    return class_tools({tool.pk: ClassChange(before, after)}, by=by, auth="session:password")


def judgement_of(approval):
    return approval.judgements.latest("id")


def found(approval):
    return json.loads(approval.inspections.get().report)["findings"]


def test_a_tool_is_listed_once_for_an_agent_a_name_and_a_schema(token):
    first, again, changed = ask(token), ask(token, user="u2"), ask(token, OTHER)
    elsewhere = ask(make.token(make.agent("another")))

    assert first.tool == again.tool
    assert len({first.tool_id, changed.tool_id, elsewhere.tool_id, ask(token, None).tool_id}) == 4


def test_only_calls_have_a_tool(token):
    assert make.pending(token).tool is None
    assert not Tool.objects.exists()


def test_the_order_and_the_spaces_of_a_schema_do_not_matter(token):
    turned = dict(reversed(SCHEMA.items()))

    assert ask(token).tool == ask(token, turned).tool


def test_a_schema_may_be_sent_as_its_digest(token):
    tool = ask(token).tool

    assert ask(token, tool.schema_digest).tool == tool


@pytest.mark.parametrize("schema", ["", "no digest", "G" * 64, 5, [1], True])
def test_what_is_no_schema_counts_as_none(token, schema):
    assert ask(token, schema).tool.schema_digest == ""


def test_hints_are_kept_as_claims_and_nothing_else_of_them(token):
    hints = {"readOnlyHint": True, "destructiveHint": "no", "title": "x" * 5000, "more": {}}
    tool = ask(token, annotations=hints).tool
    tool.refresh_from_db()
    assert tool.claims == '{"readOnlyHint":true}'

    ask(token, annotations={"readOnlyHint": False})
    tool.refresh_from_db()
    assert tool.claims == '{"readOnlyHint":false}'


def test_no_hint_loosens_anything(token):
    make.in_force({"name": "Ok", "effect": "approve", "when": {"kinds": ["tool_call"]}})

    assert ask(token, annotations={"readOnlyHint": True}).status == Status.PENDING


def test_more_tools_than_are_listed_are_asked_about(token, monkeypatch):
    make.in_force(NAMES)
    monkeypatch.setattr("dashboard.approvals.services.tool.MOST_TOOLS", 1)
    assert ask(token).tool is not None

    further = ask(token, tool="delete_users")

    assert (further.tool, further.status) == (None, Status.PENDING)


def test_a_schema_beyond_the_list_is_a_change_all_the_same_and_approved_by_nothing(
    token, alice, monkeypatch
):
    make.in_force(make.REMEMBERS)
    given = grant(token, alice)
    make.in_force({"name": "Ok", "effect": "approve", "when": {"tools": ["delete_user*"]}})
    monkeypatch.setattr("dashboard.approvals.services.tool.MOST_TOOLS", 1)

    further, new = ask(token, OTHER, accepts_grants=True), ask(token, tool="delete_users")

    assert [f["name"] for f in found(further)] == [CHANGED]
    assert [approval.status for approval in (further, new)] == [Status.PENDING] * 2
    assert "named more tools than are listed" in " ".join(explained(judgement_of(new)).trace)
    given.refresh_from_db()
    assert given.ended_because == "The tool has another schema now."


def test_a_pending_call_beyond_the_list_stays_for_a_person_when_it_is_judged_again(
    token, monkeypatch
):
    monkeypatch.setattr("dashboard.approvals.services.tool.MOST_TOOLS", 0)
    approval = ask(token)
    revision = make.in_force(NAMES)

    assert judged_anew(revision, approval, approval.inspections.get()).effect is Effect.REVIEW


# --- classes -------------------------------------------------------------------------------------


def test_a_class_holds_for_its_agent_its_name_and_its_schema_alone(token, ada):
    make.in_force(NAMES | {"when": {"tools": ["delete_user"], "tool_classes": ["reads"]}})
    another = make.token(make.agent("another"))
    classed(ask(token).tool, "reads", ada)

    assert ask(token, user="u2").status == Status.APPROVED
    assert ask(another).status == Status.PENDING
    assert ask(token, OTHER).status == Status.PENDING
    assert ask(token, None).status == Status.PENDING


def test_what_is_irreversible_asks_a_person(token, ada):
    make.in_force(NAMES)
    tool = ask(token).tool
    assert ask(token).status == Status.APPROVED

    classed(tool, "irreversible", ada)

    assert ask(token).status == Status.PENDING
    assert ask(token, OTHER).status == Status.PENDING
    assert ask(token, None).status == Status.PENDING


def test_classing_judges_what_is_pending_again(token, ada, alice):
    demanding = {"name": "Two", "effect": "review", "demands": {"approvals": 2}}
    make.in_force(demanding | {"when": {"tool_classes": ["money"]}})
    tool = ask(token).tool
    classed(tool, "reads", ada)
    pending = ask(token)
    assert explained(pending.judgements.latest("id")).demands.approvals == 1

    classed(tool, "money", ada, before="reads")
    make.allow_durable()
    assert services.judge_pending_again() >= 1

    assert explained(pending.judgements.latest("id")).demands.approvals == 2


def test_a_press_from_before_the_class_is_judged_by_it(token, ada, alice):
    demanding = {"name": "Two", "effect": "review", "demands": {"approvals": 2}}
    make.in_force(demanding | {"when": {"tool_classes": ["money"]}})
    tool = ask(token).tool
    classed(tool, "reads", ada)
    pending = ask(token)
    basis = make.basis(pending)

    classed(tool, "money", ada, before="reads")
    with pytest.raises(StaleBasis):
        make.decided(pending, alice, basis=basis)

    pending.refresh_from_db()
    assert pending.status == Status.PENDING


def test_a_press_on_a_page_that_named_another_class_is_stale(token, ada, alice):
    pending = ask(token)
    basis = make.basis(pending)

    classed(pending.tool, "irreversible", ada)
    with pytest.raises(StaleBasis):
        make.decided(pending, alice, basis=basis)

    pending.refresh_from_db()
    assert pending.status == Status.PENDING


def test_a_press_on_an_edit_under_another_class_is_stale(token, ada, alice):
    make.in_force(EDITS)
    pending = ask(token, accepts_edits=True)
    edit = make.edited(
        pending, alice, content={"tool": "delete_user", "arguments": {"user": "u2"}}
    )
    basis = make.basis(pending, edit)

    classed(pending.tool, "irreversible", ada)
    with pytest.raises(StaleBasis):
        make.decided(pending, alice, basis=basis)

    pending.refresh_from_db()
    assert pending.status == Status.PENDING


def test_a_class_that_moved_on_is_left_as_it_is(token, ada):
    tool = ask(token).tool
    classed(tool, "money", ada)

    outcome = classed(tool, "reads", ada, before="")

    tool.refresh_from_db()
    assert (tool.tool_class, outcome.classed, outcome.stale) == ("money", [], [tool])


def test_a_class_can_be_taken_away(token, ada):
    tool = ask(token).tool
    classed(tool, "money", ada)
    classed(tool, "", ada, before="money")

    tool.refresh_from_db()
    assert tool.tool_class == ""


def test_only_admins_class(token, alice):
    tool = ask(token).tool

    with pytest.raises(NotAllowed):
        classed(tool, "reads", alice)

    tool.refresh_from_db()
    assert tool.tool_class == ""


def test_each_change_is_in_the_log_without_the_agents_words(token, ada):
    tool = ask(token).tool
    classed(tool, "money", ada)

    entry = AuditEntry.objects.latest("seq")
    assert (entry.action, entry.subject, entry.actor) == (
        "tool.classed",
        f"tool:{tool.pk}",
        "user:ada",
    )
    assert json.loads(entry.details)["class"] == "money"
    assert "delete_user" not in entry.details


@pytest.mark.parametrize("change", [{"name": "x"}, {"schema_digest": "x"}])
def test_the_database_refuses_a_tool_that_becomes_another(token, change):
    tool = ask(token).tool

    with pytest.raises(DatabaseError, match="a tool stays what it is"), transaction.atomic():
        Tool.objects.filter(pk=tool.pk).update(**change)


def test_the_database_refuses_to_delete_a_tool(token):
    tool = ask(token).tool

    with (
        pytest.raises(DatabaseError, match="tools are never deleted"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute("DELETE FROM dashboard_tool WHERE id = %s", [tool.pk])


def test_the_database_refuses_a_request_that_changes_its_tool(token):
    approval, other = ask(token), ask(token, OTHER)

    with pytest.raises(DatabaseError, match="what was asked never changes"), transaction.atomic():
        ApprovalRequest.objects.filter(pk=approval.pk).update(tool=other.tool_id)


SPELLED = [
    "Delete_User",
    "mcp__crm__delete_user",
    "MCP__x__delete_user",
    "\uff44elete_user",
    "deleteUser",
    "crm.delete-user",
    "delete_user.",
    "deleteuser",
    "DELETEUSER",
]


@pytest.mark.parametrize("name", SPELLED)
def test_no_other_spelling_of_its_name_sheds_a_class(token, ada, name):
    make.in_force({"name": "Ok", "effect": "approve", "when": {"tools": ["*[uU]ser"]}})
    pending = ask(token, tool=f"{name} ")
    classed(ask(token).tool, "irreversible", ada)

    assert ask(token, tool=name).status == Status.PENDING
    assert ask(token, tool="read_user").status == Status.APPROVED
    assert explained(judgement_of(pending)).effect is Effect.REVIEW


def test_the_database_refuses_a_tool_that_is_read_as_another(token):
    tool = ask(token).tool

    with pytest.raises(DatabaseError, match="a tool stays what it is"), transaction.atomic():
        Tool.objects.filter(pk=tool.pk).update(spelling="x")


# --- a schema that changes -----------------------------------------------------------------------


def approved(token, alice, schema=SCHEMA, **more):
    approval = ask(token, schema, **more)
    make.decided(approval, alice)
    return approval


def test_a_schema_that_changed_since_the_last_approval_is_a_finding(token, alice):
    approved(token, alice)
    assert found(ask(token)) == []

    changed = ask(token, OTHER)

    assert [(f["name"], f["severity"]) for f in found(changed)] == [(CHANGED, "medium")]
    assert (changed.headline.severity, changed.headline.finding) == (2, CHANGED)
    assert CHANGED in changed.headline.facts


def test_a_schema_that_is_gone_is_one_too(token, alice):
    approved(token, alice)

    assert [f["name"] for f in found(ask(token, None))] == [CHANGED]


def test_once_it_is_approved_it_is_none_any_more(token, alice):
    approved(token, alice)
    approved(token, alice, OTHER)

    assert found(ask(token, OTHER)) == []
    assert [f["name"] for f in found(ask(token))] == [CHANGED]


def test_an_approval_without_a_schema_in_between_hides_no_change(token, alice):
    approved(token, alice)
    approved(token, alice, None)

    assert found(ask(token, None)) == found(ask(token)) == []
    assert [f["name"] for f in found(ask(token, OTHER))] == [CHANGED]


@pytest.mark.parametrize("first", [None, OTHER])
def test_a_schema_that_nobody_approved_has_not_changed(token, alice, first):
    if first is None:
        approved(token, alice, None)
    else:
        make.decided(ask(token, first), alice, Status.REJECTED, reason="No.")

    assert found(ask(token)) == []


def test_another_agents_approval_is_none(token, alice):
    approved(make.token(make.agent("another")), alice, OTHER)

    assert found(ask(token)) == []


def grant(token, alice, schema=SCHEMA, scope=GrantScope.TOOL):
    approval = ask(token, schema, accepts_grants=True)
    make.decided(approval, alice, remember=GrantTerms(scope=scope, this_run=False))
    return Grant.objects.latest("pk")


def by_grant(approval):
    approval.refresh_from_db()
    return approval.status == Status.APPROVED and approval.decision.source == Source.GRANT


@pytest.mark.parametrize("schema", [OTHER, None])
@pytest.mark.parametrize("scope", [GrantScope.TOOL, GrantScope.CONTENT])
def test_a_changed_schema_asks_again_under_a_grant_and_ends_it(token, alice, schema, scope):
    make.in_force(make.REMEMBERS)
    given = grant(token, alice, scope=scope)
    assert by_grant(ask(token, accepts_grants=True))

    assert ask(token, schema, accepts_grants=True).status == Status.PENDING

    given.refresh_from_db()
    assert given.ended_because == "The tool has another schema now."
    assert ask(token, accepts_grants=True).status == Status.PENDING
    assert AuditEntry.objects.filter(action="grant.ended", subject=f"grant:{given.pk}").exists()


def test_a_grant_that_was_given_without_a_schema_asks_again_with_one(token, alice):
    make.in_force(make.REMEMBERS)
    given = grant(token, alice, None)
    assert by_grant(ask(token, None, accepts_grants=True))

    assert ask(token, accepts_grants=True).status == Status.PENDING
    given.refresh_from_db()
    assert given.ended_at is None


def test_a_changed_schema_ends_no_grant_of_other_tools_and_agents(token, alice):
    make.in_force(make.REMEMBERS)
    another = make.token(make.agent("another"))
    elsewhere, given = grant(another, alice), grant(token, alice)

    ask(token, OTHER, accepts_grants=True)

    given.refresh_from_db()
    elsewhere.refresh_from_db()
    assert (given.ended_at is None, elsewhere.ended_at) == (False, None)


def test_what_is_irreversible_is_not_answered_by_a_grant(token, alice, ada):
    make.in_force(make.REMEMBERS)
    given = grant(token, alice)
    classed(given.made_from.tool, "irreversible", ada)

    assert ask(token, accepts_grants=True).status == Status.PENDING


def test_what_is_irreversible_is_not_answered_by_a_replacement_that_was_allowed_before(
    token, alice, ada
):
    make.in_force(EDITS)
    approval = ask(token, run_id="r1", accepts_edits=True)
    edit = make.edited(
        approval, alice, content={"tool": "delete_user", "arguments": {"user": "u9"}}
    )
    basis = make.basis(approval, edit)
    make.decided(approval, alice, Status.REJECTED, basis=basis, reason="This one.")
    assert Grant.objects.filter(edit=edit).exists()

    classed(approval.tool, "irreversible", ada)

    assert ask(token, user="u9", run_id="r1", accepts_edits=True).status == Status.PENDING


def test_a_replacement_for_a_call_that_is_irreversible_is_words_alone(token, alice, ada):
    make.in_force(EDITS)
    classed(ask(token).tool, "irreversible", ada)
    approval = ask(token, run_id="r1", accepts_edits=True)
    edit = make.edited(
        approval, alice, content={"tool": "delete_user", "arguments": {"user": "u9"}}
    )

    make.decided(approval, alice, Status.REJECTED, basis=make.basis(approval, edit), reason="So.")

    assert not Grant.objects.exists()
