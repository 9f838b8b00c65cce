"""What the tools of the OpenAI Agents SDK are called with, by its own rules."""

from __future__ import annotations

from copy import deepcopy
from importlib import import_module
from typing import Any

from approval_client._errors import DigestMismatch
from approval_client._refusals import Unaskable
from approval_client.adapters import _binding

Values = dict[str, Any]
_HELD = "approvals_held"  # names the class that a held call had before


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
    function = getattr(tool, "__wrapped__", None)  # none if it was made otherwise
    if function is None:
        return None
    schema = import_module("agents.function_schema").function_schema
    return schema(function, strict_json_schema=False).params_pydantic_model


def hold(call: Any) -> None:
    """Have a call be made with the arguments that it has now; changing them raises.

    Hooks of the agent run beside ours, so they may change it after we looked. Nothing but the
    call is touched: its tool may be called in other runs at the same time.

    Args:
        call: What the SDK reads the arguments of when it calls the tool.
    """
    kind: Any = type(call)
    text = call.arguments

    def refuse(*_: Any) -> None:
        raise DigestMismatch(
            f"{call.name!r:.80} was approved, and a hook would now change its arguments. It was "
            "not called. Have it change them before the tool is asked about, or not at all."
        )

    def twin(_: Any, memo: Any = None) -> Any:  # a copy is not what is made, and so not held
        release(call)
        try:
            return deepcopy(call, memo)
        finally:
            object.__setattr__(call, "__class__", held_kind)

    members: dict[str, Any] = dict.fromkeys(("__copy__", "__deepcopy__"), twin)
    members["__reduce_ex__"] = lambda held_call, _: (deepcopy, (twin(held_call),))
    members |= {name: getattr(kind, name) for name in ("__module__", "__qualname__")}
    held_kind = type(kind)(kind.__name__, (kind,), members)
    held_kind.arguments = property(lambda _: text, refuse)
    setattr(held_kind, _HELD, kind)
    object.__setattr__(call, "__class__", held_kind)


def release(call: Any) -> None:
    """Make a call again what it was before ``hold``."""
    if kind := getattr(type(call), _HELD, None):
        object.__setattr__(call, "__class__", kind)


def _name(tool: Any) -> str:
    qualified = getattr(tool, "qualified_name", None)
    return qualified if isinstance(qualified, str) else str(tool.name)
