"""Resuming graphs, without LangGraph: a stand-in that shows interrupts and takes commands."""

import asyncio
from types import SimpleNamespace

import pytest

from approval_client import ApprovalRequest, DigestMismatch, Pending, TooLate, Unreachable
from approval_client.adapters._graphs import GraphDesk, Question, checked, resuming
from approval_client.adapters._pauses import Undecided
from approval_client.adapters._steps import drive_async
from approval_client.testing import FakeDashboard, approve

CONFIG = {"configurable": {"thread_id": "t1"}}
ID = "0123456789abcdef0123456789abcdef"


class Graph:
    """Pauses once with one interrupt, and keeps what it was resumed with."""

    def __init__(self, interrupt_id=ID):
        self.interrupts = (SimpleNamespace(id=interrupt_id, value="x"),)
        self.commands = []

    async def aget_state(self, *_, **__):
        task = SimpleNamespace(name="node", interrupts=self.interrupts, result=None)
        return SimpleNamespace(tasks=(task,), values="before")

    async def ainvoke(self, command, _):
        self.commands.append(command)
        self.interrupts = ()
        return "after"


def read(interrupt, *_):
    asked = ApprovalRequest.code(interrupt.value, "python")
    return Question(requests=[asked], answer=lambda answers: answers[0].approved)


async def resume(graph, fake, **options):
    client = fake.async_client()
    desk = GraphDesk(client=client, config=CONFIG, read=read, command=dict, **options)
    return await drive_async(graph, CONFIG, resuming(desk))


@pytest.mark.parametrize(
    ("fake", "told"), [(FakeDashboard.approving(), True), (FakeDashboard.rejecting("No."), False)]
)
async def test_a_yes_and_a_no_resume_by_id(fake, told):
    graph = Graph()

    assert await resume(graph, fake) == "after"
    assert graph.commands == [{ID: told}]


async def test_a_dashboard_that_is_down_resumes_nothing():
    graph = Graph()

    with pytest.raises(Unreachable):
        await resume(graph, FakeDashboard.unreachable())
    assert graph.commands == []


async def test_an_id_by_which_nothing_is_resumed_asks_nobody():
    fake = FakeDashboard.approving()

    with pytest.raises(DigestMismatch, match="cannot resume"):
        await resume(Graph("node:1"), fake)
    assert fake.approvals == []


async def test_looking_again_finds_the_same_question():
    fake, graph = FakeDashboard(), Graph()
    for _ in range(3):
        with pytest.raises(Undecided):
            await resume(graph, fake, max_wait_s=0)

    assert len(fake.approvals) == 1


async def test_a_yes_that_nobody_used_in_time_is_asked_again():
    fake, graph = FakeDashboard(approve(), approve()), Graph()
    with pytest.raises(Undecided):
        await resume(graph, fake, max_wait_s=0)
    first = Pending(request=ApprovalRequest.code("x", "python"), id=fake.approvals[0].id)
    await fake.async_client().decided(first)
    fake.advance(601)

    await resume(graph, fake)

    assert [(one.status, one.started) for one in fake.approvals] == [
        ("approved", 0),
        ("approved", 1),
    ]


@pytest.mark.parametrize(
    ("where", "why"), [({}, "no thread_id"), ({"thread_id": "t", "checkpoint_id": "1"}, "names a")]
)
def test_a_config_that_is_not_about_now_is_refused(where, why):
    with pytest.raises(ValueError, match=why):
        checked({"configurable": where})


class Two(Graph):
    """Pauses at two nodes at once."""

    async def aget_state(self, *_, **__):
        ids = [one * 32 for one in "ab" if not any(one * 32 in told for told in self.commands)]
        pending = [SimpleNamespace(id=one, value=one) for one in ids]
        tasks = [SimpleNamespace(name=one.value, interrupts=(one,)) for one in pending]
        return SimpleNamespace(tasks=tasks, values="before")


async def test_a_yes_that_waited_too_long_for_another_answer_resumes_nothing():
    fake, graph = FakeDashboard.manual(), Two()
    waiting = asyncio.create_task(resume(graph, fake))
    while len(fake.approvals) < 2:
        await asyncio.sleep(0.001)
    fake.approvals[0].verdict = approve()
    while fake.approvals[0].status == "pending":
        await asyncio.sleep(0.001)
    fake.advance(700)
    fake.approvals[1].verdict = approve()

    with pytest.raises(TooLate):
        await waiting

    assert graph.commands == [{fake.approvals[1].content["code"]: True}]
    assert [one.started for one in fake.approvals] == [0, 1]
