from datetime import timedelta
from importlib import import_module

import pytest

from approval_client.wire import Kind, Source, Status, parse_json
from dashboard.approvals import services
from dashboard.approvals.errors import (
    IdempotencyConflict,
    InspectionBusy,
    NotAllowed,
    TooManyPending,
)
from dashboard.approvals.models import ApprovalRequest
from dashboard.audit.models import AuditEntry
from dashboard.inspection.findings import Unseen, in_doubt
from dashboard.inspection.sentences import unseen_sentence
from dashboard.policies.inspections import InspectorsBusy
from dashboard.policies.judgements.wording import TREATED
from tests import make

pytestmark = pytest.mark.django_db

GATE_OFF = {"global_mode": "disabled", "capabilities": {}}
CONTENTS = {
    Kind.CODE: {"code": "print(1)", "language": "python"},
    Kind.TOOL_CALL: {"tool": "delete_user", "arguments": {"user_id": 12345678901234567890}},
    Kind.PLAN: {"steps": [{"capability": "data", "objective": "Load"}]},
    Kind.MEMORY: {"operation": "create", "user_id": "u", "content": "Likes tea", "existing": ""},
}


@pytest.mark.parametrize("kind", list(Kind))
def test_every_kind_waits_for_a_person_and_keeps_its_content(token, kind):
    approval = make.pending(token, kind=kind, content=CONTENTS[kind])

    assert approval.status == Status.PENDING
    assert parse_json(approval.content) == CONTENTS[kind]


[TOO_LARGE] = in_doubt("too-large", "too-large-searched").findings
WRITE = "import epics\nepics.PV('SR:C01:HV').put(1)\n"


@pytest.mark.parametrize(
    ("code", "told"),
    [
        (WRITE, "Ask an operator."),
        (WRITE + "#" * 66_000, "Ask an operator."),
        (
            "#" * 1_100_000,
            (
                f"{unseen_sentence(Unseen.NOT_READ, TOO_LARGE)}. {TREATED['findings']} "
                "Rule 'Never' rejects. It says: Ask an operator."
            ),
        ),
    ],
)
def test_padding_does_not_get_past_a_rule_that_rejects(token, code, told):
    make.in_force(
        {
            "name": "Never",
            "effect": "reject",
            "reason": "Ask an operator.",
            "when": {"findings": {"names": ["control-system-write"]}},
        }
    )
    asked = make.pending(token, content={"code": code, "language": "python"})

    assert (asked.status, asked.decision.reason) == (Status.REJECTED, told)


def test_content_is_stored_with_the_digits_that_were_sent(token):
    content = parse_json('{"tool": "t", "arguments": {"x": 1.10, "y": 1e2}}')

    approval = make.pending(token, kind=Kind.TOOL_CALL, content=content)

    assert approval.content == '{"arguments":{"x":1.10,"y":1e2},"tool":"t"}'


def test_the_same_key_and_submission_return_the_first_request(token):
    first = make.pending(token, key="k")

    again, created = services.submit(
        token=token, idempotency_key="k", submission=make.submission()
    )

    assert (again.approval.pk, created) == (first.pk, False)
    assert ApprovalRequest.objects.count() == 1


@pytest.mark.parametrize(
    "change", [{"content": {"code": "print(2)"}}, {"objective": "Other"}, {"time_limit_s": 7}]
)
def test_the_same_key_for_something_else_is_a_conflict(token, change):
    make.pending(token, key="k")

    with pytest.raises(IdempotencyConflict, match="'k' was already used for something else"):
        make.pending(token, key="k", **change)


def test_an_agent_that_describes_its_tool_otherwise_after_an_upgrade_finds_its_question(token):
    call = {"kind": Kind.TOOL_CALL, "content": {"tool": "read", "arguments": {}}}
    described = {"ticket": 7, "tool_schema": {"type": "object"}, "tool_annotations": {}}
    first = make.pending(token, key="k", evidence={"ticket": 7}, **call)

    again = make.pending(token, key="k", evidence=described, **call)

    assert again.pk == first.pk
    with pytest.raises(IdempotencyConflict):
        make.pending(token, key="k", evidence=described | {"ticket": 8}, **call)


def test_another_agent_may_use_the_same_key(token):
    make.pending(token, key="k")
    other = make.token(make.agent("other"))

    assert make.pending(other, key="k").agent == other.agent


def test_the_time_limit_is_half_an_hour_unless_the_agent_names_one(token):
    usual, short = make.pending(token), make.pending(token, time_limit_s=60)

    assert usual.expires_at - usual.submitted_at == timedelta(minutes=30)
    assert short.expires_at - short.submitted_at == timedelta(seconds=60)


def test_a_token_may_not_have_more_than_its_share_pending(token, settings):
    settings.PENDING_PER_TOKEN = 2
    make.pending(token)
    make.pending(token)

    with pytest.raises(TooManyPending, match="has 2 pending requests"):
        make.pending(token)


def test_a_full_token_still_finds_what_it_asked_before(token, settings):
    settings.PENDING_PER_TOKEN = 1
    first = make.pending(token, key="k")

    assert make.pending(token, key="k").pk == first.pk


def test_a_token_that_was_revoked_in_the_meantime_submits_nothing(token):
    services.revoke_token(token, by=make.BY)

    with pytest.raises(NotAllowed, match="Nothing was submitted"):
        make.pending(token)


def test_a_policy_that_asks_nobody_approves_at_once_and_says_so(token):
    make.in_force(modes=GATE_OFF)

    approval = make.pending(token)

    decision = approval.decision
    assert (approval.status, decision.source) == (Status.APPROVED, Source.POLICY)
    assert decision.reason == "Global mode is 'disabled'. Nobody is asked about anything."
    assert decision.valid_until > decision.decided_at


def test_on_hold_a_policy_approves_nothing(token, ada):
    make.in_force(modes=GATE_OFF)
    services.place_hold(by=ada, auth="session:password")

    approval = make.pending(token)

    assert approval.status == Status.PENDING
    assert "All approving is stopped: a person is asked." in approval.judgements.get().trace


def test_a_submission_and_its_judgement_are_recorded(token):
    approval = make.pending(token)

    entries = AuditEntry.objects.filter(subject=str(approval.pk)).order_by("seq")
    assert [(e.actor, e.action) for e in entries] == [
        ("agent:beamline", "approval.submitted"),
        ("policy:1", "approval.judged"),
    ]
    assert {e.digest for e in entries} == {approval.digest}


def test_what_nobody_was_free_to_inspect_is_not_stored_and_may_be_sent_again(token, monkeypatch):
    def busy(*_, **__):
        raise InspectorsBusy

    submitting = import_module("dashboard.approvals.services.submit")
    monkeypatch.setattr(submitting, "inspect_and_head", busy)
    with pytest.raises(InspectionBusy, match="Send the same again") as refused:
        make.pending(token, key="k")
    assert (refused.value.code, ApprovalRequest.objects.count()) == ("unavailable", 0)

    monkeypatch.undo()
    assert make.pending(token, key="k").status == Status.PENDING
