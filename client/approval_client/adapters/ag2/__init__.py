"""For AG2. Checked against ag2 1.2.1, and 1.1.1, the first that says which call a hook approves.

``approval_required`` takes the place of AG2's own middleware for a tool, ``gate`` stands before
every tool of an agent, and ``hitl_hook`` answers for those who keep AG2's. A rejection is a result
that the model reads. If nobody answers, or the dashboard cannot be reached, AG2's own errors end
the turn.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Awaitable, Callable
from copy import copy
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from approval_client._arguments import check_number
from approval_client._async_client import AsyncClient
from approval_client._errors import DigestMismatch, Expired
from approval_client._models import ApprovalRequest, ApprovalResponse, within_limit
from approval_client._outcomes import Run, report_async
from approval_client._refusals import (
    Unaskable,
    for_model,
    is_of_the_request,
    refusal,
)
from approval_client._telling import Listener
from approval_client.adapters import _binding, _core
from approval_client.adapters._pauses import not_run
from approval_client.adapters._words import also
from approval_client.adapters.ag2 import _tools as tools
from approval_client.wire import Kind, canonical_json, digest

if TYPE_CHECKING:
    from ag2.middleware.base import MiddlewareFactory

logger = logging.getLogger("approval_client")
DENIED = "User denied the tool call request"
SHORTEST_S = 5  # the dashboard gives people no less
_NOT_BEHIND_A_GATE = (
    "AG2 would start another agent, whose tools this gate does not stand before. Nobody was asked "
    "and nothing was run. Whoever runs this agent can give each tool approval_required instead."
)
Call = Callable[[Any, Any], Awaitable[Any]]
_AG2S = {"timeout": "time_limit_s", "allow_always": "accepts_grants"}  # so does AG2 call them


class ApprovalRequired:
    """Asks before a tool is called. AG2 passes it the call, and a function that makes the call."""

    @also(**_AG2S)
    def __init__(
        self,
        message: str | None = None,
        denied_message: str = DENIED,
        *,
        time_limit_s: float | None = None,
        accepts_grants: bool = True,
        client: AsyncClient | None = None,
        on_pending: Listener | None = None,
        on_decided: Listener | None = None,
    ) -> None:
        check_number("time_limit_s", time_limit_s)
        if time_limit_s is not None and not SHORTEST_S <= time_limit_s < math.inf:
            raise ValueError(
                f"time_limit_s is {time_limit_s!r}, and people get {SHORTEST_S} seconds at least. "
                "Pass more, or None for the dashboard's own time limit."
            )
        if message is not None:
            _worded(message, "", "")
        self._message = message
        self._denied = denied_message
        self._time_limit_s = time_limit_s
        self._accepts_grants = accepts_grants
        self._client = _core.awaited(client, "AG2")
        self._listeners = (on_pending, on_decided)

    def __deepcopy__(self, _: dict[int, Any]) -> ApprovalRequired:
        return self  # AG2 copies its tools; one gate has one client

    async def __call__(self, call_next: Call, event: Any, context: Any) -> Any:
        """Call the tool if it is approved, with the arguments that were approved."""
        tool = tools.tool_called(event.name, context, call_next)
        try:
            tools.check_name(event.name, call_next)
            client, response = await self.ask(event, context, tool, accepts_edits=True)
        except Unaskable as error:
            return _denied(event, f"{self._denied}: {error}")
        if response.approved is not True:
            return _denied(event, f"{self._denied}: {for_model(response).reason}")
        try:
            approved = _approved(event, tool, response)
        except Unaskable as error:
            await report_async(
                client, response, not_run("the tool does not take the changed call")
            )
            return _denied(event, f"{self._denied}: {error}")

        async def call() -> Any:
            with tools.bound_to(tool, approved, context):
                return await call_next(approved, context)

        result = await _core.telling(client, response, call, _ended)
        return _noted(result, response) if response.edited else result

    async def ask(
        self, event: Any, context: Any, tool: Any, *, accepts_edits: bool
    ) -> tuple[AsyncClient, ApprovalResponse]:
        """Return the answer about the call ``event`` of ``tool``, and the client that asked.

        Raises:
            Unaskable: The tool would not be called with what the model wrote. Nobody was asked.
            HumanInputTimeoutError: Nobody answered.
            HumanInputFailedError: The dashboard could not be asked, or its answer cannot be used.
        """
        request = self._request(event, context, tool, accepts_edits)
        began_at = time.monotonic()
        try:
            client = _core.asking(self._client, "AG2", *self._listeners)
            return client, await _core.decided(client.request_approval(request))
        except Expired as error:
            waited_s = self._time_limit_s or round(time.monotonic() - began_at, 1)
            raise import_module("ag2.exceptions").HumanInputTimeoutError(waited_s) from error
        except Exception as error:
            if is_of_the_request(error):
                return client, refusal(error)
            raise import_module("ag2.exceptions").HumanInputFailedError(error) from error

    def _request(
        self,
        event: Any,
        context: Any,
        tool: Any,
        accepts_edits: bool,  # noqa: FBT001
    ) -> ApprovalRequest:
        raw_arguments = tools.written(event)
        arguments = tools.asked(tool, raw_arguments)
        details = {
            "tool_source": getattr(event, "source", None),
            "written_by_the_model": _core.differing(raw_arguments, arguments),
            **_core.out_of_sight(tool),
        }
        limit_s = None if self._time_limit_s is None else math.ceil(self._time_limit_s)
        objective = _worded(self._message or "", event.name, event.arguments)
        return within_limit(
            ApprovalRequest.tool_call(
                event.name,
                arguments,
                objective=objective[: _core.MAX_TEXT],
                evidence=_core.of_call(details, lambda: tool.schema.function.parameters),
                run_id=_core.line(str(context.stream.id)),
                time_limit_s=limit_s,
                max_wait_s=limit_s,
                accepts_edits=accepts_edits,
                accepts_grants=self._accepts_grants,
            )
        )


@also(**_AG2S)
def approval_required(
    message: str | None = None,
    denied_message: str = DENIED,
    *,
    time_limit_s: float | None = None,
    accepts_grants: bool = True,
    client: AsyncClient | None = None,
    on_pending: Listener | None = None,
    on_decided: Listener | None = None,
) -> ApprovalRequired:
    """Return a middleware for one tool: ``@tool(middleware=[approval_required()])``.

    Args:
        message: What the agent says about it, with ``{tool_name}`` and ``{tool_arguments}``.
        denied_message: What the model reads before the reviewer's reason.
        time_limit_s: How long reviewers have, in seconds; as long as the dashboard gives if None.
        accepts_grants: A remembered approval may answer. It is kept in the dashboard, so it ends
            when a reviewer ends it.
        client: Who asks; configured by the environment if None.
        on_pending: Called with the answer when a person has to decide; see ``Client.telling``.
        on_decided: Called with the answer when it was decided, with who did and when.

    AG2's own ``timeout`` and ``allow_always`` are taken for ``time_limit_s`` and
    ``accepts_grants``.

    Raises:
        ValueError: The time is too short for a person, or the message has other placeholders.
    """
    return ApprovalRequired(
        message,
        denied_message,
        time_limit_s=time_limit_s,
        accepts_grants=accepts_grants,
        client=client,
        on_pending=on_pending,
        on_decided=on_decided,
    )


def gate(**options: Any) -> MiddlewareFactory:
    """Return a middleware for every tool of an agent: ``Agent(middleware=[gate()])``.

    The tools of AG2 that make an agent while it runs are refused: no gate goes with it.

    Args:
        options: Those of ``approval_required``.
    """
    middleware = import_module("ag2.middleware")
    base: Any = middleware.BaseMiddleware
    ask_first = ApprovalRequired(**options)

    class DashboardGate(base):  # type: ignore[misc] # AG2 is not installed where types are checked
        async def on_tool_execution(self, call_next: Call, event: Any, context: Any) -> Any:
            if tools.starts_an_agent(
                event.name, tools.tool_called(event.name, context, call_next)
            ):
                return _denied(event, f"{DENIED}: {_NOT_BEHIND_A_GATE}")
            return await ask_first(call_next, event, context)

    return middleware.Middleware(DashboardGate)


@also(**_AG2S)
def hitl_hook(
    *,
    time_limit_s: float | None = None,
    accepts_grants: bool = True,
    client: AsyncClient | None = None,
    on_pending: Listener | None = None,
    on_decided: Listener | None = None,
) -> Callable[..., Awaitable[str]]:
    """Return a hook for an agent whose tools have AG2's own ``approval_required``.

    It can carry no reason to the model and no edit, and no end is reported. A call that cannot be
    asked is denied, and a warning of the logger ``approval_client`` says why. A question that is
    no approval has no answer here, so it ends the turn.
    """
    asking = ApprovalRequired(
        time_limit_s=time_limit_s,
        accepts_grants=accepts_grants,
        client=client,
        on_pending=on_pending,
        on_decided=on_decided,
    )

    async def answer(request: Any, context: Any) -> str:
        call = await _asked_about(request, context)
        tool = tools.tool_called(call.name, context)
        try:
            _, response = await asking.ask(call, context, tool, accepts_edits=False)
        except Unaskable as error:  # for which AG2's own middleware has no place
            logger.warning("A call of %s was denied: %s", _core.line(call.name), error)
            return "n"
        return "y" if response.approved is True else "n"

    # AG2 reads them to know what to pass.
    request_type = import_module("ag2.events").HumanInputRequest
    around = import_module("ag2").Context
    answer.__annotations__ = {"request": request_type, "context": around, "return": str}
    return answer


async def _asked_about(request: Any, context: Any) -> Any:
    call_id = getattr(request, "tool_call_id", None)
    if not isinstance(call_id, str):
        raise TypeError(
            "The dashboard only approves or rejects tool calls, and this is another question."
        )
    events = await context.stream.history.get_events()
    calls = [e for e in events if _is_call(e, call_id)]
    if not calls:
        raise LookupError("The tool call to be approved is not in the history. Nobody was asked.")
    story = [e for e in events if _is_call(e, call_id) or getattr(e, "parent_id", None) == call_id]
    # An id may come again in a later turn: then each earlier call of it has its result.
    if story[-1] is not calls[-1] or len(story) != 2 * len(calls) - 1:
        raise LookupError(
            "Several tool calls of one id are open, and AG2 does not say which of them is to be "
            "approved. Nobody was asked. Use approval_required or gate, which are told."
        )
    return calls[-1]


def _is_call(event: Any, call_id: str) -> bool:
    return hasattr(event, "arguments") and getattr(event, "id", None) == call_id


def _approved(event: Any, tool: Any, response: ApprovalResponse) -> Any:
    """Return the call that was approved: the same, or a copy with a reviewer's arguments.

    Raises:
        HumanInputFailedError: The answer is about another call.
        Unaskable: The tool would not be called with just what the reviewer wrote.
    """
    if response.content["tool"] != event.name:
        raise _failed(event, response)
    if not response.edited:
        content = {"tool": event.name, "arguments": _now(tool, event)}
        if digest(Kind.TOOL_CALL, content) != response.digest:
            raise _failed(event, response)
        return event
    arguments = _core.plain(response.content["arguments"])
    arguments = _binding.edited(partial(tools.asked, tool), tools.written(event), arguments)
    call = copy(event)
    call.arguments = canonical_json(arguments)
    call.serialized_arguments = arguments
    return call


def _now(tool: Any, event: Any) -> Any:
    try:
        return tools.asked(tool, tools.written(event))
    except Unaskable:
        return None  # which no approval is about


def _noted(result: Any, response: ApprovalResponse) -> Any:
    """Add to the result of a call what a model is told when a person changed it."""
    if parts := getattr(getattr(result, "result", None), "parts", None):
        note = _binding.edited_note(response.content["arguments"])
        parts.append(import_module("ag2.events").TextInput(note))
    return result


def _failed(event: Any, response: ApprovalResponse) -> Exception:
    message = f"The approval is for another call of {event.name}. Nothing was called. Ask again."
    error: Exception = import_module("ag2.exceptions").HumanInputFailedError(
        DigestMismatch(message, response)
    )
    return error


def _denied(event: Any, told: str) -> Any:
    return import_module("ag2.events").ToolResultEvent.from_call(event, result=told)


def _ended(run: Run, result: Any) -> dict[str, Any]:
    error = getattr(result, "error", None)
    if isinstance(error, BaseException):
        return run.raised(error)
    parts = getattr(getattr(result, "result", None), "parts", ())
    texts = [getattr(part, "content", getattr(part, "data", part)) for part in parts]
    return run.returned("\n".join(map(str, texts)))


def _worded(message: str, tool: str, arguments: str) -> str:
    try:
        return message.format(tool_name=tool, tool_arguments=arguments)
    except (KeyError, IndexError, ValueError) as error:
        raise ValueError(
            f"The message {message!r:.80} cannot be filled in ({error!r}). Use only "
            "{tool_name} and {tool_arguments} in it, and double all other braces."
        ) from error
