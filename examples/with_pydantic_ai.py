"""Pydantic AI: tools that require approval run after a person approved the call.

    pip install pydantic-ai-slim
    DASHBOARD_URL=... DASHBOARD_TOKEN=... python examples/with_pydantic_ai.py

No model is called: a script says what a model would say.
"""

from pydantic_ai import Agent
from pydantic_ai.messages import (
    ModelMessage,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel

from approval_client.adapters.pydantic_ai import run_with_approvals_sync

fields = [0.5, 5.0]


def script(messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
    """Call ``set_field`` twice, and then tell what came of it."""
    for part in messages[-1].parts:
        if isinstance(part, ToolReturnPart):
            print("The model reads:", part.model_response_str().splitlines()[0])
    if fields:
        return ModelResponse(parts=[ToolCallPart("set_field", {"tesla": fields.pop(0)})])
    return ModelResponse(parts=[TextPart("I am done.")])


operator = Agent(FunctionModel(script))


@operator.tool_plain(requires_approval=True)
def set_field(tesla: float) -> str:
    """Set the field of the magnet."""
    print(f"The tool runs: {tesla} T.")
    return f"The field is {tesla} T."


if __name__ == "__main__":
    result = run_with_approvals_sync(operator, "Ramp the magnet.")
    print("The agent says:", result.output)
