"""What AutoGen's page says to write passes a strict type checker, with AutoGen's own types."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
WRITTEN = """
from autogen_agentchat.agents import CodeExecutorAgent
from autogen_ext.code_executors.local import LocalCommandLineCodeExecutor

from approval_client import AsyncClient, Client, approval_func
from approval_client.adapters.autogen import for_agent

executor = LocalCommandLineCodeExecutor()
CodeExecutorAgent("of_the_module", executor, approval_func=approval_func)
CodeExecutorAgent("blocking", executor, approval_func=Client().approval_func)
CodeExecutorAgent("awaiting", executor, approval_func=AsyncClient().approval_func)
CodeExecutorAgent("named", executor, approval_func=for_agent("named"))
"""


def checked(tmp_path, text):
    file = tmp_path / "agents.py"
    file.write_text(text)
    options = ["--strict", "--config-file=", f"--cache-dir={tmp_path}"]
    return subprocess.run(
        [sys.executable, "-m", "mypy", *options, file],
        cwd=tmp_path,
        env={"MYPYPATH": str(ROOT / "client")},
        capture_output=True,
        text=True,
        check=False,
    )


def test_every_approval_function_fits_where_autogen_takes_one(tmp_path):
    done = checked(tmp_path, WRITTEN)

    assert (done.returncode, done.stdout) == (0, "Success: no issues found in 1 source file\n")


def test_what_is_no_approval_function_is_still_found(tmp_path):
    done = checked(tmp_path, f'{WRITTEN}CodeExecutorAgent("x", executor, approval_func=print)\n')

    assert (done.returncode, done.stdout.count("arg-type")) == (1, 1)
