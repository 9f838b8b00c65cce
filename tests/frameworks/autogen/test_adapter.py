"""AutoGen 0.7.5, or 0.7.2, asks the dashboard before it runs code."""

import asyncio
import json
import warnings
from contextlib import contextmanager
from functools import partial
from importlib.metadata import version

import pytest
from autogen_agentchat.agents import ApprovalRequest as AutoGenRequest
from autogen_agentchat.agents import AssistantAgent, CodeExecutorAgent
from autogen_agentchat.messages import CodeExecutionEvent, TextMessage
from autogen_agentchat.teams import RoundRobinGroupChat
from autogen_core import CancellationToken, Image
from autogen_core.model_context import UnboundedChatCompletionContext
from autogen_core.models import UserMessage
from autogen_ext.code_executors.local import LocalCommandLineCodeExecutor
from PIL import Image as Pillow

from approval_client import AsyncClient, approval_func
from tests.frameworks.autogen.kit import (
    DANGER,
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

DOCKER = pytest.param(
    "docker",
    marks=pytest.mark.skipif(
        version("autogen-ext") == "0.7.2",
        reason="MagenticOne takes Docker by default since AutoGen 0.7.3",
    ),
)
MAKES_DEFAULT = "autogen_ext.teams.magentic_one.create_default_code_executor"


@pytest.fixture
def executor(tmp_path):
    return LocalCommandLineCodeExecutor(work_dir=tmp_path)


@pytest.fixture
def agent(executor):
    def agent(approval_func, **options):
        return CodeExecutorAgent("runner", executor, approval_func=approval_func, **options)

    return agent


# What AutoGen's own tests ask of an approval function (test_code_executor_agent.py, 0.7.5).


@pytest.mark.filterwarnings(UNGATED)
async def test_approval_functionality_no_approval(agent):
    result = await execute(agent(None), "print('hello')")

    assert (result.exit_code, result.output.strip()) == (0, "hello")


@pytest.mark.parametrize("kind", ["sync", "async"])
async def test_approval_functionality_allow_all(agent, gate, kind):
    gate.approve_next()

    result = await execute(agent(function(gate, kind)), "print('hello')")

    assert (result.exit_code, result.output.strip(), gate.started()) == (0, "hello", 1)


@pytest.mark.parametrize("kind", ["sync", "async"])
@pytest.mark.parametrize(("code", "language"), [("print(1)", "python"), ("rm -rf /no", "sh")])
async def test_approval_functionality_deny_all(agent, gate, kind, code, language):
    gate.reject_next("Not allowed here.")

    result = await execute(agent(function(gate, kind)), code, language)

    assert (result.exit_code, gate.started()) == (1, 0)
    assert result.output.startswith(DENIED + "Not allowed here.")


@pytest.mark.parametrize("kind", ["sync", "async"])
async def test_approval_functionality_deny_dangerous(agent, gate, kind):
    gate.approve_next()
    gate.reject_next("It deletes everything.")
    runner = agent(function(gate, kind))

    safe = await execute(runner, "print('safe')")
    dangerous = await execute(runner, "rm -rf /no", "sh")

    assert (safe.exit_code, dangerous.exit_code) == (0, 1)
    assert dangerous.output.startswith(DENIED + "It deletes everything.")


@pytest.mark.parametrize("kind", ["sync", "async"])
async def test_approval_functionality_context_passed(agent, gate, kind):
    gate.approve_next()
    model = replying(HELLO, "Done.")

    await said(agent(function(gate, kind), model_client=model), "Say hello.")

    context = gate.evidence()[0]["context"]
    assert [message["type"] for message in context] == ["UserMessage", "AssistantMessage"]
    assert [message["content"] for message in context] == ["Say hello.", HELLO]


@pytest.mark.parametrize("kind", ["sync", "async"])
def test_approval_functionality_serialization_fails(agent, gate, kind):
    with pytest.raises(ValueError, match="Cannot serialize CodeExecutorAgent with approval_func"):
        agent(function(gate, kind)).dump_component()


@pytest.mark.filterwarnings(UNGATED)
def test_approval_functionality_serialization_succeeds(agent):
    assert agent(None).dump_component().config["name"] == "runner"


@pytest.mark.parametrize("kind", ["sync", "async"])
async def test_approval_functionality_with_on_messages(agent, gate, kind):
    gate.approve_next()
    gate.reject_next("No.")
    runner, answers = agent(function(gate, kind)), []

    for task in (HELLO, DANGER):
        message = TextMessage(content=task, source="user")
        response = await runner.on_messages([message], CancellationToken())
        answers.append(response.chat_message.content)

    assert answers[0].strip() == "hello"
    assert answers[1].startswith(DENIED + "No.")


def function(gate, kind):
    return gate.blocking.approval_func if kind == "sync" else gate.client.approval_func


# What broke for others.


async def test_code_runs_only_after_the_approval(agent, gate, tmp_path):
    task = "```python\nopen('ran', 'w').close()\n```"
    running = asyncio.create_task(said(agent(gate.client.approval_func), task))
    await asked(gate)
    before = (tmp_path / "ran").exists()

    gate.approve_next()
    await running

    assert (before, (tmp_path / "ran").exists()) == (False, True)


async def test_rejected_code_never_runs_and_the_reviewers_words_are_in_the_result(
    agent, gate, tmp_path
):
    gate.reject_next('Use "rm -i"\n  instead.')

    told = await said(agent(gate.client.approval_func), "```sh\ntouch ran\n```")

    assert told.startswith(DENIED + 'Use "rm -i"\n  instead.\n')
    assert "Do not ask for the same again unchanged" in told
    assert not (tmp_path / "ran").exists()


async def test_the_reviewer_sees_all_blocks_exactly_as_autogen_joins_them(agent, gate):
    gate.approve_next()

    await said(agent(gate.client.approval_func), f"{HELLO}\nand\n```sh\necho  hi\t\n```")

    code = "```python\nprint('hello')\n\n```\n\n```sh\necho  hi\t\n\n```"
    assert gate.asked() == [{"code": code}]


async def test_autogens_own_request_is_kept_whole(agent, gate):
    gate.approve_next()

    await said(agent(gate.client.approval_func))

    event = AutoGenRequest(code=gate.asked()[0]["code"], context=[])
    assert gate.evidence() == [{"source_event": event.model_dump(mode="json")}]


async def test_a_context_with_images_is_shown_and_does_not_break(agent, gate):
    image = Image(Pillow.new("RGB", (2, 2)))
    context = UnboundedChatCompletionContext()
    await context.add_message(UserMessage(content=["Look:", image], source="user"))
    gate.approve_next()

    result = await execute(agent(gate.client.approval_func, model_context=context), "print(1)")

    assert result.exit_code == 0
    assert gate.evidence()[0]["context"][0]["content"][0] == "Look:"


@pytest.mark.parametrize("form", ["method", "partial", "module", "passed on"])
async def test_every_form_is_taken_for_a_coroutine_function(agent, gate, form):
    async def passed_on(request):
        return await gate.client.approval_func(request)

    forms = {
        "method": gate.client.approval_func,
        "partial": partial(gate.client.approval_func),
        "module": approval_func,
        "passed on": passed_on,
    }
    gate.approve_next()
    with gate.environment():
        assert (await said(agent(forms[form]))).strip() == "hello"


async def test_a_dashboard_that_is_down_is_a_denial_and_no_exception(agent, gate):
    gate.unplug()

    told = await said(agent(gate.client.approval_func))

    assert told.startswith(
        DENIED + "The dashboard at 'http://localhost:8765' gave no usable answer in time"
    )


async def test_a_dashboard_that_nobody_configured_is_a_denial(agent, monkeypatch):
    monkeypatch.delenv("DASHBOARD_URL", raising=False)

    told = await said(agent(approval_func))

    assert told.startswith(DENIED + "The dashboard was not asked and nothing was approved.")


async def test_a_team_survives_a_dashboard_that_is_down(agent, gate):
    gate.unplug()
    team = RoundRobinGroupChat([agent(gate.client.approval_func)], max_turns=1)

    assert (await said(team)).startswith(DENIED)


async def test_a_dashboard_at_a_closed_port_is_a_denial(agent, unused_tcp_port):
    client = AsyncClient(
        f"http://127.0.0.1:{unused_tcp_port}", "dash_x", sleep=no_sleep, clock=clock()
    )

    told = await said(agent(client.approval_func))

    assert "ConnectError" in told


async def no_sleep(_):
    await asyncio.sleep(0)


def clock():
    return iter(range(0, 100_000, 500)).__next__


async def test_other_agents_keep_running_while_one_waits(agent, gate):
    waiting = asyncio.create_task(said(agent(gate.client.approval_func)))
    await asked(gate)

    other = AssistantAgent("other", replying("Still here."))
    assert await said(other, "Are you there?") == "Still here."
    assert not waiting.done()

    gate.approve_next()
    assert (await waiting).strip() == "hello"


async def test_two_agents_wait_side_by_side(agent, gate):
    runner = agent(gate.client.approval_func)
    first = asyncio.create_task(execute(runner, "print(1)"))
    await asked(gate, 1)
    second = asyncio.create_task(execute(runner, "print(2)"))
    await asked(gate, 2)

    gate.reject_next("Not the first.")
    gate.approve_next()

    assert [(await first).exit_code, (await second).exit_code] == [1, 0]


async def test_a_time_out_around_the_run_withdraws_the_question(agent, gate):
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(agent(gate.client.approval_func).run(task=HELLO), 0.05)

    assert gate.statuses() == ["cancelled"]


async def test_a_cancelled_run_withdraws_the_question(agent, gate):
    running = asyncio.create_task(agent(gate.client.approval_func).run(task=HELLO))
    await asked(gate)

    running.cancel()

    with pytest.raises(asyncio.CancelledError):
        await running
    assert gate.statuses() == ["cancelled"]


async def test_a_retry_after_a_rejection_asks_again(agent, gate):
    again = json.dumps({"retry": True, "reason": "Another way."})
    gate.reject_next("Print bye.")
    gate.approve_next()
    bye = "```python\nprint('bye')\n```"

    model = replying(HELLO, again, bye, "Done.")
    runner = agent(gate.client.approval_func, model_client=model, max_retries_on_error=1)
    events = [event async for event in runner.run_stream(task="Greet.")]

    ran = [event.result for event in events if isinstance(event, CodeExecutionEvent)]
    assert [result.exit_code for result in ran] == [1, 0]
    assert gate.statuses() == ["rejected", "approved"]


async def test_a_model_that_heeds_the_reason_does_not_ask_again(agent, gate):
    stop = json.dumps({"retry": False, "reason": "It said not to."})
    gate.reject_next("No.")

    model = replying(HELLO, stop, "Stopped.")
    runner = agent(gate.client.approval_func, model_client=model, max_retries_on_error=2)
    result = await runner.run(task="Greet.")

    assert gate.statuses() == ["rejected"]
    assert result.messages[-1].content == "Stopped."


async def test_without_code_nobody_is_asked(agent, gate):
    await said(agent(gate.client.approval_func), "Just words. ```bash\nls\n```")

    assert gate.asked() == []


# MagenticOne.


@pytest.fixture(params=["explicit", "local", DOCKER])
def any_executor(request, executor, monkeypatch):
    """An executor that is given, or None where MagenticOne takes its default."""
    if request.param == "docker":  # as if there were one
        monkeypatch.setattr(MAKES_DEFAULT, lambda: executor)
    return executor if request.param == "explicit" else None


def test_magentic_one_with_approval_function(any_executor):
    with ignoring_its_default():
        team = magentic_one(any_executor, approval_func=approval_func)

    assert terminal(team)._approval_func is approval_func
    assert terminal(team)._approval_func_is_async is True


def test_magentic_one_without_approval_function(any_executor):
    with ignoring_its_default():
        team = magentic_one(any_executor)

    assert terminal(team)._approval_func is None


@contextmanager
def ignoring_its_default():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


async def test_magentic_one_runs_code_that_was_approved(executor, gate, tmp_path):
    gate.approve_next()
    team = magentic_one(executor, "```sh\ntouch ran\n```", approval_func=approval_func)

    with gate.environment():
        await asyncio.wait_for(team.run(task="Touch it."), 20)

    assert (tmp_path / "ran").exists()
    assert gate.asked() == [{"code": "```sh\ntouch ran\n\n```"}]


async def test_magentic_one_goes_on_without_code_that_was_rejected(executor, gate, tmp_path):
    gate.reject_next("Do not touch.")
    team = magentic_one(executor, "```sh\ntouch ran\n```", approval_func=approval_func)

    with gate.environment():
        result = await asyncio.wait_for(team.run(task="Touch it."), 20)

    told = [m.content for m in result.messages if m.source == "ComputerTerminal"]
    assert told[0].startswith(DENIED + "Do not touch.")
    assert not (tmp_path / "ran").exists()
    assert result.messages[-1].content == "The end."
