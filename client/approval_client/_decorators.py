"""``requires_approval``: a function that runs only when its call was approved."""

from __future__ import annotations

import asyncio
import functools
import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from inspect import BoundArguments, Parameter
from typing import Any, TypeVar, overload

from approval_client._async_client import AsyncClient
from approval_client._defaults import default_async_client, default_client
from approval_client._errors import DigestMismatch, not_approved
from approval_client._models import ApprovalRequest, ApprovalResponse
from approval_client._outcomes import Run, report, report_async
from approval_client._sync_client import Client
from approval_client._telling import Listener
from approval_client.wire import Kind, canonical_json, digest

# --- calling a function with the arguments that a reviewer changed -----------------------------

_SPREAD: dict[Any, type] = {Parameter.VAR_POSITIONAL: list, Parameter.VAR_KEYWORD: dict}
_NAMED = {Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY}


def rebound(
    function: Callable[..., Any], response: ApprovalResponse
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments that were approved, to call ``function`` with.

    Raises:
        DigestMismatch: They are not what was approved, or not what the function takes.
    """
    parameters = inspect.signature(function).parameters
    if digest(Kind.TOOL_CALL, response.content) != response.digest:
        raise _unfit("are not what was approved", response)
    given: dict[str, Any] = json.loads(canonical_json(response.content["arguments"]))
    if given.keys() != parameters.keys():
        raise _unfit("do not have the names that the function takes", response)
    named = {name for name, one in parameters.items() if one.kind in _NAMED}
    for name, parameter in parameters.items():
        if not isinstance(given[name], _SPREAD.get(parameter.kind, object)):
            raise _unfit(f"do not fit the parameter {name!r}", response)
        if parameter.kind is Parameter.VAR_KEYWORD and not named.isdisjoint(given[name]):
            raise _unfit(f"repeat a parameter of the function in {name!r}", response)
    ordered = {name: given[name] for name in parameters}
    bound = BoundArguments(inspect.signature(function), ordered)
    return bound.args, bound.kwargs


def _unfit(what: str, response: ApprovalResponse) -> DigestMismatch:
    return DigestMismatch(
        f"The arguments that a reviewer changed {what}. Nothing was run. Call it again, or ask "
        "the reviewer to keep their names.",
        response,
    )


# --- the decorator -----------------------------------------------------------------------------

Function = TypeVar("Function", bound=Callable[..., Any])
Arguments = Callable[..., Mapping[str, Any]]
_TIMES = {"time_limit_s", "max_wait_s"}
_OPTIONS = {"capability", "objective", *_TIMES, "accepts_edits", "accepts_grants"}


@overload
def requires_approval(function: Function, /) -> Function: ...


@overload
def requires_approval(
    *,
    client: Client | AsyncClient | None = None,
    tool: str = "",
    capability: str = "",
    objective: str = "",
    time_limit_s: int | None = None,
    max_wait_s: int | None = None,
    accepts_edits: bool = False,
    accepts_grants: bool = True,
    arguments: Arguments | None = None,
    on_pending: Listener | None = None,
    on_decided: Listener | None = None,
) -> Callable[[Function], Function]: ...


def requires_approval(
    function: Any = None,
    /,
    *,
    client: Client | AsyncClient | None = None,
    tool: str = "",
    arguments: Arguments | None = None,
    on_pending: Listener | None = None,
    on_decided: Listener | None = None,
    **options: Any,
) -> Any:
    """Ask before every call of a function, and run it only when the call was approved.

    Arguments are read again after the wait: if one was changed meanwhile, nothing runs. With
    ``accepts_edits`` a reviewer may change them, and the function runs with what came back.

    Args:
        function: A plain or an ``async`` function.
        client: Who asks: an ``AsyncClient`` for an ``async`` function, else a ``Client``. One
            configured by the environment if None.
        tool: What reviewers see; the function's qualified name if empty.
        arguments: For arguments that are not JSON: a function that takes the same arguments and
            returns them as JSON.
        on_pending: Called with the answer when a person has to decide; see ``Client.telling``.
        on_decided: Called with the answer when it was decided.
        options: Other fields of ``ApprovalRequest``, as typed above.

    Raises:
        TypeError: At decoration, if this cannot be gated; at a call, if an argument is not JSON.
            Nothing was asked.
        DashboardError: At a call that is not approved: ``NotApproved`` if there is an answer.
    """
    if function is None:
        return functools.partial(
            requires_approval,
            client=client,
            tool=tool,
            arguments=arguments,
            on_pending=on_pending,
            on_decided=on_decided,
            **options,
        )
    _check(function, client, options, arguments)
    gate = _Gate(
        function=function,
        client=client,
        listeners={"on_pending": on_pending, "on_decided": on_decided},
        tool=tool or f"{function.__module__}.{function.__qualname__}",
        arguments=arguments or _bound(function),
        options=options,
    )
    return _asynchronous(gate) if inspect.iscoroutinefunction(function) else _blocking(gate)


@dataclass(frozen=True, kw_only=True)
class _Gate:
    """What stands before one function."""

    function: Callable[..., Any]
    client: Any
    listeners: dict[str, Listener | None]
    tool: str
    arguments: Arguments
    options: dict[str, Any]

    def request(self, args: Any, kwargs: Any) -> ApprovalRequest:
        return ApprovalRequest.tool_call(self.tool, self._json(args, kwargs), **self.options)

    def admitted(self, response: ApprovalResponse, args: Any, kwargs: Any) -> tuple[Any, Any]:
        """Return what to run with, after making sure that it is what was approved."""
        if response.approved is not True:
            raise not_approved(response)
        if response.edited:
            return rebound(self.function, response)
        content = {"tool": self.tool, "arguments": self._json(args, kwargs)}
        if digest(Kind.TOOL_CALL, content) != response.digest:
            raise DigestMismatch(
                f"The arguments of {self.tool} changed while it waited for approval. It was not "
                "run. Call it again with the arguments you want.",
                response,
            )
        return args, kwargs

    def _json(self, args: Any, kwargs: Any) -> dict[str, Any]:
        found = dict(self.arguments(*args, **kwargs))
        try:
            digest(Kind.TOOL_CALL, {"arguments": found})
        except (TypeError, ValueError, RecursionError) as error:
            raise TypeError(
                f"The arguments of {self.tool} cannot be shown to a reviewer: {error} Nothing "
                "was run. Pass arguments= to requires_approval, a function that returns them "
                "as JSON."
            ) from error
        return found


def _blocking(gate: _Gate) -> Callable[..., Any]:
    @functools.wraps(gate.function)
    def ask_first(*args: Any, **kwargs: Any) -> Any:
        request = gate.request(args, kwargs)
        client = (gate.client or default_client()).telling(**gate.listeners)
        response = client.request_approval(request)
        args, kwargs = gate.admitted(response, args, kwargs)
        run = Run()
        try:
            result = gate.function(*args, **kwargs)
        except BaseException as error:
            report(client, response, run.raised(error))
            raise
        report(client, response, run.returned(result))
        return result

    return ask_first


def _asynchronous(gate: _Gate) -> Callable[..., Any]:
    @functools.wraps(gate.function)
    async def ask_first(*args: Any, **kwargs: Any) -> Any:
        request = gate.request(args, kwargs)
        client = (gate.client or default_async_client()).telling(**gate.listeners)
        response = await client.request_approval(request)
        args, kwargs = gate.admitted(response, args, kwargs)
        run = Run()
        try:
            result = await gate.function(*args, **kwargs)
        except GeneratorExit:  # nothing can be awaited any more
            raise
        except BaseException as error:
            # A task of its own, so that a cancelled function is reported too.
            telling = report_async(client, response, run.raised(error))
            await asyncio.shield(asyncio.create_task(telling))
            raise
        await report_async(client, response, run.returned(result))
        return result

    return ask_first


def _check(
    function: Any, client: Any, options: dict[str, Any], arguments: Arguments | None
) -> None:
    if not inspect.isfunction(function):
        raise TypeError(f"requires_approval() takes a function, not {function!r:.80}.")
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise TypeError(
            "requires_approval() cannot gate a generator, which runs piece by piece. Gate a "
            "function that consumes it."
        )
    needed = AsyncClient if inspect.iscoroutinefunction(function) else Client
    if client is not None and not isinstance(client, needed):
        raise TypeError(f"{function.__qualname__} needs a client of type {needed.__name__}.")
    unknown = options.keys() - _OPTIONS
    if unknown:
        raise TypeError(f"requires_approval() has no option {', '.join(sorted(unknown))}.")
    if arguments and options.get("accepts_edits"):
        raise TypeError(
            "Use either arguments= or accepts_edits=True: edited arguments could not be passed "
            "back to the function."
        )


def _bound(function: Callable[..., Any]) -> Arguments:
    signature = inspect.signature(function)

    def arguments(*args: Any, **kwargs: Any) -> dict[str, Any]:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return dict(bound.arguments)

    return arguments
