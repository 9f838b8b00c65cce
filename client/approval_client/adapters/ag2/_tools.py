"""What the tools of AG2 are called with, by its own rules."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from inspect import getattr_static
from types import CellType, FunctionType, MethodType
from typing import Any

from approval_client._errors import AlreadyUsed, DigestMismatch, NotApproved
from approval_client._refusals import Unaskable
from approval_client.adapters import _binding
from approval_client.wire import canonical_json

Values = dict[str, Any]
# What AG2 passes to a function's model beside its arguments.
_AG2S_OWN = {"stack", "cache_dependencies", "dependency_provider", "__ctx__"}
_MAKES_AGENTS = {"run_subtask", "run_subtasks", "create_and_run_agent"}
_AGENT = "__ag2_agent__"  # the name under which AG2 hands an agent to what runs for it


def tool_called(name: str, context: Any, call_next: Any = None) -> Any:
    """Return the function tool of that name; None if it is not in sight.

    Args:
        call_next: What AG2 gave a middleware, at whose end the tool stands.
    """
    ends = _ends(call_next)
    if len(ends) == 1 and _is_function_tool(ends[0]):
        return ends[0]
    function_tools = [tool for tool in ends if _is_function_tool(tool)] or _of_agent(context)
    matches = [tool for tool in function_tools if _name(tool) == name]
    return matches[0] if len(matches) == 1 else None


def check_name(name: str, call_next: Any) -> None:
    """Refuse a call that another tool would get than the one that it names.

    AG2 chose the tool before any middleware, which may have changed the name since.

    Raises:
        Unaskable: People would be shown a tool that is not the one that runs.
    """
    names = [_name(tool) for tool in _ends(call_next)]
    if names and name not in names:
        raise Unaskable(
            f"A middleware has changed the name of the call to {name!r:.80}, and AG2 would call "
            f"{names[0]!r:.80}."
        )


def _of_agent(context: Any) -> list[Any]:
    agent = (getattr(context, "dependencies", None) or {}).get(_AGENT)
    return [tool for tool in getattr(agent, "tools", ()) if _is_function_tool(tool)]


def _ends(call_next: Any) -> list[Any]:
    """Return the tools at the end of the middlewares; none if that is not in sight.

    It is one, but where a middleware of the host's that has a gate inside holds other tools, too.
    """
    ends: list[Any] = []
    parts, known_ids = [call_next], set()
    for _ in range(1000):
        if not parts:
            break
        part = parts.pop()
        if id(part) in known_ids:
            continue
        known_ids.add(id(part))
        with suppress(Exception):  # what a host holds may be a proxy of nothing
            if _name(part) is not None:
                ends.append(part)
            else:
                parts += [inner for inner in _inside(part) if _is_followed(inner)]
    return ends


def _name(tool: Any) -> str | None:
    function = getattr(getattr(tool, "schema", None), "function", None)
    name = getattr(function, "name", None)
    return name if isinstance(name, str) else None


def _is_followed(value: Any) -> bool:
    try:
        return callable(value) and not isinstance(value, type)
    except Exception:  # noqa: BLE001 - a proxy of nothing
        return False


def _inside(part: Any) -> list[Any]:
    """Return what may be called by something that AG2 or a host calls to go on."""
    if isinstance(part, partial):
        is_ag2s = getattr(part.func, "__name__", "") == "on_tool_execution"
        return [*part.args, *part.keywords.values(), *([] if is_ag2s else [part.func])]
    if isinstance(part, MethodType):
        return [part.__self__, *_attributes(part.__self__), part.__func__]
    if not isinstance(part, FunctionType):
        return [*_attributes(part), getattr_static(type(part), "__call__", None)]
    cells = dict(zip(part.__code__.co_freevars, part.__closure__ or (), strict=False))
    if str(part.__module__).partition(".")[0] == "ag2" and "inner" in cells:
        cells = {"inner": cells["inner"]}  # beside it stands the middleware that it calls
    defaults = [*(part.__defaults__ or ()), *(part.__kwdefaults__ or {}).values()]
    return [*map(_content, cells.values()), *defaults]


def _content(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # it is empty
        return None


def _attributes(value: Any) -> list[Any]:
    slots = [getattr(kind, "__slots__", ()) for kind in type(value).__mro__]
    names = [name for names in slots for name in ([names] if isinstance(names, str) else names)]
    in_slots = [getattr(value, name, None) for name in names if name != "__dict__"]
    return [*getattr(value, "__dict__", {}).values(), *in_slots]


def starts_an_agent(name: str, tool: Any) -> bool:
    """Say whether this is a tool of AG2 that makes an agent, without the middleware of this one.

    Args:
        tool: The tool; None if it is out of sight, and then its name says it.
    """
    function = getattr(getattr(tool, "model", None), "call", None)
    if function is None:
        return name in _MAKES_AGENTS
    package = str(getattr(function, "__module__", "")).partition(".")[0]
    return package == "ag2" and getattr(function, "__name__", "") in _MAKES_AGENTS


def asked(tool: Any, written: Any) -> Values:
    """Return the arguments that people are shown for what a model wrote.

    Args:
        tool: The tool; None if it is out of sight, and then its defaults are too.

    Raises:
        Unaskable: The tool would not be called with what was written.
    """
    arguments = _binding.read(written)
    if tool is None or tool.model.serializer is None:
        return arguments
    call = tool.model
    all_arguments = {**_hidden(call), **_bound(call, arguments)}
    positional = call.positional_args if call.args_name else ()
    names = {*all_arguments, *_injected(call)}.difference(positional)
    _binding.check_call(call.call, names, before=positional)
    return all_arguments


@contextmanager
def bound_to(tool: Any, event: Any, context: Any) -> Iterator[None]:
    """Have a tool called with the arguments of ``event`` within this, or not at all.

    What stands between a gate and the tool, a middleware of the host's, may hand on others. Nor is
    another tool of the agent called by this event: AG2 may have chosen that by another name.

    Args:
        tool: The tool, which keeps what is put before its function; None if it is out of sight.
    """
    agent_tools = _of_agent(context)
    for known_tool in [*agent_tools, *([] if tool is None else [tool])]:
        if not isinstance(known_tool.model, _Bound):
            known_tool.model = _Bound(known_tool.model)
    named_models = [tool.model for tool in agent_tools if _name(tool) == event.name]
    approved = _Approved(
        model=None if tool is None else tool.model,
        arguments="" if tool is None else canonical_json(event.serialized_arguments),
        call_id=event.id,
        others=[tool.model for tool in agent_tools if tool.model not in named_models],
    )
    token = _approved.set(approved)
    try:
        yield
    finally:
        _approved.reset(token)


@dataclass
class _Approved:
    """A call that was approved: of which tool, with which arguments, and whether it was made.

    Attributes:
        others: The models of the agent's tools that have another name.
    """

    model: Any
    arguments: str
    call_id: str
    others: Sequence[Any]
    is_made: bool = False


_RENAMED = (
    "A middleware has changed the name of the call before it was approved, and AG2 would call "
    "another tool than people were shown. It was not called. Keep names as the model wrote them."
)
_approved: ContextVar[_Approved | None] = ContextVar("approved_call", default=None)


class _Bound:
    """What calls the function of a tool, if it is called with what was approved."""

    def __init__(self, model: Any) -> None:
        self._model = model

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # as copying asks for, before there is a model
            raise AttributeError(name)
        return getattr(self._model, name)

    def __deepcopy__(self, memo: dict[int, Any]) -> _Bound:
        return _Bound(deepcopy(self._model, memo))

    async def asolve(self, **values: Any) -> Any:
        """Call the function.

        Raises:
            HumanInputFailedError: It would be called with something else, in the place of another
                tool, or once more.
        """
        approved = _approved.get()
        if approved is None:
            return await self._model.asolve(**values)
        if approved.model is not self:
            call_id = getattr(values.get("__ctx__"), "tool_call_id", None)
            if call_id == approved.call_id and self in approved.others:
                raise _failed(DigestMismatch(_RENAMED))
            return await self._model.asolve(**values)
        arguments = {name: value for name, value in values.items() if name not in _AG2S_OWN}
        if error := _why_not(approved, arguments):
            raise _failed(error)
        approved.is_made = True
        token = _approved.set(None)  # what the function itself calls is another call
        try:
            return await self._model.asolve(**values)
        finally:
            _approved.reset(token)


def _failed(cause: NotApproved) -> Exception:
    error: Exception = import_module("ag2.exceptions").HumanInputFailedError(cause)
    error.__cause__ = cause
    return error


def _why_not(approved: _Approved, arguments: Values) -> NotApproved | None:
    if approved.is_made:
        return AlreadyUsed(
            "A middleware makes the call once more, and an approval works once. The tool was not "
            "called again."
        )
    try:
        is_approved = canonical_json(arguments) == approved.arguments
    except (TypeError, ValueError):
        is_approved = False
    if is_approved:
        return None
    return DigestMismatch(
        "A middleware has changed the arguments since they were approved. The tool was not "
        "called. Have it change them before they are asked, or not at all."
    )


def written(event: Any) -> Any:
    """Return the arguments of a call as its model wrote them, or as a middleware has made them."""
    try:
        arguments = event.serialized_arguments
    except (ValueError, RecursionError):  # reading the text again says why
        return event.arguments
    try:
        is_its_text = json.loads(event.arguments or "{}") == arguments
    except (ValueError, RecursionError):
        is_its_text = False
    return event.arguments if is_its_text else arguments


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
    injected = _injected(call)
    _binding.check_names({name: 1 for name in given if more is None or name in injected}, names)
    grouped = {name: value for name, value in given.items() if name in names}
    if more is not None:
        grouped[more] = {name: value for name, value in given.items() if name not in names}
    if call.args_name is not None:
        grouped[call.args_name] = []  # which no model can write
    values = _binding.bound(model, grouped)
    extra = values.pop(more) if more is not None else {}
    values.pop(call.args_name, None)
    return {**values, **extra}


def _hidden(call: Any) -> Values:
    """Return the defaults of what no model may write: parameters with a leading underscore."""
    known_names = {*call.serializer.model.model_fields, *_injected(call)}
    hidden_params = [param for param in call.flat_params if param.field_name not in known_names]
    return _binding.hidden({param.field_name: param.default_value for param in hidden_params})


def _injected(call: Any) -> set[str]:
    return {*call.dependencies, *call.custom_fields}


def _is_function_tool(tool: Any) -> bool:
    return hasattr(getattr(tool, "model", None), "serializer")
