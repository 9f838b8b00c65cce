"""The OpenAI Agents SDK: its tools run after a person approved the call.

    pip install openai-agents
    DASHBOARD_URL=... DASHBOARD_TOKEN=... python examples/with_openai_agents.py

No model is called: a script says what a model would say.
"""

import json
from collections.abc import AsyncIterator
from typing import Any

from agents import (
    Agent,
    Model,
    ModelResponse,
    Usage,
    function_tool,
    set_tracing_disabled,
)
from agents.items import TResponseStreamEvent
from openai.types.responses import (
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)

from approval_client.adapters.openai_agents import run_with_approvals_sync

set_tracing_disabled(disabled=True)  # nothing leaves this machine but the question


@function_tool(needs_approval=True)
def set_field(tesla: float) -> str:
    """Set the field of the magnet."""
    print(f"The tool runs: {tesla} T.")
    return f"The field is {tesla} T."


class Script(Model):
    """Calls ``set_field`` twice, and then tells what came of it."""

    def __init__(self) -> None:
        self.fields = [0.5, 5.0]

    async def get_response(self, *_: object, **request: Any) -> ModelResponse:
        """Return the next call, or the end."""
        items = request["input"]
        if items[-1].get("type") == "function_call_output":
            print("The model reads:", items[-1]["output"].splitlines()[0])
        said = call(self.fields.pop(0)) if self.fields else text("I am done.")
        return ModelResponse(output=[said], usage=Usage(), response_id=None)

    def stream_response(self, *_: object, **__: object) -> AsyncIterator[TResponseStreamEvent]:
        """Not needed here."""
        raise NotImplementedError


def call(tesla: float) -> ResponseFunctionToolCall:
    """Return a call of the tool, as a model writes it."""
    return ResponseFunctionToolCall(
        type="function_call",
        name="set_field",
        arguments=json.dumps({"tesla": tesla}),
        call_id=f"call_{tesla}",
    )


def text(said: str) -> ResponseOutputMessage:
    """Return a message of the model."""
    part = ResponseOutputText(type="output_text", text=said, annotations=[])
    return ResponseOutputMessage(
        id="message", type="message", role="assistant", status="completed", content=[part]
    )


if __name__ == "__main__":
    operator = Agent("operator", model=Script(), tools=[set_field])
    result = run_with_approvals_sync(operator, "Ramp the magnet.")
    print("The agent says:", result.final_output)
