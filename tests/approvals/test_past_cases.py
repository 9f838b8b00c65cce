from datetime import timedelta
from uuid import uuid4

import pytest
from django.utils import timezone

from approval_client.wire import Status
from dashboard.approvals import services
from dashboard.approvals.models import ApprovalRequest, Decision, Grant, Inspection
from dashboard.approvals.rules import past_cases
from dashboard.approvals.rules.grant import GrantScope, GrantTerms
from dashboard.approvals.services import expire
from dashboard.inspection.findings import Report
from dashboard.policies import inspections
from dashboard.policies.evaluate import Effect
from tests import make

APPROVES_MEMORY = {
    "global_mode": "selective",
    "capabilities": {"python_execution": {"enabled": True}, "memory": {"enabled": False}},
}
REJECTS_CODE = {"name": "no code", "when": {"kinds": ["code"]}, "effect": "reject"}
MEMORY = {"operation": "add", "user_id": "7", "content": "mm"}


@pytest.fixture
def cases():
    def read(limit=100, days=1):
        return list(past_cases.cases(timezone.now() - timedelta(days=days), limit))

    return read


def remember(token):
    return make.pending(token, kind="memory", capability="memory", content=MEMORY)


def facts(case):
    return (case.answered, case.by_person, case.was_asked)


def test_what_a_person_decided_is_the_truth(token, alice, cases):
    make.approved(token, alice)
    make.decided(make.pending(token), alice, Status.REJECTED, reason="No.")

    assert [facts(case) for case in cases()] == [
        ("rejected", True, True),
        ("approved", True, True),
    ]


def test_what_was_approved_with_changes_was_edited(token, alice, cases):
    approval = make.approved(token, alice)
    with make._unguarded():
        Decision.objects.filter(approval=approval).update(digest="0" * 64)

    assert facts(*cases()) == ("edited", True, True)


def test_what_nobody_answered_in_time_is_no_truth(token, cases):
    expire(make.overdue(token).pk)

    assert facts(*cases()) == ("expired", False, True)


def test_what_the_agent_took_back_is_no_truth(token, cases):
    approval = make.pending(token)
    services.cancel(approval_id=approval.pk, token=token)

    assert facts(*cases()) == ("cancelled", False, True)


def test_nobody_was_asked_about_what_a_policy_approved(token, cases, monkeypatch):
    monkeypatch.setattr(inspections, "_inspected", lambda _: Report().to_json())
    make.in_force(modes=APPROVES_MEMORY)
    remember(token)

    assert facts(*cases()) == ("approved", False, False)


def test_nobody_was_asked_about_what_a_policy_rejected(token, cases):
    make.in_force(REJECTS_CODE)
    make.pending(token)

    assert facts(*cases()) == ("rejected", False, False)


def test_a_person_was_asked_about_what_a_later_policy_rejected(token, cases):
    make.pending(token)
    make.in_force(REJECTS_CODE)
    services.judge_pending_again()

    assert facts(*cases()) == ("rejected", False, True)


def test_nobody_was_asked_about_what_a_grant_answered(token, alice, cases):
    approval = make.approved(token, alice)
    with make._unguarded():
        judgement = approval.judgements.get()
        grant = granted(approval, alice)
        Decision.objects.filter(approval=approval).update(
            source="grant", grant=grant, decided_by=None, judgement=judgement
        )

    assert facts(*cases()) == ("approved", False, False)


def test_what_a_remembered_approval_answered_says_so(token, alice, cases, monkeypatch):
    monkeypatch.setattr(inspections, "_inspected", lambda _: Report().to_json())
    make.in_force(make.REMEMBERS)
    terms = GrantTerms(scope=GrantScope.CONTENT, this_run=False)
    make.decided(make.pending(token, accepts_grants=True), alice, remember=terms)
    make.pending(token, accepts_grants=True)

    assert [case.grant for case in cases()] == ["remembered", ""]


def test_what_a_person_took_back_was_recalled(token, alice, cases):
    approval = make.approved(token, alice)
    services.recall(approval_id=approval.pk, person=alice, auth="session:password", reason="No.")

    assert facts(*cases()) == ("recalled", True, True)


def granted(approval, person):
    now = timezone.now()
    return Grant.objects.create(
        agent=approval.agent,
        scope="content",
        kind="code",
        digest=approval.digest,
        made_from=approval,
        made_by=person,
        made_at=now,
        expires_at=now + timedelta(hours=1),
    )


def test_what_still_waits_is_left_out(token, cases):
    make.pending(token)

    assert cases() == []


def test_the_newest_are_taken_and_come_first(token, alice, cases):
    made = [make.approved(token, alice) for _ in range(3)]

    assert [case.id for case in cases(limit=2)] == [str(a.pk) for a in (made[2], made[1])]


def test_no_more_content_is_read_than_takes_seconds(token, alice, cases, monkeypatch):
    newest = [make.approved(token, alice) for _ in range(3)][:0:-1]
    monkeypatch.setattr(past_cases, "MOST_CHARACTERS", 2 * len(newest[0].content))

    assert [case.id for case in cases()] == [str(approval.pk) for approval in newest]


def test_what_was_asked_earlier_is_left_out(token, alice, cases):
    approval = make.approved(token, alice)
    past = timezone.now() - timedelta(days=40)
    make._backdate(approval, submitted_at=past, expires_at=past + timedelta(minutes=1))

    assert (len(cases(days=39)), len(cases(days=41))) == (0, 1)


def test_a_case_holds_the_question_as_it_was_judged(token, alice, cases):
    approval = make.pending(
        token,
        content={"code": "print(1.50)"},
        evidence={"execution_mode": "readonly"},
        run_id="7f",
    )
    make.decided(approval, alice)

    question = cases()[0].question
    assert (question.content, question.agent) == ({"code": "print(1.50)"}, "beamline")
    assert (question.execution_mode, question.run_id) == ("readonly", "7f")
    assert question.asked_at == approval.submitted_at


def test_a_case_says_how_long_the_agent_waited(token, alice, cases):
    approval = make.approved(token, alice)
    decided_at = approval.decision.decided_at
    make._backdate(approval, submitted_at=decided_at - timedelta(seconds=90))

    assert cases()[0].waited_s == 90


def test_a_case_holds_what_was_found_at_first(token, alice, cases):
    approval = make.approved(token, alice)
    first = approval.inspections.get()
    looked_again(approval, first)

    assert cases()[0].question.report.to_json() == first.report


def looked_again(approval, first):
    again = Inspection.objects.create(
        approval=approval,
        digest=first.digest,
        report=Report(languages=("sql",)).to_json(),
        repeated=0,
        inspected_at=timezone.now(),
    )
    judgement = approval.judgements.get()
    judgement.pk, judgement.inspection = None, again
    judgement.save(force_insert=True)


@pytest.mark.parametrize("count", [1, 30])
def test_many_cases_take_as_many_queries_as_few(
    token, alice, cases, count, django_assert_num_queries
):
    for _ in range(count):
        make.approved(token, alice)

    with django_assert_num_queries(3):
        assert len(cases()) == count


def test_more_than_one_batch_is_read(token, alice, cases, monkeypatch):
    monkeypatch.setattr(past_cases, "_BATCH", 2)
    for _ in range(5):
        make.approved(token, alice)

    assert len({case.id for case in cases()}) == 5


def test_a_past_request_comes_with_what_was_said_first(token):
    approval = make.pending(token)
    make.in_force(REJECTS_CODE)
    services.judge_pending_again()

    past = past_cases.past(approval.pk)
    assert (past.effect, past.revision) == (Effect.REVIEW, 1)
    assert past.question.content == make.CODE


def test_there_is_no_past_of_what_was_never_asked(db):
    assert past_cases.past(uuid4()) is None
    assert not ApprovalRequest.objects.exists()
