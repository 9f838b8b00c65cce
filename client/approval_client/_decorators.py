"""``requires_approval``: a function that runs only when its call was approved."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar, overload

from approval_client._arguments import check_listener, check_object, check_seconds, check_text
from approval_client._async_client import AsyncClient
from approval_client._defaults import default_async_client, default_client
from approval_client._errors import DigestMismatch, not_approved
from approval_client._flow import check_size
from approval_client._functions import Call, Target, hidden_in, order_of, target_of
from approval_client._models import (
    ApprovalRequest,
    ApprovalResponse,
    about_tool,
    with_place,
    within_limit,
)
from approval_client._outcomes import Run, report, report_async, whole_result
from approval_client._sync_client import Client
from approval_client._telling import Listener
from approval_client.wire import Kind, canonical_json, digest

Function = TypeVar("Function", bound=Callable[..., Any])
Arguments = Callable[..., Mapping[str, Any]]
_TIMES = {"time_limit_s", "max_wait_s"}
_TEXTS = {"capability", "objective", "run_id"}
_OPTIONS = {*_TEXTS, *_TIMES, "accepts_edits", "accepts_grants"}


@overload
def requires_approval(function: Function, /) -> Function: ...


@overload
def requires_approval(
    *,
    client: Client | AsyncClient | None = None,
    tool: str = "",
    capability: str = "",
    objective: str = "",
    evidence: Mapping[str, Any] | Arguments | None = None,
    run_id: str = "",
    idempotency_key: str | Callable[..., str] | None = None,
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
    evidence: Mapping[str, Any] | Arguments | None = None,
    idempotency_key: str | Callable[..., str] | None = None,
    on_pending: Listener | None = None,
    on_decided: Listener | None = None,
    **options: Any,
) -> Any:
    """Ask before every call of a function, and run it only when the call was approved.

    Arguments are read again after the wait: if one was changed meanwhile, nothing runs. With
    ``accepts_edits`` a reviewer may change them, and the function runs with what came back.

    Methods, class and static methods, bound methods, partials and builtins are functions too. Of a
    method, the object that it belongs to is not shown: ``arguments`` can show what of it matters.

    Args:
        function: A plain or an ``async`` function.
        client: Who asks: an ``AsyncClient`` for an ``async`` function, else a ``Client``. One
            configured by the environment if None.
        tool: What reviewers see; the function's qualified name if empty.
        arguments: For arguments that are not JSON: a function that takes the same arguments and
            returns them as JSON.
        evidence: What the agent says about it, as JSON, or a function as for ``arguments``.
        idempotency_key: Names the question, so that asking again after a restart finds the first
            one; or a function that takes the same arguments and returns the name.
        on_pending: Called with the answer when a person has to decide; see ``Client.telling``.
        on_decided: Called with the answer when it was decided.
        options: Other fields of ``ApprovalRequest``, as typed above.

    Raises:
        TypeError: At decoration, if this cannot be gated or an option is of a wrong type; at a
            call, if an argument is not JSON. Nothing was asked.
        ValueError: At decoration, if a time is negative, infinite or NaN.
        DashboardError: At a call that is not approved: ``NotApproved`` if there is an answer.
    """
    settings = {
        "client": client,
        "tool": tool,
        "arguments": arguments,
        "evidence": evidence,
        "idempotency_key": idempotency_key,
        "on_pending": on_pending,
        "on_decided": on_decided,
        **options,
    }
    if function is None:
        return functools.partial(requires_approval, **settings)
    if isinstance(function, classmethod | staticmethod):
        owners = int(isinstance(function, classmethod))
        inner: Any = function.__func__
        return type(function)(_gated(target_of(inner, owners=owners), inner, settings))
    return _gated(target_of(function), function, settings)


def _gated(target: Target, function: Any, arguments: Mapping[str, Any]) -> Any:
    options = dict(arguments)
    client, tool = options.pop("client"), options.pop("tool")
    asks = {name: options.pop(name) for name in ("arguments", "evidence", "idempotency_key")}
    listeners = {name: options.pop(name) for name in ("on_pending", "on_decided")}
    _check(target, client, options, asks["arguments"])
    _check_types(tool, options, listeners, asks["evidence"])
    gate = _Gate(
        target=target,
        client=client,
        listeners=listeners,
        tool=tool or target.name,
        asks=asks,
        options=options,
    )
    wrap = _asynchronous if inspect.iscoroutinefunction(target.function) else _blocking
    gated = wrap(gate)
    functools.update_wrapper(gated, target.function)
    gated.__dict__["__wrapped__"] = function  # whose signature a partial's gate has
    return gated


@dataclass(frozen=True, kw_only=True)
class _Gate:
    """What stands before one function."""

    target: Target
    client: Any
    listeners: dict[str, Listener | None]
    tool: str
    asks: Mapping[str, Any]
    options: dict[str, Any]

    def question(self, call: Call, whole: Call) -> tuple[ApprovalRequest, dict[str, Any]]:
        """Return what is asked about a call, and under which key.

        Args:
            call: Its arguments as they were written, of which this gate's functions make theirs.
            whole: The same with all defaults, with which it runs.
        """
        evidence, key = (_made(self.asks[name], call) for name in ("evidence", "idempotency_key"))
        if evidence is not None:
            check_object("evidence", evidence)
        request = within_limit(
            ApprovalRequest.tool_call(
                self.tool,
                self._json(call, whole),
                evidence={**about_tool(self.target.schema), **(evidence or {})},
                **self.options,
            )
        )
        if key is None:
            return request, {}
        if not isinstance(key, str) or not key:
            raise TypeError(
                f"The idempotency key of {self.tool} is no text, or empty. Nothing was asked."
            )
        return request, {"idempotency_key": key}

    def order(self, whole: Call) -> Any:
        """Return in which order the members of the arguments stand, where they are shown."""
        return None if self.asks["arguments"] else order_of(self.target.shown(whole))

    def admitted(self, response: ApprovalResponse, call: Call, whole: Call, order: Any) -> Call:
        """Return what to run with, after making sure that it is what was approved.

        People see members sorted by name, so a member that moves meanwhile changes no digest, and
        may still change what is done first: ``order`` is the one that was asked.
        """
        if response.approved is not True:
            raise not_approved(response)
        if response.edited:
            return self.target.rebound(call[0], response)
        content = {"tool": self.tool, "arguments": self._json(call, whole)}
        if digest(Kind.TOOL_CALL, content) != response.digest or self.order(whole) != order:
            raise DigestMismatch(
                f"The arguments of {self.tool} changed while it waited for approval. It was not "
                "run. Call it again with the arguments you want.",
                response,
            )
        return whole

    def _json(self, call: Call, whole: Call) -> dict[str, Any]:
        make = self.asks["arguments"]
        values = self.target.shown(whole) if make is None else _made(make, call)
        check_object(f"arguments of requires_approval for {self.tool}", values)
        try:
            text = canonical_json({"arguments": values})
        except (TypeError, ValueError, RecursionError) as error:
            raise self._not_shown(with_place(values, error)) from error
        check_size(text)
        if make is None and (hidden := hidden_in(values)):
            raise self._not_shown(f"{hidden}.")
        return values

    def _not_shown(self, why: str) -> TypeError:
        return TypeError(
            f"The arguments of {self.tool} cannot be shown to a reviewer: {why} Nothing was run. "
            "Pass arguments= to requires_approval, a function that returns them as JSON."
        )


def _made(given: Any, call: Call) -> Any:
    args, kwargs = call
    return given(*args, **kwargs) if callable(given) else given


def _blocking(gate: _Gate) -> Callable[..., Any]:
    def ask_first(*args: Any, **kwargs: Any) -> Any:
        call = gate.target.call(args, kwargs)
        whole = gate.target.whole(call)
        request, key = gate.question(call, whole)
        order = gate.order(whole)
        client = (gate.client or default_client()).telling(**gate.listeners)
        response = client.request_approval(request, **key)
        args, kwargs = gate.admitted(response, call, whole, order)
        run = Run()
        try:
            result = whole_result(gate.tool, gate.target.function(*args, **kwargs))
        except BaseException as error:
            report(client, response, run.raised(error))
            raise
        report(client, response, run.returned(result))
        return result

    return ask_first


def _asynchronous(gate: _Gate) -> Callable[..., Any]:
    async def ask_first(*args: Any, **kwargs: Any) -> Any:
        call = gate.target.call(args, kwargs)
        whole = gate.target.whole(call)
        request, key = gate.question(call, whole)
        order = gate.order(whole)
        client = (gate.client or default_async_client()).telling(**gate.listeners)
        response = await client.request_approval(request, **key)
        args, kwargs = gate.admitted(response, call, whole, order)
        run = Run()
        try:
            result = whole_result(gate.tool, await gate.target.function(*args, **kwargs))
        except GeneratorExit:  # nothing can be awaited any more
            raise
        except BaseException as error:
            await report_async(client, response, run.raised(error))
            raise
        await report_async(client, response, run.returned(result))
        return result

    return ask_first


def _check_types(
    tool: Any, options: Mapping[str, Any], listeners: Mapping[str, Any], evidence: Any
) -> None:
    for name in _TIMES & options.keys():
        check_seconds(name, options[name])
    for name in _TEXTS & options.keys():
        check_text(name, options[name], optional=True)
    check_text("tool", tool, optional=True)
    for name, listener in listeners.items():
        check_listener(name, listener)
    if evidence is not None and not callable(evidence):
        check_object("evidence", evidence)


def _check(
    target: Target, client: Any, options: dict[str, Any], arguments: Arguments | None
) -> None:
    function = target.function
    inner = inspect.unwrap(function)
    if inspect.isgeneratorfunction(inner) or inspect.isasyncgenfunction(inner):
        raise TypeError(
            "requires_approval() cannot gate a generator, which runs piece by piece. Gate a "
            "function that consumes it."
        )
    if inspect.iscoroutinefunction(inner) and not inspect.iscoroutinefunction(function):
        raise TypeError(
            f"requires_approval() cannot gate {target.name}: a decorator below makes it a plain "
            "function that returns a coroutine, which runs later. Put requires_approval below "
            "that decorator, or make its function async."
        )
    needed = AsyncClient if inspect.iscoroutinefunction(function) else Client
    if client is not None and not isinstance(client, needed):
        raise TypeError(f"{target.name} needs a client of type {needed.__name__}.")
    unknown = options.keys() - _OPTIONS
    if unknown:
        raise TypeError(f"requires_approval() has no option {', '.join(sorted(unknown))}.")
    if arguments and options.get("accepts_edits"):
        raise TypeError(
            "Use either arguments= or accepts_edits=True: edited arguments could not be passed "
            "back to the function."
        )
