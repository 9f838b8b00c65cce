"""A no with a replacement, and steps of a plan that may run."""

import pytest

from approval_client.wire import Source, Status, parse_json
from dashboard.approvals import services
from dashboard.approvals.errors import GrantRefused
from dashboard.approvals.models import Grant
from dashboard.audit.models import AuditEntry
from tests import make

pytestmark = pytest.mark.django_db
CODE = {"code": "a = 1", "language": "python"}
BETTER = {"code": "a = 2", "language": "python"}
EDITORS = {"name": "Edit", "effect": "review", "demands": {"editor_may_approve": True}}
CALL = {"tool": "move", "arguments": {"x": 1}}
STEPS = {"steps": [CALL, {"capability": "look"}, {"code": "import os; os.system('ls')"}]}


def replaced(token, alice, **changes):
    approval = make.pending(token, content=CODE, **({"run_id": "r"} | changes))
    edit = make.edited(approval, alice, content=BETTER)
    basis = make.basis(approval, edit)
    return make.decided(approval, alice, Status.REJECTED, basis=basis, reason="No.")


def test_exactly_the_replacement_is_allowed_once_in_its_run(token, alice):
    make.in_force(EDITORS)
    replaced(token, alice)

    first = make.pending(token, content=BETTER, run_id="r")
    again = make.pending(token, content=BETTER, run_id="r")

    assert (first.status, first.decision.source) == (Status.APPROVED, Source.GRANT)
    assert again.status == Status.PENDING


@pytest.mark.parametrize("changes", [{"run_id": "s"}, {"run_id": ""}, {"content": CODE}])
def test_nothing_else_is_allowed_by_it(token, alice, changes):
    make.in_force(EDITORS)
    replaced(token, alice)

    asked = {"content": BETTER, "run_id": "r"} | changes
    assert make.pending(token, **asked).status == Status.PENDING


def test_without_a_run_it_is_only_words(token, alice):
    make.in_force(EDITORS)

    decision = replaced(token, alice, run_id="")

    assert decision.reason.endswith("A person is asked about it as about anything else.")
    assert not Grant.objects.exists()


@pytest.mark.parametrize("demands", [{}, {"editor_may_approve": True, "approvals": 2}])
def test_where_one_yes_is_not_enough_it_is_only_words(token, alice, demands):
    make.in_force({"name": "R", "effect": "review", "demands": demands})

    replaced(token, alice)

    assert not Grant.objects.exists()


def test_what_somebody_else_wrote_is_not_allowed_by_sending_it(token, alice, bob):
    make.in_force(EDITORS)
    approval = make.pending(token, content=CODE, run_id="r")
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
    make.granted(token, alice, content=CODE)

    logged = AuditEntry.objects.filter(action="grant.made").order_by("seq")
    once, step, chosen = (parse_json(entry.details) for entry in logged)
    assert set(once) == set(step) == set(chosen)
    assert [said["kind"] for said in (once, step, chosen)] == ["code", "tool_call", "code"]
    assert [said["most_uses"] for said in (once, step, chosen)] == [1, 1, 10]
