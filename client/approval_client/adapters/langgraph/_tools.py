"""What the tools of LangChain's agents are called with, by its own rules."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, TypeAlias

from approval_client._refusals import Unaskable
from approval_client.adapters import _binding
from approval_client.wire import canonical_json

Values: TypeAlias = dict[str, Any]
_INSIDE = ("bound", "steps", "first", "middle", "last")


@dataclass(frozen=True)
class Origin:
    """Where a graph was interrupted.

    Attributes:
        graph: That, or its subgraph, whose node did it; None if that is not in sight.
        node: The name of the node.
        values: Those of the graph's state.
    """

    graph: Any
    node: str
    values: Any

    @property
    def written(self) -> Sequence[Mapping[str, Any]]:
        """The calls of the newest message of a model in the state."""
        return calls_in(self.values.get("messages") if isinstance(self.values, Mapping) else ())

    def tool_of_a_batch(self, call: Mapping[str, Any]) -> Any:
        """Return the tool of a call that LangChain asks about right after its model."""
        if not self.node.endswith(".after_model") or not self._is_written(call):
            return None  # such as an agent's that a tool runs
        tools = {id(tool): tool for node in self._nodes.values() for tool in _held(node, call)}
        return next(iter(tools.values())) if len(tools) == 1 else None

    def tool_of_one(self, call: Mapping[str, Any], schema: Any) -> Any:
        """Return the tool of a call that LangChain asks about right before it, or its schema.

        Args:
            schema: The interrupt's own for its answer. What it says of an edit is of this tool,
                also where an agent asks that another tool runs.
        """
        tool = next(_held(self._nodes.get(self.node), call), None)
        own_schema = _of_an_edit(schema)
        if tool is None or not self._is_written(call):
            return own_schema
        if own_schema is not None:
            return tool if _alike(tool.tool_call_schema, own_schema) else own_schema
        # Without one, what was called beside it may be an agent that asks the same.
        return tool if all(source["name"] == call["name"] for source in self.written) else None

    def _is_written(self, call: Mapping[str, Any]) -> bool:
        return any(is_written(source, call) for source in self.written)

    @property
    def _nodes(self) -> Mapping[str, Any]:
        nodes = getattr(self.graph, "nodes", None)
        return nodes if isinstance(nodes, Mapping) else {}


NOWHERE = Origin(None, "", None)


def origin(graph: Any, task: Any, values: Any, interrupt: Any) -> Origin:
    """Return where an interrupt of a task comes from: of a subgraph, if that is its node.

    An agent that a tool or a function runs is in no node, and so never in sight.
    """
    while (state := getattr(task, "state", None)) is not None:
        graph = getattr(getattr(graph, "nodes", {}).get(task.name), "bound", None)
        tasks = [
            inner
            for inner in getattr(state, "tasks", ())
            if any(pending.id == interrupt.id for pending in inner.interrupts)
        ]
        if len(tasks) != 1 or not isinstance(getattr(graph, "nodes", None), Mapping):
            return NOWHERE
        task, values = tasks[0], state.values
    return Origin(graph, task.name, values)


def calls_in(messages: Any) -> Sequence[Mapping[str, Any]]:
    """Return the calls of the newest message of a model; none if these are no messages."""
    newest_first = reversed(messages) if isinstance(messages, list | tuple) else ()
    answers = (message for message in newest_first if getattr(message, "type", None) == "ai")
    return named_calls(getattr(next(answers, None), "tool_calls", None))


def named_calls(values: Any) -> Sequence[Mapping[str, Any]]:
    """Return those of some values that have the form of LangChain's calls: others have no name."""
    calls = values if isinstance(values, list | tuple) else ()
    return [c for c in calls if isinstance(c, Mapping) and isinstance(c.get("name"), str)]


def is_written(original: Mapping[str, Any], call: Mapping[str, Any]) -> bool:
    """Say whether a call is what stands in a model's message."""
    return bool(original["name"] == call["name"] and original.get("args") == call["args"])


def _held(node: Any, call: Mapping[str, Any]) -> Iterator[Any]:
    """Return the tools of the name of a call that a node calls itself."""
    stack = [node]
    while stack:
        part = stack.pop()
        tools = getattr(part, "tools_by_name", None)
        if isinstance(tools, Mapping) and call["name"] in tools:
            yield tools[call["name"]]
        if isinstance(getattr(part, "nodes", None), Mapping):
            continue  # a graph, which asks for itself
        stack += [inner for inner in (getattr(part, name, None) for name in _INSIDE) if inner]
        stack += part if isinstance(part, list | tuple) else []


def _of_an_edit(schema: Any) -> Mapping[str, Any] | None:
    """Return what a JSON schema of LangChain's decisions says of the arguments of an edit."""

    def at(ref: Any) -> Any:
        path = ref.get("$ref") if isinstance(ref, Mapping) else ref
        return schema["$defs"][path.rpartition("/")[2]] if isinstance(path, str) else ref

    try:
        branch = at(schema["discriminator"]["mapping"]["edit"]) if "oneOf" in schema else schema
        arguments = at(at(branch["properties"]["edited_action"])["properties"]["args"])
        return arguments if isinstance(arguments["properties"], Mapping) else None
    except (LookupError, TypeError):
        return None


def _alike(schema: Any, other: Mapping[str, Any]) -> bool:
    json_schema = schema if isinstance(schema, Mapping) else schema.model_json_schema()
    names = ("properties", "required", "additionalProperties")
    return [json_schema.get(name) for name in names] == [other.get(name) for name in names]


def asked(tool: Any, written: Any) -> Values:
    """Return the arguments that people are shown for what a model wrote.

    Args:
        tool: LangChain's tool, or the JSON schema of its arguments if that is all in sight; None
            if it is out of sight, and then its defaults are too.

    Raises:
        Unaskable: The tool would not be called with what was written.
    """
    arguments = _binding.read(written)
    if tool is None:
        return arguments
    if isinstance(tool, Mapping):
        return _by_schema(tool, arguments)
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


def _by_schema(schema: Mapping[str, Any], arguments: Values) -> Values:
    properties = schema["properties"]
    if not schema.get("additionalProperties"):  # then LangChain drops other names
        _binding.check_names(arguments, list(properties))
    defaults = {n: prop["default"] for n, prop in properties.items() if "default" in prop}
    return {**defaults, **arguments}


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
