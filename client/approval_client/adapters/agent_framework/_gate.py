"""Before every tool of Microsoft Agent Framework: asks inside the run."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from approval_client._async_client import AsyncClient
from approval_client._errors import DigestMismatch
from approval_client._models import ApprovalRequest, ApprovalResponse
from approval_client._outcomes import Run
from approval_client._refusals import refusal
from approval_client._telling import Listener
from approval_client.adapters import _core
from approval_client.adapters._content import whole
from approval_client.adapters._pauses import not_run, tell
from approval_client.adapters.agent_framework._turns import current, why
from approval_client.wire import Kind, digest

DENIED = "Error: Tool call invocation was rejected"


class Gate:
    """Calls a tool only after this very call was approved.

    Args:
        failure: What ends a run of the framework, instead of being told to the model.
    """

    def __init__(
        self,
        client: AsyncClient | None,
        failure: type[Exception],
        *,
        time_limit_s: int | None,
        allow_always: bool,
        listeners: tuple[Listener | None, Listener | None],
    ) -> None:
        self._client = _core.awaited(client, "Agent Framework")
        self._listeners = listeners
        self._failure = failure
        self._time_limit_s = time_limit_s
        self._allow_always = allow_always

    async def __call__(self, context: Any, call_next: Callable[[], Awaitable[None]]) -> None:
        """Have the tool called, with the arguments that were approved, or say why not."""
        try:
            client, response = self._granted(context) or await self._asked(context)
        except Exception as error:
            raise self._failure(
                f"{context.function.name!r:.80} was not called: {error}"
            ) from error
        if response.approved is not True:
            context.result = f"{DENIED}. {why(response)}"
            return

        async def call() -> Any:
            await call_next()
            return context.result

        await _core.telling(client, response, call, _ended)

    def _granted(self, context: Any) -> tuple[AsyncClient, ApprovalResponse] | None:
        turn, approval = current(), context.metadata.get("approval_response")
        response = turn.granted(approval) if turn and approval is not None else None
        return (turn.asker.client, response) if turn and response else None

    async def _asked(self, context: Any) -> tuple[AsyncClient, ApprovalResponse]:
        client = _core.asking(self._client, "Agent Framework", *self._listeners)
        try:
            request = self._request(context)
        except (TypeError, ValueError) as error:
            return client, refusal(error)
        response = await _core.decided(client.request_approval(request))
        if response.approved is True:
            await _unchanged(client, response, request, context)
        if response.edited:
            context.arguments = _core.plain(response.content["arguments"])
        return client, response

    def _request(self, context: Any) -> ApprovalRequest:
        turn, session = current(), context.session
        run_id = turn.run_id if turn else getattr(session, "session_id", "")
        content = _content(context)
        said = {"tool_description": context.function.description}
        return _core.fitting(
            ApprovalRequest.tool_call(
                **content,
                evidence=_core.evidence(said),
                run_id=_core.line(run_id),
                time_limit_s=self._time_limit_s,
                accepts_edits=_takes_edits(context, content),
                accepts_grants=self._allow_always,
            )
        )


async def _unchanged(
    client: AsyncClient, response: ApprovalResponse, request: ApprovalRequest, context: Any
) -> None:
    """Make sure that what would be called is still what was asked.

    Raises:
        DigestMismatch: It is not.
    """
    if digest(Kind.TOOL_CALL, _content(context)) != request.digest:
        await tell(client, [response], not_run("its arguments changed while people decided"))
        raise DigestMismatch("Its arguments changed while people decided. Ask again.", response)


def _content(context: Any) -> dict[str, Any]:
    """Return the call as JSON: the framework has made dates and the like of some arguments.

    Raises:
        ValueError: An argument cannot be shown whole; a secret, for one.
    """
    return {"tool": context.function.name, "arguments": whole(dict(context.arguments))}


def _takes_edits(context: Any, content: dict[str, Any]) -> bool:
    # What somebody approved elsewhere the framework does not run with other arguments, and what
    # is written with its type is not what the tool takes.
    return (
        "approval_response" not in context.metadata and content["arguments"] == context.arguments
    )


def _ended(run: Run, result: Any) -> dict[str, Any]:
    contents = result if isinstance(result, list) else [result]
    texts = [getattr(content, "text", None) or str(content) for content in contents]
    return run.returned("\n".join(texts))
