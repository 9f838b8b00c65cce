"""What the tools of LangChain's agents are called with, by its own rules."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any, TypeAlias

from approval_client._refusals import Unaskable
from approval_client.adapters import _binding
from approval_client.wire import canonical_json

Values: TypeAlias = dict[str, Any]
Find: TypeAlias = Callable[[str], Any]
_INSIDE = ("bound", "steps", "first", "middle", "last", "subgraphs")


def finding(graph: Any) -> Find:
    """Return what finds a tool of a graph and its subgraphs by name.

    It returns None for a tool that is not in sight, or if there are two of one name.
    """

    def find(name: str) -> Any:
        tools_by_id = {id(tool): tool for tool in _named(graph, name)}
        return next(iter(tools_by_id.values())) if len(tools_by_id) == 1 else None

    return find


def asked(tool: Any, written: Any) -> Values:
    """Return the arguments that people are shown for what a model wrote.

    Args:
        tool: LangChain's tool; None if it is out of sight, and then its defaults are too.

    Raises:
        Unaskable: The tool would not be called with what was written.
    """
    arguments = _binding.read(written)
    if tool is None:
        return arguments
    if _is_single(tool) and tool.args_schema is None:
        return _single(tool, arguments)
    schema = tool.tool_call_schema  # without what LangChain injects
    if isinstance(schema, Mapping):
        _binding.check_schema(arguments, schema)
        _check_call(tool, arguments, schema.get("properties") or ())
        return arguments
    if not hasattr(schema, "model_fields"):  # of Pydantic 1
        _binding.check_names(arguments, list(tool.args))
        return arguments
    whole = tool.args_schema
    if hasattr(whole, "model_fields") and whole.model_fields.keys() == schema.model_fields.keys():
        schema = whole  # with the configuration that the author gave it
    various = _various(tool)
    if _binding.is_data_only(schema):
        schema = _binding.without(schema, various)
    values = _binding.bound(schema, arguments)
    passed = {
        name: argument
        for name, argument in values.items()
        if name in arguments or name not in various
    }
    fields_by_name = dict(zip(_binding.taken(schema), schema.model_fields, strict=True))
    _check_call(tool, {fields_by_name.get(name, name) for name in passed}, fields_by_name.values())
    return {**_hidden(tool, whole), **passed}


def is_called(tool: Any, approved: Any, inputs: Any) -> bool:
    """Say whether a tool that is called with ``inputs`` is called with what was approved.

    Args:
        approved: The arguments, as a model writes them.
        inputs: The same, as LangChain's callbacks have them: without what it injects.
    """
    try:
        arguments = asked(tool, inputs)
    except (ValueError, TypeError):  # such as a name that nobody was asked about
        return False
    return canonical_json(arguments) == canonical_json(asked(tool, approved))


def _is_single(tool: Any) -> bool:
    """Say whether it is LangChain's ``Tool``, whose function takes one argument by its place."""
    return isinstance(tool, import_module("langchain_core.tools").Tool)


def _single(tool: Any, arguments: Values) -> Values:
    if len(arguments) != 1:  # of any name
        raise Unaskable(f"The tool takes one argument, and {len(arguments)} were written.")
    params = list(_parameters(tool).values())[1:]
    if clash := arguments.keys() & {
        param.name for param in params
    }:  # it would be passed as the first
        names = ", ".join(map(repr, clash))
        raise Unaskable(f"The tool takes one argument, which is not {names}.")
    defaults = {param.name: param.default for param in params if param.default is not param.empty}
    return {**_binding.hidden({n: v for n, v in defaults.items() if v is not None}), **arguments}


def _check_call(tool: Any, passed: Collection[str], known: Collection[str]) -> None:
    """Refuse a call that would end the run after it was approved.

    Args:
        known: The names that a model may write; what else a function takes, LangChain passes.

    Raises:
        Unaskable: Python would not make the call.
    """
    run = type(tool)._run  # noqa: SLF001 - every tool has it, and LangChain calls it by names
    function = None if _is_single(tool) else _function(tool)
    for called, positional in ((run, (tool,)), (function, ())):
        passes = _needed(called)[len(positional) :]
        names = {*passed, *(name for name in passes if name not in known)}
        _binding.check_call(called, names, before=positional)


def _hidden(tool: Any, schema: Any) -> Values:
    """Return the defaults of the function for what the author's schema leaves out.

    None is not shown: it is what LangChain's own parameters have, in whose place it passes others.
    """
    known_names = set(getattr(schema, "model_fields", ()))
    params = {name: param for name, param in _parameters(tool).items() if name not in known_names}
    values = {n: param.default for n, param in params.items() if param.default is not param.empty}
    return _binding.hidden({n: value for n, value in values.items() if value is not None})


def _named(graph: Any, name: str) -> Iterator[Any]:
    stack, seen_ids = [graph], set()
    while stack:
        node = stack.pop()
        if id(node) in seen_ids or isinstance(node, str | bytes):
            continue
        seen_ids.add(id(node))
        tools = getattr(node, "tools_by_name", None)
        if isinstance(tools, Mapping) and name in tools:
            yield tools[name]
        nodes = getattr(node, "nodes", None)
        stack += list(nodes.values()) if isinstance(nodes, Mapping) else []
        stack += [inner for inner in (getattr(node, part, None) for part in _INSIDE) if inner]
        stack += node if isinstance(node, Sequence) else []


def _various(tool: Any) -> set[str]:
    """Return the fields that LangChain has for ``*args`` and ``**kwargs``, and does not pass."""
    kinds = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    names = {name for name, param in _parameters(tool).items() if param.kind in kinds}
    return names & {"args", "kwargs"}


def _parameters(tool: Any) -> Mapping[str, inspect.Parameter]:
    function = _function(tool)
    return {} if function is None else inspect.signature(function).parameters


def _function(tool: Any) -> Any:
    return getattr(tool, "func", None) or getattr(tool, "coroutine", None)


def _needed(function: Any) -> list[str]:
    """Return what a function takes by name and has no default for."""
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    params = () if function is None else inspect.signature(function).parameters.values()
    return [param.name for param in params if param.kind in kinds and param.default is param.empty]
