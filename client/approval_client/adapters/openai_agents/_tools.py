"""What the tools of the OpenAI Agents SDK are called with, by its own rules."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from approval_client.adapters import _binding

Values = dict[str, Any]


def tool_called(agent: Any, name: str) -> Any:
    """Return the function tool of that name of an agent; None if it is not in sight."""
    kind = import_module("agents").FunctionTool
    matches = [tool for tool in agent.tools if isinstance(tool, kind) and _name(tool) == name]
    return matches[0] if len(matches) == 1 else None


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
    function = getattr(tool, "__wrapped__", None)
    if function is None:
        return None
    schema = import_module("agents.function_schema").function_schema
    return schema(function, strict_json_schema=False).params_pydantic_model


def _name(tool: Any) -> str:
    qualified = getattr(tool, "qualified_name", None)
    return qualified if isinstance(qualified, str) else str(tool.name)
