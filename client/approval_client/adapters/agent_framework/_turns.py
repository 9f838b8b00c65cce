"""One turn of Microsoft Agent Framework: what is asked in it, and what became of the answers.

The loop, the gate and the rule all ask through the turn that they run in, so that a call that
one of them had approved is not asked about again by another, and its end is told once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeAlias, TypeVar

from approval_client._arguments import check_seconds
from approval_client._errors import AlreadyUsed, DigestMismatch, TooLate
from approval_client._models import ApprovalRequest, ApprovalResponse, within_limit
from approval_client._outcomes import Run, report_async
from approval_client._refusals import for_model, refusal
from approval_client.adapters import _core
from approval_client.adapters._pauses import (
    Asker,
    called_again,
    every,
    give_up,
    in_time,
    is_approval,
    ours,
    start,
    started,
    tell,
)
from approval_client.adapters.agent_framework import _tools as tools
from approval_client.adapters.agent_framework._sessions import is_hosted

T = TypeVar("T")
Make: TypeAlias = Callable[[], ApprovalRequest]
_current: ContextVar[AgentTurn | None] = ContextVar("turn", default=None)


@dataclass(kw_only=True)
class AgentTurn:
    """A run of an agent or a workflow, with everything that it asks.

    Attributes:
        run_id: Groups its questions; the same in every process.
        starts_late: Its run now starts each call right before it is made; else all before that.
        answers: By the framework's ids of what was asked; those that are not settled yet.
        called: Those ids whose calls were made.
        ends: How those calls ended, by the same ids, as far as they have.
        names: Those ids, by the ids that the model's provider has given the calls.
        holders: Agents, workflows and options that have the tools.
        seen: The tools that models of this turn may call, by name; several agents may have some.
    """

    asker: Asker
    run_id: str
    time_limit_s: int | None = None
    starts_late: bool = False
    answers: dict[str, ApprovalResponse] = field(default_factory=dict)
    called: set[str] = field(default_factory=set)
    ends: dict[str, dict[str, Any]] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    holders: tuple[Any, ...] = ()
    seen: dict[str, list[Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_seconds("time_limit_s", self.time_limit_s)

    @contextmanager
    def around(self) -> Iterator[None]:
        """Be the turn of whatever is awaited within."""
        token = _current.set(self)
        try:
            yield
        finally:
            _current.reset(token)

    def sees(self, options: Any) -> None:
        """Note the tools that a model may call now."""
        for tool in tools.tools_of(options):
            self.seen.setdefault(tool.name, []).append(tool)

    def about(self, call: Any, executor_id: str = "") -> Make:
        """Return what makes a question of a function call of the framework.

        Args:
            executor_id: Of a workflow: whose agent wants the call, if that is known.
        """
        self.names[str(call.call_id)] = str(call.id or call.call_id)
        return partial(self._request, call, executor_id)

    async def ask(self, name: str, make: Make) -> ApprovalResponse:
        """Ask, keep the answer and return it. What cannot be sent counts as rejected."""
        try:
            request = make()
        except (TypeError, ValueError) as error:
            response = refusal(error)
        else:
            response = await self.asker.ask(name, request)
        self.answers[name] = response
        return response

    async def ask_all(self, makes: Mapping[str, Make]) -> None:
        """Ask everything at once, and keep the answers.

        Raises:
            TooLate: An earlier approval could not be used any more when the last answer came.
        """
        coroutines = {name: self.ask(name, makes[name]) for name in makes}
        try:
            await every(self.asker.client, coroutines)
        except BaseException:
            self._take(makes)  # nothing was started
            raise
        if len(self.answers) > len(makes):  # and those were asked earlier
            await self.in_time()

    async def in_time(self) -> None:
        """Make sure that each approval that was not used yet can still be used.

        Raises:
            TooLate: One of them cannot.
        """
        try:
            await in_time(self.asker.client, self.answers.values())
        except TooLate:
            self.answers.clear()
            raise

    async def start(self, names: Iterable[str]) -> None:
        """Use the approvals of those names.

        Raises:
            DashboardError: One cannot be used. The others are reported as not run.
        """
        answers = {name: self.answers[name] for name in names if name in self.answers}
        self.answers.update(await start(self.asker.client, answers))

    async def start_call(self, approval: Any, context: Any) -> str:
        """Use the approval of a call that is about to be made, if this asked about it.

        Args:
            approval: What the framework was given.
            context: Of the call, as a middleware has it.

        Returns:
            The framework's id of what was asked.

        Raises:
            DashboardError: It cannot be used, was used, or is about another call.
        """
        name, call = str(getattr(approval, "id", "")), getattr(approval, "function_call", None)
        if self.approved(name, call, context.function):
            if name in self.called:  # a middleware of the host's makes the call once more, for one
                raise AlreadyUsed(called_again(context.function.name), self.answers[name])
            _make_sure(context, call, self.answers[name])
            self.called.add(name)
            await self.start([name])
        return name

    async def going(self, go: Callable[[], Awaitable[T]]) -> T:
        """Have the run go on, and if that fails, tell so of everything that was started."""
        run = Run()
        try:
            return await go()
        except BaseException as error:
            await self.failed(run, error)
            raise

    async def failed(self, run: Run, error: BaseException) -> None:
        """Tell how everything ended that was started: what has no end of its own, with ``error``.

        Raises:
            DashboardError: What it ended with is an error of ours within one of the framework.
        """
        if isinstance(error, GeneratorExit):  # nothing can be awaited any more
            return
        report = run.raised(error)
        ends = {
            name: {**self.ends.get(name, report), "within_s": report["within_s"]}
            for name in self.answers
        }
        answers = {name: self.answers.pop(name) for name in ends}
        client = self.asker.client
        tellings = [tell(client, [answers[name]], ends[name]) for name in ends]
        # A task of its own, so that a cancelled run is reported too.
        await asyncio.shield(asyncio.gather(*tellings))
        if within := ours(error):
            raise within from None

    async def settle(self, names: Sequence[str], told: Callable[[str], dict[str, Any]]) -> None:
        """Forget the answers of those names, and tell how what was approved of them ended."""
        ends = {name: told(name) for name in names if self.answers[name].approved is True}
        answers = {name: self.answers.pop(name) for name in names}
        client = self.asker.client
        reports = [report_async(client, answers[name], ends[name]) for name in ends]
        leftovers = [answers[name] for name in names if name not in ends]
        await asyncio.gather(*reports, give_up(client, leftovers, "the framework did not call it"))

    async def granted(self, approval: Any, context: Any) -> ApprovalResponse | None:
        """Return, once and started, the approval of this very call that the framework was given.

        Raises:
            DashboardError: It cannot be used, or is about another call.
        """
        name, call = str(getattr(approval, "id", "")), getattr(approval, "function_call", None)
        if not self.approved(name, call, context.function):
            return None
        _make_sure(context, call, self.answers[name])
        return await started(self.asker.client, self.answers.pop(name))

    def approved(self, name: str, call: Any, tool: Any = None, *, executor_id: str = "") -> bool:
        """Say whether the answer of that name approves this very call.

        Args:
            tool: What is about to be called; None before that.
            executor_id: As of ``about``.

        Raises:
            DigestMismatch: It approves something else.
        """
        response = self.answers.get(name)
        if response is None or not is_approval(response):
            return False
        tool = self._tool(call, executor_id) if tool is None and call is not None else tool
        if call is None or not _is_approved(tool, call, response.digest):
            raise DigestMismatch(
                "The framework would now call something else than what was approved. It was "
                "not called. Ask again."
            )
        return True

    def allows_middleware(self, call: Any) -> bool:
        """Say whether a middleware may stand before this call, which is or will be approved."""
        return is_hosted(call) or tools.allows_middleware(self._tool(call), call)

    def why_not(self, result: Any) -> str:
        """Return why the call with this result was not approved; nothing if it was."""
        name = result.id or self.names.get(str(result.call_id), "")
        response = self.answers.get(name)
        return "" if response is None or is_approval(response) else why(response)

    def _request(self, call: Any, executor_id: str) -> ApprovalRequest:
        """Make a question of a function call of the framework.

        Raises:
            ValueError: It cannot be sent, or would be called with something else.
        """
        hosted, tool = is_hosted(call), self._tool(call, executor_id)
        arguments = tools.asked(tool, call.arguments)
        details = {
            "server": getattr(call, "server_name", None) if hosted else None,
            "written_by_the_model": _core.differing(call.arguments, arguments),
            **_core.out_of_sight(tool),
        }
        return within_limit(
            ApprovalRequest.tool_call(
                str(call.name),
                arguments,
                evidence=_core.of_call(details, lambda: tool.parameters()),  # noqa: PLW0108
                run_id=_core.line(self.run_id),
                time_limit_s=self.time_limit_s,
            )
        )

    def _tool(self, call: Any, executor_id: str = "") -> Any:
        """Return the tool of a call; None if it is out of sight, or may be another agent's."""
        name = str(call.name)
        if is_hosted(call):
            return None
        holders, is_only_one = tools.holders_at(self.holders, executor_id)
        own_tools = tools.named(name, holders)
        if not own_tools and is_only_one:  # such as those of a context provider
            own_tools = tools.named(name, self.seen.get(name, []))
        return own_tools[0] if len(own_tools) == 1 else None

    def _take(self, names: Mapping[str, Any]) -> list[ApprovalResponse]:
        return [self.answers.pop(name) for name in list(names) if name in self.answers]


def current() -> AgentTurn | None:
    """Return the turn that this runs in, if it runs in one."""
    return _current.get()


def why(response: ApprovalResponse) -> str:
    """Return what the model is told when a call was not approved."""
    return for_model(response).reason


def _make_sure(context: Any, call: Any, response: ApprovalResponse) -> None:
    try:
        is_called = tools.is_called(context, call, response.digest)
    except ValueError:  # such as an argument that cannot be shown
        is_called = False
    if not is_called:
        raise DigestMismatch(
            "A middleware has changed its arguments since they were approved. It was not called. "
            "Have it change them before they are asked, or not at all.",
            response,
        )


def _is_approved(tool: Any, call: Any, wanted: str) -> bool:
    try:
        return tools.is_approved(tool, call, wanted)
    except ValueError:  # such as a tool that takes other names by now
        return False
