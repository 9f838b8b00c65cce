"""What the tools of AG2 are called with, by its own rules."""

from __future__ import annotations

import inspect
import json
from types import FunctionType
from typing import Any

from approval_client._refusals import Unaskable
from approval_client.adapters import _binding

Values = dict[str, Any]
_AGENT = "__ag2_agent__"  # the name under which AG2 hands an agent to what runs for it


def tool_called(name: str, context: Any, call_next: Any = None) -> Any:
    """Return the function tool of that name; None if it is not in sight.

    Args:
        call_next: What AG2 gave a middleware, at whose end the tool stands.
    """
    for _ in range(1000):
        if not isinstance(call_next, FunctionType):
            break
        call_next = inspect.getclosurevars(call_next).nonlocals.get("inner")
    if _is_function_tool(call_next):
        return call_next
    agent = (getattr(context, "dependencies", None) or {}).get(_AGENT)
    known = [tool for tool in getattr(agent, "tools", ()) if _is_function_tool(tool)]
    found = [tool for tool in known if tool.name == name]
    return found[0] if len(found) == 1 else None


def asked(tool: Any, written: Any) -> Values:
    """Return the arguments that people are shown for what a model wrote.

    Args:
        tool: The tool; None if it is out of sight, and then its defaults are too.

    Raises:
        Unaskable: The tool would not be called with what was written.
    """
    given = _binding.read(written)
    model = None if tool is None else _model(tool.model)
    if model is not None:
        return {**_hidden(tool.model), **_binding.bound(model, given)}
    if tool is not None and (own := _injected(tool.model) & given.keys()):
        raise Unaskable(f"The tool does not take {', '.join(map(repr, sorted(own)))}.")
    return given


def written(event: Any) -> Any:
    """Return the arguments of a call as its model wrote them, or as a middleware has made them."""
    try:
        found = event.serialized_arguments
    except (ValueError, RecursionError):  # reading the text again says why
        return event.arguments
    try:
        is_its_text = json.loads(event.arguments or "{}") == found
    except (ValueError, RecursionError):
        is_its_text = False
    return event.arguments if is_its_text else found


def _model(call: Any) -> Any:
    """Return the model by which AG2 reads what a model may write; None if there is none."""
    if call.serializer is None or call.args_name or call.kwargs_name:
        return None
    return _binding.without(call.serializer.model, _injected(call))


def _hidden(call: Any) -> Values:
    """Return the defaults of what no model may write: parameters with a leading underscore."""
    known = {*call.serializer.model.model_fields, *_injected(call)}
    left = [one for one in call.flat_params if one.field_name not in known]
    return _binding.hidden({one.field_name: one.default_value for one in left})


def _injected(call: Any) -> set[str]:
    return {*call.dependencies, *call.custom_fields}


def _is_function_tool(tool: Any) -> bool:
    return hasattr(getattr(tool, "model", None), "serializer")
