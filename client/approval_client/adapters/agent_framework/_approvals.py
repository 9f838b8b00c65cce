"""The approvals of one run of an agent: asked, used, and how each call ended."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib import import_module
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeAlias

from approval_client._async_client import AsyncClient
from approval_client._errors import DigestMismatch
from approval_client._outcomes import Run
from approval_client._telling import Listener
from approval_client.adapters import _core
from approval_client.adapters._pauses import Asker, check_watched, give_up, saved
from approval_client.adapters._words import formerly
from approval_client.adapters.agent_framework import _sessions as sessions
from approval_client.adapters.agent_framework._reasons import reasons
from approval_client.adapters.agent_framework._starts import starts
from approval_client.adapters.agent_framework._turns import AgentTurn

if TYPE_CHECKING:
    from typing import Self

    from agent_framework import AgentSession, SupportsAgentRun

Save: TypeAlias = Callable[[Any], Any]


class Approvals:
    """The approvals of a run of an agent that the host runs itself: streamed, for example.

    Enter it with ``async with`` around the whole run. How everything ended that was approved is
    told at the latest when that is left, also by an exception.

    Args:
        agent: The agent whose tools require approval.
        session: Where the framework records what it asked. Its id groups the questions.
        client: Who asks; configured by the environment if None.
        save: Called with the session, and awaited, before people are asked.
        max_wait_s: How long to wait for people, in seconds; as long as they have if None.
        time_limit_s: How long they have, in seconds; what the dashboard gives if None.
        on_pending: Called with the answer when a person has to decide; see ``Client.telling``.
        on_decided: Called with the answer when it was decided, with who did and when.
    """

    @formerly(wait_s="max_wait_s")
    def __init__(
        self,
        agent: SupportsAgentRun,
        session: AgentSession,
        *,
        client: AsyncClient | None = None,
        save: Save | None = None,
        max_wait_s: float | None = None,
        time_limit_s: int | None = None,
        on_pending: Listener | None = None,
        on_decided: Listener | None = None,
    ) -> None:
        asking = _core.asking(client, "Agent Framework", on_pending, on_decided)
        name = session.session_id
        turn = turn_of(["session", name], name, asking, max_wait_s, time_limit_s)
        self._options: dict[str, Any] = {}
        self._watches = "middleware" in inspect.signature(agent.run).parameters
        self._turn = replace(turn, holders=(agent, self._options), starts_late=self._watches)
        self._around = self._turn.around()
        self._session = session
        self._save = save
        sessions.take_back(session)
        self._calls = sessions.recorded(session)
        self._run = Run()
        self._is_watching = False

    @property
    def has_pending(self) -> bool:
        """Whether the session holds calls that nobody has answered."""
        return bool(sessions.pending(self._session))

    async def __aenter__(self) -> Self:
        self._around.__enter__()
        return self

    async def __aexit__(
        self, _: type[BaseException] | None, error: BaseException | None, __: TracebackType | None
    ) -> None:
        try:
            if error is not None:
                await self._turn.failed(self._run, error)
        finally:
            self._around.__exit__(None, None, None)
            sessions.take_back(self._session)  # what was not run must not run later

    def options(self, **given: Any) -> dict[str, Any]:
        """Return the options for the next ``agent.run``: those given, and middleware of this.

        It uses an approval right before its call is made, and tells the model why one was
        rejected. Where the framework takes no middleware, approvals are used before it goes on:
        with agents of other kinds, and with tools that take an enum or a model. ``ask_pending``
        wants options taken.
        """
        self._is_watching = True
        self._options.update(given)
        self._turn.seen.clear()  # the next run may have others
        if not self._watches:
            return given
        middleware = given.get("middleware") or []
        middlewares = middleware if isinstance(middleware, list | tuple) else [middleware]
        late = [starts()] if self._turn.starts_late else []
        return {**given, "middleware": [*middlewares, reasons(), *late]}

    async def ask_pending(self, response: Any = None) -> Any:
        """Ask about all calls that the session holds, and wait for the answers.

        Args:
            response: What the last ``agent.run`` returned, streamed to its end; None before the
                first, to go on with what is pending.

        Returns:
            The message to run the agent with; None if nothing is pending, or if other input of the
            user is wanted too.

        Raises:
            Undecided: Nobody decided within ``max_wait_s``. The question stays on the desk.
            DashboardError: It was neither approved nor rejected. It stays pending in the session.
            ValueError: ``options`` was not called; or the response asks for approvals that the
                session does not hold, and nobody was asked.
        """
        check_watched("**approvals.options()", is_watched=self._is_watching)
        if response is not None:
            await self._settle(response)
            sessions.check_held(self._session, response)
        if not self.has_pending or sessions.other_input(response):
            await self._turn.settle(list(self._turn.answers), lambda _: _no_result(Run(), None))
            return None
        await saved(self._save, self._session)
        approved = await _answered(self._turn, self._session)
        self._calls, self._run = sessions.recorded(self._session), Run()
        turn, calls = self._turn, [self._calls[name].function_call for name in approved]
        turn.starts_late = self._watches and all(map(turn.allows_middleware, calls))
        await turn.start([name for name in approved if self._starts_now(name)])
        responses = [
            self._calls[name].to_function_approval_response(approved=name in approved)
            for name in sessions.shown(self._session)
        ]
        return import_module("agent_framework").Message("user", responses)

    def _starts_now(self, name: str) -> bool:
        return not self._turn.starts_late or sessions.is_hosted(self._calls[name].function_call)

    async def _settle(self, response: Any) -> None:
        """Tell how everything ended that this run of the agent settled."""
        ends = sessions.ends(self._run, response, self._turn.names)
        open_requests = sessions.recorded(self._session)
        await self._turn.settle(
            [name for name in self._turn.answers if name not in open_requests],
            lambda name: ends.get(name) or _no_result(self._run, _call(self._calls, name)),
        )


def turn_of(
    names: list[str],
    run_id: str,
    asking: AsyncClient,
    max_wait_s: float | None,
    time_limit_s: int | None,
) -> AgentTurn:
    """Return the turn in which an agent or a workflow asks."""
    asker = Asker(client=asking, names=names, max_wait_s=max_wait_s)
    return AgentTurn(asker=asker, run_id=run_id, time_limit_s=time_limit_s)


async def _answered(turn: AgentTurn, session: Any) -> list[str]:
    """Ask what is pending. Returns the names of the calls that were approved."""
    requests = sessions.pending(session)
    new = [name for name in requests if name not in turn.answers]
    await turn.ask_all({name: turn.about(requests[name].function_call) for name in new})
    now = sessions.recorded(session)
    try:
        return [name for name in turn.answers if turn.approved(name, _call(now, name))]
    except DigestMismatch:
        answers = list(turn.answers.values())
        turn.answers.clear()
        await give_up(turn.asker.client, answers, "the session has another question now")
        raise


def _call(requests: Mapping[str, Any], name: str) -> Any:
    return requests[name].function_call if name in requests else None


def _no_result(run: Run, call: Any) -> dict[str, Any]:
    if call is not None and sessions.is_hosted(call):
        return run.told(output_head="Handed on to the model's provider, which runs it.")
    return run.told(
        exit_code=1, error="The framework returned no result for it. It may not have run."
    )
