"""What all questions of a part of a program have in common."""

import asyncio
import threading
from contextlib import nullcontext
from contextvars import copy_context

import pytest

from approval_client import (
    ApprovalRequest,
    DigestMismatch,
    approval_func,
    requires_approval,
    run,
)
from approval_client.testing import FakeDashboard


@pytest.fixture
def fake():
    with FakeDashboard.approving().installed() as fake:
        yield fake


@requires_approval
def act(a):
    return a


@requires_approval
async def act_later(a):
    return a


def runs(fake):
    return [one.body.get("run_id", "") for one in fake.approvals]


def test_all_inside_is_one_run_and_nothing_outside(fake):
    with run("nightly"):
        act(1)
        act(2)
    act(3)

    assert runs(fake) == ["nightly", "nightly", ""]


async def test_tasks_and_threads_of_asyncio_are_inside(fake):
    with run("nightly"):
        await asyncio.gather(act_later(1), act_later(2))
        await asyncio.to_thread(act, 3)
        await approval_func(ApprovalRequest.code("print(1)"))

    assert runs(fake) == ["nightly"] * 4


def test_a_thread_of_the_programs_own_takes_it_along(fake):
    with run("nightly"):
        thread = threading.Thread(target=copy_context().run, args=(act, 1))
        thread.start()
        thread.join()

    assert runs(fake) == ["nightly"]


@pytest.mark.parametrize("is_in_a_run", [False, True])
def test_a_question_that_was_changed_while_it_waited_opens_nothing(fake, is_in_a_run):
    question = ApprovalRequest.code("print(1)")

    def change(_):
        question.content["code"] = "rm -rf /"

    client = fake.client().telling(on_pending=change)
    with run("nightly") if is_in_a_run else nullcontext():
        with pytest.raises(DigestMismatch, match="changed after it was asked"):
            client.request_approval(question)


def test_one_that_was_changed_before_it_was_asked_opens_nothing_in_a_run(fake):
    question = ApprovalRequest.code("print(1)")
    question.content["code"] = "rm -rf /"

    with run("nightly"), pytest.raises(DigestMismatch):
        fake.client().request_approval(question)

    assert [approval.started for approval in fake.approvals] == [0]


def test_two_tasks_have_each_their_own(fake):
    async def job(name):
        with run(name):
            await asyncio.sleep(0)
            await act_later(name)

    async def both():
        await asyncio.gather(job("a"), job("b"))

    asyncio.run(both())

    assert sorted(runs(fake)) == ["a", "b"]


def test_a_question_with_a_run_of_its_own_keeps_it(fake):
    with run("nightly"):
        requires_approval(run_id="mine")(lambda: None)()

    assert runs(fake) == ["mine"]


def test_evidence_of_the_run_stands_beside_that_of_the_question(fake):
    with run("nightly", evidence={"ticket": 7, "who": "cron"}), run("step", evidence={"n": 1}):
        requires_approval(evidence={"who": "me"})(lambda: None)()

    body = fake.approvals[0].body
    assert body["run_id"] == "step"
    del body["evidence"]["tool_schema"]
    assert body["evidence"] == {"ticket": 7, "who": "me", "n": 1}


def test_after_an_error_it_is_over(fake):
    with pytest.raises(KeyError), run("nightly"):
        raise KeyError
    act(1)

    assert runs(fake) == [""]


@pytest.mark.parametrize(
    ("name", "evidence", "kind"),
    [
        ("", None, ValueError),
        ("  ", None, ValueError),
        ("a\nb", None, ValueError),
        (7, None, TypeError),
        ("a", {"x": float("nan")}, ValueError),
        ("a", {"x": object()}, TypeError),
    ],
)
def test_what_cannot_be_said_is_refused_at_once(name, evidence, kind):
    with pytest.raises(kind), run(name, evidence=evidence):
        pass
