"""What the tools of Microsoft Agent Framework are called with, by its own rules."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date, timedelta
from decimal import Decimal
from functools import partial
from importlib import import_module
from typing import Any
from uuid import UUID

from approval_client._refusals import Unaskable
from approval_client.adapters import _binding
from approval_client.adapters._content import whole
from approval_client.wire import Kind, canonical_json, digest

Values = dict[str, Any]
# Of a field, or what it is called in arguments.
_BY_NAME: Values = {"by_name": True, "by_alias": True}
# What the framework itself calls right before the function.
_TOKEN = "_argument_comparison_token"  # noqa: S105 - of arguments, and no secret
_CHECK = "_validate_arguments_against_schema"
_COMPARED = (bool, int, float, str, bytes, type(None))
_COMPARED_EXACTLY = (date, timedelta, Decimal, UUID)


def named(name: str, holders: Sequence[Any]) -> list[Any]:
    """Return the tools of that name of agents, workflows and options, each once."""
    candidates = [tool for holder in holders for tool in tools_of(holder) if tool.name == name]
    # The framework may make a tool of one function more than once.
    functions = [getattr(tool, "func", None) or tool for tool in candidates]
    return [tool for at, tool in enumerate(candidates) if functions[at] not in functions[:at]]


def holders_at(holders: Sequence[Any], executor_id: str) -> tuple[Sequence[Any], bool]:
    """Return who may hold the tool of a call, and whether nobody else can want it.

    Of a workflow only the agent of the executor that asks may; nobody, if that is not known.
    """
    executors = getattr(holders[0], "executors", None) if len(holders) == 1 else None
    if not isinstance(executors, Mapping):
        return holders, True
    executor = executors.get(executor_id)
    if executor is None and len(executors) == 1:
        executor = next(iter(executors.values()))
    agent = getattr(executor, "agent", None)  # a workflow within has none
    return ([] if agent is None else [agent]), len(executors) == 1


def asked(tool: Any, written: Any) -> Values:
    """Return the arguments that people are shown for what a model wrote.

    Args:
        tool: The framework's tool; None if it is out of sight, and then its defaults are too.

    Raises:
        Unaskable: The tool would not be called with what was written.
    """
    arguments = _binding.read(written)
    if tool is None:
        return arguments
    if tool.input_model is None:  # the framework reads the numbers, and hands on what it read
        _check_schema(tool, arguments)
        return {**_defaults(tool, arguments), **_binding.settled(arguments, dict)}
    return _bound(tool, arguments) or {**_defaults(tool, arguments), **arguments}


def is_read(context: Any) -> bool:
    """Say whether the arguments before a middleware are those that the framework calls with.

    If another middleware changed them since, the framework reads them again.
    """
    state = context.metadata.get("_prepared_function_arguments")  # since 1.22
    if state is None or not isinstance(context.arguments, Mapping):
        return False
    token = getattr(import_module("agent_framework._tools"), _TOKEN)
    return bool(token(dict(context.arguments)) == state.token)


def shown(tool: Any, arguments: Any, *, read: bool = False) -> tuple[Values, bool]:
    """Return what a tool is about to be called with, and whether a person may change it.

    Args:
        arguments: What the framework has made of them; what the model wrote if they are wrong.
        read: They are called with just as they are; reading them again need not succeed.

    Raises:
        ValueError: An argument cannot be shown whole; a secret, for one.
    """
    if not isinstance(arguments, Mapping):
        raise Unaskable("The arguments are no object.")
    if tool.input_model is not None:
        json_arguments = _binding.as_json(arguments)
        with suppress(*((Unaskable,) if read else ())):
            if (bound_arguments := _bound(tool, json_arguments, **_BY_NAME)) is not None:
                return bound_arguments, True
        _check_call(tool, arguments)
    else:
        _check_schema(tool, arguments)
    all_arguments = whole({**_defaults(tool, arguments), **arguments})
    return all_arguments, all_arguments == {**_defaults(tool, arguments), **arguments}


def edited(tool: Any, arguments: Any, changed: Values) -> Values:
    """Return what a tool has to be given so that it is called with what a person wants.

    Raises:
        Unaskable: It would not be called with just that.
    """
    return _binding.edited(
        lambda found: shown(tool, found)[0], _binding.as_json(arguments), changed
    )


def is_approved(tool: Any, call: Any, wanted: str) -> bool:
    """Say whether this call of a tool is the one with that digest.

    It was asked without the tool's defaults, if the tool was out of sight then.
    """
    arguments = _binding.read(call.arguments)
    all_arguments = asked(tool, call.arguments)
    part = {name: all_arguments.get(name) for name in arguments}
    if _digest(call, all_arguments) == wanted:
        return True
    return canonical_json(part) == canonical_json(arguments) and _digest(call, arguments) == wanted


def is_called(context: Any, call: Any, wanted: str) -> bool:
    """Say whether a tool is about to be called with what has that digest.

    A middleware of the host's may have changed the arguments since, and not the call.

    Args:
        context: Of the framework, right before the call.
        call: What the model wrote.
    """
    arguments, _ = shown(context.function, context.arguments, read=is_read(context))
    if _digest(call, arguments) == wanted:
        return True
    values = _binding.read(call.arguments)  # which were asked if the tool was out of sight then
    part = {name: arguments.get(name) for name in values}
    return canonical_json(part) == canonical_json(values) and _digest(call, values) == wanted


def allows_middleware(tool: Any, call: Any) -> bool:
    """Say whether the framework makes this call behind an approval if a middleware is before it.

    Since 1.22 it ends the run instead where it cannot tell whether an argument was changed there:
    an enum, for one. What is not known to be compared counts as such.
    """
    if tool is None or not hasattr(tool, "_prepare_arguments"):
        return tool is not None
    model = tool.input_model
    if model is None:
        return True
    if not _binding.is_data_only(model, dumps=True):
        return False
    try:
        instance = _binding.validated(model, _binding.read(call.arguments))
    except Unaskable:
        return False
    return _is_compared(instance.model_dump(exclude_unset=True))


def _is_compared(value: Any) -> bool:
    if isinstance(value, Mapping):
        return all(_is_compared(member) for both in value.items() for member in both)
    if isinstance(value, list | tuple | set | frozenset):
        return all(map(_is_compared, value))
    return isinstance(value, _COMPARED) or type(value) in _COMPARED_EXACTLY


def _digest(call: Any, arguments: Values) -> str:
    return digest(Kind.TOOL_CALL, {"tool": str(call.name), "arguments": arguments})


def _bound(tool: Any, given: Values, **options: Any) -> Values | None:
    """Return all arguments, or None if only the tool itself knows what it makes of them.

    They have the names of the function's parameters, as the framework dumps models: without what
    was not written, and by the names of their fields.
    """
    model = tool.input_model
    if model is None:
        _check_schema(tool, given)
        return None
    names = [*_binding.taken(model), *(model.model_fields if options else ())]
    open_ = model.model_config.get("extra") == "allow"
    _binding.check_names(given, names, open_=open_)
    if not _binding.is_data_only(model, dumps=True):
        return None

    def call(found: Values, *, as_named: bool = False, **reading: Any) -> Values:
        instance = _binding.validated(model, found, **reading)
        _check_call(tool, instance.model_dump(exclude_unset=True))
        values: Values = instance.model_dump(exclude_unset=True, by_alias=as_named)
        return {**_missing(tool, instance.model_fields_set), **values}

    arguments = _binding.settled(
        given,
        partial(call, **options),
        as_written=None if options else partial(call, as_named=True),
    )
    if not hasattr(tool, "_prepare_arguments"):  # until 1.22, it reads what it has dumped again
        _binding.settled(arguments, call)
    return arguments


def _defaults(tool: Any, arguments: Mapping[str, Any]) -> Values:
    """Return what the function has for what was not given, as JSON."""
    return _binding.as_json(_missing(tool, arguments))


def _missing(tool: Any, given: Collection[str]) -> Values:
    """Return the function's defaults for what is not given, as far as people can be shown them."""
    defaults = {name: default for name, default in _parameters(tool).items() if name not in given}
    fields = () if tool.input_model is None else tool.input_model.model_fields
    extras = {name: default for name, default in defaults.items() if name not in fields}
    return {name: defaults[name] for name in defaults if name in fields} | _binding.hidden(extras)


def _parameters(tool: Any) -> Values:
    """Return the defaults of the function's parameters, which the framework leaves to it."""
    function = _function(tool)
    if function is None:
        return {}
    injected = _injected(tool)
    parameters = inspect.signature(function).parameters.values()
    return {
        parameter.name: parameter.default
        for parameter in parameters
        if parameter.default is not inspect.Parameter.empty and parameter.name != injected
    }


def _check_schema(tool: Any, arguments: Mapping[str, Any]) -> None:
    """Refuse what the framework or Python would, of a tool with a JSON schema and no model.

    Raises:
        Unaskable: A name or a value is not taken, or one is missing.
    """
    schema = tool.parameters()
    _binding.check_schema(arguments, schema)
    check = getattr(import_module("agent_framework._tools"), _CHECK)
    try:
        check(arguments=arguments, schema=schema, tool_name=tool.name)
    except TypeError as error:
        raise Unaskable(f"The arguments are not what the tool takes. {error}.") from None
    _check_call(tool, arguments)


def _check_call(tool: Any, names: Collection[str]) -> None:
    injected = _injected(tool)
    instance = getattr(tool, "_instance", None)
    passed = {*names, *([injected] if injected else ())}
    _binding.check_call(_function(tool), passed, before=() if instance is None else (instance,))


def _function(tool: Any) -> Any:
    return tool.func.func if hasattr(tool.func, "input_model") else tool.func


def _injected(tool: Any) -> str | None:
    return getattr(tool, "_context_parameter_name", None)


def tools_of(holder: Any) -> Iterator[Any]:
    """Yield the tools that an agent, a workflow, a server or a list of them has."""
    if isinstance(holder, Mapping):
        for name in ("tools", "options"):
            yield from tools_of(holder.get(name))
    elif isinstance(holder, list | tuple):
        for member in holder:
            yield from tools_of(member)
    elif hasattr(holder, "input_model"):
        yield holder
    elif holder is not None and not isinstance(holder, str | bytes):
        inner = ("default_options", "mcp_tools", "functions", "agent", "workflow")
        for name in inner:
            yield from tools_of(getattr(holder, name, None))
        executors = getattr(holder, "executors", None)
        if isinstance(executors, Mapping):
            yield from tools_of(list(executors.values()))
