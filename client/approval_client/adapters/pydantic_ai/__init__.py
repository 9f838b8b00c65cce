"""For Pydantic AI. Checked against pydantic-ai-slim 2.68.0.

``run_with_approvals`` takes the place of ``Agent.run``: whenever the run ends at tools that need
approval, it puts every pending call on the desk, waits for all the answers and runs on with them.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial
from importlib import import_module
from typing import Any

from approval_client._async_client import AsyncClient
from approval_client._errors import DigestMismatch
from approval_client._models import ApprovalRequest, ApprovalResponse
from approval_client._outcomes import report_async
from approval_client._refusals import Unaskable, for_model, refusal
from approval_client._telling import Listener
from approval_client.adapters import _binding, _core
from approval_client.adapters._ends import Ends
from approval_client.adapters._pauses import (
    Asker,
    Undecided,
    every,
    not_run,
    saved,
)
from approval_client.adapters._steps import no_loop
from approval_client.adapters.pydantic_ai import _tools as tools
from approval_client.wire import Kind, digest

__all__ = ["Undecided", "run_with_approvals", "run_with_approvals_sync"]
_FIRST_ONLY = ("conversation", "conversation_id", "run_id")  # the messages hold them by then


async def run_with_approvals(  # noqa: PLR0913 - its options are its parameters
    agent: Any,
    prompt: Any = None,
    *,
    client: AsyncClient | None = None,
    paused: str | bytes | None = None,
    save: Callable[[str], Any] | None = None,
    wait_s: float | None = None,
    time_limit_s: int | None = None,
    on_pending: Listener | None = None,
    on_decided: Listener | None = None,
    **options: Any,
) -> Any:
    """Do what ``Agent.run`` does, with its ``options``, until nothing is pending any more.

    Without ``save`` a question is withdrawn when this stops waiting. With it the question stays,
    and whoever calls this with what was saved finds it and its answer.

    Args:
        agent: An agent. Its output type need not name ``DeferredToolRequests``.
        prompt: The user's prompt.
        client: Who asks; configured by the environment if None.
        paused: What was saved, to go on with; the prompt is in it.
        save: Called, and awaited, with each pause as JSON before anybody is asked.
        wait_s: How long to wait for people, in seconds; 0 looks only, None as long as they have.
        time_limit_s: How long people have, in seconds; the dashboard's own limit if None.
        on_pending: Called with the answer when a person has to decide; see ``Client.telling``.
        on_decided: Called with the answer when it was decided, with who did and when.
        options: Whatever else ``Agent.run`` takes.

    Raises:
        Undecided: Nobody decided within ``wait_s``. The questions stay on the desk.
        DashboardError: One call was neither approved nor rejected, so no call of this pause was
            made.
        ValueError: ``wait_s`` and nothing saved, two calls with one id, or calls for the host.
    """
    _check(prompt, paused=paused, save=save, wait_s=wait_s)
    client = _core.asking(client, "Pydantic AI", on_pending, on_decided)
    options, ends = _deferring(agent, options, client)
    pause = await _first(agent, prompt, options) if paused is None else _Pause.load(paused)
    while isinstance(pause, _Pause):
        await saved(save, pause.dump())
        asker = pause.asker(ends.client, wait_s, keep=bool(save or paused))
        options |= await _answered(agent, pause, asker, ends, time_limit_s)
        pause = await _going_on(agent, options, ends)
    return pause


def run_with_approvals_sync(agent: Any, prompt: Any = None, **options: Any) -> Any:
    """Do what ``run_with_approvals`` does, and block.

    Raises:
        RuntimeError: An event loop is running.
    """
    no_loop("run_with_approvals")
    return asyncio.run(run_with_approvals(agent, prompt, **options))


def _check(prompt: Any, *, paused: object, save: object, wait_s: object) -> None:
    if wait_s is not None and save is None and paused is None:
        raise ValueError(
            "wait_s leaves questions for a later call, which finds them by what was saved. Nobody "
            "was asked and nothing was run. Pass save."
        )
    if prompt is not None and paused is not None:
        raise ValueError(
            "What was saved already has its prompt. Nobody was asked. Pass either prompt or "
            "paused."
        )


@dataclass(frozen=True)
class _Pause:
    """A run that ended because calls are to be approved, as plain JSON.

    Attributes:
        approvals: The ids of those calls.
        metadata: What a tool said when it asked for approval, by its call's id.
        unaskable: What the model is told of calls that cannot be asked, by their ids.
    """

    messages: list[dict[str, Any]]
    approvals: list[str]
    metadata: dict[str, Any]
    unaskable: dict[str, str] = field(default_factory=dict)

    @classmethod
    def load(cls, text: str | bytes) -> _Pause:
        """Read what was saved."""
        return cls(**json.loads(text))

    def dump(self) -> str:
        """Return what to save."""
        return json.dumps({one.name: getattr(self, one.name) for one in fields(self)})

    @cached_property
    def _last(self) -> dict[str, Any]:
        return next(one for one in reversed(self.messages) if one["kind"] == "response")

    def asker(self, client: AsyncClient, wait_s: float | None, *, keep: bool) -> Asker:
        """Return who asks: by names that last if this pause was saved."""
        return Asker(client=client, names=self.names if keep else [], wait_s=wait_s)

    @property
    def names(self) -> list[str]:
        """Name the conversation, and the one run in it that wants these calls."""
        return [str(self._last["conversation_id"]), str(self._last["run_id"])]

    @property
    def calls(self) -> dict[str, dict[str, Any]]:
        """Return the calls that wait, by their ids, as they will be made.

        Raises:
            ValueError: An id names several calls, or none.
        """
        parts = [part for part in self._last["parts"] if part["part_kind"] == "tool-call"]
        found = {part["tool_call_id"]: part for part in parts}
        if len(found) != len(parts) or len({*self.approvals}) != len(self.approvals):
            raise ValueError(
                "Two calls have the same id, so an answer to one would be an answer to both. "
                "Nobody was asked and nothing was run."
            )
        return {name: found[name] for name in self.approvals}


async def _first(agent: Any, prompt: Any, options: dict[str, Any]) -> Any:
    result = await agent.run(prompt, **options)
    for name in _FIRST_ONLY:
        options.pop(name, None)
    return _stopped(result, options)


def _stopped(result: Any, options: dict[str, Any]) -> Any:
    """Return the pause that a run ended with, or its result if there is nothing to be asked."""
    options["usage"] = result.usage  # limits are of the whole, however often it pauses
    output = result.output
    if not isinstance(output, import_module("pydantic_ai").DeferredToolRequests):
        return result
    if output.calls:
        raise ValueError(
            "Some calls are to be made outside of the agent, which only the host can do. Nobody "
            "was asked. Give such tools to an agent of its own."
        )
    return _Pause(
        messages=json.loads(result.all_messages_json()),
        approvals=[call.tool_call_id for call in output.approvals],
        metadata={name: _core.jsonable(said) for name, said in output.metadata.items()},
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
        name: ApprovalResponse(approved=False, reason=why) for name, why in pause.unaskable.items()
    }
    found = {
        name: tools.tool_called(agent, call["tool_name"]) for name, call in pause.calls.items()
    }
    for name in found.keys() - refused.keys():
        try:
            requests[name] = _request(pause, name, found[name], time_limit_s)
        except (TypeError, ValueError) as error:
            refused[name] = refusal(error)
    asked = {name: asker.ask(name, one) for name, one in requests.items()}
    answers = await every(asker.client, asked)
    ends.expect(answers)
    given = {**answers, **refused}
    for name, answer in answers.items():
        given[name] = _taken(found[name], pause.calls[name]["args"], answer)
        if answer.approved is True and given[name].approved is not True:
            await ends.ended(name, not_run("the tool does not take the changed call"))
    module = import_module("pydantic_ai")
    approvals = {name: _approval(given[name]) for name in pause.calls}
    messages = module.ModelMessagesTypeAdapter.validate_python(pause.messages)
    results = module.DeferredToolResults(approvals=approvals)
    return {"message_history": messages, "deferred_tool_results": results}


def _request(pause: _Pause, name: str, tool: Any, time_limit_s: int | None) -> ApprovalRequest:
    """Return the question about a call.

    Raises:
        ValueError: It cannot be shown, or would be made with something else.
    """
    call = pause.calls[name]
    arguments = tools.asked(tool, call["args"])
    found = {
        "metadata": pause.metadata.get(name),
        "written_by_the_model": _core.differing(call["args"], arguments),
    }
    return _core.fitting(
        ApprovalRequest.tool_call(
            call["tool_name"],
            arguments,
            evidence=_core.evidence(found),
            run_id=_core.line(pause.names[0]),
            time_limit_s=time_limit_s,
            accepts_edits=True,
        )
    )


def _taken(tool: Any, written: Any, answer: ApprovalResponse) -> ApprovalResponse:
    """Return an answer, or a rejection if a person's arguments would not be what is called."""
    if not answer.edited:
        return answer
    changed = _core.plain(answer.content["arguments"])
    try:
        left = _binding.edited(partial(tools.asked, tool), written, changed)
    except Unaskable as error:
        return refusal(error)
    return replace(answer, content={**answer.content, "arguments": left})


def _approval(answer: ApprovalResponse) -> Any:
    module = import_module("pydantic_ai")
    if answer.approved is not True:
        return module.ToolDenied(for_model(answer).reason)
    edited = _core.plain(answer.content["arguments"]) if answer.edited else None
    return module.ToolApproved(override_args=edited)


async def _going_on(agent: Any, options: dict[str, Any], ends: Ends) -> Any:
    try:
        result = await agent.run(**options)
    except BaseException as error:
        await ends.failed(error)
        raise
    for name in list(ends.open):  # arguments of a reviewer that the tool does not take, for one
        await ends.ended(name, not_run("Pydantic AI answered in its place"))
    return _stopped(result, options)


def _deferring(
    agent: Any, options: Mapping[str, Any], client: AsyncClient
) -> tuple[dict[str, Any], Ends]:
    """Return ``options`` with which the run pauses, and where the ends of its calls are seen."""
    ends = Ends(client)
    deferred = import_module("pydantic_ai").DeferredToolRequests
    wanted = options.get("output_type") or agent.output_type
    wanted = list(wanted) if isinstance(wanted, Sequence) else [wanted]
    more = {} if deferred in wanted else {"output_type": [*wanted, deferred]}
    capabilities = [_watch(agent, ends), *(options.get("capabilities") or ())]
    return {**options, **more, "capabilities": capabilities}, ends


def _watch(agent: Any, ends: Ends) -> Any:
    base: Any = import_module("pydantic_ai.capabilities").AbstractCapability

    class Watch(base):  # type: ignore[misc] # Pydantic AI is not installed where types are checked
        """Tells how the calls end that were approved."""

        async def wrap_tool_execute(
            self, ctx: Any, *, call: Any, args: Any, handler: Callable[[Any], Any], **_: Any
        ) -> Any:
            approved = ends.open.pop(call.tool_call_id, None) if ctx.tool_call_approved else None
            if approved is None:
                return await handler(args)
            if not approved.edited:
                await _still_approved(agent, ends, call, approved)
            result = await _core.telling(ends.client, approved, lambda: handler(args))
            return _noted(result, approved) if approved.edited else result

    return Watch()


def _noted(result: Any, answer: ApprovalResponse) -> Any:
    """Add to what a tool returned what a model is told when a person changed the call."""
    kind: Any = import_module("pydantic_ai").ToolReturn
    returned = result if isinstance(result, kind) else kind(return_value=result)
    said = returned.content or ()
    said = [said] if isinstance(said, str) else [*said]
    note = _binding.edited_note(answer.content["arguments"])
    return replace(returned, content=[*said, note])


async def _still_approved(agent: Any, ends: Ends, call: Any, approved: ApprovalResponse) -> None:
    """Make sure that a tool is about to be called with what was approved.

    Raises:
        DigestMismatch: It is not. It ends the run.
    """
    arguments = tools.asked(tools.tool_called(agent, call.tool_name), call.args)
    content = {"tool": call.tool_name, "arguments": arguments}
    if digest(Kind.TOOL_CALL, content) != approved.digest:
        await report_async(ends.client, approved, not_run("it had other arguments by then"))
        raise DigestMismatch(
            f"{call.tool_name!r:.80} would now be called with something else than what was "
            "approved. It was not called. Ask again.",
            approved,
        )
