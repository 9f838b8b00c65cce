"""An AG2 agent whose tool people approve. Needs ag2, and no model: TestConfig says prepared turns.

Two calls: the first is approved, the second rejected, and the model reads why.
"""

import asyncio

from ag2 import Agent, tool
from ag2.events import TextInput, ToolCallEvent, ToolResultEvent
from ag2.testing import TestConfig

from approval_client.adapters.ag2 import approval_required


@tool(middleware=[approval_required("Set the corrector: {tool_arguments}", time_limit_s=600)])
def set_current(corrector: str, ampere: float) -> str:
    """Set the current of a corrector magnet."""
    return f"{corrector} is at {ampere} A"


def call(corrector: str, ampere: float) -> ToolCallEvent:
    """Return what a model says to call the tool."""
    return ToolCallEvent(
        "set_current", arguments=f'{{"corrector": "{corrector}", "ampere": {ampere}}}'
    )


async def main() -> None:
    """Have the agent call its tool twice, and print what the model read each time."""
    model = TestConfig(call("HC1", 0.5), call("HC2", 9.0), "HC1 is set; HC2 was not approved.")
    agent = Agent("operator", "Centre the beam.", config=model, tools=[set_current])
    reply = await agent.ask("Centre the beam.")
    for event in await reply.history.get_events():
        if isinstance(event, ToolResultEvent):
            said = [part.content for part in event.result.parts if isinstance(part, TextInput)]
            print("tool:", *said)
    print("agent:", reply.body)


if __name__ == "__main__":
    asyncio.run(main())
