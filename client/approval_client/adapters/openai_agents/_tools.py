"""What the tools of the OpenAI Agents SDK are called with, by its own rules."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from approval_client._refusals import Unaskable
from approval_client.adapters import _binding

Values = dict[str, Any]
_LOOKS, _FUNCTION = "approvals_looks", "approvals_function"  # attributes of what stands before


def tool_called(agent: Any, name: str) -> Any:
    """Return the function tool of that name of an agent; None if it is not in sight.

    Raises:
        Unaskable: Several tools have that name.
    """
    kind = import_module("agents").FunctionTool
    matches = [tool for tool in agent.tools if isinstance(tool, kind) and _name(tool) == name]
    if len(matches) > 1:
        raise Unaskable(f"{len(matches)} tools are called {name!r:.80}, and only one would run.")
    return matches[0] if matches else None


def in_sight(agent: Any, tool: Any) -> Any:
    """Return ``tool`` if it is a function tool that the agent holds; None if it is another's."""
    kind = import_module("agents").FunctionTool
    is_held = any(tool is member for member in agent.tools)
    return tool if is_held and isinstance(tool, kind) else None


def holds_an_agent(agent: Any) -> bool:
    """Say whether a tool of this agent runs an agent, whose calls no hook of the run sees."""
    kind = import_module("agents").FunctionTool
    return any(
        getattr(tool, "_is_agent_tool", True) for tool in agent.tools if isinstance(tool, kind)
    )


def asked(tool: Any, written: Any) -> Values:
    """Return the arguments that people are shown for what a model wrote.

    Args:
        tool: The SDK's tool; None if it is out of sight, and then its defaults are too.

    Raises:
        Unaskable: The tool would not be called with what was written.
    """
    arguments = _binding.read(written)
    if tool is None:
        return arguments
    model = _model(tool)
    if model is None:  # it reads the text itself
        _binding.check_schema(arguments, tool.params_json_schema)
        return arguments
    return _binding.bound(model, arguments)


def _model(tool: Any) -> Any:
    """Return the model that the SDK makes of a function, by which it reads the arguments."""
    function = function_of(tool)
    if function is None:
        return None
    schema = import_module("agents.function_schema").function_schema
    return schema(function, strict_json_schema=False).params_pydantic_model


def function_of(tool: Any) -> Any:
    """Return the function that a tool was made of; None if it was made otherwise.

    The SDK knows it no more while we stand before it, see ``stand_before``.
    """
    function = getattr(tool, "__wrapped__", None)
    return getattr(tool.on_invoke_tool, _FUNCTION, None) if function is None else function


def stand_before(tool: Any, call_id: str, look: Callable[[Any], None]) -> None:
    """Have ``look`` see the arguments with which a tool is called, right before that one call.

    Hooks of an agent run beside ours, and may change a call after we looked at it.
    """
    invoker = tool.on_invoke_tool
    looks: dict[str, Callable[[Any], None]] | None = getattr(invoker, _LOOKS, None)
    if looks is None:
        looks = {}

        async def invoke(context: Any, raw_arguments: Any) -> Any:
            look_at = looks.pop(str(getattr(context, "tool_call_id", "")), None)
            if not looks and tool.on_invoke_tool is invoke:
                tool.on_invoke_tool = invoker
            if look_at is not None:
                look_at(raw_arguments)
            return await invoker(context, raw_arguments)

        setattr(invoke, _LOOKS, looks)
        setattr(invoke, _FUNCTION, function_of(tool))
        tool.on_invoke_tool = invoke
    looks[call_id] = look


def _name(tool: Any) -> str:
    qualified = getattr(tool, "qualified_name", None)
    return qualified if isinstance(qualified, str) else str(tool.name)
