"""MagenticOne, whose terminal asks people first. Needs what autogen-ext[magentic-one] brings.

A model that repeats prepared words takes the place of yours, so no account is needed. Only the
code of the terminal is asked about: AutoGen has no approval for what the web surfer does.
"""

import asyncio
import json
import tempfile
import warnings

from autogen_core.models import ModelFamily, ModelInfo
from autogen_ext.code_executors.local import LocalCommandLineCodeExecutor
from autogen_ext.models.replay import ReplayChatCompletionClient
from autogen_ext.teams.magentic_one import MagenticOne

from approval_client import approval_func
from approval_client.adapters.autogen import gate

TASK = "Find out how full the disk is, and make room."
READ = "```sh\necho '81 % used'\n```"
DELETE = "```sh\nrm -r archive\n```"
ABLE = ModelInfo(
    vision=True,
    function_calling=True,
    json_output=True,
    family=ModelFamily.UNKNOWN,
    structured_output=True,
)


def turn(instruction: str) -> str:
    """Return what the orchestrator's model says: who is next and what to do; nobody if empty."""
    answers = {
        "is_request_satisfied": not instruction,
        "is_in_loop": False,
        "is_progress_being_made": True,
        "next_speaker": "ComputerTerminal",
        "instruction_or_question": instruction,
    }
    return json.dumps({name: {"answer": value, "reason": "."} for name, value in answers.items()})


async def main() -> None:
    """Give the team a task, and print what its terminal answered."""
    words = ["Facts.", "Plan.", turn(READ), turn(DELETE), turn(""), "81 % used; nothing deleted."]
    with tempfile.TemporaryDirectory() as folder:
        team = MagenticOne(
            ReplayChatCompletionClient(words, model_info=ABLE),
            code_executor=LocalCommandLineCodeExecutor(work_dir=folder),
            approval_func=approval_func,  # enough for a gate; gate() shows the conversation too
        )
        gate(team, objective=TASK, time_limit_s=600)
        result = await team.run(task=TASK)
    for message in result.messages:
        if message.source == "ComputerTerminal":
            print(f"terminal: {message.to_text().strip()}")
    print(f"team: {result.messages[-1].to_text()}")


if __name__ == "__main__":
    warnings.filterwarnings("ignore", "Using LocalCommandLineCodeExecutor")  # an example's data
    warnings.filterwarnings("ignore", "MagenticOne performs best with")  # than prepared words
    asyncio.run(main())
