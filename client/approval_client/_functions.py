"""What a call of a gated function is: what people are shown of it, and what is then called."""

from __future__ import annotations

import functools
import inspect
import json
import re
from collections import Counter, OrderedDict, defaultdict, namedtuple
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from inspect import BoundArguments, Parameter, Signature
from typing import Any, Generic

from approval_client._errors import DigestMismatch
from approval_client._models import ApprovalResponse
from approval_client.wire import EXACT_NUMBERS, Kind, canonical_json, digest, rounded_number

_SPREAD: dict[Any, type] = {Parameter.VAR_POSITIONAL: list, Parameter.VAR_KEYWORD: dict}
_NAMED = {Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY}
_OWNERS = {"self", "cls"}
_BASES = (str, int, float, dict, list, tuple)
_PLAIN = {type(None), bool, *_BASES, OrderedDict, Counter}
_FACTORIES = {None, dict, float, int, list, set, str, tuple}
# What Python writes into any class, and a namedtuple besides.
_OF_ANY_CLASS = {
    *("__annotate__", "__annotate_func__", "__annotations__", "__annotations_cache__"),
    *("__class_getitem__", "__dict__", "__doc__", "__firstlineno__", "__init_subclass__"),
    *("__module__", "__orig_bases__", "__parameters__", "__qualname__", "__slots__"),
    *("__static_attributes__", "__type_params__", "__weakref__"),
}
_NAMED_TUPLE = namedtuple("_NAMED_TUPLE", ())  # noqa: PYI024 - only its generated code is used
_FIELD = type(namedtuple("_FIELD", ("x",)).x)  # type: ignore[attr-defined]  # noqa: PYI024 - the same
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
Call = tuple[tuple[Any, ...], dict[str, Any]]


@dataclass(frozen=True, kw_only=True)
class Target:
    """A function that is called when its call was approved.

    Attributes:
        function: What is called.
        name: Its qualified name.
        signature: Of the arguments that people are shown.
        owners: How many arguments before them are the object or class that a method belongs to:
            0 or 1. They are not shown.
        owner: The module and name of the class in which the method is written, whose objects are
            such arguments; empty where Python itself passes it.
        args: What a partial has before the arguments of a call. They are shown.
        kwargs: What it has besides.
    """

    function: Callable[..., Any]
    name: str
    signature: Signature
    owners: int = 0
    owner: tuple[str, str] = ("", "")
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)

    def call(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Call:
        """Return the arguments of a call, and what a partial passes."""
        return (*self.args, *args), {**self.kwargs, **kwargs}

    def whole(self, call: Call) -> Call:
        """Return the arguments of a call with the defaults, which are passed as they are shown.

        A decorator below could put in others, and a default may be another one by then.

        Raises:
            TypeError: The function does not take them, or the first one would not be shown and is
                not what a method belongs to.
        """
        args, kwargs = call
        if any(self.owner) and not (args and self._is_owner(args[0])):
            name = next(iter(inspect.signature(self.function).parameters))
            raise TypeError(
                f"The argument {name!r} of {self.name} would not be shown to a reviewer, and what "
                "was passed is not the object or class of a method. Nothing was asked. Put "
                "requires_approval above staticmethod, or give the argument another name."
            )
        passed = self.signature.bind(*args[self.owners :], **kwargs).arguments
        params = self.signature.parameters.values()
        defaults = [p for p in params if p.name not in passed and p.default is not p.empty]
        # By their place only where they have no name, because a decorator may look for a name.
        positional = [p.default for p in defaults if p.kind is Parameter.POSITIONAL_ONLY]
        keywords = {p.name: p.default for p in defaults if p.kind in _NAMED}
        return (*args, *positional), {**kwargs, **keywords}

    def _is_owner(self, value: Any) -> bool:
        kinds = (*type(value).__mro__, *(value.__mro__ if isinstance(value, type) else ()))
        owners = [kind for kind in kinds if (kind.__module__, kind.__qualname__) == self.owner]
        # Python passes nothing to a static method, whatever its first argument is called.
        return bool(owners) and not any(
            isinstance(member, staticmethod)
            and inspect.unwrap(member) is inspect.unwrap(self.function)
            for owner in owners
            for member in vars(owner).values()
        )

    def shown(self, whole: Call) -> dict[str, Any]:
        """Return what people are shown of the whole arguments."""
        args, kwargs = whole
        bound = self.signature.bind(*args[self.owners :], **kwargs)
        bound.apply_defaults()  # that there are none of *args or **kwargs is shown too
        return dict(bound.arguments)

    def schema(self) -> dict[str, Any]:
        """Return the parameters as a JSON Schema, with their annotations as texts."""
        parameters = self.signature.parameters.values()
        return {
            "type": "object",
            "properties": {param.name: _described(param) for param in parameters},
            "required": [param.name for param in parameters if _is_needed(param)],
        }

    def rebound(self, args: tuple[Any, ...], response: ApprovalResponse) -> Call:
        """Return the whole arguments as a reviewer changed them.

        Args:
            args: Those that would have been passed by their place; a method's object is kept.
            response: The approval.

        Raises:
            DigestMismatch: They are not what was approved, or not what the function takes.
        """
        parameters = self.signature.parameters
        if digest(Kind.TOOL_CALL, response.content) != response.digest:
            raise _unfit("are not what was approved", response)
        arguments: dict[str, Any] = json.loads(canonical_json(response.content["arguments"]))
        if arguments.keys() != parameters.keys():
            raise _unfit("do not have the names that the function takes", response)
        names = {name for name, param in parameters.items() if param.kind in _NAMED}
        for name, parameter in parameters.items():
            if not isinstance(arguments[name], _SPREAD.get(parameter.kind, object)):
                raise _unfit(f"do not fit the parameter {name!r}", response)
            if parameter.kind is Parameter.VAR_KEYWORD and not names.isdisjoint(arguments[name]):
                raise _unfit(f"repeat a parameter of the function in {name!r}", response)
        bound = BoundArguments(self.signature, {name: arguments[name] for name in parameters})
        return (*args[: self.owners], *bound.args), bound.kwargs


def hidden_in(value: Any) -> str:
    """Say what in a value may hold more than it shows or be read as something else, or nothing.

    A value of a type of its own may give the function something else than what is written for
    people. Members of an enumeration are their values.
    """
    if isinstance(value, Enum):
        return _hidden_in_member(value)
    if isinstance(value, EXACT_NUMBERS):
        number = rounded_number(value)
        return f"Python reads the number {number:.40} as another one" if number else ""
    base = next((base for base in _BASES if isinstance(value, base)), None)
    if not _is_plain(value, base):
        instead = f": pass {base.__name__}() of it" if base else ""
        return f"a {type(value).__name__} may hold more than can be shown{instead}"
    if isinstance(value, OrderedDict) and list(value) != sorted(value):
        return "the order of an OrderedDict is not shown: pass a dict, or a list of pairs"
    if isinstance(value, dict):
        return _first_of((name, hidden_in(name) or hidden_in(value[name])) for name in value)
    return _first_of(enumerate(map(hidden_in, value))) if base in {list, tuple} else ""


def order_of(value: Any) -> Any:
    """Return the names in a value in their order, which the digest of it does not tell."""
    if isinstance(value, dict):
        return [(name, order_of(member)) for name, member in value.items()]
    return [order_of(member) for member in value] if isinstance(value, list | tuple) else None


def _is_plain(value: Any, base: type | None) -> bool:
    if type(value) is defaultdict:
        return any(value.default_factory is factory for factory in _FACTORIES)
    if base is None:
        return value is None
    return not (getattr(value, "__dict__", None) or _changes(type(value)))


def _hidden_in_member(member: Enum) -> str:
    # What a member has besides, such as a label, goes with its value, and is the program's own.
    value = member.value
    if type(value) in _BASES and canonical_json(value) == canonical_json(member):
        return ""
    return f"a member of {type(member).__name__} reads as another value: pass that"


def _changes(kind: type) -> bool:
    """Say whether a type reads in another way than the types that it is made of, or holds more.

    What it has under other names than theirs is the program's own.
    """
    kinds = [parent for parent in kind.__mro__ if parent not in {*_PLAIN, Generic, object}]
    tuples = [parent for parent in kinds if _is_named_tuple(parent)]
    names = {name for parent in kind.__mro__ if parent in _PLAIN for name in vars(parent)}
    names.update(*(vars(parent)["_fields"] for parent in tuples))
    names.update(*(vars(_NAMED_TUPLE) for _ in tuples))
    return any(
        name.startswith("__") or name in names or inspect.ismemberdescriptor(member)
        for parent in kinds
        for name, member in vars(parent).items()
        if name not in _OF_ANY_CLASS
        and not (parent in tuples and (name in vars(_NAMED_TUPLE) or type(member) is _FIELD))
    )


def _is_named_tuple(kind: type) -> bool:
    code = getattr(vars(kind).get("__repr__"), "__code__", None)
    return code is _NAMED_TUPLE.__repr__.__code__ and "_fields" in vars(kind)


def _first_of(members: Iterable[tuple[Any, str]]) -> str:
    return next((f"{name!s:.40}: {hidden}" for name, hidden in members if hidden), "")


def _described(parameter: Parameter) -> dict[str, str]:
    if parameter.annotation is Parameter.empty:
        return {}
    text = inspect.formatannotation(parameter.annotation)
    return {"annotation": _ADDRESS.sub("", text)}  # the same in every process


def _is_needed(parameter: Parameter) -> bool:
    return parameter.default is Parameter.empty and parameter.kind not in _SPREAD


def target_of(function: Any, *, owners: int | None = None) -> Target:
    """Return what is called, and how it is shown.

    Args:
        function: A function, a method, a partial of one, or a builtin.
        owners: See ``Target``; found out if None.

    Raises:
        TypeError: It is something else, or does not say what it takes.
    """
    if isinstance(function, functools.partial):
        inner = target_of(function.func)
        return Target(
            function=inner.function,
            name=inner.name,
            signature=inner.signature,
            owners=inner.owners,
            owner=inner.owner,
            args=(*inner.args, *function.args),
            kwargs={**inner.kwargs, **function.keywords},
        )
    if not inspect.isroutine(function) or isinstance(function, classmethod | staticmethod):
        raise TypeError(
            f"requires_approval() takes a function or a method, not {function!r:.80}. Gate the "
            "function that it calls."
        )
    name = f"{function.__module__ or 'builtins'}.{function.__qualname__}"
    try:
        signature = inspect.signature(function)
    except ValueError:
        raise TypeError(
            f"requires_approval() cannot gate {name}: it does not say which arguments it takes. "
            "Gate a function of yours that calls it."
        ) from None
    parameters = list(signature.parameters.values())
    owner = ("", "")
    if owners is None:
        owner = _owner(function, parameters)
        owners = int(any(owner))
    return Target(
        function=function,
        name=name,
        signature=signature.replace(parameters=parameters[owners:]),
        owners=owners,
        owner=owner,
    )


def _owner(function: Any, parameters: list[Parameter]) -> tuple[str, str]:
    """Return the module and name of the class whose method this seems to be; empty if of none.

    A class is not made yet while its methods are decorated, so their names tell.
    """
    inside = function.__qualname__.rpartition(".")[0]
    in_a_class = inspect.isfunction(function) and inside and not inside.endswith("<locals>")
    if in_a_class and parameters and parameters[0].name in _OWNERS:
        return function.__module__, inside
    return "", ""


def _unfit(what: str, response: ApprovalResponse) -> DigestMismatch:
    return DigestMismatch(
        f"The arguments that a reviewer changed {what}. Nothing was run. Call it again, or ask "
        "the reviewer to keep their names.",
        response,
    )
