"""The approvals of one run of Pydantic AI: asked, used, and how each call ended."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial
from importlib import import_module
from types import TracebackType
from typing import TYPE_CHECKING, Any

from approval_client._arguments import check_seconds
from approval_client._async_client import AsyncClient
from approval_client._errors import AlreadyUsed, DigestMismatch
from approval_client._models import ApprovalRequest, ApprovalResponse, within_limit
from approval_client._refusals import Unaskable, for_model, refusal
from approval_client._telling import Listener
from approval_client.adapters import _binding, _core
from approval_client.adapters._ends import Ends
from approval_client.adapters._pauses import (
    Asker,
    called_again,
    check_watched,
    every,
    give_up,
    is_approval,
    saved,
    use,
)
from approval_client.adapters._words import formerly
from approval_client.adapters.pydantic_ai import _tools as tools
from approval_client.wire import Kind, canonical_json, digest

if TYPE_CHECKING:
    from typing import Self

    from pydantic_ai import AgentRunResult
    from pydantic_ai.agent import AbstractAgent


class Approvals:
    """The approvals of a run that the host runs itself: streamed, for example.

    Enter it with ``async with`` around the whole run. How everything ended that was approved is
    told at the latest when that is left, also by an exception.

    Args:
        agent: The agent whose tools need approval.
        client: Who asks; configured by the environment if None.
        save: Called, and awaited, with each pause as JSON before anybody is asked. Without it a
            question is withdrawn when nobody waits for it any more; with it the question stays.
            What tools returned comes back from it as plain values, and NaN as None.
        max_wait_s: How long to wait for people, in seconds; 0 looks only, None is all of theirs.
        time_limit_s: How long people have, in seconds; the dashboard's own limit if None.
        on_pending: Called with the answer when a person has to decide; see ``Client.telling``.
        on_decided: Called with the answer when it was decided, with who did and when.
    """

    @formerly(wait_s="max_wait_s")
    def __init__(
        self,
        agent: AbstractAgent[Any, Any],
        *,
        client: AsyncClient | None = None,
        save: Callable[[str], Any] | None = None,
        max_wait_s: float | None = None,
        time_limit_s: int | None = None,
        on_pending: Listener | None = None,
        on_decided: Listener | None = None,
    ) -> None:
        check_seconds("max_wait_s", max_wait_s)
        check_seconds("time_limit_s", time_limit_s)
        self._agent = agent
        self._ends = Ends(_core.asking(client, "Pydantic AI", on_pending, on_decided))
        self._save = save
        self._max_wait_s = max_wait_s
        self._time_limit_s = time_limit_s
        self._is_watching = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, _: type[BaseException] | None, error: BaseException | None, __: TracebackType | None
    ) -> None:
        if error is not None:
            await self._ends.failed(error)

    def options(self, **given: Any) -> dict[str, Any]:
        """Return the options for each run of the agent: those given, and what pauses it.

        They use an approval right before its call is made, so ``ask_pending`` wants them taken.
        """
        self._is_watching = True
        # The last is the nearest to the call, so that nothing makes a call again behind it.
        capabilities = [*(given.get("capabilities") or ()), _watch(self._agent, self._ends)]
        return {**given, **_deferring(self._agent, given), "capabilities": capabilities}

    async def ask_pending(self, pause: AgentRunResult[Any] | str | bytes) -> dict[str, Any] | None:
        """Ask about all calls at which the run has stopped, and wait for the answers.

        Args:
            pause: What the agent's run returned, streamed to its end; or what was saved.

        Returns:
            Options to run on with, in place of a prompt; None if nothing is pending.

        Raises:
            Undecided: Nobody decided within ``max_wait_s``. The questions stay on the desk.
            DashboardError: One call was neither approved nor rejected. Nothing may go on.
            ValueError: Two calls have one id, or some are for the host, or ``max_wait_s`` leaves
                questions and nothing is saved, or ``options`` was not called, or what is to be
                saved is no JSON.
        """
        check_watched("**approvals.options()", is_watched=self._is_watching)
        was_saved = isinstance(pause, str | bytes)
        check_findable(self._max_wait_s, self._save or was_saved)
        for name in list(self._ends.open):  # a reviewer's arguments that the tool refuses, for one
            await self._ends.give_up(name, "Pydantic AI answered in its place")
        pending_pause = _Pause.load(pause) if was_saved else _stopped(pause)
        if pending_pause is None:
            return None
        if self._save is not None:
            await saved(self._save, pending_pause.dump())
        names = pending_pause.names if was_saved or self._save else []
        asker = Asker(client=self._ends.client, names=names, max_wait_s=self._max_wait_s)
        more = await _answered(self._agent, pending_pause, asker, self._ends, self._time_limit_s)
        # Limits are of the whole, however often it pauses.
        return more if isinstance(pause, str | bytes) else {**more, "usage": pause.usage}


def check_findable(max_wait_s: float | None, is_saved: object) -> None:
    """Refuse to leave questions that nobody would find again.

    Raises:
        ValueError: Nothing is saved.
    """
    if max_wait_s is not None and not is_saved:
        raise ValueError(
            "max_wait_s leaves questions for a later call, which finds them by what was saved. "
            "Nobody was asked and nothing was run. Pass save."
        )


@dataclass(frozen=True)
class _Pause:
    """A run that ended because calls are to be approved.

    Attributes:
        messages: Those of Pydantic AI.
        approvals: The ids of those calls.
        metadata: What a tool said when it asked for approval, by its call's id.
        unaskable: What the model is told of calls that cannot be asked, by their ids.
    """

    messages: list[Any]
    approvals: list[str]
    metadata: dict[str, Any]
    unaskable: dict[str, str] = field(default_factory=dict)

    @classmethod
    def load(cls, text: str | bytes) -> _Pause:
        """Read what was saved."""
        members = json.loads(text)
        return cls(**{**members, "messages": _adapter().validate_python(members["messages"])})

    def dump(self) -> str:
        """Return what to save.

        Raises:
            ValueError: A tool returned, or has as metadata, what is no JSON.
        """
        try:
            messages = json.loads(_adapter().dump_json(self.messages))
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"The messages of this run cannot be saved as JSON ({error}). Nobody was asked "
                "and nothing was run. Have tools return values and metadata that are JSON, or "
                "run without save."
            ) from error
        members = {member.name: getattr(self, member.name) for member in fields(self)}
        return json.dumps({**members, "messages": messages})

    @cached_property
    def _last(self) -> Any:
        return next(message for message in reversed(self.messages) if message.kind == "response")

    @property
    def names(self) -> list[str]:
        """Name the conversation, and the one run in it that wants these calls."""
        return [str(self._last.conversation_id), str(self._last.run_id)]

    @property
    def calls(self) -> dict[str, Any]:
        """Return the calls that wait, by their ids, as they will be made.

        Raises:
            ValueError: An id names several calls, or none.
        """
        parts = [part for part in self._last.parts if part.part_kind == "tool-call"]
        calls_by_id = {part.tool_call_id: part for part in parts}
        if len(calls_by_id) != len(parts) or len({*self.approvals}) != len(self.approvals):
            raise ValueError(
                "Two calls have the same id, so an answer to one would be an answer to both. "
                "Nobody was asked and nothing was run."
            )
        return {name: calls_by_id[name] for name in self.approvals}


def _adapter() -> Any:
    return import_module("pydantic_ai").ModelMessagesTypeAdapter


def _stopped(result: Any) -> _Pause | None:
    """Return the pause that a run ended with, if there is something to be asked.

    Raises:
        ValueError: The host has to make calls itself.
    """
    output = result.output
    if not isinstance(output, import_module("pydantic_ai").DeferredToolRequests):
        return None
    if output.calls:
        raise ValueError(
            "Some calls are to be made outside of the agent, which only the host can do. Nobody "
            "was asked. Give such tools to an agent of its own."
        )
    return _Pause(
        messages=result.all_messages(),
        approvals=[call.tool_call_id for call in output.approvals],
        metadata={name: _core.jsonable(details) for name, details in output.metadata.items()},
        unaskable=dict(_unaskable(output.approvals)),
    )


def _unaskable(calls: Sequence[Any]) -> Iterator[tuple[str, str]]:
    # Now, because in JSON a NaN becomes null.
    for call in calls:
        try:
            _binding.read(call.args)
        except Unaskable as error:
            yield call.tool_call_id, str(error)


async def _answered(
    agent: Any, pause: _Pause, asker: Asker, ends: Ends, time_limit_s: int | None
) -> dict[str, Any]:
    """Ask about every call that waits. Return what the agent runs on with."""
    requests: dict[str, ApprovalRequest] = {}
    refused = {
        name: ApprovalResponse(approved=False, reason=reason)
        for name, reason in pause.unaskable.items()
    }
    tools_by_call = {
        name: tools.tool_called(agent, call.tool_name) for name, call in pause.calls.items()
    }
    for name in tools_by_call.keys() - refused.keys():
        try:
            requests[name] = _request(pause, name, tools_by_call[name], time_limit_s)
        except (TypeError, ValueError) as error:
            refused[name] = refusal(error)
    coroutines = {name: asker.ask(name, request) for name, request in requests.items()}
    answers = await every(asker.client, coroutines)
    ends.expect(answers)
    replies = {**answers, **refused}
    for name, answer in answers.items():
        replies[name] = _taken(tools_by_call[name], pause.calls[name].args, answer)
        if is_approval(answer) and not is_approval(replies[name]):
            await ends.give_up(name, "the tool does not take the changed call")
    module = import_module("pydantic_ai")
    approvals = {name: _approval(replies[name]) for name in pause.calls}
    results = module.DeferredToolResults(approvals=approvals)
    return {"message_history": pause.messages, "deferred_tool_results": results}


def _request(pause: _Pause, name: str, tool: Any, time_limit_s: int | None) -> ApprovalRequest:
    """Return the question about a call.

    Raises:
        ValueError: It cannot be shown, or would be made with something else.
    """
    call = pause.calls[name]
    arguments = tools.asked(tool, call.args)
    details = {
        "metadata": pause.metadata.get(name),
        "written_by_the_model": _core.differing(call.args, arguments),
        **_core.out_of_sight(tool),
    }
    return within_limit(
        ApprovalRequest.tool_call(
            call.tool_name,
            arguments,
            evidence=_core.of_call(details, lambda: tool.function_schema.json_schema),
            run_id=_core.line(pause.names[0]),
            time_limit_s=time_limit_s,
            accepts_edits=True,
        )
    )


def _taken(tool: Any, original: Any, answer: ApprovalResponse) -> ApprovalResponse:
    """Return an answer, or a rejection if a person's arguments would not be what is called."""
    if not answer.edited:
        return answer
    changed = _core.plain(answer.content["arguments"])
    try:
        arguments = _binding.edited(partial(tools.asked, tool), original, changed)
    except Unaskable as error:
        return refusal(error)
    return replace(answer, content={**answer.content, "arguments": arguments})


def _approval(answer: ApprovalResponse) -> Any:
    module = import_module("pydantic_ai")
    if not is_approval(answer):
        return module.ToolDenied(for_model(answer).reason)
    edited = _core.plain(answer.content["arguments"]) if answer.edited else None
    return module.ToolApproved(override_args=edited)


def _deferring(agent: Any, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the output types with which a run pauses, if it does not by itself."""
    deferred = import_module("pydantic_ai").DeferredToolRequests
    output_types = options.get("output_type") or agent.output_type
    output_types = list(output_types) if isinstance(output_types, Sequence) else [output_types]
    return {} if deferred in output_types else {"output_type": [*output_types, deferred]}


def _watch(agent: Any, ends: Ends) -> Any:
    base: Any = import_module("pydantic_ai.capabilities").AbstractCapability

    final: dict[str, tuple[Any, ApprovalResponse]] = {}  # by the id of a call that is being made

    class Watch(base):  # type: ignore[misc] # Pydantic AI is not installed where types are checked
        """Tells how the calls end that were approved, and sees to it that they are those."""

        async def wrap_tool_execute(
            self, ctx: Any, *, call: Any, args: Any, handler: Callable[[Any], Any], **_: Any
        ) -> Any:
            if not ctx.tool_call_approved:
                return await handler(args)
            answer = ends.open.pop(call.tool_call_id, None)
            if answer is None:  # a capability of the host's makes the call once more, for one
                raise AlreadyUsed(called_again(call.tool_name))
            tool = tools.tool_called(agent, call.tool_name)
            if not tools.is_run(tool, ctx, call.tool_name):
                raise await _another(ends, call, answer, "it was another tool by then")
            if not answer.edited:
                await _still_approved(tool, ends, call, answer)
            approved = await use(ends.client, answer)
            final[call.tool_call_id] = tool, approved
            result = await _core.telling(ends.client, approved, lambda: handler(args))
            return _noted(result, approved) if approved.edited else result

        async def before_tool_execute(self, ctx: Any, *, call: Any, args: Any, **_: Any) -> Any:
            if ctx.tool_call_approved:
                _same_arguments(*final.pop(call.tool_call_id), args)
            return args

    return Watch()


def _noted(result: Any, answer: ApprovalResponse) -> Any:
    """Add to what a tool returned what a model is told when a person changed the call."""
    kind: Any = import_module("pydantic_ai").ToolReturn
    returned = result if isinstance(result, kind) else kind(return_value=result)
    contents = returned.content or ()
    contents = [contents] if isinstance(contents, str) else [*contents]
    note = _binding.edited_note(answer.content["arguments"])
    return replace(returned, content=[*contents, note])


def _same_arguments(tool: Any, approved: ApprovalResponse, args: Any) -> None:
    """Make sure that no capability of the host's has changed what a tool is called with.

    Raises:
        DigestMismatch: One has. It ends the run.
    """
    expected = tools.asked_as_called(tool, _core.plain(approved.content["arguments"]))
    if expected is None:
        return
    final = _binding.as_json(tools.called(tool, args))
    if tool is None:  # whose defaults nobody knows
        final = {name: value for name, value in final.items() if name in expected}
    if canonical_json(final) != canonical_json(expected):
        raise DigestMismatch(
            "A capability of the agent changed the arguments after they were approved. The tool "
            "was not called. Have it change them before they are asked, or not at all.",
            approved,
        )


async def _still_approved(tool: Any, ends: Ends, call: Any, approved: ApprovalResponse) -> None:
    """Make sure that a tool is about to be called with what was approved.

    Raises:
        DigestMismatch: It is not. It ends the run.
    """
    arguments = tools.asked(tool, call.args)
    content = {"tool": call.tool_name, "arguments": arguments}
    if digest(Kind.TOOL_CALL, content) != approved.digest:
        raise await _another(ends, call, approved, "it had other arguments by then")


async def _another(ends: Ends, call: Any, approved: ApprovalResponse, why: str) -> DigestMismatch:
    """Use up an approval that is of something else, and return the error that says so."""
    await give_up(ends.client, [approved], why)
    return DigestMismatch(
        f"{call.tool_name!r:.80} would now be called with something else than what was approved. "
        "It was not called. Ask again.",
        approved,
    )
