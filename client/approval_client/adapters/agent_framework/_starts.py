"""Approvals of Microsoft Agent Framework, used right before their calls are made."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from approval_client._outcomes import Run
from approval_client.adapters.agent_framework._gate import ended
from approval_client.adapters.agent_framework._turns import current


def starts() -> Any:
    """Return a middleware that starts each call that was approved in this turn.

    A call whose approval cannot be used any more is not made, and the run ends. How each call
    ended is noted, in case that the run dies before it says so.
    """
    framework = import_module("agent_framework")

    class Starts(framework.FunctionMiddleware):  # type: ignore[misc,name-defined] # not installed where types are checked
        async def process(self, context: Any, call_next: Any) -> None:
            turn, approval = current(), context.metadata.get("approval_response")
            if turn is None or approval is None:
                await call_next()
                return
            try:
                name = await turn.start_call(approval, context)
            except Exception as error:
                raise framework.MiddlewareFailure(
                    f"{context.function.name!r:.80} was not called: {error}"
                ) from error
            run = Run()
            try:
                await call_next()
            except BaseException as error:
                turn.ends[name] = run.raised(error)
                raise
            turn.ends[name] = ended(run, context.result)

    return Starts()
