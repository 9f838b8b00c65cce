"""A new policy meets what is pending: the stricter answer holds."""

import json
from importlib import import_module
from itertools import product

import pytest

from approval_client.capabilities import ApprovalManager
from approval_client.wire import Kind, Source, Status
from dashboard.approvals import services
from dashboard.approvals.errors import AlreadyClosed, StaleBasis
from dashboard.approvals.models import ApprovalRequest
from dashboard.approvals.services.closing import MOST_TRIES
from dashboard.inspection.findings import Report as InspectionReport
from tests import make

pytestmark = pytest.mark.django_db

REJECTS = {
    "name": "No code",
    "effect": "reject",
    "reason": "Not today.",
    "when": {"kinds": ["code"]},
}

SAME = {"global_mode": "selective", "capabilities": {}}
TWO = {"name": "Two", "effect": "review", "demands": {"approvals": 2}}

OFF = {"global_mode": "disabled", "capabilities": {}}

GLOBAL_MODES = ["disabled", "selective", "all_capabilities"]

MODES = ["disabled", "epics_writes", "control_writes", "all_code"]

CODE = {
    "writes": "import epics\nepics.caput('SR:C01-MG', 1.5)",
    "reads": "import epics\nprint(epics.caget('SR:C01-MG'))",
    "neither": "print(sum(range(10)))",
}

MEMORY = {"operation": "create", "user_id": "u1", "content": "likes tea", "existing": ""}


def status(approval):
    approval.refresh_from_db()
    return approval.status


def test_what_is_pending_is_judged_by_the_new_policy(token):
    approval = make.pending(token)
    revision = make.in_force(TWO)

    assert services.judge_pending_again() == 1

    newest = approval.judgements.latest("id")
    assert (newest.revision, json.loads(newest.demands)["approvals"]) == (revision, 2)
    assert services.judge_pending_again() == 0


def test_what_the_new_policy_rejects_is_closed_with_its_words(token):
    approval = make.pending(token)
    make.in_force(REJECTS)

    services.judge_pending_again()

    assert (status(approval), approval.decision.source) == (Status.REJECTED, Source.POLICY)
    assert approval.decision.reason == "Not today."


def test_what_was_found_before_doubts_had_classes_is_judged_by_their_names(token, monkeypatch):
    stored = {
        "findings": [
            {
                "name": "does-not-parse",
                "severity": "high",
                "line": 1,
                "end_line": 1,
                "sentence": "This is not valid Python.",
                "block": 0,
                "is_doubt": True,
            }
        ],
        "languages": ["python"],
        "inspector": "2",
    }
    monkeypatch.setattr(InspectionReport, "to_json", lambda _: json.dumps(stored))
    approval = make.pending(token)
    make.in_force(
        {
            "name": "Never",
            "effect": "reject",
            "when": {"findings": {"names": ["control-system-write"]}},
        }
    )

    services.judge_pending_again()

    assert status(approval) == Status.REJECTED
    assert "Not read: this is not valid Python." in approval.decision.reason


def test_a_laxer_policy_changes_nothing_that_is_pending(token, alice, bob):
    make.in_force(TWO)
    approval = make.pending(token)
    make.in_force(modes=OFF)

    services.judge_pending_again()
    make.decided(approval, alice)

    assert status(approval) == Status.PENDING
    assert make.decided(approval, bob).status == Status.APPROVED


def test_a_yes_is_judged_by_the_policy_in_force_before_anybody_swept(token, alice):
    approval = make.pending(token)
    basis = make.basis(approval)
    make.in_force(TWO)

    with pytest.raises(StaleBasis):
        make.decided(approval, alice, basis=basis)

    assert (status(approval), approval.votes.count()) == (Status.PENDING, 0)
    assert approval.judgements.count() == 2  # kept, so that the page shows what changed


def test_a_yes_while_the_policy_moves_at_each_try_is_refused(token, alice, monkeypatch):
    approval = make.pending(token)
    make.in_force(modes=SAME)
    tries = []
    monkeypatch.setattr(
        import_module("dashboard.approvals.services.answer"), "bring_up_to_date", tries.append
    )

    with pytest.raises(StaleBasis):
        make.decided(approval, alice)

    assert (status(approval), tries) == (Status.PENDING, [approval.pk] * MOST_TRIES)


def test_a_yes_to_what_was_judged_anew_by_somebody_else_is_stale(token, alice):
    approval = make.pending(token)
    basis = make.basis(approval)
    make.in_force(modes=SAME)
    services.judge_pending_again()

    with pytest.raises(StaleBasis):
        make.decided(approval, alice, basis=basis)


def test_a_yes_to_what_is_rejected_meanwhile_closes_it(token, alice):
    approval = make.pending(token)
    make.in_force(REJECTS)

    with pytest.raises(AlreadyClosed):
        make.decided(approval, alice)

    assert (status(approval), approval.decision.source) == (Status.REJECTED, Source.POLICY)


def test_a_policy_that_says_the_same_does_not_bother_the_reviewer(token, alice):
    approval = make.pending(token)
    make.in_force(modes=SAME)

    assert make.decided(approval, alice).status == Status.APPROVED


def test_a_rejection_needs_no_new_judgement(token, alice):
    approval = make.pending(token)
    make.in_force(TWO)

    assert make.decided(approval, alice, Status.REJECTED).status == Status.REJECTED


def test_every_judgement_stays(token):
    approval = make.pending(token)
    for _ in range(2):
        make.in_force(TWO)
        services.judge_pending_again()

    assert list(approval.judgements.values_list("revision", flat=True)) == [1, 2, 3]


def test_a_shorter_time_limit_holds_for_what_is_pending(token):
    approval = make.pending(token, time_limit_s=600)
    make.in_force({"name": "Soon", "effect": "review", "demands": {"time_limit_s": 60}})

    services.judge_pending_again()

    approval.refresh_from_db()
    assert (approval.expires_at - approval.submitted_at).total_seconds() == 60


def test_what_a_shorter_time_limit_ends_says_which_policy_it_was(token, alice):
    approval = make.pending(token, time_limit_s=600)
    make.silent(approval)
    make.in_force({"name": "Soon", "effect": "review", "demands": {"time_limit_s": 30}})

    services.judge_pending_again()

    approval.refresh_from_db()
    assert (approval.status, approval.decision.source) == (Status.EXPIRED, Source.DEADLINE)
    assert approval.decision.reason == (
        "Revision 2 of the policy shortened its time limit to 30 seconds, which had passed "
        "already."
    )
    assert approval.judgements.count() == 2


def test_a_longer_time_limit_changes_nothing_that_is_pending(token):
    make.in_force({"name": "Soon", "effect": "review", "demands": {"time_limit_s": 60}})
    approval = make.pending(token)
    make.in_force({"name": "Late", "effect": "review", "demands": {"time_limit_s": 600}})

    services.judge_pending_again()

    approval.refresh_from_db()
    assert (approval.expires_at - approval.submitted_at).total_seconds() == 60


def test_what_was_submitted_while_a_policy_was_published_is_judged_by_it_all_the_same(token):
    """Its transaction was committed after everything else had been judged again."""
    make.in_force(TWO)
    services.judge_pending_again()
    approval = make.pending(token)
    ApprovalRequest.objects.filter(pk=approval.pk).update(judged_under=1)

    assert services.judge_pending_again() == 1
    assert services.judge_pending_again() == 0


def test_what_was_pending_before_revisions_were_kept_on_requests_is_looked_at_once(token):
    approval = make.pending(token)
    ApprovalRequest.objects.filter(pk=approval.pk).update(judged_under=0)

    assert services.judge_pending_again() == 1
    assert services.judge_pending_again() == 0
    assert approval.judgements.count() == 1


def test_a_decision_is_judged_by_what_was_judged_and_not_by_the_number_kept_for_it(token, alice):
    approval = make.pending(token)
    revision = make.in_force(TWO)
    ApprovalRequest.objects.filter(pk=approval.pk).update(judged_under=revision.number)

    with pytest.raises(StaleBasis):
        make.decided(approval, alice)

    assert status(approval) == Status.PENDING


def modes(global_mode, python=None, memory=None):
    capabilities = {"python_execution": python or {}, "memory": memory or {}}
    return {"global_mode": global_mode, "capabilities": capabilities}


@pytest.mark.parametrize("does", CODE)
@pytest.mark.parametrize(("mode", "enabled"), list(product(MODES, [True, False])))
@pytest.mark.parametrize("global_mode", GLOBAL_MODES)
def test_code_is_asked_about_when_the_evaluator_says_so(token, global_mode, mode, enabled, does):
    config = modes(global_mode, python={"enabled": enabled, "mode": mode})
    make.in_force(modes=config)

    approval = make.pending(token, content={"code": CODE[does], "language": "python"})

    said = (
        ApprovalManager(config)
        .get_python_execution_evaluator()
        .evaluate(has_epics_writes=does == "writes", has_epics_reads=does == "reads")
    )
    assert (approval.status == Status.PENDING) is said.needs_approval


@pytest.mark.parametrize("enabled", [True, False])
@pytest.mark.parametrize("global_mode", GLOBAL_MODES)
def test_memory_is_asked_about_when_the_evaluator_says_so(token, global_mode, enabled):
    config = modes(global_mode, memory={"enabled": enabled})
    make.in_force(modes=config)

    approval = make.pending(token, kind=Kind.MEMORY, capability="memory", content=MEMORY)

    said = ApprovalManager(config).get_memory_evaluator().evaluate("create")
    assert (approval.status == Status.PENDING) is said.needs_approval


@pytest.mark.parametrize("language", ["bash", "julia", None])
def test_what_writes_cannot_be_known_of_counts_as_writing(token, language):
    make.in_force(modes=modes("selective", python={"enabled": True, "mode": "epics_writes"}))
    content = {"code": "echo 1"} | ({"language": language} if language else {})

    assert make.pending(token, content=content).status == Status.PENDING
