"""What the docs show, AutoGen's page and MagenticOne's too, passes two type checkers."""

from tests.frameworks.typed import problems, shown, write

PROMISED = """
from typing import assert_type

from autogen_agentchat.agents import CodeExecutorAgent
from autogen_agentchat.teams import RoundRobinGroupChat
from autogen_ext.code_executors.local import LocalCommandLineCodeExecutor

from approval_client import AsyncClient, Client, approval_func
from approval_client.adapters.autogen import for_agent, gate

executor = LocalCommandLineCodeExecutor()
CodeExecutorAgent("of_the_module", executor, approval_func=approval_func)
CodeExecutorAgent("blocking", executor, approval_func=Client().approval_func)
CodeExecutorAgent("awaiting", executor, approval_func=AsyncClient().approval_func)
agent = CodeExecutorAgent("named", executor, approval_func=for_agent("named"))
assert_type(gate(RoundRobinGroupChat([agent])), list[CodeExecutorAgent])
"""


def test_what_the_docs_show_is_typed(tmp_path):
    files = shown(tmp_path, "autogen", "magentic_one")

    assert problems(tmp_path, files) == []


def test_what_is_returned_has_the_types_of_the_framework(tmp_path):
    assert problems(tmp_path, [write(tmp_path / "promised.py", PROMISED)]) == []


def test_what_is_no_approval_function_is_still_found(tmp_path):
    wrong = f'{PROMISED}CodeExecutorAgent("x", executor, approval_func=print)\n'

    found = problems(tmp_path, [write(tmp_path / "wrong.py", wrong)])

    assert [line.partition(":")[0] for line in found if "rror:" in line] == ["mypy", "pyright"]
