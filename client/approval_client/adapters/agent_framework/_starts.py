"""Approvals of Microsoft Agent Framework, used right before their calls are made."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from approval_client.adapters.agent_framework._turns import current


def starts() -> Any:
    """Return a middleware that starts each call that was approved in this turn.

    A call whose approval cannot be used any more is not made, and the run ends.
    """
    framework = import_module("agent_framework")

    class Starts(framework.FunctionMiddleware):  # type: ignore[misc,name-defined] # not installed where types are checked
        async def process(self, context: Any, call_next: Any) -> None:
            turn, approval = current(), context.metadata.get("approval_response")
            if turn is not None and approval is not None:
                try:
                    await turn.start_call(approval, context)
                except Exception as error:
                    raise framework.MiddlewareFailure(
                        f"{context.function.name!r:.80} was not called: {error}"
                    ) from error
            await call_next()

    return Starts()
