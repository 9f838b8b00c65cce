"""For the OpenAI Agents SDK. Checked against openai-agents 0.24.0.

``run_with_approvals`` takes the place of ``Runner.run``: whenever the run stops at tools that have
``needs_approval``, it puts every pending call on the desk, waits for all the answers and goes on.
``Approvals`` does so for a run that the host runs itself, streamed for example.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

from approval_client._async_client import AsyncClient
from approval_client._telling import Listener
from approval_client.adapters._pauses import Undecided
from approval_client.adapters._steps import no_loop
from approval_client.adapters._words import formerly
from approval_client.adapters.openai_agents._approvals import Approvals

if TYPE_CHECKING:
    from agents import Agent, RunResult, RunState, TResponseInputItem

__all__ = ["Approvals", "Undecided", "run_with_approvals", "run_with_approvals_sync"]


@formerly(wait_s="max_wait_s")
async def run_with_approvals(  # noqa: PLR0913 - its options are its parameters
    agent: Agent[Any],
    message: str | list[TResponseInputItem] | RunState[Any],
    *,
    client: AsyncClient | None = None,
    run_id: str = "",
    save: Callable[[RunState[Any]], Any] | None = None,
    max_wait_s: float | None = None,
    time_limit_s: int | None = None,
    on_pending: Listener | None = None,
    on_decided: Listener | None = None,
    **options: Any,
) -> RunResult:
    """Do what ``Runner.run`` does, with its ``options``, until nothing is pending any more.

    Without ``run_id`` a question is withdrawn when this stops waiting. With one it stays, and
    whoever calls this with the same ``run_id`` and the saved state finds it and its answer.

    Args:
        agent: The agent to start with.
        message: Text, items, or a ``RunState``.
        client: Who asks; configured by the environment if None.
        run_id: Names this run and no other.
        save: Called, and awaited, with the ``RunState`` of each pause before anybody is asked.
        max_wait_s: How long to wait for people, in seconds; 0 looks only, None is all of theirs.
        time_limit_s: How long people have, in seconds; the dashboard's own limit if None.
        on_pending: Called with the answer when a person has to decide; see ``Client.telling``.
        on_decided: Called with the answer when it was decided, with who did and when.
        options: ``hooks`` and whatever else ``Runner.run`` takes.

    Raises:
        Undecided: Nobody decided within ``max_wait_s``. The questions stay on the desk.
        DashboardError: One call was neither approved nor rejected, so no call of this pause was
            made.
        ValueError: ``save`` or ``max_wait_s`` without ``run_id``, or two calls with one name.
    """
    approvals = Approvals(
        client=client,
        run_id=run_id,
        save=save,
        max_wait_s=max_wait_s,
        time_limit_s=time_limit_s,
        on_pending=on_pending,
        on_decided=on_decided,
    )
    options["hooks"] = approvals.hooks(options.get("hooks"))
    async with approvals:
        result = message if _is_paused(message) else await _run(agent, message, options)
        while state := await approvals.ask_pending(result):
            result = await _run(agent, state, options)
    return result


@formerly(wait_s="max_wait_s")
def run_with_approvals_sync(
    agent: Agent[Any], message: str | list[TResponseInputItem] | RunState[Any], **options: Any
) -> RunResult:
    """Do what ``run_with_approvals`` does, and block.

    Raises:
        RuntimeError: An event loop is running.
    """
    no_loop("run_with_approvals")
    return asyncio.run(run_with_approvals(agent, message, **options))


async def _run(agent: Any, message: Any, options: dict[str, Any]) -> Any:
    result = await import_module("agents").Runner.run(agent, message, **options)
    options.pop("previous_response_id", None)  # the state knows a later one by now
    return result


def _is_paused(message: Any) -> bool:
    is_state = isinstance(message, import_module("agents").RunState)
    return is_state and bool(message.get_interruptions())
