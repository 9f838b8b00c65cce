"""For the OpenAI Agents SDK. Checked against openai-agents 0.24.0.

``run_with_approvals`` takes the place of ``Runner.run``: whenever the run stops at tools that have
``needs_approval``, it puts every pending call on the desk, waits for all the answers and goes on.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping
from copy import copy
from importlib import import_module
from typing import Any

from approval_client._async_client import AsyncClient
from approval_client._errors import DigestMismatch
from approval_client._models import ApprovalRequest
from approval_client._outcomes import Run
from approval_client._refusals import for_model, refusal
from approval_client._telling import Listener
from approval_client.adapters import _core
from approval_client.adapters._content import whole
from approval_client.adapters._ends import UNSEEN, Ends
from approval_client.adapters._pauses import (
    Asker,
    Undecided,
    every,
    kept,
    not_run,
    saved,
)
from approval_client.adapters._steps import no_loop
from approval_client.adapters.openai_agents import _tools as tools
from approval_client.wire import Kind, digest

__all__ = ["Undecided", "run_with_approvals", "run_with_approvals_sync"]
_WITH_ARGUMENTS = {"function_call", "mcp_approval_request"}
_NAMES_A_CALL = {"id", "call_id", "type", "status"}  # and says nothing about what it does


async def run_with_approvals(  # noqa: PLR0913 - its options are its parameters
    agent: Any,
    message: Any,
    *,
    client: AsyncClient | None = None,
    run_id: str = "",
    save: Callable[[Any], Any] | None = None,
    wait_s: float | None = None,
    time_limit_s: int | None = None,
    on_pending: Listener | None = None,
    on_decided: Listener | None = None,
    **options: Any,
) -> Any:
    """Do what ``Runner.run`` does, with its ``options``, until nothing is pending any more.

    Without ``run_id`` a question is withdrawn when this stops waiting. With one it stays, and
    whoever calls this with the same ``run_id`` and the saved state finds it and its answer.

    Args:
        agent: The agent to start with.
        message: Text, items, or a ``RunState``.
        client: Who asks; configured by the environment if None.
        run_id: Names this run and no other.
        save: Called, and awaited, with the ``RunState`` of each pause before anybody is asked.
        wait_s: How long to wait for people, in seconds; 0 looks only, None as long as they have.
        time_limit_s: How long people have, in seconds; the dashboard's own limit if None.
        on_pending: Called with the answer when a person has to decide; see ``Client.telling``.
        on_decided: Called with the answer when it was decided, with who did and when.
        options: ``hooks`` and whatever else ``Runner.run`` takes.

    Raises:
        Undecided: Nobody decided within ``wait_s``. The questions stay on the desk.
        DashboardError: One call was neither approved nor rejected, so no call of this pause was
            made.
        ValueError: ``save`` or ``wait_s`` without ``run_id``, or two calls with one name.
    """
    client = _core.asking(client, "OpenAI Agents", on_pending, on_decided)
    names = kept(run_id, save=save, wait_s=wait_s)
    asker = Asker(client=client, names=names, wait_s=wait_s)
    return await _to_the_end(agent, message, asker, options, save=save, limit_s=time_limit_s)


def run_with_approvals_sync(agent: Any, message: Any, **options: Any) -> Any:
    """Do what ``run_with_approvals`` does, and block.

    Raises:
        RuntimeError: An event loop is running.
    """
    no_loop("run_with_approvals")
    return asyncio.run(run_with_approvals(agent, message, **options))


async def _to_the_end(
    agent: Any,
    message: Any,
    asker: Asker,
    options: dict[str, Any],
    *,
    save: Callable[[Any], Any] | None,
    limit_s: int | None,
) -> Any:
    ends = Ends(asker.client)
    options["hooks"] = _watching(options.get("hooks"), ends)
    try:
        result = None if _pending(message) else await _run(agent, message, options)
        state = message if result is None else _paused(result)
        while state is not None:
            await saved(save, state)
            await _decide(state, asker, ends, limit_s)
            result = await _run(agent, state, options)
            await _settle(ends, result)
            state = _paused(result)
    except BaseException as error:
        await ends.failed(error)
        raise
    return result


async def _run(agent: Any, message: Any, options: dict[str, Any]) -> Any:
    result = await import_module("agents").Runner.run(agent, message, **options)
    options.pop("previous_response_id", None)  # the state knows a later one by now
    return result


def _pending(message: Any) -> bool:
    return isinstance(message, import_module("agents").RunState) and bool(
        message.get_interruptions()
    )


def _paused(result: Any) -> Any:
    return result.to_state() if result.interruptions else None


async def _decide(state: Any, asker: Asker, ends: Ends, time_limit_s: int | None) -> None:
    """Ask about every pending call, and mark each in the state with its own answer."""
    calls = {_name(item): item for item in state.get_interruptions()}
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
    asked = {name: asker.ask(name, one) for name, one in requests.items()}
    answers = await every(asker.client, asked)
    ends.expect(answers)
    for name, item in calls.items():
        answer = refused.get(name)
        if answer is None:  # and not "or": a rejection is false too
            answer = answers[name]
        if answer.approved is True:
            state.approve(item)
        else:
            state.reject(item, rejection_message=for_model(answer).reason)


def _request(item: Any, run_id: str, time_limit_s: int | None) -> ApprovalRequest:
    """Return the question about a call.

    Raises:
        ValueError: It cannot be shown, or would be made with something else.
    """
    call, said = _dumped(item.raw_item), None
    if call.get("type") in _WITH_ARGUMENTS:
        said = call.get("arguments")
        arguments = tools.asked(_tool(item, call), said)
    else:  # a shell, a patch, a tool with text as its input
        arguments = whole(
            {k: v for k, v in call.items() if k not in _NAMES_A_CALL and v is not None}
        )
    server = f"{call['server_label']}." if call.get("server_label") else ""
    found = {
        "agent": item.agent.name,
        "tool_origin": item.tool_origin,
        "written_by_the_model": _core.differing(said, arguments),
    }
    return _core.fitting(
        ApprovalRequest.tool_call(
            f"{server}{item.qualified_name or item.name}",
            arguments,
            evidence=_core.evidence(found),
            run_id=_core.line(run_id),
            time_limit_s=time_limit_s,
        )
    )


def _tool(item: Any, call: Mapping[str, Any]) -> Any:
    if call["type"] != "function_call":  # the provider makes the call
        return None
    return tools.tool_called(item.agent, item.qualified_name or item.name)


def _dumped(item: Any) -> dict[str, Any]:
    return dict(item) if isinstance(item, Mapping) else item.model_dump()


def _name(item: Any) -> str:
    return _named(item.agent, item.call_id)


def _named(agent: Any, call_id: Any) -> str:
    return json.dumps([agent.name, call_id])


def _watching(hooks: Any, ends: Ends) -> Any:
    """Return hooks that do what ``hooks`` do and see when calls begin and end."""
    given = import_module("agents").RunHooks() if hooks is None else hooks
    seeing = copy(given)

    async def on_tool_start(context: Any, agent: Any, tool: Any) -> None:
        await given.on_tool_start(context, agent, tool)
        _check(ends, context, agent, tool)
        ends.began(_named(agent, getattr(context, "tool_call_id", None)))

    async def on_tool_end(context: Any, agent: Any, tool: Any, result: Any) -> None:
        name = _named(agent, getattr(context, "tool_call_id", None))
        await ends.ended(name, _told(ends.run(name), tool, result))
        await given.on_tool_end(context, agent, tool, result)

    for name in (name for name in dir(given) if name.startswith("on_")):
        setattr(seeing, name, getattr(given, name))
    seeing.on_tool_start, seeing.on_tool_end = on_tool_start, on_tool_end
    return seeing


def _check(ends: Ends, context: Any, agent: Any, tool: Any) -> None:
    """Make sure that a tool is about to be called with what was approved.

    Raises:
        DigestMismatch: It is not. It ends the run.
    """
    response = ends.open.get(_named(agent, getattr(context, "tool_call_id", None)))
    written = getattr(context, "tool_arguments", None)
    if response is None or written is None:
        return
    found = tools.tool_called(agent, tool.name)
    content = {**response.content, "arguments": tools.asked(found, written)}
    if digest(Kind.TOOL_CALL, content) != response.digest:
        raise DigestMismatch(
            f"{tool.name!r:.80} would now be called with something else than what was approved. "
            "It was not called. Ask again.",
            response,
        )


def _told(run: Run, tool: Any, result: Any) -> dict[str, Any]:
    if isinstance(result, str) and result in _failures(tool):
        return run.told(exit_code=1, error=f"The tool failed, and the model was told: {result}")
    return run.returned(result)


def _failures(tool: Any) -> Iterator[str]:
    """Return what the SDK says to the model, unless it is told otherwise, for an exception."""
    said = import_module("agents.tool")
    yield said.default_tool_error_function(None, Exception())
    limit_s = getattr(tool, "timeout_seconds", None)
    if limit_s is not None:
        yield said.default_tool_timeout_error_message(tool_name=tool.name, timeout_seconds=limit_s)


async def _settle(ends: Ends, result: Any) -> None:
    """Tell the ends that no hook saw: of shells, patches, and what other agents called."""
    for item in result.new_items:
        if item.type == "tool_call_output_item":
            name = _named(item.agent, item.call_id)
            await ends.ended(name, _answered(ends, name, item))
    for name in [name for name in ends.open if name not in ends.runs or not result.interruptions]:
        await ends.ended(name, ends.run(name).told(output_head=UNSEEN))


def _answered(ends: Ends, name: str, item: Any) -> dict[str, Any]:
    if name in ends.runs or item.raw_item["type"] != "function_call_output":
        return ends.run(name).returned(item.output)
    return not_run(f"a guardrail answered in its place: {item.output}")
