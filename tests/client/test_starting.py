"""Decided and started are two things: an approval counts when it is used, and it is used once."""

import asyncio
from dataclasses import replace

import httpx2
import pytest

from approval_client import (
    AlreadyUsed,
    ApprovalRequest,
    DigestMismatch,
    OnHold,
    TakenBack,
    TooLate,
    Unreachable,
)
from approval_client.testing import FakeDashboard, approve
from approval_client.wire import Status

pytestmark = pytest.mark.parametrize("name", ["client", "async_client"])


def run(result):
    return asyncio.run(result) if asyncio.iscoroutine(result) else result


def decided(fake, name, question):
    """Return a client, and the decision that it has waited for."""
    client = getattr(fake, name)()
    return client, run(client.decided(run(client.submit(question))))


def test_what_was_decided_is_not_approved_until_it_is_started(name, question):
    fake = FakeDashboard.approving("Fine.")

    client, response = decided(fake, name, question)

    assert (response.approved, response.status, response.reason) == (
        False,
        Status.APPROVED,
        "Fine.",
    )
    assert (bool(response), fake.approvals[0].started) == (False, 0)
    begun = run(client.start(response))
    assert (begun.approved, begun.content, fake.approvals[0].started) == (
        True,
        question.content,
        1,
    )


@pytest.mark.parametrize("way", [str.upper, lambda text: text.replace("-", "")])
def test_an_id_may_be_written_in_every_way_that_the_dashboard_reads(name, question, way):
    fake = FakeDashboard.approving()
    client = getattr(fake, name)()
    pending = run(client.submit(question))

    response = run(client.decided(replace(pending, id=way(pending.id))))

    assert response.id == pending.id
    assert run(client.start(replace(response, id=way(pending.id)))).approved is True


def test_an_edit_is_what_is_started(name):
    fake = FakeDashboard.manual()
    fake.decide_next(approve(content={"code": "print(2)"}))
    question = ApprovalRequest.code("print(1)", accepts_edits=True)

    client, response = decided(fake, name, question)

    begun = run(client.start(response))
    assert (begun.approved, begun.edited, begun.content) == (True, True, {"code": "print(2)"})


def test_a_rejection_is_returned_as_it_is_and_nothing_is_started(name, question):
    fake = FakeDashboard.rejecting("No.")

    client, response = decided(fake, name, question)

    assert run(client.start(response)) == response
    assert (response.approved, response.reason, fake.approvals[0].started) == (False, "No.", 0)


def test_silence_is_returned_too(name, question):
    _, response = decided(FakeDashboard.silent(), name, question)

    assert (response.approved, response.status) == (False, Status.EXPIRED)


def test_an_approval_is_started_once(name, question):
    client, response = decided(FakeDashboard.approving(), name, question)
    run(client.start(response))

    with pytest.raises(AlreadyUsed, match="An approval works once"):
        run(client.start(response))


def hold(fake):
    fake.on_hold = True


@pytest.mark.parametrize(
    ("meanwhile", "error"),
    [
        (hold, OnHold),
        (lambda fake: fake.advance(700), TooLate),
        (lambda fake: fake.take_back("Not any more."), TakenBack),
        (lambda fake: setattr(fake, "reachable", False), Unreachable),
    ],
    ids=["on hold", "too late", "taken back", "unreachable"],
)
def test_what_happens_in_between_stops_it(name, question, meanwhile, error):
    fake = FakeDashboard.approving()
    client, response = decided(fake, name, question)

    meanwhile(fake)

    with pytest.raises(error):
        run(client.start(response))
    assert fake.approvals[0].started == 0


def test_after_a_hold_the_approval_is_started(name, question):
    fake = FakeDashboard.approving()
    client, response = decided(fake, name, question)
    hold(fake)
    with pytest.raises(OnHold):
        run(client.start(response))

    fake.on_hold = False

    assert run(client.start(response)).approved is True


def test_an_approval_of_other_content_is_not_started(name, question):
    fake = FakeDashboard.approving()
    client, response = decided(fake, name, question)
    other = ApprovalRequest.code("print(2)")

    with pytest.raises(DigestMismatch):
        run(client.start(replace(response, digest=other.digest, content=other.content)))
    assert fake.approvals[0].started == 0


def test_only_what_was_started_can_be_reported(name, question):
    client, response = decided(FakeDashboard.approving(), name, question)

    with pytest.raises(ValueError, match="approved"):
        run(client.report_finished(response))


def test_an_answer_that_comes_when_the_approval_is_over_opens_nothing(name):
    fake = FakeDashboard.approving()
    client, response = decided(fake, name, ApprovalRequest.code("open_valve()"))
    on_time = fake._route

    def late(call):
        reply = yield from on_time(call)
        if call.url.path.endswith("/outcome"):
            fake.advance(7200)
        return reply

    fake._route = late
    with pytest.raises(TooLate, match="Nothing was run"):
        run(client.start(response))


def test_an_approval_whose_start_was_recorded_in_time_opens_nothing_when_it_is_over(name):
    fake = FakeDashboard.approving()
    client, response = decided(fake, name, ApprovalRequest.code("open_valve()"))
    fake.advance(590)
    on_time, losses = fake._route, iter([140, 140, 140])

    def lossy(call):
        reply = yield from on_time(call)
        if lost_s := next(losses, 0):
            fake.advance(lost_s)
            raise httpx2.ReadTimeout("lost", request=call)
        return reply

    fake._route = lossy
    with pytest.raises(TooLate, match="Nothing was run"):
        run(client.start(response))
    assert fake.approvals[0].started == 1


def test_whoever_holds_the_question_cannot_change_what_was_approved(name, question):
    fake = FakeDashboard.approving()
    client = getattr(fake, name)()
    response = run(client.request_approval(question))

    question.content["code"] = "rm -rf /"

    assert response.content != question.content


def test_a_question_that_was_changed_while_it_waited_opens_nothing(name, question):
    fake = FakeDashboard.approving()
    client = getattr(fake, name)()

    def change(_):
        question.content["code"] = "rm -rf /"

    with pytest.raises(DigestMismatch, match="changed after it was asked"):
        run(client.telling(on_decided=change).request_approval(question))
    assert fake.approvals[0].started == 0


@pytest.mark.parametrize("change", [300, {3}], ids=["another value", "no JSON"])
def test_content_that_was_changed_after_the_decision_is_not_started(name, change):
    fake = FakeDashboard.approving()
    question = ApprovalRequest.tool_call("set_field", {"tesla": 3})
    client, response = decided(fake, name, question)

    response.content["arguments"]["tesla"] = change
    with pytest.raises(DigestMismatch, match="changed after it was decided"):
        run(client.start(response))
    assert fake.approvals[0].started == 0

    response.content["arguments"]["tesla"] = 3
    assert run(client.start(response)).approved is True
