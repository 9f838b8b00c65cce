"""What a paused workflow of Microsoft Agent Framework asks, and what it takes for an answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias

from approval_client._models import ApprovalRequest, within_limit
from approval_client._outcomes import Run
from approval_client.adapters import _core
from approval_client.adapters._content import whole
from approval_client.adapters._pauses import is_approval
from approval_client.adapters.agent_framework._sessions import REQUEST
from approval_client.adapters.agent_framework._turns import AgentTurn, Make

Read: TypeAlias = Callable[[Any], ApprovalRequest | None]


async def go_on(
    turn: AgentTurn, events: Sequence[Any], reader: Read | None, run: Callable[..., Awaitable[Any]]
) -> Any:
    """Ask everything that a workflow waits for, and have it go on with the answers."""
    makes = {event.request_id: _about(turn, event, reader) for event in events}
    await turn.ask_all(makes)
    answers = {event.request_id: _answer(turn, event) for event in events}
    await turn.start(answers)  # a workflow has no place to do so before each call
    turn.seen.clear()  # what goes on may have others
    began = Run()
    result = await turn.going(partial(run, responses=answers))
    report = began.returned(None)
    await turn.settle(list(turn.answers), lambda _: report)
    return result


def _about(turn: AgentTurn, event: Any, reader: Read | None) -> Make:
    """Return what makes a question of an event.

    Raises:
        TypeError: ``reader`` makes a question that is not JSON.
        ValueError: The workflow wants more than an approval or a rejection, or people could not be
            shown the whole question.
    """
    if _is_call(event):
        return turn.about(event.data.function_call, event.source_executor_id)
    if event.response_type is not bool:
        raise ValueError(
            f"The request {event.request_id!r:.80} wants {event.response_type!r:.80}, but the "
            "dashboard can only approve or reject. Nobody was asked. Answer it yourself."
        )
    request = _question(turn, event, reader)  # now: a workflow that is told no does not hear why
    return lambda: request


def _question(turn: AgentTurn, event: Any, reader: Read | None) -> ApprovalRequest:
    request = reader(event) if reader is not None else None
    if request is None:  # the event's data is all that is known of it
        tool = _core.line(f"workflow.{event.source_executor_id}")
        request = ApprovalRequest.tool_call(tool, {"data": whole(event.data)})
    return within_limit(
        replace(
            request,
            run_id=request.run_id or _core.line(turn.run_id),
            time_limit_s=request.time_limit_s or turn.time_limit_s,
            accepts_edits=False,  # the workflow uses its own data, whatever an edit says
        )
    )


def _answer(turn: AgentTurn, event: Any) -> Any:
    if not _is_call(event):
        return is_approval(turn.answers[event.request_id])
    call, source = event.data.function_call, event.source_executor_id
    approved = turn.approved(event.request_id, call, executor_id=source)
    return event.data.to_function_approval_response(approved=approved)


def _is_call(event: Any) -> bool:
    return getattr(event.data, "type", None) == REQUEST
