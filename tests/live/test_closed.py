"""Who waits is told by the committed decision in hand what a read would tell, byte for byte."""

import re

import pytest
from django.db import connection

from approval_client.wire import Kind, Status
from dashboard.accounts import tokens
from dashboard.api import answers
from dashboard.approvals import services
from dashboard.approvals.errors import StaleBasis
from dashboard.approvals.queries import closing
from dashboard.approvals.queries.agent import told as as_told
from dashboard.approvals.rules.grant import GrantScope, GrantTerms
from dashboard.approvals.rules.step import StepAnswer, StepSaid
from dashboard.approvals.services import Basis
from dashboard.approvals.signals import approval_changed
from dashboard.live.layer import Bell
from tests import make
from tests.live.conftest import in_thread, wait_for
from tests.live.test_waiting import until_waiting

pytestmark = pytest.mark.django_db(transaction=True)
CALL = {
    "kind": Kind.TOOL_CALL,
    "capability": "read",
    "content": {"tool": "read", "arguments": {"path": "/data", "count": 12345678901234567890}},
}
PLAN = {
    "kind": Kind.PLAN,
    "capability": "plan",
    "content": {"steps": [{"title": "one", "code": "1"}, {"title": "two", "code": "2"}]},
}


@pytest.fixture
def told():
    """Collect what is told of closed requests when they are."""
    told = []

    def hear(*, approval_id, version, closed, **_):
        told.append((approval_id, version, closed))

    approval_changed.connect(hear)
    yield told
    approval_changed.disconnect(hear)


def reject(approval, alice, bob):
    make.decided(approval, alice, Status.REJECTED, reason="No: “ünïcode”\n\x7f.")


def approve(approval, alice, bob):
    make.decided(approval, alice, reason="Yes.")


def approve_together(approval, alice, bob):
    make.in_force({"name": "Two", "effect": "review", "demands": {"approvals": 2}})
    services.judge_pending_again()
    make.decided(approval, alice)
    make.decided(approval, bob)


def approve_an_edit(approval, alice, bob):
    content = {**CALL["content"], "arguments": {"path": "/tmp", "count": 98765432109876543210}}  # noqa: S108
    edit = make.edited(approval, bob, content=content)
    make.decided(approval, alice, basis=make.basis(approval, edit))


def send_a_replacement(approval, alice, bob):
    edit = make.edited(approval, bob, content={"tool": "read", "arguments": {"path": "/"}})
    basis = make.basis(approval, edit)
    make.decided(approval, alice, Status.REJECTED, basis=basis, reason="Rather so.")


def remember(approval, alice, bob):
    make.decided(approval, alice, remember=GrantTerms(scope=GrantScope.CONTENT, this_run=False))


def expire(approval, alice, bob):
    make.overdue(approval.token)
    services.expire_overdue()


def cancel(approval, alice, bob):
    services.cancel(approval_id=approval.pk, token=approval.token, reason="No more.")


def forbid(approval, alice, bob):
    make.in_force({"name": "None", "effect": "reject"})
    services.judge_pending_again()


def revoke(approval, alice, bob):
    services.revoke_token(approval.token, by=make.BY)


def answered_by_a_grant(approval, alice, bob):
    remember(approval, alice, bob)
    make.pending(approval.token, accepts_grants=True, **CALL)


ENDS = [
    approve,
    approve_an_edit,
    approve_together,
    answered_by_a_grant,
    cancel,
    expire,
    forbid,
    reject,
    remember,
    revoke,
    send_a_replacement,
]


def without_time(body):
    return re.sub(rb'"now":"[^"]*"', b"", body)


def same_as_read(told):
    """Compare each that was closed with what is read of it, and say how many there were."""
    ends = [(version, closed) for _, version, closed in told if closed]
    pending = answers.to_json(as_told(ends[-1][1].pk, ends[-1][1].agent_id)[0])
    for version, closed in ends:
        with connection.execute_wrapper(refuse):
            body = answers.closed(pending, closed)
        [read] = closing.closed([closed.pk]).values()
        assert without_time(body) == without_time(answers.closed(pending, read))
        assert closed.version == version
    return len(ends)


def refuse(*_):
    raise AssertionError("The event loop must not read.")


@pytest.mark.parametrize("end", ENDS, ids=lambda end: end.__name__)
def test_what_is_told_is_what_is_read(end, told, token, alice, bob):
    make.in_force(make.REMEMBERS)
    approval = make.pending(token, accepts_edits=True, accepts_grants=True, **CALL)

    end(approval, alice, bob)

    assert same_as_read(told) >= 1


def test_what_is_told_of_steps_is_what_is_read(told, token, alice, bob):
    plan = make.pending(token, accepts_edits=True, **PLAN)
    said = [StepSaid(0, StepAnswer.ALLOWED), StepSaid(1, StepAnswer.REFUSED, "Not this.")]
    part = make.part_of(plan, bob, said)
    make.decided(plan, alice, basis=make.basis(plan, part))
    other = make.pending(token, **PLAN)
    make.decided(other, alice, Status.REJECTED, steps=said, reason="No.")

    assert same_as_read(told) == 2


def test_what_only_changed_is_not_told_as_closed(told, token, alice, bob):
    make.in_force({"name": "Two", "effect": "review", "demands": {"approvals": 2}})
    approval = make.pending(token)
    make.decided(approval, alice)

    assert [closed for _, _, closed in told] == [None, None]


def test_what_was_not_committed_is_not_told(told, token, alice):
    approval = make.pending(token)
    with pytest.raises(StaleBasis):
        make.decided(approval, alice, basis=Basis("0" * 64, 1))

    assert [closed for _, _, closed in told] == [None]


async def test_who_waits_here_is_answered_without_a_read(hub, token, agent, alice, monkeypatch):
    approval = await in_thread(make.pending)(token)
    secret = await in_thread(lambda: make.secret(agent))()
    async with wait_for(approval.pk, secret) as answer:
        await until_waiting(hub)
        monkeypatch.setattr(closing, "closed", refuse)
        monkeypatch.setattr(closing, "closed_since", refuse)
        await in_thread(make.decided)(approval, alice)
        status, body = await answer(within_s=1)

    token = await in_thread(tokens.find)(secret)
    read, _ = await in_thread(as_told)(approval.pk, token.agent_id)
    told = {**answers.answer(read), "now": body["now"]}
    assert (status, body) == (200, told)


async def test_a_bell_of_another_process_has_it_read(hub, token, agent, alice, monkeypatch):
    approval = await in_thread(make.pending)(token)
    secret = await in_thread(lambda: make.secret(agent))()
    monkeypatch.setattr(hub, "ring", lambda *_: None)
    async with wait_for(approval.pk, secret) as answer:
        await until_waiting(hub)
        await in_thread(make.decided)(approval, alice)
        hub._hear([Bell(str(approval.pk), 2)])
        status, body = await answer(within_s=1)

    assert (status, body["status"]) == (200, "approved")
