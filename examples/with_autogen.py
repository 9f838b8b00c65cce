"""An AutoGen team whose code people approve. Needs autogen-agentchat, autogen-ext and no model.

The team was saved and is loaded again. AutoGen restores it without any approval function, so
that its code would run at once: gate() has it ask first.
"""

import asyncio
import tempfile
import warnings
from typing import Any

from autogen_agentchat.agents import CodeExecutorAgent
from autogen_agentchat.messages import TextMessage
from autogen_agentchat.teams import RoundRobinGroupChat
from autogen_ext.code_executors.local import LocalCommandLineCodeExecutor

from approval_client.adapters.autogen import gate

READ = "```python\nprint('current: 3.2 A')\n```"
RAMP = "```python\nprint('ramping to 9 A')\n```"


def saved(folder: str) -> dict[str, Any]:
    """Return a team as a configuration; yours comes out of a file."""
    executor = LocalCommandLineCodeExecutor(work_dir=folder)
    runner = CodeExecutorAgent("runner", executor)
    return RoundRobinGroupChat([runner], max_turns=1).dump_component().model_dump()


async def main() -> None:
    """Have the team run two pieces of code, which stand for what a model would write."""
    with tempfile.TemporaryDirectory() as folder:
        team = RoundRobinGroupChat.load_component(saved(folder))
        for agent in gate(team, objective="Check the corrector.", time_limit_s=600):
            print(f"{agent.name} asks first now.")
        for code in (READ, RAMP):
            result = await team.run(task=TextMessage(content=code, source="writer"))
            print(f"--- {code.splitlines()[1]}")
            print(result.messages[-1].to_text().strip())


if __name__ == "__main__":
    # Both are true: the code runs on this machine, and the team asks nobody until it is gated.
    warnings.filterwarnings("ignore", "Using LocalCommandLineCodeExecutor")
    warnings.filterwarnings("ignore", "No approval function set")
    asyncio.run(main())
