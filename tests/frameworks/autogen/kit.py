"""What the tests of AutoGen share: agents that say what they are told to, and ways to run them."""

import asyncio
import json

from autogen_core import CancellationToken
from autogen_core.code_executor import CodeBlock
from autogen_core.models import ModelFamily, ModelInfo
from autogen_ext.models.replay import ReplayChatCompletionClient
from autogen_ext.teams.magentic_one import MagenticOne

HELLO = "```python\nprint('hello')\n```"
DANGER = "```sh\nrm -rf /nonexistent\n```"
DENIED = "Code execution was not approved. Reason: "
UNGATED = "ignore:No approval function set:UserWarning"
ABLE = ModelInfo(
    vision=True,
    function_calling=True,
    json_output=True,
    family=ModelFamily.UNKNOWN,
    structured_output=True,
)


def replying(*replies):
    """A model that says these, one after the other."""
    return ReplayChatCompletionClient(list(replies), model_info=ABLE)


async def said(agent, task=HELLO):
    """Run the agent and return its last words."""
    result = await asyncio.wait_for(agent.run(task=task), 20)
    return result.messages[-1].content


async def asked(gate, times=1):
    while len(gate.asked()) < times:
        await asyncio.sleep(0.001)


async def execute(agent, code, language="python"):
    block = CodeBlock(code=code, language=language)
    return await agent.execute_code_block([block], CancellationToken())


def ledger(*, done, instruction=""):
    def answer(value):
        return {"answer": value, "reason": "."}

    fields = {
        "is_request_satisfied": answer(done),
        "is_in_loop": answer(False),
        "is_progress_being_made": answer(True),
        "next_speaker": answer("ComputerTerminal"),
        "instruction_or_question": answer(instruction),
    }
    return json.dumps(fields)


def magentic_one(executor, *instructions, **options):
    turns = [ledger(done=False, instruction=text) for text in instructions]
    replies = ["Facts.", "Plan.", *turns, ledger(done=True), "The end."]
    return MagenticOne(replying(*replies), code_executor=executor, **options)


def terminal(team):
    return next(agent for agent in team._participants if agent.name == "ComputerTerminal")
