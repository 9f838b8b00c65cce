"""What the docs show, Pydantic AI's page too, passes two type checkers."""

from tests.frameworks.typed import problems, shown, write

PROMISED = """
from typing import assert_type

from pydantic_ai import Agent, AgentRunResult

from approval_client.adapters.pydantic_ai import run_with_approvals, run_with_approvals_sync


async def run(agent: Agent[str, int]) -> None:
    assert_type(await run_with_approvals(agent, "Go.", deps="x"), AgentRunResult[int])


def run_and_block(agent: Agent[None, bool]) -> None:
    assert_type(run_with_approvals_sync(agent, "Go.").output, bool)
"""


def test_what_the_docs_show_is_typed(tmp_path):
    files = shown(tmp_path, "pydantic_ai")

    assert problems(tmp_path, files) == []


def test_what_is_returned_has_the_types_of_the_framework(tmp_path):
    assert problems(tmp_path, [write(tmp_path / "promised.py", PROMISED)]) == []
