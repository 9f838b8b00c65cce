"""What the tools of Pydantic AI are called with, by its own rules."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any, get_type_hints

from approval_client.adapters import _binding
from approval_client.wire import canonical_json

Values = dict[str, Any]


def tool_called(agent: Any, name: str) -> Any:
    """Return the function tool of that name; None if it is not in sight.

    Those of a single run, and those that a function of the host's makes for it, are not.
    """
    tools_by_id = {id(tool): tool for tool in _named(agent, name)}
    return next(iter(tools_by_id.values())) if len(tools_by_id) == 1 else None


def is_run(tool: Any, ctx: Any, name: str) -> bool:
    """Say whether that tool is the one which a run is about to call by that name.

    Args:
        tool: The tool; None if it is out of sight, and then nothing is known of it.
    """
    schema = getattr(tool, "function_schema", None)
    if schema is None:
        return True
    run_tools = getattr(getattr(ctx, "tool_manager", None), "tools", None) or {}
    entry: Any = run_tools.get(name)
    while hasattr(entry, "source_tool"):  # of several toolsets together
        entry = entry.source_tool
    return getattr(getattr(entry, "call_func", None), "__self__", None) is schema


def asked(tool: Any, written: Any) -> Values:
    """Return the arguments that people are shown for what a model wrote.

    Pydantic AI validates before it asks, and so does this.

    Args:
        tool: The tool; None if it is out of sight, and then its defaults are too.

    Raises:
        Unaskable: The tool would not be called with what was written.
    """
    return _asked(tool, written)[0]


def asked_as_called(tool: Any, written: Any) -> Values | None:
    """Return the same, or None where the tool will be called with what only Pydantic AI knows.

    Raises:
        Unaskable: As ``asked``.
    """
    arguments, is_settled = _asked(tool, written)
    return arguments if is_settled else None


def _asked(tool: Any, written: Any) -> tuple[Values, bool]:
    arguments = _binding.read(written)
    schema = getattr(tool, "function_schema", None)
    if schema is None:
        return arguments, True
    key = schema.single_arg_name  # whose fields are the arguments, or whose name is the only one
    if key is not None and [*arguments] == [key] and key not in schema.json_schema["properties"]:
        arguments = arguments[key]
    _binding.check_schema(arguments, schema.json_schema)
    wrong = import_module("pydantic").ValidationError

    def call(found: Values) -> Values:
        if isinstance(written, str):  # of text Pydantic makes another choice among types
            values = dict(schema.validator.validate_json(canonical_json(found)))
        else:
            values = dict(schema.validator.validate_python(found))
        return called(tool, values)

    try:
        return _binding.settled(arguments, call), True
    # A validator wants to know more, and Pydantic AI says what is wrong; or the tool's author has
    # something made anew for each call, which nobody can be shown.
    except (wrong, _binding.Unsettled):
        return arguments, False


def called(tool: Any, values: Values) -> Values:
    """Return what a tool is called with, as people are shown it.

    Args:
        tool: The tool; None if it is out of sight.
        values: The values that Pydantic AI passes, under the names of the function's parameters.
    """
    schema = getattr(tool, "function_schema", None)
    if schema is None:
        return values
    if schema.single_arg_name is not None:
        return dict(_binding.as_json(values)[schema.single_arg_name])
    aliases = _aliases(schema)
    return {aliases.get(name, name): v for name, v in {**_defaults(schema), **values}.items()}


def _defaults(schema: Any) -> Values:
    parameters = list(inspect.signature(schema.function).parameters.values())
    args = parameters[1:] if schema.takes_ctx else parameters
    return {arg.name: arg.default for arg in args if arg.default is not inspect.Parameter.empty}


def _aliases(schema: Any) -> dict[str, str]:
    """Return the names that a model writes for parameters that have others, by those."""
    function = getattr(schema.function, "func", schema.function)
    properties = schema.json_schema.get("properties", {})
    aliases: dict[str, str] = {}
    for name, hint in get_type_hints(function, include_extras=True).items():
        for entry in getattr(hint, "__metadata__", ()):
            alias = getattr(entry, "validation_alias", None) or getattr(entry, "alias", None)
            if isinstance(alias, str) and alias in properties and name not in properties:
                aliases[name] = alias
    return aliases


def _named(agent: Any, name: str) -> Iterator[Any]:
    stack = [(toolset, name) for toolset in agent.toolsets]
    while stack:
        toolset, name_there = stack.pop()
        tools = getattr(toolset, "tools", None)
        if isinstance(tools, Mapping) and name_there in tools:
            yield tools[name_there]
        stack += [(inner, name_there) for inner in getattr(toolset, "toolsets", ())]
        wrapped = getattr(toolset, "wrapped", None)
        if wrapped is not None:
            stack += [(wrapped, inner_name) for inner_name in _within(toolset, name_there)]


def _within(toolset: Any, name: str) -> list[str]:
    """Return what a tool of that name is called in what a toolset wraps, if it is there."""
    prefix, new_names = getattr(toolset, "prefix", None), getattr(toolset, "name_map", None)
    if isinstance(prefix, str):
        start = f"{prefix}_"
        return [name.removeprefix(start)] if name.startswith(start) else []
    if isinstance(new_names, Mapping):
        if name in new_names:
            return [new_names[name]]
        return [] if name in new_names.values() else [name]
    return [name]
