"""The approvals of one run of the OpenAI Agents SDK: asked, used, and how each call ended."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from copy import copy
from importlib import import_module
from types import TracebackType
from typing import TYPE_CHECKING, Any

from approval_client._arguments import check_seconds
from approval_client._async_client import AsyncClient
from approval_client._errors import DashboardError, DigestMismatch
from approval_client._models import ApprovalRequest, ApprovalResponse, within_limit
from approval_client._outcomes import Run
from approval_client._refusals import for_model, refusal
from approval_client._telling import Listener
from approval_client.adapters import _core
from approval_client.adapters._content import whole
from approval_client.adapters._ends import UNSEEN, Ends
from approval_client.adapters._pauses import (
    Asker,
    check_watched,
    every,
    is_approval,
    kept,
    ours,
    saved,
    start,
)
from approval_client.adapters._words import formerly
from approval_client.adapters.openai_agents import _tools as tools
from approval_client.wire import Kind, digest

if TYPE_CHECKING:
    from typing import Self

    from agents import RunHooks, RunResult, RunResultStreaming, RunState

_CHANGED = "it had other arguments by then"
_WITH_ARGUMENTS = {"function_call", "mcp_approval_request"}
_NAMES_A_CALL = {"id", "call_id", "type", "status"}  # and says nothing about what it does


class Approvals:
    """The approvals of a run that the host runs itself: streamed, for example.

    Enter it with ``async with`` around the whole run. How everything ended that was approved is
    told at the latest when that is left, also by an exception.

    Args:
        client: Who asks; configured by the environment if None.
        run_id: Names this run and no other. Without it a question is withdrawn when nobody waits
            for it any more. With one it stays for another process.
        save: Called, and awaited, with the ``RunState`` of each pause before anybody is asked.
        max_wait_s: How long to wait for people, in seconds; 0 looks only, None is all of theirs.
        time_limit_s: How long people have, in seconds; the dashboard's own limit if None.
        on_pending: Called with the answer when a person has to decide; see ``Client.telling``.
        on_decided: Called with the answer when it was decided, with who did and when.

    Raises:
        ValueError: ``save`` or ``max_wait_s`` without ``run_id``.
    """

    @formerly(wait_s="max_wait_s")
    def __init__(
        self,
        *,
        client: AsyncClient | None = None,
        run_id: str = "",
        save: Callable[[RunState[Any]], Any] | None = None,
        max_wait_s: float | None = None,
        time_limit_s: int | None = None,
        on_pending: Listener | None = None,
        on_decided: Listener | None = None,
    ) -> None:
        check_seconds("time_limit_s", time_limit_s)
        asking = _core.asking(client, "OpenAI Agents", on_pending, on_decided)
        names = kept(run_id, save=save, max_wait_s=max_wait_s)
        self._asker = Asker(client=asking, names=names, max_wait_s=max_wait_s)
        self._ends = Ends(asking)
        self._save = save
        self._time_limit_s = time_limit_s
        self._is_watching = False
        self._held: list[Any] = []

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, _: type[BaseException] | None, error: BaseException | None, __: TracebackType | None
    ) -> None:
        while self._held:
            tools.release(self._held.pop())
        if error is None:
            return
        await self._ends.failed(error)
        if within := ours(error):
            raise within from None

    def hooks(self, given: RunHooks[Any] | None = None) -> RunHooks[Any]:
        """Return the hooks for each ``Runner.run`` and ``run_streamed`` of this run.

        They use an approval right before its call is made, so ``ask_pending`` wants them made.

        Args:
            given: Hooks of the host's, which are called too.
        """
        self._is_watching = True
        return _watching(given, self._ends, self._held)

    async def ask_pending(
        self, pause: RunResult | RunResultStreaming | RunState[Any]
    ) -> RunState[Any] | None:
        """Ask about all calls at which the run has stopped, and wait for the answers.

        Args:
            pause: What the SDK's ``Runner`` returned, streamed to its end; or a ``RunState``.

        Returns:
            The ``RunState`` to run on with; None if nothing is pending.

        Raises:
            Undecided: Nobody decided within ``max_wait_s``. The questions stay on the desk.
            DashboardError: One call was neither approved nor rejected. Nothing may go on.
            ValueError: Two calls have one name, or ``hooks`` was not called.
        """
        check_watched("hooks=approvals.hooks()", is_watched=self._is_watching)
        state = pause
        if not isinstance(pause, import_module("agents").RunState):
            await _settle(self._ends, pause)
            if not pause.interruptions:
                return None
            state = pause.to_state()
        await saved(self._save, state)
        await _decide(state, self._asker, self._ends, self._time_limit_s)
        await _start_unseen(state, self._ends)
        return state


async def _start_unseen(state: Any, ends: Ends) -> None:
    """Start what no hook sees the beginning of, before the run goes on."""
    approved = {name: item for name, item in _calls(state).items() if name in ends.open}
    unseen = [name for name, item in approved.items() if not _is_seen(state, item)]
    started = await start(ends.client, {name: ends.open[name] for name in unseen})
    ends.open.update(started)


def _is_seen(state: Any, item: Any) -> bool:
    """Say whether the hooks of the run are called before this call is made.

    They are not for what the agents behind tools call, nor for what is no function. An agent may
    also be behind a tool of its own, so with any such tool in sight nothing is sure to be seen.
    """
    agent = state._current_agent  # noqa: SLF001 - there is no other name
    if item.agent is not agent or tools.holds_an_agent(agent):
        return False
    return _tool(item, _dumped(item.raw_item)) is not None


async def _decide(state: Any, asker: Asker, ends: Ends, time_limit_s: int | None) -> None:
    """Ask about every pending call, and mark each in the state with its own answer."""
    calls = _calls(state)
    if len(calls) != len(state.get_interruptions()):
        raise ValueError(
            "Two pending calls of one agent have the same id, so an answer to one would be an "
            "answer to both. Nobody was asked and nothing was run."
        )
    requests, refused = {}, {}
    for name, item in calls.items():
        try:
            requests[name] = _request(item, asker.run_id, time_limit_s)
        except (TypeError, ValueError) as error:
            refused[name] = refusal(error)
    coroutines = {name: asker.ask(name, request) for name, request in requests.items()}
    answers = await every(asker.client, coroutines)
    ends.expect(answers)
    for name, item in calls.items():
        answer = refused.get(name)
        if answer is None:  # and not "or": a rejection is false too
            answer = answers[name]
        if is_approval(answer):
            state.approve(item)
        else:
            state.reject(item, rejection_message=for_model(answer).reason)


def _request(item: Any, run_id: str, time_limit_s: int | None) -> ApprovalRequest:
    """Return the question about a call.

    Raises:
        ValueError: It cannot be shown, or would be made with something else.
    """
    call, raw_arguments = _dumped(item.raw_item), None
    tool: Any = None
    if call.get("type") in _WITH_ARGUMENTS:
        raw_arguments = call.get("arguments")
        tool = _tool(item, call)
        arguments = tools.asked(tool, raw_arguments)
    else:  # a shell, a patch, a tool with text as its input
        arguments = whole(
            {k: v for k, v in call.items() if k not in _NAMES_A_CALL and v is not None}
        )
    server = f"{call['server_label']}." if call.get("server_label") else ""
    details = {
        "agent": item.agent.name,
        "tool_origin": item.tool_origin,
        "written_by_the_model": _core.differing(raw_arguments, arguments),
        **({} if raw_arguments is None else _core.out_of_sight(tool)),
    }
    return within_limit(
        ApprovalRequest.tool_call(
            f"{server}{item.qualified_name or item.name}",
            arguments,
            evidence=_core.of_call(details, lambda: tool.params_json_schema),
            run_id=_core.line(run_id),
            time_limit_s=time_limit_s,
        )
    )


def _calls(state: Any) -> dict[str, Any]:
    return {_name(item): item for item in state.get_interruptions()}


def _tool(item: Any, call: Mapping[str, Any]) -> Any:
    if call.get("type") != "function_call":  # the provider makes the call
        return None
    return tools.tool_called(item.agent, item.qualified_name or item.name)


def _dumped(item: Any) -> dict[str, Any]:
    return dict(item) if isinstance(item, Mapping) else item.model_dump()


def _name(item: Any) -> str:
    return _named(item.agent, item.call_id)


def _named(agent: Any, call_id: Any) -> str:
    return json.dumps([agent.name, call_id])


def _watching(hooks: Any, ends: Ends, held: list[Any]) -> Any:
    """Return hooks that do what ``hooks`` do and see when calls begin and end.

    Args:
        held: Where to put calls whose arguments nobody may change until the run has ended.
    """
    inner_hooks = import_module("agents").RunHooks() if hooks is None else hooks
    seeing = copy(inner_hooks)

    async def on_tool_start(context: Any, agent: Any, tool: Any) -> None:
        # Before the first await: what is called beside this and below may change the context.
        call_name = _named(agent, getattr(context, "tool_call_id", None))
        call, function_tool = getattr(context, "tool_call", None), tools.in_sight(agent, tool)
        await _check(ends, call_name, context, function_tool)
        if call_name in ends.open and hasattr(call, "arguments"):
            tools.hold(call)
            held.append(call)
        try:
            await inner_hooks.on_tool_start(context, agent, tool)
        except DigestMismatch:
            if call_name in ends.open:
                await ends.give_up(call_name, _CHANGED)
            raise
        await _check(ends, call_name, context, function_tool)
        await ends.start(call_name)

    async def on_tool_end(context: Any, agent: Any, tool: Any, result: Any) -> None:
        tools.release(getattr(context, "tool_call", None))
        name = _named(agent, getattr(context, "tool_call_id", None))
        await ends.ended(name, _told(ends.run(name), tool, result))
        await inner_hooks.on_tool_end(context, agent, tool, result)

    for name in (name for name in dir(inner_hooks) if name.startswith("on_")):
        setattr(seeing, name, getattr(inner_hooks, name))
    seeing.on_tool_start, seeing.on_tool_end = on_tool_start, on_tool_end
    return seeing


async def _check(ends: Ends, name: str, context: Any, tool: Any) -> None:
    """Make sure that a tool is about to be called with what was approved.

    Raises:
        DigestMismatch: It is not. It ends the run.
    """
    response = ends.open.get(name)
    raw_arguments = getattr(context, "tool_arguments", None)
    if response is None or raw_arguments is None:
        return
    call = getattr(context, "tool_call", None)
    if call is None:  # a custom tool, which is called with this very text
        readings = [{**response.content["arguments"], "input": raw_arguments}]
    else:  # the context has a copy; the tool is called with what stands in the call
        texts = dict.fromkeys((raw_arguments, getattr(call, "arguments", raw_arguments)))
        readings = [tools.asked(tool, text) for text in texts]
    for arguments in readings:
        if mismatch := _mismatch(arguments, response):
            await ends.give_up(name, _CHANGED)
            raise mismatch


def _mismatch(arguments: Any, response: ApprovalResponse) -> DigestMismatch | None:
    content = {**response.content, "arguments": arguments}
    if digest(Kind.TOOL_CALL, content) == response.digest:
        return None
    return DigestMismatch(
        f"{content['tool']!r:.80} would now be called with something else than what was "
        "approved. It was not called. Ask again.",
        response,
    )


def _told(run: Run, tool: Any, result: Any) -> dict[str, Any]:
    if isinstance(result, str) and result in _failures(tool):
        return run.told(exit_code=1, error=f"The tool failed, and the model was told: {result}")
    return run.returned(result)


def _failures(tool: Any) -> Iterator[str]:
    """Return what the SDK says to the model, unless it is told otherwise, for an exception."""
    sdk = import_module("agents.tool")
    yield sdk.default_tool_error_function(None, Exception())
    limit_s = getattr(tool, "timeout_seconds", None)
    if limit_s is not None:
        yield sdk.default_tool_timeout_error_message(tool_name=tool.name, timeout_seconds=limit_s)


async def _settle(ends: Ends, result: Any) -> None:
    """Tell the ends that no hook saw: of shells, patches, and what other agents called."""
    for item in result.new_items:
        if item.type == "tool_call_output_item":
            name = _named(item.agent, item.call_id)
            if name in ends.open and ends.open[name].approved is not True:
                await ends.give_up(name, f"a guardrail answered in its place: {item.output}")
            await ends.ended(name, _returned(ends, name, item))
    for name in [name for name in ends.open if name not in ends.runs or not result.interruptions]:
        if ends.open[name].approved is not True:
            with suppress(DashboardError):
                await ends.start(name)  # so that nothing else uses it
        await ends.ended(name, ends.run(name).told(output_head=UNSEEN))


def _returned(ends: Ends, name: str, item: Any) -> dict[str, Any]:
    """Say what a call returned; for a function that was not seen, something else may answer."""
    is_function = _dumped(item.raw_item).get("type") == "function_call_output"
    if is_function and name not in ends.runs:
        return ends.run(name).told(output_head=UNSEEN)
    return ends.run(name).returned(item.output)
