"""What the docs show, the page of the OpenAI Agents SDK too, passes two type checkers."""

from tests.frameworks.typed import problems, shown, write

PROMISED = """
from typing import Any, assert_type

from agents import Agent, RunHooks, RunResult, RunState

from approval_client.adapters.openai_agents import (
    Approvals,
    run_with_approvals,
    run_with_approvals_sync,
)


async def run(agent: Agent[int]) -> None:
    result = await run_with_approvals(agent, "Go.")
    assert_type(result, RunResult)
    assert_type(await Approvals().ask_pending(result), RunState[Any] | None)
    assert_type(Approvals().hooks(), RunHooks[Any])


def run_and_block(agent: Agent[int]) -> None:
    assert_type(run_with_approvals_sync(agent, "Go."), RunResult)
"""


def test_what_the_docs_show_is_typed(tmp_path):
    files = shown(tmp_path, "openai_agents")

    assert problems(tmp_path, files) == []


def test_what_is_returned_has_the_types_of_the_framework(tmp_path):
    assert problems(tmp_path, [write(tmp_path / "promised.py", PROMISED)]) == []
