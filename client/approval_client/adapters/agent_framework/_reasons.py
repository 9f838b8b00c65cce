"""Why a call was rejected, told to a model of Microsoft Agent Framework."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from approval_client.adapters.agent_framework._sessions import RESULT
from approval_client.adapters.agent_framework._turns import current

if TYPE_CHECKING:
    from agent_framework import ChatMiddleware

REJECTED = "Error: Tool call invocation was rejected by user."  # the framework's own words


def reasons() -> ChatMiddleware:
    """Return a middleware that adds to each rejection of this turn why it was rejected.

    It also sees the tools that the model may call, those of context providers among them.

    The framework's answer has no place for a reason, so this puts it into the result that the
    model reads in place of the tool's, where it stays in the history.
    """
    framework = import_module("agent_framework")

    class Reasons(framework.ChatMiddleware):  # type: ignore[misc,name-defined] # not installed where types are checked
        async def process(self, context: Any, call_next: Any) -> None:
            if turn := current():
                turn.sees((context.options or {}).get("tools"))
            for message in context.messages:
                for content in message.contents:
                    if content.type == RESULT and content.result == REJECTED:
                        _explain(content, framework.Content.from_text)
            await call_next()

    return Reasons()


def _explain(result: Any, as_content: Any) -> None:
    turn = current()
    if turn is not None and (reason := turn.why_not(result)):
        result.result = f"{result.result} {reason}"
        result.items = [as_content(result.result)]
