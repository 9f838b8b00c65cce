"""For Pydantic AI. Checked against pydantic-ai-slim 2.68.0.

``run_with_approvals`` takes the place of ``Agent.run``: whenever the run ends at tools that need
approval, it puts every pending call on the desk, waits for all the answers and runs on with them.
``Approvals`` does so for a run that the host runs itself, streamed for example.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from approval_client._async_client import AsyncClient
from approval_client._telling import Listener
from approval_client.adapters._pauses import Undecided
from approval_client.adapters._steps import no_loop
from approval_client.adapters._words import formerly
from approval_client.adapters.pydantic_ai._approvals import Approvals, check_findable

if TYPE_CHECKING:
    from pydantic_ai import AgentRunResult
    from pydantic_ai.agent import AbstractAgent
    from pydantic_ai.messages import UserContent

__all__ = ["Approvals", "Undecided", "run_with_approvals", "run_with_approvals_sync"]
Output = TypeVar("Output")
_FIRST_ONLY = ("conversation", "conversation_id", "run_id")  # the messages hold them by then


@formerly(wait_s="max_wait_s")
async def run_with_approvals(  # noqa: PLR0913 - its options are its parameters
    agent: AbstractAgent[Any, Output],
    prompt: str | Sequence[UserContent] | None = None,
    *,
    client: AsyncClient | None = None,
    paused: str | bytes | None = None,
    save: Callable[[str], Any] | None = None,
    max_wait_s: float | None = None,
    time_limit_s: int | None = None,
    on_pending: Listener | None = None,
    on_decided: Listener | None = None,
    **options: Any,
) -> AgentRunResult[Output]:
    """Do what ``Agent.run`` does, with its ``options``, until nothing is pending any more.

    Without ``save`` a question is withdrawn when this stops waiting. With it the question stays,
    and whoever calls this with what was saved finds it and its answer.

    Args:
        agent: An agent. Its output type need not name ``DeferredToolRequests``.
        prompt: The user's prompt.
        client: Who asks; configured by the environment if None.
        paused: What was saved, to go on with; the prompt is in it.
        save: Called, and awaited, with each pause as JSON before anybody is asked. What tools
            returned comes back from it as plain values, and NaN as None.
        max_wait_s: How long to wait for people, in seconds; 0 looks only, None is all of theirs.
        time_limit_s: How long people have, in seconds; the dashboard's own limit if None.
        on_pending: Called with the answer when a person has to decide; see ``Client.telling``.
        on_decided: Called with the answer when it was decided, with who did and when.
        options: Whatever else ``Agent.run`` takes.

    Raises:
        Undecided: Nobody decided within ``max_wait_s``. The questions stay on the desk.
        DashboardError: One call was neither approved nor rejected, so no call of this pause was
            made.
        ValueError: ``max_wait_s`` and nothing saved, two calls with one id, calls for the host, or
            what is to be saved is no JSON.
    """
    check_findable(max_wait_s, save or paused)
    if prompt is not None and paused is not None:
        raise ValueError(
            "What was saved already has its prompt. Nobody was asked. Pass either prompt or "
            "paused."
        )
    approvals = Approvals(
        agent,
        client=client,
        save=save,
        max_wait_s=max_wait_s,
        time_limit_s=time_limit_s,
        on_pending=on_pending,
        on_decided=on_decided,
    )
    options = approvals.options(**options)
    async with approvals:
        pause = await agent.run(prompt, **options) if paused is None else paused
        while more := await approvals.ask_pending(pause):
            later = {name: options[name] for name in options if name not in _FIRST_ONLY}
            pause = await agent.run(**{**later, **more})
    return pause


@formerly(wait_s="max_wait_s")
def run_with_approvals_sync(
    agent: AbstractAgent[Any, Output],
    prompt: str | Sequence[UserContent] | None = None,
    **options: Any,
) -> AgentRunResult[Output]:
    """Do what ``run_with_approvals`` does, and block.

    Raises:
        RuntimeError: An event loop is running.
    """
    no_loop("run_with_approvals")
    return asyncio.run(run_with_approvals(agent, prompt, **options))
