"""Microsoft Agent Framework: what a workflow waits for, answered in the dashboard."""

import asyncio
from functools import partial

import pytest
from agent_framework import (
    Agent,
    ContextProvider,
    Executor,
    InMemoryCheckpointStorage,
    WorkflowBuilder,
    WorkflowContext,
    WorkflowRunState,
    handler,
    response_handler,
    tool,
)

from approval_client import ApprovalRequest, Expired, Unreachable
from approval_client.adapters.agent_framework import (
    Undecided,
    reasons,
    resume_workflow,
    run_with_approvals,
)
from approval_client.adapters.agent_framework import gate as dashboard_gate
from tests.frameworks.agent_framework.kit import Accounts, Model, asked, call, deletions

WAITS = WorkflowRunState.IDLE_WITH_PENDING_REQUESTS


class Release(Executor):
    """Asks whether to release, and keeps what it was told."""

    def __init__(self, wants=bool):
        super().__init__(id="release")
        self.wants = wants
        self.told = []

    @handler
    async def ask(self, version: object, ctx: WorkflowContext) -> None:
        await ctx.request_info({"release": version}, self.wants)

    @response_handler
    async def hear(self, original: dict, answer: bool, _ctx: WorkflowContext) -> None:  # noqa: FBT001 - the framework's signature
        self.told.append((original["release"], answer))


def workflow(executor, **options):
    return WorkflowBuilder(start_executor=executor, **options).build()


async def resume(flow, result, gate, **options):
    return await asyncio.wait_for(resume_workflow(flow, result, client=gate.client, **options), 20)


async def test_an_agent_in_a_workflow_goes_on_after_a_yes(gate):
    gate.approve_next()
    accounts = Accounts()
    flow = workflow(accounts.agent)

    ended = await resume(flow, await flow.run("Delete 1."), gate)

    assert (accounts.deleted, ended.get_final_state()) == (["1"], WorkflowRunState.IDLE)
    assert gate.finished() == [{"exit_code": 0}]


async def test_an_agent_in_a_workflow_is_told_no(gate):
    gate.reject_next("Keep it.")
    accounts = Accounts()
    flow = workflow(accounts.agent)

    await resume(flow, await flow.run("Delete 1."), gate)

    assert (accounts.deleted, gate.started()) == ([], 0)


async def test_a_model_in_a_workflow_reads_the_reason_where_the_agent_has_a_place_for_it(gate):
    gate.reject_next("Keep it.")
    accounts = Accounts(middleware=[reasons()])
    flow = workflow(accounts.agent)

    await resume(flow, await flow.run("Delete 1."), gate)

    (told,) = accounts.model.told()
    assert told.split("\n")[0].endswith("rejected by user. Keep it.")


async def test_each_request_of_a_workflow_gets_its_own_answer(gate):
    accounts = Accounts(deletions("1", "2"))
    flow = workflow(accounts.agent)
    running = asyncio.create_task(resume(flow, await flow.run("Delete them."), gate))
    await asked(gate, 2)
    users = [content["arguments"]["user_id"] for content in gate.asked()]

    gate.decide(1, "approve")
    gate.decide(0, "No.")

    await running
    assert accounts.deleted == [users[1]]


def deleting(calls, name, keep_days, *, provider=False):
    """An agent that wants to delete, by a tool with a default of its own."""

    def delete(path: str, keep_days: int = keep_days) -> str:
        """Delete."""
        calls.append((name, path, keep_days))
        return "deleted"

    gated = tool(delete, approval_mode="always_require")

    class Provider(ContextProvider):
        async def before_run(self, *, context, **_):
            context.extend_tools(self.source_id, [gated])

    model = Model([call("delete", path="x")])
    has = {"context_providers": [Provider("p")]} if provider else {"tools": [gated]}
    return Agent(model, "Delete.", name=name, middleware=[reasons()], **has)


async def test_each_agent_of_a_workflow_is_asked_with_the_defaults_of_its_own_tool(gate):
    calls = []
    gate.approve_next()
    gate.approve_next()
    staging, prod = deleting(calls, "staging", 30), deleting(calls, "prod", 0)
    flow = WorkflowBuilder(start_executor=staging).add_edge(staging, prod).build()

    await resume(flow, await flow.run("Go."), gate)

    assert [content["arguments"]["keep_days"] for content in gate.asked()] == [30, 0]
    assert calls == [("staging", "x", 30), ("prod", "x", 0)]


async def test_the_defaults_of_another_agents_tool_are_not_shown(gate):
    calls = []
    gate.approve_next()
    gate.approve_next()
    staging, prod = deleting(calls, "staging", 30), deleting(calls, "prod", 0, provider=True)
    flow = WorkflowBuilder(start_executor=staging).add_edge(staging, prod).build()

    await resume(flow, await flow.run("Go."), gate)

    assert gate.asked()[1]["arguments"] == {"path": "x"}
    assert "may ignore arguments" in gate.evidence()[1]["tool_out_of_sight"]
    assert calls == [("staging", "x", 30), ("prod", "x", 0)]


async def test_a_name_that_the_tool_of_one_of_two_agents_drops_is_not_asked(gate):
    calls = []
    staging, prod = deleting(calls, "staging", 30), deleting(calls, "prod", 0)
    for agent in (staging, prod):
        agent.client.turns = [[call("delete", path="x", dry_run=True)]]
    flow = WorkflowBuilder(start_executor=staging).add_edge(staging, prod).build()

    await resume(flow, await flow.run("Go."), gate)

    assert (gate.asked(), calls) == ([], [])


async def test_nobody_answering_leaves_the_workflow_paused(gate):
    accounts = Accounts()
    flow = workflow(accounts.agent)
    running = asyncio.create_task(resume(flow, await flow.run("Delete 1."), gate))
    await asked(gate)
    gate.run_out()

    with pytest.raises(Expired):
        await running
    assert accounts.deleted == []


async def test_a_dashboard_that_is_down_leaves_the_workflow_paused(gate):
    accounts = Accounts()
    flow = workflow(accounts.agent)
    paused = await flow.run("Delete 1.")
    gate.unplug()

    with pytest.raises(Unreachable):
        await resume(flow, paused, gate)

    assert (accounts.deleted, paused.get_final_state()) == ([], WAITS)


async def test_a_workflow_rebuilt_from_its_checkpoint_finds_its_question_again(gate):
    storage, accounts = InMemoryCheckpointStorage(), Accounts()
    first = workflow(accounts.agent, name="deleting", checkpoint_storage=storage)
    with pytest.raises(Undecided):
        await resume(first, await first.run("Delete 1."), gate, max_wait_s=0)
    gate.approve_next()
    other = Accounts(model=accounts.model)
    flow = workflow(other.agent, name="deleting", checkpoint_storage=storage)
    latest = await storage.get_latest(workflow_name="deleting")

    await resume(flow, await flow.run(checkpoint_id=latest.checkpoint_id), gate)

    assert (other.deleted, len(gate.asked())) == (["1"], 1)


@pytest.mark.parametrize(("verdict", "told"), [("approve", True), ("No.", False)])
async def test_a_request_for_a_bool_is_answered_with_whether_it_was_approved(gate, verdict, told):
    release = Release()
    flow = workflow(release)
    running = asyncio.create_task(resume(flow, await flow.run("1.2"), gate, run_id="r1"))
    await asked(gate)

    gate.decide(0, verdict)
    await running

    assert release.told == [("1.2", told)]
    assert gate.asked()[0]["arguments"] == {"data": {"release": "1.2"}}


async def test_a_request_can_be_read_as_a_question_of_ones_own(gate):
    gate.approve_next()
    flow = workflow(Release())

    await resume(flow, await flow.run("1.2"), gate, run_id="r1", read=as_code)

    assert [(one["kind"], one["run_id"]) for one in gate.requests()] == [("code", "r1")]


def as_code(event, **options):
    return ApprovalRequest.code(f"release({event.data['release']!r})", **options)


async def test_no_edit_is_offered_because_the_workflow_hears_only_yes_or_no(gate):
    gate.approve_next()
    flow = workflow(Release())
    read = partial(as_code, accepts_edits=True)

    await resume(flow, await flow.run("1.2"), gate, read=read)

    assert gate.requests()[0].get("accepts_edits", False) is False


async def test_data_that_cannot_be_shown_whole_is_answered_by_nobody(gate):
    release = Release()
    flow = workflow(release)

    with pytest.raises(ValueError, match="Nobody was asked"):
        await resume(flow, await flow.run(object()), gate)

    assert (gate.asked(), release.told) == ([], [])


async def test_a_request_for_something_else_is_not_answered_and_nobody_is_asked(gate):
    flow = workflow(Release(wants=str))

    with pytest.raises(ValueError, match="Nobody was asked"):
        await resume(flow, await flow.run("1.2"), gate)

    assert gate.asked() == []


async def test_a_gate_in_a_workflow_does_not_ask_again_and_reports_the_end(gate):
    gate.approve_next()
    accounts = Accounts(middleware=[dashboard_gate(client=gate.client)])
    flow = workflow(accounts.agent)

    await resume(flow, await flow.run("Delete 1."), gate)

    assert gate.finished() == [{"exit_code": 0, "output_head": "deleted 1"}]


async def test_a_workflow_that_is_used_as_an_agent_is_not_left_with_an_open_question(gate):
    accounts = Accounts()
    agent = workflow(accounts.agent).as_agent(name="desk")
    run = run_with_approvals(
        agent, "Delete 1.", session=agent.create_session(), client=gate.client
    )

    with pytest.raises(ValueError, match="run the workflow itself and pass it to resume_workflow"):
        await asyncio.wait_for(run, 20)

    assert (gate.asked(), accounts.deleted) == ([], [])
