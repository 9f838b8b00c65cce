"""For Microsoft Agent Framework. Checked against agent-framework-core 1.23.0.

``run_with_approvals`` runs an agent whose tools have ``approval_mode="always_require"`` until no
request of it is left, and ``resume_workflow`` does so for a workflow. ``gate`` stands before every
tool, and ``approval_rule`` answers inside a run. ``Approvals`` is for an agent that the host runs
itself, streamed for example. After an approval or a rejection they go on.
Without either, nothing goes on and an error says why.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, overload

from approval_client._async_client import AsyncClient
from approval_client._telling import Listener
from approval_client.adapters import _core
from approval_client.adapters._pauses import Undecided, is_approval, started
from approval_client.adapters._words import formerly
from approval_client.adapters.agent_framework import _workflows as workflows
from approval_client.adapters.agent_framework._approvals import Approvals, Save, turn_of
from approval_client.adapters.agent_framework._gate import ToolGate
from approval_client.adapters.agent_framework._reasons import reasons
from approval_client.adapters.agent_framework._turns import current

if TYPE_CHECKING:
    from agent_framework import (
        AgentResponse,
        AgentRunInputs,
        AgentSession,
        Content,
        FunctionMiddleware,
        SupportsAgentRun,
        Workflow,
        WorkflowRunResult,
    )

__all__ = [
    "Approvals",
    "Undecided",
    "approval_rule",
    "gate",
    "reasons",
    "resume_workflow",
    "run_with_approvals",
]


@overload
async def run_with_approvals(
    agent: SupportsAgentRun,
    message: AgentRunInputs,
    *,
    session: AgentSession,
    save: Save | None = None,
    client: AsyncClient | None = None,
    max_wait_s: float | None = None,
    time_limit_s: int | None = None,
    on_pending: Listener | None = None,
    on_decided: Listener | None = None,
    **options: Any,
) -> AgentResponse[Any]: ...


@overload
async def run_with_approvals(
    agent: SupportsAgentRun,
    message: None = None,
    *,
    session: AgentSession,
    save: Save | None = None,
    client: AsyncClient | None = None,
    max_wait_s: float | None = None,
    time_limit_s: int | None = None,
    on_pending: Listener | None = None,
    on_decided: Listener | None = None,
    **options: Any,
) -> AgentResponse[Any] | None: ...


@formerly(wait_s="max_wait_s")
async def run_with_approvals(  # noqa: PLR0913 - its options are its parameters
    agent: SupportsAgentRun,
    message: AgentRunInputs | None = None,
    *,
    session: AgentSession,
    save: Save | None = None,
    client: AsyncClient | None = None,
    max_wait_s: float | None = None,
    time_limit_s: int | None = None,
    on_pending: Listener | None = None,
    on_decided: Listener | None = None,
    **options: Any,
) -> AgentResponse[Any] | None:
    """Run an agent, ask about all that requires approval, and go on until nothing is left.

    Called again with the session and no message, after a crash too, it finds its questions and
    their answers. What nobody can answer any more is asked again.

    Args:
        message: For ``agent.run``; None goes on with what is pending in the session.
        session: Where the framework records what it asked. Its id groups the questions.
        save: Called with the session, and awaited, before people are asked.
        client: Who asks; configured by the environment if None.
        max_wait_s: How long to wait for people, in seconds; as long as they have if None.
        time_limit_s: How long they have, in seconds; what the dashboard gives if None.
        on_pending: Called with the answer when a person has to decide; see ``Client.telling``.
        on_decided: Called with the answer when it was decided, with who did and when.
        options: More for ``agent.run``, which cannot stream here. ``Approvals`` can.

    Returns:
        The last response, None if there was nothing to do. One that wants other input of the
        user too is returned as it is, and nobody is asked.

    Raises:
        Undecided: Nobody decided within ``max_wait_s``. The question stays on the desk.
        DashboardError: It was neither approved nor rejected. It stays pending in the session.
        ValueError: A message, and something is pending: nothing was sent. Or the agent asks for
            approvals that the session does not hold, as a workflow's ``as_agent`` does.
    """
    if session is None or options.get("stream"):
        raise ValueError("Pass a session, and leave stream out. Nothing was sent.")
    approvals = Approvals(
        agent,
        session,
        client=client,
        save=save,
        max_wait_s=max_wait_s,
        time_limit_s=time_limit_s,
        on_pending=on_pending,
        on_decided=on_decided,
    )
    if message is not None and approvals.has_pending:
        raise ValueError(
            "Something is pending in the session. The message was not sent and nothing was "
            "approved. Pass None first, to go on with what is pending."
        )
    response = None
    async with approvals:
        approvals.options(**options)  # before a question, of which an answer may be kept
        message = await approvals.ask_pending() if message is None else message
        while message is not None:
            run_options = approvals.options(**options)
            response = await agent.run(message, session=session, **run_options)
            message = await approvals.ask_pending(response)
    return response


@formerly(wait_s="max_wait_s")
async def resume_workflow(  # noqa: PLR0913 - its options are its parameters
    workflow: Workflow,
    result: WorkflowRunResult,
    *,
    run_id: str = "",
    read: workflows.Read | None = None,
    client: AsyncClient | None = None,
    max_wait_s: float | None = None,
    time_limit_s: int | None = None,
    on_pending: Listener | None = None,
    on_decided: Listener | None = None,
    **options: Any,
) -> WorkflowRunResult:
    """Put every request of a workflow on the desk, and go on until none is left.

    Approval requests of agents are answered as such; an agent with ``middleware=[reasons()]`` is
    told why. Others are answered with whether they were approved, where a bool is wanted.

    Args:
        workflow: What returned ``result``.
        result: Of ``workflow.run``: of a message, or of a checkpoint after a restart, which finds
            the same questions again.
        run_id: Groups the questions; use the same after a restart.
        read: Makes a question of a ``request_info`` event that is not an approval request of an
            agent, or returns None to have the event's data shown as it is.
        client: Who asks; configured by the environment if None.
        max_wait_s: How long to wait for people, in seconds; as long as they have if None.
        time_limit_s: How long people have, in seconds.
        on_pending: Called with the answer when a person has to decide; see ``Client.telling``.
        on_decided: Called with the answer when it was decided, with who did and when.
        options: What else ``workflow.run`` takes to go on, such as ``checkpoint_storage``.

    Returns:
        What the workflow returned last.

    Raises:
        DashboardError: It was neither approved nor rejected. The workflow stays paused.
        ValueError: A request wants something else than a bool. Nobody was asked.
    """
    asking = _core.asking(client, "Agent Framework", on_pending, on_decided)
    turn = turn_of(["workflow", run_id], run_id, asking, max_wait_s, time_limit_s)
    turn = replace(turn, holders=(workflow,))
    with turn.around():
        while events := list(result.get_request_info_events()):
            result = await workflows.go_on(turn, events, read, partial(workflow.run, **options))
    return result


@formerly(allow_always="accepts_grants")
def gate(
    *,
    client: AsyncClient | None = None,
    time_limit_s: int | None = None,
    accepts_grants: bool = True,
    on_pending: Listener | None = None,
    on_decided: Listener | None = None,
) -> FunctionMiddleware:
    """Return a middleware for every tool of an agent: ``Agent(middleware=[gate()])``.

    It asks inside the run, so no session and no ``approval_mode`` is needed. Arguments that a
    reviewer edited are what the tool gets. A rejection is a result that the model reads. Without
    an answer the run ends with the framework's ``MiddlewareFailure`` and its cause. What
    ``run_with_approvals`` or ``resume_workflow`` got approved is not asked about again.

    Args:
        client: Who asks; configured by the environment if None.
        time_limit_s: How long people have, in seconds; what the dashboard gives if None.
        accepts_grants: A remembered approval may answer.
        on_pending: Called with the answer when a person has to decide; see ``Client.telling``.
        on_decided: Called with the answer when it was decided, with who did and when.

    Raises:
        TypeError: The client blocks.
    """
    framework = import_module("agent_framework")
    ask_first = ToolGate(
        client,
        framework.MiddlewareFailure,
        time_limit_s=time_limit_s,
        accepts_grants=accepts_grants,
        listeners=(on_pending, on_decided),
    )

    class DashboardGate(framework.FunctionMiddleware):  # type: ignore[misc,name-defined] # not installed where types are checked
        async def process(self, context: Any, call_next: Any) -> None:
            await ask_first(context, call_next)

    return DashboardGate()


def approval_rule(
    *,
    client: AsyncClient | None = None,
    run_id: str = "",
    time_limit_s: int | None = None,
    on_pending: Listener | None = None,
    on_decided: Listener | None = None,
) -> Callable[[Content], Awaitable[bool]]:
    """Return a rule for the framework's ``ToolApprovalMiddleware(auto_approval_rules=[…])``.

    It asks inside the run, about one call after the other. A rejection leaves the request to
    whoever runs the agent; ``run_with_approvals`` then knows the answer and asks nobody again. The
    end is reported by ``run_with_approvals`` or ``gate`` only.

    Args:
        client: Who asks, as long as ``run_with_approvals`` does not run this.
        run_id: Groups the questions; the rule is not told of the session.
        time_limit_s: How long people have, in seconds; what the dashboard gives if None.
        on_pending: Called with the answer when a person has to decide; see ``Client.telling``.
        on_decided: Called with the answer when it was decided, with who did and when.

    The rule raises:
        DashboardError: It was neither approved nor rejected, or, where ``run_with_approvals`` runs
            this, an earlier approval of the run can no longer be used. It ends the run.
    """

    async def rule(call: Any) -> bool:
        turn = current()
        if turn is None:
            asking = _core.asking(client, "Agent Framework", on_pending, on_decided)
            turn = turn_of([], run_id, asking, None, time_limit_s)
        name = str(call.id or call.call_id)
        response = await turn.ask(name, turn.about(call))
        if len(turn.answers) > 1:  # and people may have taken long over this one
            await turn.in_time()
        if turn.starts_late:  # what cannot be started later, whoever runs the agent starts first
            return is_approval(response) and turn.allows_middleware(call)
        if is_approval(response):
            response = await started(turn.asker.client, response)
            turn.answers[name] = response
        return response.approved is True

    return rule
