"""Who stops waiting withdraws the question."""

import asyncio
import contextlib

import httpx2
import pytest

from approval_client import (
    ApprovalRequest,
    AsyncClient,
    Client,
    DigestMismatch,
    Pending,
    Unreachable,
)
from approval_client.testing import FakeDashboard
from approval_client.wire import Status


@pytest.fixture
def fake():
    return FakeDashboard.manual()


async def test_a_cancelled_task_withdraws_and_stays_cancelled(fake, question, asked):
    task = asyncio.create_task(fake.async_client().request_approval(question))
    approval = await asked(fake)

    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
    assert (approval.status, approval.cancel_reason) == (
        Status.CANCELLED,
        "The agent stopped waiting.",
    )


async def test_a_time_out_around_the_wait_withdraws(fake, question):
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(fake.async_client().request_approval(question), 0.03)

    assert fake.approvals[0].status is Status.CANCELLED


async def test_approval_func_withdraws_too(fake, question, asked):
    task = asyncio.create_task(fake.async_client().approval_func(question))
    approval = await asked(fake)

    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
    assert approval.status is Status.CANCELLED


async def test_a_second_cancellation_does_not_stop_the_withdrawal(fake, question, asked):
    client = fake.async_client()
    task = asyncio.create_task(client.request_approval(question))
    approval = await asked(fake)
    task.cancel()
    await asyncio.sleep(0)
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.gather(*client._farewells)

    assert approval.status is Status.CANCELLED


class Steps:
    """Runs a coroutine by hand until somebody was asked, and then leaves it."""

    def __init__(self, coroutine, fake):
        self.coroutine, self.fake = coroutine, fake

    def __await__(self):
        while not self.fake.approvals:
            yield self.coroutine.send(None)


async def test_a_closed_coroutine_withdraws_in_the_background(fake, question):
    client = fake.async_client()
    waiting = client.request_approval(question)
    await Steps(waiting, fake)

    waiting.close()
    await asyncio.gather(*client._farewells)

    assert fake.approvals[0].status is Status.CANCELLED
    assert len(client._shared) == 0


def test_a_program_that_ends_withdraws_before_its_loop_is_gone(served, question, asked):
    fake = FakeDashboard.manual()

    async def main(client):
        waiting = asyncio.create_task(client.request_approval(question))
        await asked(fake)
        return waiting

    with served(fake) as url:
        asyncio.run(main(AsyncClient(url, fake.token)))

    assert fake.approvals[0].status is Status.CANCELLED


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit, RuntimeError])
@pytest.mark.parametrize("ask", ["request_approval", "approval_func"])
def test_an_interrupted_wait_withdraws(question, stop, ask):
    fake = FakeDashboard.silent()

    def interrupt(request):
        if request.url.path.endswith("/wait"):
            raise stop
        return fake._carry(request)

    client = Client(fake.url, fake.token, transport=httpx2.MockTransport(interrupt))
    with contextlib.suppress(stop):
        getattr(client, ask)(question)

    assert fake.approvals[0].status is Status.CANCELLED


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit])
def test_approval_func_lets_an_interruption_through(question, stop):
    def interrupt(request):
        raise stop

    client = Client("https://a.example", "dash_x", transport=httpx2.MockTransport(interrupt))

    with pytest.raises(stop):
        client.approval_func(question)


def test_a_wait_may_be_left_without_withdrawing(question):
    fake = FakeDashboard.silent()
    pending = fake.client().submit(question)

    def interrupt(request):
        raise KeyboardInterrupt

    client = Client(fake.url, fake.token, transport=httpx2.MockTransport(interrupt))
    with pytest.raises(KeyboardInterrupt):
        client.wait(pending, withdraw=False)

    assert fake.approvals[0].status is Status.PENDING


def test_an_interrupted_submission_is_found_again_and_withdrawn(question):
    fake = FakeDashboard.silent()

    def lose_the_answer(request):
        response = fake._carry(request)
        if len(fake.calls) == 1:
            raise KeyboardInterrupt
        return response

    client = Client(fake.url, fake.token, transport=httpx2.MockTransport(lose_the_answer))
    with pytest.raises(KeyboardInterrupt):
        client.request_approval(question)

    assert [approval.status for approval in fake.approvals] == [Status.CANCELLED]


def test_who_gives_up_on_a_dashboard_that_stopped_answering_withdraws(question):
    fake = FakeDashboard.silent()

    def fail(request):
        if request.method == "GET":
            return httpx2.Response(502)
        return fake._carry(request)

    client = Client(
        fake.url,
        fake.token,
        transport=httpx2.MockTransport(fail),
        clock=fake.clock,
        sleep=fake.advance,
    )
    with pytest.raises(Unreachable):
        client.request_approval(question)

    assert fake.calls[-1].endswith("/cancel")


def test_who_is_told_of_another_question_withdraws_their_own(stage, question, say):
    stage = stage(say.pending(id="b2", digest="0" * 64), say.pending())
    talk = stage.talk(question)
    with pytest.raises(DigestMismatch):
        stage.play(talk.ask())

    stage.play(talk.withdraw("Wrong."))

    assert stage.paths[1:] == ["POST /api/v1/approvals", "POST /api/v1/approvals/a1/cancel"]
    assert {call.key for call in stage.calls[:2]} == {"k1"}


@pytest.mark.parametrize("name", ["ask", "submit"])
def test_who_is_only_told_of_another_question_withdraws_nothing(stage, question, say, name):
    stage = stage(say.pending(id="b2", digest="0" * 64))
    talk = stage.talk(question)
    with pytest.raises(DigestMismatch):
        stage.play(getattr(talk, name)())

    stage.play(talk.withdraw("Wrong."))

    assert stage.paths == ["POST /api/v1/approvals"] * 2


@pytest.mark.parametrize("make", ["client", "async_client"])
@pytest.mark.parametrize("name", ["wait", "decided"])
def test_who_waits_for_the_question_of_somebody_else_leaves_it_alone(fake, make, name):
    pending = fake.client().submit(ApprovalRequest.code("theirs"))
    other = Pending(request=ApprovalRequest.code("mine"), id=pending.id)

    async def leave():
        await getattr(fake.async_client(), name)(other)

    with pytest.raises(DigestMismatch):
        asyncio.run(leave()) if make == "async_client" else getattr(fake.client(), name)(other)

    assert [approval.status for approval in fake.approvals] == [Status.PENDING]


def test_a_question_that_was_changed_before_it_was_asked_is_withdrawn(fake):
    changed = ApprovalRequest.code("a")
    changed.content["code"] = "b"

    with pytest.raises(DigestMismatch):
        fake.client().request_approval(changed)

    assert [approval.status for approval in fake.approvals] == [Status.CANCELLED]


def test_a_farewell_that_fails_does_not_hide_the_interruption(question):
    fake = FakeDashboard.silent()

    def fail(request):
        if request.url.path.endswith("/wait"):
            fake.reachable = False
            raise KeyboardInterrupt
        return fake._carry(request)

    client = Client(fake.url, fake.token, transport=httpx2.MockTransport(fail))

    with pytest.raises(KeyboardInterrupt):
        client.request_approval(question)
