"""Before every tool of Microsoft Agent Framework: asks inside the run."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from importlib import import_module
from typing import Any

from approval_client._arguments import check_seconds
from approval_client._async_client import AsyncClient
from approval_client._errors import DigestMismatch, RequestRefused
from approval_client._models import ApprovalRequest, ApprovalResponse, within_limit
from approval_client._outcomes import Run
from approval_client._refusals import Unaskable, is_of_the_request, refusal
from approval_client._telling import Listener
from approval_client.adapters import _binding, _core
from approval_client.adapters._pauses import not_run, tell
from approval_client.adapters.agent_framework import _tools as tools
from approval_client.adapters.agent_framework._turns import current, why
from approval_client.wire import Kind, digest

DENIED = "Error: Tool call invocation was rejected"


class ToolGate:
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
        accepts_grants: bool,
        listeners: tuple[Listener | None, Listener | None],
    ) -> None:
        check_seconds("time_limit_s", time_limit_s)
        self._client = _core.awaited(client, "Agent Framework")
        self._listeners = listeners
        self._failure = failure
        self._time_limit_s = time_limit_s
        self._accepts_grants = accepts_grants

    async def __call__(self, context: Any, call_next: Callable[[], Awaitable[None]]) -> None:
        """Have the tool called, with the arguments that were approved, or say why not."""
        try:
            client, response = await self._granted(context) or await self._asked(context)
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

        await _core.telling(client, response, call, ended)
        if response.edited:
            arguments = response.content["arguments"]
            context.result = _noted(context, _binding.edited_note(arguments))

    async def _granted(self, context: Any) -> tuple[AsyncClient, ApprovalResponse] | None:
        turn, approval = current(), context.metadata.get("approval_response")
        response = None
        if turn and approval is not None:
            response = await turn.granted(approval, context)
        return (turn.asker.client, response) if turn and response else None

    async def _asked(self, context: Any) -> tuple[AsyncClient, ApprovalResponse]:
        client = _core.asking(self._client, "Agent Framework", *self._listeners)
        try:
            request = self._request(context)
        except (TypeError, ValueError) as error:
            return client, refusal(error)
        try:
            response = await _core.decided(client.request_approval(request))
        except RequestRefused as error:
            if not is_of_the_request(error):
                raise
            return client, refusal(error)
        if response.approved is not True:
            return client, response
        await _unchanged(client, response, request, context)
        if response.edited:
            arguments = _core.plain(response.content["arguments"])
            try:
                context.arguments = tools.edited(context.function, context.arguments, arguments)
            except Unaskable as error:
                await tell(client, [response], not_run("the tool does not take the changed call"))
                return client, refusal(error)
        return client, response

    def _request(self, context: Any) -> ApprovalRequest:
        turn, session = current(), context.session
        run_id = turn.run_id if turn else getattr(session, "session_id", "")
        arguments, editable = _shown(context)
        details = {"tool_description": context.function.description}
        return within_limit(
            ApprovalRequest.tool_call(
                context.function.name,
                arguments,
                evidence=_core.of_call(details, context.function.parameters),
                run_id=_core.line(run_id),
                time_limit_s=self._time_limit_s,
                # What somebody approved elsewhere the framework does not run otherwise.
                accepts_edits=editable and "approval_response" not in context.metadata,
                accepts_grants=self._accepts_grants,
            )
        )


def ended(run: Run, result: Any) -> dict[str, Any]:
    """Say that a call of a tool returned ``result``, as the framework has it then."""
    contents = result if isinstance(result, list) else [result]
    texts = [getattr(content, "text", None) or str(content) for content in contents]
    return run.returned("\n".join(texts))


async def _unchanged(
    client: AsyncClient, response: ApprovalResponse, request: ApprovalRequest, context: Any
) -> None:
    """Make sure that what would be called is still what was asked.

    Raises:
        DigestMismatch: It is not.
    """
    if _digest(context) != request.digest:
        await tell(client, [response], not_run("its arguments changed while people decided"))
        raise DigestMismatch("Its arguments changed while people decided. Ask again.", response)


def _shown(context: Any) -> tuple[dict[str, Any], bool]:
    return tools.shown(context.function, context.arguments, read=tools.is_read(context))


def _digest(context: Any) -> str:
    arguments, _ = _shown(context)
    return digest(Kind.TOOL_CALL, {"tool": context.function.name, "arguments": arguments})


def _noted(context: Any, note: str) -> list[Any]:
    """Return what a tool returned as the framework's contents, and a note for the model."""
    result, as_text = context.result, import_module("agent_framework").Content.from_text
    if not isinstance(result, list) or not all(hasattr(content, "type") for content in result):
        result = context.function.parse_result(result)
    contents = [as_text(result)] if isinstance(result, str) else [*result]
    return [*contents, as_text(note)]
