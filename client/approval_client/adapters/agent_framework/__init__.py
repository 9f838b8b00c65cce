"""For Microsoft Agent Framework. Checked against agent-framework-core 1.23.0.

``run_with_approvals`` runs an agent whose tools have ``approval_mode="always_require"`` until no
request of it is left, and ``resume_workflow`` does so for a workflow. ``gate`` stands before every
tool, and ``approval_rule`` answers inside a run. After an approval or a rejection they go on.
Without either, nothing goes on and an error says why.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import Any, TypeAlias

from approval_client._async_client import AsyncClient
from approval_client._errors import DigestMismatch
from approval_client._outcomes import Run
from approval_client._telling import Listener
from approval_client.adapters import _core
from approval_client.adapters._pauses import Asker, Undecided, not_run
from approval_client.adapters.agent_framework import _sessions as sessions
from approval_client.adapters.agent_framework import _workflows as workflows
from approval_client.adapters.agent_framework._gate import Gate
from approval_client.adapters.agent_framework._reasons import reasons
from approval_client.adapters.agent_framework._turns import Turn, current

__all__ = [
    "Undecided",
    "approval_rule",
    "gate",
    "reasons",
    "resume_workflow",
    "run_with_approvals",
]
Save: TypeAlias = Callable[[Any], Any]


async def run_with_approvals(  # noqa: PLR0913 - its options are its parameters
    agent: Any,
    message: Any = None,
    *,
    session: Any,
    save: Save | None = None,
    client: AsyncClient | None = None,
    wait_s: float | None = None,
    time_limit_s: int | None = None,
    on_pending: Listener | None = None,
    on_decided: Listener | None = None,
    **options: Any,
) -> Any:
    """Run an agent, ask about all that requires approval, and go on until nothing is left.

    Called again with the session and no message, after a crash too, it finds its questions and
    their answers. What nobody can answer any more is asked again.

    Args:
        message: For ``agent.run``; None goes on with what is pending in the session.
        session: Where the framework records what it asked. Its id groups the questions.
        save: Called with the session, and awaited, before people are asked.
        client: Who asks; configured by the environment if None.
        wait_s: How long to wait for people, in seconds; as long as they have if None.
        time_limit_s: How long they have, in seconds; what the dashboard gives if None.
        on_pending: Called with the answer when a person has to decide; see ``Client.telling``.
        on_decided: Called with the answer when it was decided, with who did and when.
        options: More for ``agent.run``, which cannot stream here.

    Returns:
        The last response, None if there was nothing to do. One that wants other input of the
        user too is returned as it is, and nobody is asked.

    Raises:
        Undecided: Nobody decided within ``wait_s``. The question stays on the desk.
        DashboardError: It was neither approved nor rejected. It stays pending in the session.
        ValueError: A message, and something is pending. Nothing was sent.
    """
    _prepare(session, message, options)
    asking = _core.asking(client, "Agent Framework", on_pending, on_decided)
    turn = replace(
        _turn(["session", session.session_id], session.session_id, asking, wait_s, time_limit_s),
        holders=(agent, options),
    )
    run = partial(_run, turn, agent, session, options)
    with _during(turn, session):
        return await turn.going(partial(_go, turn, run, message, session, save))


async def resume_workflow(  # noqa: PLR0913 - its options are its parameters
    workflow: Any,
    result: Any,
    *,
    run_id: str = "",
    read: workflows.Read | None = None,
    client: AsyncClient | None = None,
    wait_s: float | None = None,
    time_limit_s: int | None = None,
    on_pending: Listener | None = None,
    on_decided: Listener | None = None,
    **options: Any,
) -> Any:
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
        wait_s: How long to wait for people, in seconds; as long as they have if None.
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
    turn = _turn(["workflow", run_id], run_id, asking, wait_s, time_limit_s)
    turn = replace(turn, holders=(workflow,))
    with turn.around():
        while events := list(result.get_request_info_events()):
            result = await workflows.go_on(turn, events, read, partial(workflow.run, **options))
    return result


def gate(
    *,
    client: AsyncClient | None = None,
    time_limit_s: int | None = None,
    allow_always: bool = True,
    on_pending: Listener | None = None,
    on_decided: Listener | None = None,
) -> Any:
    """Return a middleware for every tool of an agent: ``Agent(middleware=[gate()])``.

    It asks inside the run, so no session and no ``approval_mode`` is needed. Arguments that a
    reviewer edited are what the tool gets. A rejection is a result that the model reads. Without
    an answer the run ends with the framework's ``MiddlewareFailure`` and its cause. What
    ``run_with_approvals`` or ``resume_workflow`` got approved is not asked about again.

    Args:
        client: Who asks; configured by the environment if None.
        time_limit_s: How long people have, in seconds; what the dashboard gives if None.
        allow_always: A remembered approval may answer.
        on_pending: Called with the answer when a person has to decide; see ``Client.telling``.
        on_decided: Called with the answer when it was decided, with who did and when.

    Raises:
        TypeError: The client blocks.
    """
    framework = import_module("agent_framework")
    ask_first = Gate(
        client,
        framework.MiddlewareFailure,
        time_limit_s=time_limit_s,
        allow_always=allow_always,
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
) -> Callable[[Any], Awaitable[bool]]:
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
            turn = _turn([], run_id, asking, None, time_limit_s)
        response = await turn.ask(str(call.id or call.call_id), turn.about(call))
        if len(turn.answers) > 1:  # and people may have taken long over this one
            await turn.in_time()
        return response.approved is True

    return rule


def _turn(
    names: list[str],
    run_id: str,
    asking: AsyncClient,
    wait_s: float | None,
    time_limit_s: int | None,
) -> Turn:
    asker = Asker(client=asking, names=names, wait_s=wait_s)
    return Turn(asker=asker, run_id=run_id, time_limit_s=time_limit_s)


def _prepare(session: Any, message: Any, options: Mapping[str, Any]) -> None:
    if session is None or options.get("stream"):
        raise ValueError("Pass a session, and leave stream out. Nothing was sent.")
    sessions.take_back(session)
    if message is not None and sessions.pending(session):
        raise ValueError(
            "Something is pending in the session. The message was not sent and nothing was "
            "approved. Pass None first, to go on with what is pending."
        )


@contextmanager
def _during(turn: Turn, session: Any) -> Iterator[None]:
    try:
        with turn.around():
            yield
    finally:
        sessions.take_back(session)  # what was reported as not run must not run later


async def _go(
    turn: Turn,
    run: Callable[[Any], Awaitable[Any]],
    message: Any,
    session: Any,
    save: Save | None,
) -> Any:
    """Run, ask and answer until nothing is pending."""
    response = None if message is None else await run(message)
    while sessions.pending(session) and not sessions.other_input(response):
        if save is not None and inspect.isawaitable(saved := save(session)):
            await saved
        response = await run(await _answered(turn, session))
    await turn.settle(list(turn.answers), lambda _: _no_result(Run(), None))
    return response


async def _run(
    turn: Turn, agent: Any, session: Any, options: Mapping[str, Any], message: Any
) -> Any:
    """Run the agent once, and tell how everything ended that this settled."""
    calls = sessions.recorded(session)
    run = Run()
    options = _explaining(agent, options)
    response = await turn.going(partial(agent.run, message, session=session, **options))
    ends = sessions.ends(run, response, turn.names)
    left = sessions.recorded(session)
    await turn.settle(
        [name for name in turn.answers if name not in left],
        lambda name: ends.get(name) or _no_result(run, _call(calls, name)),
    )
    return response


async def _answered(turn: Turn, session: Any) -> Any:
    """Ask what is pending, and return the message that answers what is shown of it."""
    asked = sessions.pending(session)
    new = [name for name in asked if name not in turn.answers]
    await turn.ask_all({name: turn.about(asked[name].function_call) for name in new})
    now = sessions.recorded(session)
    try:
        approved = {name: turn.approved(name, _call(now, name)) for name in turn.answers}
    except DigestMismatch:
        why = not_run("the session has another question now")
        await turn.settle(list(turn.answers), lambda _: why)
        raise
    shown = sessions.shown(session)
    said = [now[name].to_function_approval_response(approved=approved[name]) for name in shown]
    return import_module("agent_framework").Message("user", said)


def _explaining(agent: Any, options: Mapping[str, Any]) -> Mapping[str, Any]:
    if "middleware" not in inspect.signature(agent.run).parameters:
        return options  # of another kind: its model reads that it was rejected, and not why
    given = options.get("middleware") or []
    own = given if isinstance(given, list | tuple) else [given]
    return {**options, "middleware": [*own, reasons()]}


def _call(requests: Mapping[str, Any], name: str) -> Any:
    return requests[name].function_call if name in requests else None


def _no_result(run: Run, call: Any) -> dict[str, Any]:
    if call is not None and sessions.is_hosted(call):
        return run.told(output_head="Handed on to the model's provider, which runs it.")
    return run.told(
        exit_code=1, error="The framework returned no result for it. It may not have run."
    )
