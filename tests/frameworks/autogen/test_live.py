"""AutoGen 0.7.5 and a real dashboard: what a person decides in the page is what happens."""

import asyncio
import json

import pytest
from autogen_agentchat.agents import CodeExecutorAgent
from autogen_ext.code_executors.local import LocalCommandLineCodeExecutor

from approval_client import AsyncClient, approval_func
from approval_client.adapters.autogen import gate
from tests.frameworks.autogen.kit import DENIED, magentic_one, replying

TOUCH = "```sh\ntouch ran\n```"


@pytest.fixture
def agent(client, tmp_path):
    executor = LocalCommandLineCodeExecutor(work_dir=tmp_path)
    return CodeExecutorAgent("runner", executor, approval_func=client.approval_func)


async def told(agent, task=TOUCH):
    result = await asyncio.wait_for(agent.run(task=task), 90)
    return result.messages[-1].content


async def test_code_runs_after_a_person_approved_it_in_the_page(agent, person, tmp_path):
    person.approves()

    await told(agent)

    assert (tmp_path / "ran").exists()


async def test_code_does_not_run_after_a_rejection_and_the_reason_is_told(agent, person, tmp_path):
    person.rejects("Wrong sector.")

    assert (await told(agent)).startswith(DENIED + "Wrong sector.")
    assert not (tmp_path / "ran").exists()


async def test_while_one_agent_waits_others_run(agent, person, tmp_path):
    waiting = asyncio.create_task(told(agent))
    await asyncio.to_thread(person.find)
    steps = [await asyncio.sleep(0.001, step) for step in range(50)]
    assert (len(steps), waiting.done()) == (50, False)

    person.approves()
    await waiting

    assert (tmp_path / "ran").exists()


async def test_a_dashboard_that_is_down_is_a_returned_rejection(tmp_path, monkeypatch):
    monkeypatch.setenv("DASHBOARD_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("DASHBOARD_TOKEN", "dash_any")
    executor = LocalCommandLineCodeExecutor(work_dir=tmp_path)
    client = AsyncClient(clock=HurriedClock(), sleep=lambda _: asyncio.sleep(0))
    agent = CodeExecutorAgent("runner", executor, approval_func=client.approval_func)

    assert (await told(agent)).startswith(DENIED)
    assert not (tmp_path / "ran").exists()


class HurriedClock:
    """A minute passes at each look."""

    now = 0.0

    def __call__(self):
        self.now += 60
        return self.now


async def test_an_agent_that_waits_survives_a_server_that_is_killed(
    house, agent, person, tmp_path
):
    def kill_and_restart():
        house.server.kill()
        house.start()

    person.approves(after=kill_and_restart)

    await told(agent)

    assert (tmp_path / "ran").exists()


async def test_a_cancelled_agent_takes_its_question_back(house, agent, person):
    waiting = asyncio.create_task(told(agent))
    approval_id = await asyncio.to_thread(person.find)

    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting

    with house.agent(0) as api:
        answer = api.get(f"/api/v1/approvals/{approval_id}").json()
    assert (answer["status"], answer["decision"]["source"]) == ("cancelled", "agent")


@pytest.fixture
def environment(house, monkeypatch):
    monkeypatch.setenv("DASHBOARD_URL", house.url)
    monkeypatch.setenv("DASHBOARD_TOKEN", house.tokens[0])


async def test_magentic_one_runs_what_a_person_approved(environment, person, tmp_path):
    person.approves()
    executor = LocalCommandLineCodeExecutor(work_dir=tmp_path)
    team = magentic_one(executor, TOUCH, approval_func=approval_func)

    await asyncio.wait_for(team.run(task="Touch it."), 90)

    assert (tmp_path / "ran").exists()


async def test_magentic_one_goes_on_without_what_a_person_rejected(environment, person, tmp_path):
    person.rejects("Do not touch.")
    executor = LocalCommandLineCodeExecutor(work_dir=tmp_path)
    team = magentic_one(executor, TOUCH, approval_func=approval_func)

    result = await asyncio.wait_for(team.run(task="Touch it."), 90)

    told = [m.content for m in result.messages if m.source == "ComputerTerminal"]
    assert told[0].startswith(DENIED + "Do not touch.")
    assert not (tmp_path / "ran").exists()


async def test_how_gated_code_ended_is_on_the_desk(house, agent, client, person):
    gate(agent, client=client)
    waiting = asyncio.create_task(told(agent))
    approval_id = await asyncio.to_thread(person.find)
    await asyncio.to_thread(person.decides, approval_id, "approve")
    await waiting

    with house.agent(0) as api:
        outcome = api.get(f"/api/v1/approvals/{approval_id}").json()["outcome"]
    assert [outcome[name] is None for name in ("started_at", "finished_at")] == [False, False]


async def test_two_gated_agents_decided_in_the_other_order_each_get_their_own(
    agent, client, person, tmp_path
):
    gate(agent, client=client)
    one = asyncio.create_task(told(agent, TOUCH))
    earlier = await asyncio.to_thread(person.find)
    other = asyncio.create_task(told(agent, "```sh\ntouch too\n```"))
    later = await asyncio.to_thread(person.find, unlike=earlier)

    await asyncio.to_thread(person.decides, later, "approve")
    await asyncio.to_thread(person.decides, earlier, "reject", "Not the first.")

    await asyncio.gather(one, other)
    assert [(tmp_path / name).exists() for name in ("ran", "too")] == [False, True]


async def test_a_retry_of_the_same_is_linked_with_its_rejection(client, person, tmp_path):
    again = json.dumps({"retry": True, "reason": "Once more."})
    executor = LocalCommandLineCodeExecutor(work_dir=tmp_path)
    model = replying(TOUCH, again, TOUCH, "Done.")
    agent = CodeExecutorAgent(
        "r", executor, model_client=model, max_retries_on_error=1, approval_func=approval_func
    )
    gate(agent, client=client)
    waiting = asyncio.create_task(agent.run(task="Touch it."))
    earlier = await asyncio.to_thread(person.find)
    await asyncio.to_thread(person.decides, earlier, "reject", "Wrong sector.")
    retry = await asyncio.to_thread(person.find, unlike=earlier)

    page = await asyncio.to_thread(person.page, retry)
    await asyncio.to_thread(person.decides, retry, "reject", "Still wrong.")
    await waiting

    assert earlier in page
