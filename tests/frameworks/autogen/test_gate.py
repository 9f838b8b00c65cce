"""AutoGen's agents and teams that exist already get a gate; what runs code past it is named."""

import asyncio
import json

import pytest
from autogen_agentchat.agents import (
    AssistantAgent,
    CodeExecutorAgent,
    MessageFilterAgent,
    MessageFilterConfig,
    SocietyOfMindAgent,
)
from autogen_agentchat.teams import RoundRobinGroupChat
from autogen_agentchat.tools import AgentTool, TeamTool
from autogen_core import CancellationToken
from autogen_core.code_executor import CodeBlock
from autogen_ext.code_executors.local import LocalCommandLineCodeExecutor
from autogen_ext.tools.code_execution import PythonCodeExecutionTool

from approval_client.adapters.autogen import for_agent, gate, ungated
from tests.frameworks.autogen.kit import (
    DENIED,
    HELLO,
    UNGATED,
    asked,
    execute,
    magentic_one,
    replying,
    said,
    terminal,
)

pytestmark = pytest.mark.filterwarnings(UNGATED)
TOUCH = "```sh\ntouch ran\n```"


@pytest.fixture
def executor(tmp_path):
    return LocalCommandLineCodeExecutor(work_dir=tmp_path)


@pytest.fixture
def runner(executor):
    return CodeExecutorAgent("runner", executor)


@pytest.fixture
def closed(runner, gate):
    """An agent that was there, with the dashboard's gate before it."""
    adapt(runner, gate)
    return runner


def adapt(agent, dashboard, **options):
    return gate_of()(agent, client=dashboard.client, **options)


def gate_of(function=gate):  # the fixture has the same name
    return function


# An agent that is there already.


async def test_an_agent_that_was_there_asks_and_runs(closed, gate):
    gate.approve_next()

    assert (await said(closed)).strip() == "hello"


async def test_an_agent_that_was_there_runs_nothing_after_a_rejection(closed, gate, tmp_path):
    gate.reject_next("Not now.")

    assert (await said(closed, TOUCH)).startswith(DENIED + "Not now.")
    assert (gate.started(), (tmp_path / "ran").exists()) == (0, False)


async def test_an_agent_that_was_reloaded_asks_again(executor, gate, tmp_path):
    saved = CodeExecutorAgent("runner", executor).dump_component()
    again = CodeExecutorAgent.load_component(saved)
    adapt(again, gate)
    gate.reject_next("Not now.")

    assert (await said(again, TOUCH)).startswith(DENIED)
    assert not (tmp_path / "ran").exists()


async def test_nobody_answering_is_a_rejection_that_says_so(closed, gate, tmp_path):
    running = asyncio.create_task(said(closed, TOUCH))
    await asked(gate)

    gate.run_out()

    assert "Nobody decided in time." in await running
    assert not (tmp_path / "ran").exists()


async def test_a_late_yes_runs_nothing(closed, gate, tmp_path):
    running = asyncio.create_task(said(closed, TOUCH))
    await asked(gate)
    gate.run_out()
    await running

    gate.approve_next()

    assert (gate.started(), (tmp_path / "ran").exists()) == (0, False)


async def test_a_cancellation_token_takes_the_question_back_and_runs_nothing(
    closed, gate, tmp_path
):
    token = CancellationToken()
    running = asyncio.create_task(closed.run(task=TOUCH, cancellation_token=token))
    await asked(gate)

    token.cancel()

    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(running, 20)
    assert (gate.statuses(), (tmp_path / "ran").exists()) == (["cancelled"], False)


async def test_a_teams_cancellation_token_takes_the_question_back_and_runs_nothing(
    closed, gate, tmp_path
):
    token = CancellationToken()
    team = RoundRobinGroupChat([closed], max_turns=2)
    running = asyncio.create_task(team.run(task=TOUCH, cancellation_token=token))
    await asked(gate)

    token.cancel()

    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(running, 20)
    async with asyncio.timeout(10):
        while gate.statuses() != ["cancelled"]:
            await asyncio.sleep(0.001)
    assert not (tmp_path / "ran").exists()


async def test_a_token_that_was_cancelled_before_asks_nobody(closed, gate, tmp_path):
    token = CancellationToken()
    token.cancel()

    with pytest.raises(asyncio.CancelledError):
        await closed.run(task=TOUCH, cancellation_token=token)
    assert (gate.statuses(), (tmp_path / "ran").exists()) == ([], False)


async def test_a_dashboard_that_is_down_is_a_rejection_that_says_so(closed, gate, tmp_path):
    gate.unplug()

    assert "The dashboard at 'http://localhost:8765' gave no usable answer in time" in await said(
        closed, TOUCH
    )
    assert not (tmp_path / "ran").exists()


async def test_a_dashboard_that_nobody_configured_is_a_rejection(runner, monkeypatch):
    monkeypatch.delenv("DASHBOARD_URL", raising=False)
    gate_of()(runner)

    assert (await said(runner)).startswith(DENIED + "The dashboard was not asked")


async def test_two_runs_at_once_get_their_own_answers(closed, gate):
    first = asyncio.create_task(execute(closed, "print(1)"))
    await asked(gate, 1)
    second = asyncio.create_task(execute(closed, "print(2)"))
    await asked(gate, 2)

    gate.reject_next("Not the first.")
    gate.approve_next()

    assert [(await first).exit_code, (await second).output.strip()] == [1, "2"]


async def test_a_cancelled_run_takes_its_question_back(closed, gate):
    running = asyncio.create_task(closed.run(task=HELLO))
    await asked(gate)

    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running

    assert gate.statuses() == ["cancelled"]


# What reviewers see.


async def test_how_it_ended_is_reported(closed, gate):
    gate.approve_next()
    gate.approve_next()

    await said(closed)
    await said(closed, "```sh\nexit 3\n```")

    assert [end["exit_code"] for end in gate.finished()] == [0, 3]
    assert gate.finished()[0]["output_head"].strip() == "hello"


async def test_an_executor_that_fails_is_reported_and_its_error_goes_on(closed, gate, executor):
    async def fail(*_, **__):
        raise OSError("No disk.")

    executor.execute_code_blocks = fail
    gate.approve_next()

    with pytest.raises(OSError, match=r"No disk\."):
        await execute(closed, "print(1)")
    assert gate.finished() == [{"exit_code": 1, "error": "OSError: No disk."}]


async def test_the_question_says_which_agent_asks(closed, gate):
    gate.approve_next()

    await said(closed)

    assert gate.evidence()[0]["agent_name"] == "runner"


async def test_an_agent_without_a_model_shows_what_it_was_told(closed, gate):
    gate.approve_next()

    await said(closed)

    heard = {"type": "TextMessage", "source": "user", "content": HELLO}
    assert gate.evidence()[0]["context"] == [heard]


async def test_autogens_context_is_passed_on_where_it_has_one(executor, gate):
    agent = CodeExecutorAgent("runner", executor, model_client=replying(HELLO, "Done."))
    adapt(agent, gate)
    gate.approve_next()

    await said(agent, "Say hello.")

    shown = gate.evidence()[0]["context"]
    assert [one["content"] for one in shown] == ["Say hello.", HELLO]


@pytest.mark.parametrize("own", [{"task": "trim"}, lambda: {"task": "trim"}])
async def test_a_context_of_ones_own_is_shown_in_place_of_autogens(runner, gate, own):
    adapt(runner, gate, context=own, objective="Centre the beam.", time_limit_s=60)
    gate.approve_next()

    await said(runner)

    question = gate.requests()[0]
    assert question["evidence"]["context"] == {"task": "trim"}
    assert (question["objective"], question["time_limit_s"]) == ("Centre the beam.", 60)


async def test_a_context_that_fails_does_not_stop_the_question(runner, gate):
    adapt(runner, gate, context=lambda: 1 / 0)
    gate.approve_next()

    assert (await said(runner)).strip() == "hello"
    assert "ZeroDivisionError" in gate.evidence()[0]["context"]


async def test_a_retry_of_the_same_is_of_the_same_run_with_the_same_content(executor, gate):
    again = json.dumps({"retry": True, "reason": "Once more."})
    model = replying(HELLO, again, HELLO, "Done.")
    agent = CodeExecutorAgent("r", executor, model_client=model, max_retries_on_error=1)
    adapt(agent, gate)
    gate.reject_next("No.")
    gate.reject_next("Still no.")

    await agent.run(task="Greet.")

    first, second = ((one["run_id"], one["content"]) for one in gate.requests())
    assert first == second
    assert first[0] != ""


async def test_another_gate_is_another_run_and_asks_once(closed, gate):
    gate.approve_next()
    await said(closed)
    adapt(closed, gate)
    gate.approve_next()
    await said(closed)

    one, other = (request["run_id"] for request in gate.requests())
    assert one != other


async def test_a_function_for_one_agent_says_its_name_and_run(executor, gate):
    asking = for_agent("runner", run_id="shift 7", client=gate.client)
    agent = CodeExecutorAgent("runner", executor, approval_func=asking)
    gate.approve_next()

    assert (await said(agent)).strip() == "hello"
    assert gate.requests()[0]["run_id"] == "shift 7"
    assert gate.evidence()[0]["agent_name"] == "runner"


# What is guarded.


async def test_code_that_changed_while_it_waited_is_not_run(closed, gate, tmp_path):
    block = CodeBlock(code="echo safe", language="sh")
    running = asyncio.create_task(closed.execute_code_block([block], CancellationToken()))
    await asked(gate)
    block.code = "touch ran"
    gate.approve_next()

    result = await running

    assert (result.exit_code, (tmp_path / "ran").exists()) == (1, False)
    assert "not the code that was approved" in result.output


async def test_an_agent_whose_function_was_taken_away_runs_nothing(closed, gate, tmp_path):
    closed._approval_func = None

    assert "Nobody approved this code." in await said(closed, TOUCH)
    assert (gate.asked(), (tmp_path / "ran").exists()) == ([], False)


async def test_an_approval_runs_once(closed, gate):
    gate.approve_next()
    await execute(closed, "print(1)")

    block = CodeBlock(code="print(1)", language="python")
    again = await closed._code_executor.execute_code_blocks([block], CancellationToken())

    assert again.exit_code == 1


def test_a_gated_agent_cannot_be_saved_without_its_gate(closed):
    with pytest.raises(ValueError, match="Cannot serialize"):
        closed.dump_component()


# Teams.


async def test_a_team_is_gated_as_one_run(executor, gate):
    team = RoundRobinGroupChat([CodeExecutorAgent(n, executor) for n in "ab"], max_turns=2)

    gated = adapt(team, gate)
    gate.reject_next("No.")
    gate.reject_next("No.")
    await asyncio.wait_for(team.run(task=HELLO), 20)

    assert [agent.name for agent in gated] == ["a", "b"]
    assert [evidence["agent_name"] for evidence in gate.evidence()] == ["a", "b"]
    assert len({request["run_id"] for request in gate.requests()}) == 1


def nested(form, runner):
    """Put an agent where a team keeps it."""
    team = RoundRobinGroupChat([runner], max_turns=1)
    forms = {
        "team": lambda: team,
        "team in a team": lambda: RoundRobinGroupChat([team], max_turns=1),
        "society": lambda: SocietyOfMindAgent("society", team, replying()),
        "filter": lambda: MessageFilterAgent("f", runner, MessageFilterConfig(per_source=[])),
        "agent tool": lambda: AssistantAgent("a", replying(), tools=[AgentTool(runner)]),
        "team tool": lambda: AssistantAgent("a", replying(), tools=[TeamTool(team, "t", "T.")]),
    }
    return forms[form]()


FORMS = ["team", "team in a team", "society", "filter", "agent tool", "team tool"]


@pytest.mark.parametrize("form", FORMS)
def test_an_agent_is_found_wherever_it_stands(runner, gate, form):
    assert adapt(nested(form, runner), gate) == [runner]


@pytest.mark.parametrize("form", FORMS)
def test_an_ungated_agent_is_warned_about_wherever_it_stands(runner, form):
    with pytest.warns(UserWarning, match="'runner' runs code and asks nobody"):
        assert ungated(nested(form, runner)) == [runner]


def test_a_gated_agent_is_not_warned_about(closed):
    assert ungated(RoundRobinGroupChat([closed])) == []


def test_where_there_is_nothing_to_gate_that_is_an_error(gate):
    with pytest.raises(ValueError, match="no CodeExecutorAgent in this AssistantAgent"):
        adapt(AssistantAgent("talker", replying()), gate)


def test_a_tool_that_runs_code_is_warned_about(runner, executor, gate):
    tool = PythonCodeExecutionTool(executor)
    team = RoundRobinGroupChat([runner, AssistantAgent("a", replying(), tools=[tool])])

    with pytest.warns(UserWarning, match="AutoGen has no approval for tools"):
        adapt(team, gate)


def test_a_client_that_blocks_or_an_unknown_option_is_refused_and_nothing_is_gated(runner, gate):
    with pytest.raises(TypeError, match="AsyncClient"):
        gate_of()(runner, client=gate.blocking)
    with pytest.raises(TypeError, match="no option 'timeout'"):
        adapt(runner, gate, timeout=60)

    assert runner._approval_func is None


# MagenticOne.


async def test_magentic_ones_terminal_shows_what_it_was_told(executor, gate, tmp_path):
    team = magentic_one(executor, TOUCH)
    adapt(team, gate, objective="Touch it.")
    gate.approve_next()

    await asyncio.wait_for(team.run(task="Touch it."), 20)

    assert (tmp_path / "ran").exists()
    assert gate.evidence()[0]["agent_name"] == "ComputerTerminal"
    assert gate.evidence()[0]["context"][-1]["content"] == TOUCH
    assert gate.evidence()[0]["source_event"]["context"] == []


async def test_magentic_one_goes_on_after_a_rejection(executor, gate, tmp_path):
    team = magentic_one(executor, TOUCH)
    assert adapt(team, gate) == [terminal(team)]
    gate.reject_next("Do not touch.")

    result = await asyncio.wait_for(team.run(task="Touch it."), 20)

    assert (result.messages[-1].content, (tmp_path / "ran").exists()) == ("The end.", False)
