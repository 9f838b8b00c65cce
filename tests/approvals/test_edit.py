import json
from datetime import timedelta
from importlib import import_module

import pytest
from django.db import DatabaseError, transaction

from approval_client.wire import Source, Status, digest, parse_json
from dashboard.api.answers import to_json
from dashboard.approvals import services
from dashboard.approvals.errors import (
    AlreadyClosed,
    DigestMismatch,
    EditRefused,
    GrantRefused,
    NotAllowed,
    StaleBasis,
)
from dashboard.approvals.models import Decision, Edit, Grant
from dashboard.approvals.queries.agent import answerable
from dashboard.approvals.rules.grant import GrantScope, GrantTerms
from dashboard.approvals.services import Basis
from dashboard.audit.models import AuditEntry
from dashboard.policies.models import PolicyRevision
from tests import make

pytestmark = pytest.mark.django_db

CODE = {"code": "print(1)", "language": "python"}

SAFER = {"code": "print(2)", "language": "python"}

EDITORS = {"name": "Edit", "effect": "review", "demands": {"editor_may_approve": True}}

MOVED_CODE = {"code": "a = 1", "language": "python"}

BETTER = {"code": "a = 2", "language": "python"}

CALL = {"tool": "move", "arguments": {"x": 1}}

STEPS = {"steps": [CALL, {"capability": "look"}, {"code": "import os; os.system('ls')"}]}


@pytest.fixture
def editable(token):
    return make.pending(token, content=CODE, accepts_edits=True)


def propose(approval, by, content=SAFER, **more):
    return services.propose_edit(
        approval_id=approval.pk, editor=by, auth="session:password", content=content, **more
    )


def basis(approval, edit):
    return Basis(approval.digest, approval.judgements.latest("id").pk, edit.pk)


def approve(approval, edit, by, **more):
    return make.decided(approval, by, basis=basis(approval, edit), **more)


def test_an_edit_decides_nothing_and_is_heard_of(editable, alice):
    edit = propose(editable, alice)

    version = editable.version
    editable.refresh_from_db()
    assert (editable.status, editable.version) == (Status.PENDING, version + 1)
    assert (edit.digest, edit.edited_by) == (digest("code", SAFER), alice)


def test_an_edit_has_no_more_time_than_the_policy_gives_for_it(token, alice, bob):
    quick = {"when": {"content_matches": "2"}, "demands": {"time_limit_s": 60}}
    make.in_force({"name": "Quick", "effect": "review", **quick})
    approval = make.half_over(token, content=CODE, accepts_edits=True)
    edit = propose(approval, alice)

    with pytest.raises(EditRefused, match="less time"):
        approve(approval, edit, bob)


def test_another_reviewer_approves_an_edit(editable, alice, bob):
    edit = propose(editable, alice)

    decision = approve(editable, edit, bob)

    assert (decision.status, decision.edit) == (Status.APPROVED, edit)
    assert decision.digest == digest("code", SAFER)


def test_who_wrote_it_does_not_count_unless_the_policy_says_so(editable, alice):
    edit = propose(editable, alice)

    with pytest.raises(NotAllowed, match="your own change"):
        approve(editable, edit, alice)

    assert not Decision.objects.exists()


def test_who_wrote_it_approves_it_where_the_policy_says_so(token, alice):
    make.in_force(EDITORS)
    approval = make.pending(token, content=CODE, accepts_edits=True)

    decision = approve(approval, propose(approval, alice), alice)

    assert decision.status == Status.APPROVED


def test_an_edit_answers_only_an_agent_that_accepts_edits(token, alice, bob):
    approval = make.pending(token, content=CODE)
    edit = propose(approval, alice)

    with pytest.raises(EditRefused, match="accepts no edits"):
        approve(approval, edit, bob)


def test_the_database_refuses_an_edit_for_an_agent_that_takes_none(token, alice, monkeypatch):
    approval = make.pending(token, content=CODE)
    edit = propose(approval, alice)
    deciding = import_module("dashboard.approvals.services.answer")
    monkeypatch.setattr(deciding, "_check_edit", lambda *_: None)
    bob = make.person("bob", reviewer=True)

    with pytest.raises(DatabaseError, match="only who accepts edits"):
        approve(approval, edit, bob)


def test_an_edit_never_changes(editable, alice):
    edit = propose(editable, alice)

    with pytest.raises(DatabaseError, match="never change"), transaction.atomic():
        Edit.objects.filter(pk=edit.pk).update(digest="x")


def test_votes_for_the_original_do_not_count_for_an_edit(token, alice, bob):
    make.in_force({"name": "Two", "effect": "review", "demands": {"approvals": 2}})
    approval = make.pending(token, content=CODE, accepts_edits=True)
    edit = propose(approval, alice)
    make.decided(approval, bob)
    carol = make.person("carol", reviewer=True)

    approve(approval, edit, carol)
    approval.refresh_from_db()
    assert approval.status == Status.PENDING

    assert approve(approval, edit, bob).digest == edit.digest


def test_votes_for_an_edit_do_not_count_for_the_original(token, alice, bob):
    make.in_force({"name": "Two", "effect": "review", "demands": {"approvals": 2}})
    approval = make.pending(token, content=CODE, accepts_edits=True)
    approve(approval, propose(approval, alice), bob)

    make.decided(approval, alice)

    approval.refresh_from_db()
    assert approval.status == Status.PENDING


def test_an_edit_that_the_policy_rejects_is_not_kept(token, alice):
    rejecting = {"content_matches": "rm"}
    make.in_force({"name": "No rm", "effect": "reject", "when": rejecting, "reason": "No rm."})
    approval = make.pending(token, content=CODE, accepts_edits=True)

    with pytest.raises(EditRefused, match=r"The policy rejects this: .*Nothing was recorded"):
        propose(approval, alice, {"code": "rm", "language": "python"})

    assert not Edit.objects.exists()


def test_an_edit_takes_what_its_own_content_takes(token, alice, bob):
    two = {"approvals": 2}
    when = {"content_matches": "2"}
    make.in_force({"name": "Two", "effect": "review", "when": when, "demands": two})
    approval = make.pending(token, content=CODE, accepts_edits=True)

    approve(approval, propose(approval, alice), bob)

    approval.refresh_from_db()
    assert approval.status == Status.PENDING


def test_a_policy_that_asks_more_of_an_edit_makes_the_page_stale(editable, alice, bob):
    edit = propose(editable, alice)
    shown = basis(editable, edit)
    two = {"approvals": 2}
    make.in_force(
        {"name": "Two", "effect": "review", "when": {"content_matches": "2"}, "demands": two}
    )

    with pytest.raises(StaleBasis):
        make.decided(editable, bob, basis=shown)

    assert PolicyRevision.objects.count() == 2


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (CODE, "to the last character"),
        ({"code": "print(2)", "language": "bash"}, "Only the code may change"),
        ({"code": "", "language": "python"}, "must not be empty"),
        ({"code": "x\0", "language": "python"}, "NUL"),
        ({"code": "x" * 1_100_000, "language": "python"}, "larger than"),
    ],
)
def test_what_cannot_be_made_of_a_content_is_refused(editable, alice, content, why):
    with pytest.raises(EditRefused, match=why):
        propose(editable, alice, content)


def test_the_tool_of_a_call_cannot_be_changed(token, alice):
    call = {"tool": "move", "arguments": {"x": 1}}
    approval = make.pending(token, kind="tool_call", capability="move", content=call)

    with pytest.raises(EditRefused, match="Only the arguments may change"):
        propose(approval, alice, {"tool": "drop", "arguments": {"x": 1}})


def test_of_a_plan_that_is_taken_whole_nothing_is_made(token, alice):
    plan = {"steps": [{"capability": "one"}, {"capability": "two"}]}
    approval = make.pending(token, kind="plan", capability="plan", content=plan)

    with pytest.raises(EditRefused, match="only as a whole"):
        propose(approval, alice, {"steps": plan["steps"][:1]})

    assert not Edit.objects.exists()


def test_the_same_edit_again_is_the_first_one(editable, alice, bob):
    assert propose(editable, bob) == propose(editable, alice)


def test_a_closed_request_takes_no_edit(editable, alice):
    make.decided(editable, alice)

    with pytest.raises(AlreadyClosed):
        propose(editable, alice)


def test_who_is_no_reviewer_changes_nothing(editable, ada):
    with pytest.raises(NotAllowed, match="Only reviewers"):
        propose(editable, ada)


def test_an_edit_of_another_request_is_no_basis(token, editable, alice, bob):
    other = make.pending(token, content=CODE, accepts_edits=True)
    edit = propose(other, alice)

    with pytest.raises(StaleBasis):
        approve(editable, edit, bob)


def test_a_yes_to_an_edit_is_never_remembered(token, alice, bob):
    make.in_force(make.REMEMBERS)
    approval = make.pending(token, content=CODE, accepts_edits=True, accepts_grants=True)
    edit = propose(approval, alice)

    with pytest.raises(GrantRefused, match="cannot be remembered"):
        approve(approval, edit, bob, remember=GrantTerms(scope=GrantScope.CONTENT, this_run=False))


def test_an_edit_keeps_every_digit(token, alice, bob):
    call = {"tool": "move", "arguments": {"x": 1}}
    approval = make.pending(
        token, kind="tool_call", capability="move", content=call, accepts_edits=True
    )
    text = '{"arguments":{"x":1.50e3,"y":12345678901234567890123},"tool":"move"}'
    decision = approve(approval, propose(approval, alice, parse_json(text)), bob)

    told = to_json(answerable(services.current(approval.pk))).decode()
    assert text in told
    assert decision.digest == digest("tool_call", parse_json(text))


def test_the_record_says_who_made_what_of_what(editable, alice, bob):
    edit = propose(editable, alice)
    approve(editable, edit, bob)

    edited, approved = AuditEntry.objects.filter(action__startswith="approval.").order_by("seq")[
        2:
    ]
    assert (edited.action, edited.digest) == ("approval.edited", edit.digest)
    assert approved.digest == edit.digest
    details = json.loads(approved.details)
    assert (details["edited_by"], details["of"]) == ("alice", editable.digest)


def test_the_agent_starts_the_edit_and_not_what_it_asked(token, editable, alice, bob):
    edit = propose(editable, alice)
    approve(editable, edit, bob)

    with pytest.raises(DigestMismatch):
        make.report(editable, token)

    make.report(editable, token, digest=edit.digest)


def test_an_overdue_request_takes_no_edit(token, alice):
    approval = make.overdue(token, content=CODE, accepts_edits=True)

    with pytest.raises(AlreadyClosed, match="has expired"):
        propose(approval, alice)

    approval.refresh_from_db()
    assert approval.status == Status.EXPIRED
    assert approval.expires_at - approval.submitted_at == timedelta(seconds=60)


def replaced(token, alice, *, reason="No.", **changes):
    approval = make.pending(token, content=MOVED_CODE, **({"run_id": "r"} | changes))
    edit = make.edited(approval, alice, content=BETTER)
    basis = make.basis(approval, edit)
    return make.decided(approval, alice, Status.REJECTED, basis=basis, reason=reason)


def test_exactly_the_replacement_is_allowed_once_in_its_run(token, alice):
    make.in_force(EDITORS)
    replaced(token, alice)

    first = make.pending(token, content=BETTER, run_id="r")
    again = make.pending(token, content=BETTER, run_id="r")

    assert (first.status, first.decision.source) == (Status.APPROVED, Source.GRANT)
    assert again.status == Status.PENDING


@pytest.mark.parametrize("changes", [{"run_id": "s"}, {"run_id": ""}, {"content": MOVED_CODE}])
def test_nothing_else_is_allowed_by_it(token, alice, changes):
    make.in_force(EDITORS)
    replaced(token, alice)

    asked = {"content": BETTER, "run_id": "r"} | changes
    assert make.pending(token, **asked).status == Status.PENDING


def test_without_a_run_it_is_only_words(token, alice):
    make.in_force(EDITORS)

    decision = replaced(token, alice, run_id="")

    assert decision.reason.endswith("If you ask for this, a person decides as usual.")
    assert not Grant.objects.exists()


@pytest.mark.parametrize("demands", [{}, {"editor_may_approve": True, "approvals": 2}])
def test_where_one_yes_is_not_enough_it_is_only_words(token, alice, demands):
    make.in_force({"name": "R", "effect": "review", "demands": demands})

    replaced(token, alice)

    assert not Grant.objects.exists()


def test_without_the_reason_that_is_asked_for_it_is_only_words(token, alice):
    demands = {"editor_may_approve": True, "reason_required": True}
    make.in_force({"name": "R", "effect": "review", "demands": demands})

    replaced(token, alice, reason=" ")

    assert not Grant.objects.exists()


def test_what_somebody_else_wrote_is_not_allowed_by_sending_it(token, alice, bob):
    make.in_force(EDITORS)
    approval = make.pending(token, content=MOVED_CODE, run_id="r")
    edit = make.edited(approval, alice, content=BETTER)

    make.decided(approval, bob, Status.REJECTED, basis=make.basis(approval, edit), reason="No.")

    assert make.pending(token, content=BETTER, run_id="r").status == Status.PENDING


def test_another_policy_ends_it(token, alice):
    make.in_force(EDITORS)
    replaced(token, alice)
    make.in_force(EDITORS)

    assert make.pending(token, content=BETTER, run_id="r").status == Status.PENDING
    assert services.end_forbidden_grants() == 1


def plan(token, alice, **changes):
    asked = {"kind": "plan", "capability": "plan", "content": STEPS, "accepts_grants": True}
    approval = make.pending(token, **(asked | {"run_id": "r"} | changes))
    return make.decided(approval, alice, allow_steps=True)


def move(token, **changes):
    asked = {"kind": "tool_call", "capability": "move", "content": CALL, "accepts_grants": True}
    return make.pending(token, **(asked | {"run_id": "r"} | changes)).status


def test_a_step_that_is_asked_exactly_so_is_answered_once(token, alice):
    make.in_force(make.REMEMBERS)
    plan(token, alice)

    assert Grant.objects.get().kind == "tool_call"
    assert (move(token), move(token)) == (Status.APPROVED, Status.PENDING)


@pytest.mark.parametrize(
    "changes", [{"run_id": "s"}, {"content": {"tool": "move", "arguments": {"x": 2}}}]
)
def test_what_deviates_from_a_step_is_asked_again(token, alice, changes):
    make.in_force(make.REMEMBERS)
    plan(token, alice)

    assert move(token, **changes) == Status.PENDING


@pytest.mark.parametrize(
    "more", [{"only_if": "Bob confirmed."}, {"working_directory": "/srv"}, {"language": "bash"}]
)
def test_a_step_that_says_more_than_its_request_would_is_not_allowed(token, alice, more):
    make.in_force(make.REMEMBERS)
    code = {"code": "print(1)", "language": "python"}
    steps = [CALL | more, code | {"tool": "move"}, {**code, "only_if": "Bob confirmed."}]

    with pytest.raises(GrantRefused, match="No step of this plan says exactly"):
        plan(token, alice, content={"steps": steps})


def test_a_step_may_say_what_it_is_for(token, alice):
    make.in_force(make.REMEMBERS)

    plan(token, alice, content={"steps": [CALL | {"objective": "Make room."}]})

    assert move(token) == Status.APPROVED


def test_a_yes_to_a_plan_alone_lets_no_step_run(token, alice):
    make.in_force(make.REMEMBERS)
    asked = {"kind": "plan", "capability": "plan", "content": STEPS, "accepts_grants": True}
    make.decided(make.pending(token, **asked, run_id="r"), alice)

    assert move(token) == Status.PENDING


@pytest.mark.parametrize("changes", [{"run_id": ""}, {"accepts_grants": False}])
def test_steps_are_not_allowed_where_a_yes_cannot_be_remembered(token, alice, changes):
    make.in_force(make.REMEMBERS)

    with pytest.raises(GrantRefused):
        plan(token, alice, **changes)

    assert not Grant.objects.exists()


def test_the_log_says_the_same_of_every_remembered_yes(token, alice):
    make.in_force(EDITORS)
    replaced(token, alice)
    make.in_force(make.REMEMBERS)
    plan(token, alice, run_id="s")
    make.granted(token, alice, content=MOVED_CODE)

    logged = AuditEntry.objects.filter(action="grant.made").order_by("seq")
    once, step, chosen = (parse_json(entry.details) for entry in logged)
    assert set(once) == set(step) == set(chosen)
    assert [said["kind"] for said in (once, step, chosen)] == ["code", "tool_call", "code"]
    assert [said["most_uses"] for said in (once, step, chosen)] == [1, 1, 10]


@pytest.mark.parametrize("rules", [(), (EDITORS,)])
def test_a_rejection_with_a_replacement_returns_the_first_when_sent_again(token, alice, rules):
    make.in_force(*rules)
    approval = make.pending(token, content=MOVED_CODE, run_id="r")
    edit = make.edited(approval, alice, content=BETTER)
    same = {"status": Status.REJECTED, "basis": make.basis(approval, edit), "reason": "No."}

    assert make.decided(approval, alice, **same) == make.decided(approval, alice, **same)


def test_a_rejection_with_a_replacement_is_not_the_one_without(token, alice):
    approval = make.pending(token, content=MOVED_CODE, run_id="r")
    basis = make.basis(approval, make.edited(approval, alice, content=BETTER))
    make.decided(approval, alice, Status.REJECTED, reason="No.")

    with pytest.raises(AlreadyClosed):
        make.decided(approval, alice, Status.REJECTED, basis=basis, reason="No.")
