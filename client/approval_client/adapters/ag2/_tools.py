"""What the tools of AG2 are called with, by its own rules."""

from __future__ import annotations

import inspect
import json
from types import FunctionType
from typing import Any

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
    if tool is None or tool.model.serializer is None:
        return given
    call = tool.model
    shown = {**_hidden(call), **_bound(call, given)}
    before = call.positional_args if call.args_name else ()
    names = {*shown, *_injected(call)}.difference(before)
    _binding.check_call(call.call, names, before=before)
    return shown


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


def _bound(call: Any, given: Values) -> Values:
    """Return what a model may write, as AG2 reads it.

    A function with ``**kwargs`` gets all in them but its keyword-only arguments, so one that has
    others without a default cannot be called.
    """
    more = call.kwargs_name
    model = _binding.without(call.serializer.model, _injected(call))
    names = [name for name in _binding.taken(model) if name not in {more, call.args_name}]
    if more is not None:
        names = [name for name in names if name in call.keyword_args]
    own = _injected(call)
    _binding.check_names({name: 1 for name in given if more is None or name in own}, names)
    grouped = {name: value for name, value in given.items() if name in names}
    if more is not None:
        grouped[more] = {name: value for name, value in given.items() if name not in names}
    if call.args_name is not None:
        grouped[call.args_name] = []  # which no model can write
    found = _binding.bound(model, grouped)
    left = found.pop(more) if more is not None else {}
    found.pop(call.args_name, None)
    return {**found, **left}


def _hidden(call: Any) -> Values:
    """Return the defaults of what no model may write: parameters with a leading underscore."""
    known = {*call.serializer.model.model_fields, *_injected(call)}
    left = [one for one in call.flat_params if one.field_name not in known]
    return _binding.hidden({one.field_name: one.default_value for one in left})


def _injected(call: Any) -> set[str]:
    return {*call.dependencies, *call.custom_fields}


def _is_function_tool(tool: Any) -> bool:
    return hasattr(getattr(tool, "model", None), "serializer")
