"""One node that asks, uses the approval, runs and tells how it ended."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from approval_client._async_client import AsyncClient
from approval_client._defaults import default_async_client, default_client
from approval_client._models import ApprovalRequest, ApprovalResponse
from approval_client._outcomes import Run, report, whole_result
from approval_client._sync_client import Client
from approval_client.adapters._core import telling
from approval_client.adapters.langgraph import _kept

Node = Callable[[Any, ApprovalResponse], Any]


class Gated(Protocol):
    """A node as LangGraph takes it: called with ``state`` by that name."""

    def __call__(self, state: Any) -> Any: ...


def gated(
    node: Node,
    make_request: Callable[[Any], ApprovalRequest],
    *,
    otherwise: Node | None = None,
    client: Client | AsyncClient | None = None,
) -> Gated:
    """Return a node that asks first, and runs ``node`` at most once for each approval.

    The approval is used right before ``node`` runs. A hold, the end of its validity and its being
    taken back stop it until then. If LangGraph runs the node again with the same approval, under a
    retry policy, after a failure or a crash, it raises ``AlreadyUsed``, and ``node`` is not run.

    Args:
        node: Called with the state and the response; runs ``response.content`` and returns what a
            node returns. A plain or a coroutine function, or an object that is called as one; it
            must not interrupt the graph.
        make_request: Makes the question of the graph's state; the same each time.
        otherwise: Called with the state and the response after a rejection; without it the state
            stays as it is. The graph goes on along its edges either way. It may be a coroutine
            function if ``node`` is one.
        client: Who uses the approval: an ``AsyncClient`` for a coroutine function, else a
            ``Client``. One configured by the environment if None.

    Raises:
        TypeError: The client does not fit the function; or a function would return what only
            begins to run when the approval is over.

    The node raises:
        TypeError: The function returned such a thing, a coroutine for example. It is told as
            the end, and nothing of it was run.
        AlreadyUsed: The approval was used before. Whether that run came to its end is not known.
        OnHold, TooLate, TakenBack: The approval cannot be used any more.
    """
    awaits = _is_awaited(node)
    _check(node, otherwise, awaits=awaits)
    needed = AsyncClient if awaits else Client
    if client is not None and not isinstance(client, needed):
        raise TypeError(
            f"{_name(node)} needs a client of type {needed.__name__}. Nothing was gated."
        )
    gate = _Gated(node, make_request, otherwise, client)

    def run(state: Any) -> Any:
        return gate.run(state)

    async def arun(state: Any) -> Any:
        return await gate.arun(state)

    wrapper: Any = arun if awaits else run
    wrapper.__name__ = getattr(node, "__name__", "gated")  # what LangGraph calls it
    return wrapper  # type: ignore[no-any-return]


@dataclass(frozen=True)
class _Gated:
    node: Node
    make_request: Callable[[Any], ApprovalRequest]
    otherwise: Node | None
    client: Any

    def run(self, state: Any) -> Any:
        """Ask, and run the node if it is approved."""
        client: Client = self.client or default_client()
        response = client.start(self._answer(state))
        if response.approved is not True:
            if self.otherwise is None:
                return None
            return whole_result(_name(self.otherwise), self.otherwise(state, response))
        run = Run()
        try:
            result = whole_result(_name(self.node), self.node(state, response))
        except BaseException as error:
            report(client, response, run.raised(error))
            raise
        report(client, response, run.returned(None))
        return result

    async def arun(self, state: Any) -> Any:
        """Do the same with a node that is awaited."""
        client: AsyncClient = self.client or default_async_client()
        response = await client.start(self._answer(state))
        if response.approved is True:
            return await telling(client, response, lambda: self._call(state, response), _ended)
        update = self.otherwise(state, response) if self.otherwise else None
        return await update if inspect.isawaitable(update) else update

    async def _call(self, state: Any, response: ApprovalResponse) -> Any:
        return whole_result(_name(self.node), await self.node(state, response))

    def _answer(self, state: Any) -> ApprovalResponse:
        request = self.make_request(state)
        resume_value = _kept.interrupted(request, **{_kept.STARTS: True})
        return _kept.read(request, resume_value, started=False)


def _is_awaited(function: Any) -> bool:
    call = getattr(function, "__call__", None)  # noqa: B004 - an object may be called as one
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(call)


def _check(node: Node, otherwise: Node | None, *, awaits: bool) -> None:
    for function in (node, otherwise):
        inner: Any = function and inspect.unwrap(function)
        if inspect.isgeneratorfunction(inner) or inspect.isasyncgenfunction(inner):
            raise TypeError(
                f"{_name(function)} is a generator, which runs piece by piece. Nothing was gated. "
                "Pass a function that consumes it."
            )
    if _is_awaited(otherwise) and not awaits:
        raise TypeError(
            f"{_name(otherwise)} is a coroutine function, and {_name(node)} is none. Nothing was "
            "gated. Make both async, or neither."
        )


def _name(function: Any) -> str:
    return str(getattr(function, "__name__", type(function).__name__))


def _ended(run: Run, _: Any) -> dict[str, Any]:
    return run.returned(None)
