"""For AutoGen. Checked against autogen-agentchat 0.7.5, and 0.7.2, the first that can ask.

``gate`` stands before every code executor of an agent or a team that is there already, which
AutoGen restores from a configuration without any; ``for_agent`` makes the function of one agent
that is yet to be made; ``ungated`` looks for what runs code and asks nobody. All of them return
a rejection whatever goes wrong: an exception would end the whole team.
"""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextvars import ContextVar
from copy import deepcopy
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypedDict, Unpack
from uuid import uuid4

from approval_client import _telling
from approval_client._arguments import check_seconds, check_text
from approval_client._async_client import AsyncClient
from approval_client._from_autogen import check_blocks, joined, to_request
from approval_client._models import ApprovalRequest, ApprovalResponse
from approval_client._outcomes import Run
from approval_client._refusals import refusal
from approval_client.adapters import _core

if TYPE_CHECKING:
    from autogen_agentchat.agents import CodeExecutorAgent

__all__ = ["for_agent", "gate", "to_request", "ungated"]

# --- what stands in a team, by the names that AutoGen 0.7.2 to 0.7.5 keep it under -------------

_WITHIN = ("_participants", "_team", "_agent", "_wrapped_agent", "_workbench", "_tools")


def executors(agent: Any) -> list[Any]:
    """Return the code executor agents in ``agent``, itself too, in their order.

    Raises:
        TypeError: One of them cannot ask: AutoGen is older than 0.7.2.
    """
    runners = [runner for runner in _walk(agent, set()) if hasattr(runner, "execute_code_block")]
    for runner in runners:
        if not hasattr(runner, "_approval_func"):
            raise TypeError(
                f"{runner.name!r} cannot ask for approval. Nothing was gated. Install "
                "autogen-agentchat 0.7.2 or newer."
            )
    return runners


def loose_tools(agent: Any) -> list[Any]:
    """Return the tools in ``agent`` that run code by themselves, past every approval."""
    walked = _walk(agent, set())
    return [tool for tool in walked if hasattr(vars(tool).get("_executor"), "execute_code_blocks")]


def _walk(one: Any, seen: set[int]) -> Iterator[Any]:
    if isinstance(one, list | tuple):
        for each in one:
            yield from _walk(each, seen)
    elif hasattr(one, "__dict__") and not isinstance(one, type) and id(one) not in seen:
        seen.add(id(one))
        yield one
        for name in _WITHIN:
            yield from _walk(vars(one).get(name), seen)


# --- the gate before one code executor agent ---------------------------------------------------

MOST_HEARD = 20  # messages of the conversation that a reviewer is shown, the newest
Messages: TypeAlias = Sequence[Any]


class GateOptions(TypedDict, total=False):
    """What may be said about all questions of an agent; ``autogen.for_agent`` explains them."""

    run_id: str
    context: Any
    objective: str
    time_limit_s: int | None
    accepts_grants: bool
    client: AsyncClient | None
    on_pending: _telling.Listener | None
    on_decided: _telling.Listener | None


_DEFAULTS: GateOptions = {
    "run_id": "",
    "context": None,
    "objective": "",
    "time_limit_s": None,
    "accepts_grants": True,
    "client": None,
    "on_pending": None,
    "on_decided": None,
}


class Heard(NamedTuple):
    """What an agent was told, and what cancels its turn."""

    gate: Gate
    messages: Messages
    cancellation_token: Any


@dataclass
class Approved:
    """An approval that was started, and whether it was used: tasks share it."""

    gate: Gate
    client: AsyncClient
    response: ApprovalResponse
    is_used: bool = False


# AutoGen asks and runs in one task. Each task has its own, so parallel runs do not mix; one that
# is begun in between has the same.
_approved: ContextVar[Approved | None] = ContextVar("approved", default=None)
_heard: ContextVar[Heard | None] = ContextVar("heard", default=None)


class Gate:
    """Asks for one agent, whose name and run are in none of AutoGen's requests."""

    def __init__(self, name: str, **options: Unpack[GateOptions]) -> None:
        settings: GateOptions = {**_DEFAULTS, **options}
        if unknown := settings.keys() - _DEFAULTS.keys():
            raise TypeError(f"There is no option {min(unknown)!r}. Nothing was gated.")
        check_seconds("time_limit_s", settings["time_limit_s"])
        check_text("objective", settings["objective"])
        check_text("run_id", settings["run_id"])
        self._name = name
        self._client = _core.awaited(settings["client"], "AutoGen")
        self._listeners = (settings["on_pending"], settings["on_decided"])
        self._context = settings["context"]
        self._asked: dict[str, Any] = {
            "run_id": _core.line(settings["run_id"]) or uuid4().hex,
            "objective": settings["objective"][: _core.MAX_TEXT],
            "time_limit_s": settings["time_limit_s"],
            "max_wait_s": settings["time_limit_s"],
            "accepts_grants": settings["accepts_grants"],
        }

    async def ask(self, request: Any) -> ApprovalResponse:
        """Ask whether code may run, as AutoGen's asynchronous ``approval_func``."""
        _approved.set(None)
        try:
            client = _core.asking(self._client, "AutoGen", *self._listeners)
            question = self._request(request)
        except Exception as error:  # noqa: BLE001 - whatever goes wrong is a rejection
            return refusal(error)
        asking = asyncio.ensure_future(client.approval_func(question))
        if (turn := _heard.get()) is not None and turn.gate is self:
            turn.cancellation_token.link_future(asking)  # which takes the question back
        response: ApprovalResponse = await asking
        if response.approved is True:
            _approved.set(Approved(self, client, response))
        return response

    def close(self, agent: Any) -> None:
        """Stand before ``agent``, in place of any other that does."""
        executor = agent._code_executor  # noqa: SLF001 - AutoGen has no other name for any of it
        agent._code_executor = Guard(executor, self)  # noqa: SLF001
        agent._approval_func = self.ask  # noqa: SLF001
        agent._approval_func_is_async = True  # noqa: SLF001
        agent.on_messages_stream = Listener(_beneath(agent.on_messages_stream), self)
        agent.execute_code_block = BlockReader(_beneath(agent.execute_code_block))

    def _request(self, request: Any) -> ApprovalRequest:
        question = to_request(request)
        details = {"agent_name": self._name, "context": self._shown(question)}
        evidence = {**question.evidence, **_core.evidence(details)}
        return replace(question, evidence=evidence, **self._asked)

    def _shown(self, approval: ApprovalRequest) -> Any:
        try:
            context = self._context() if callable(self._context) else self._context
        except Exception as error:  # noqa: BLE001 - it is the host's code, and only shown
            return f"Left out: the context could not be created ({type(error).__name__})."
        return context or approval.evidence.get("context") or self._messages()

    def _messages(self) -> list[dict[str, str]]:
        turn = _heard.get()
        if turn is None or turn.gate is not self:
            return []
        return [_said(message) for message in turn.messages[-MOST_HEARD:]]


class Listener:
    """Takes what an agent is told, remembers it for its gate, and passes it on."""

    def __init__(self, stream: Callable[[Messages, Any], Any], gate: Gate) -> None:
        self.beneath = stream
        self._gate = gate

    def __call__(self, messages: Messages, cancellation_token: Any) -> Any:
        """Return the agent's own stream."""
        _heard.set(Heard(self._gate, list(messages), cancellation_token))
        return self.beneath(messages, cancellation_token)


class BlockReader:
    """Takes the blocks that an agent wants to run, and lets nobody be asked about unclear ones.

    AutoGen's request has their text only, and other blocks could be joined to the same.
    """

    def __init__(self, execute: Callable[[list[Any], Any], Awaitable[Any]]) -> None:
        self.beneath = execute

    async def __call__(self, code_blocks: list[Any], cancellation_token: Any) -> Any:
        """Return what the agent's own method does, or that nobody was asked, and why."""
        try:
            check_blocks(_pairs(code_blocks))
        except ValueError as error:
            return _result(f"Code execution was not approved. Reason: {refusal(error).reason}")
        return await self.beneath(code_blocks, cancellation_token)


def _beneath(method: Any) -> Any:
    """Return what stands before an agent without an earlier gate: its own, or somebody else's."""
    return method.beneath if isinstance(method, Listener | BlockReader) else method


class Guard:
    """A code executor that runs exactly what was approved, once, and tells how it ended."""

    def __init__(self, executor: Any, gate: Gate) -> None:
        self.executor: Any = executor.executor if isinstance(executor, Guard) else executor
        self._gate = gate

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # copying asks for such, before there is an executor
            raise AttributeError(name)
        return getattr(self.executor, name)

    async def execute_code_blocks(self, code_blocks: list[Any], cancellation_token: Any) -> Any:
        """Run the blocks if they are what was approved; otherwise return that they were not."""
        blocks = deepcopy(code_blocks)  # nothing changes any more between the look and the run
        approved = _approved.get()
        if approved is None or approved.is_used or approved.gate is not self._gate:
            return _refused("Nobody approved this code.")
        if not _is_approved(blocks, approved.response):
            return _refused("This is not the code that was approved.")
        approved.is_used = True

        async def run() -> Any:
            return await self.executor.execute_code_blocks(
                blocks, cancellation_token=cancellation_token
            )

        return await _core.telling(approved.client, approved.response, run, _ended)


def _pairs(blocks: list[Any]) -> list[tuple[Any, Any]]:
    return [(block.language, block.code) for block in blocks]


def _is_approved(blocks: list[Any], response: ApprovalResponse) -> bool:
    pairs = _pairs(blocks)
    try:
        check_blocks(pairs)
    except ValueError:  # others, which are joined to the same text
        return False
    return bool(response.content["code"] == joined(pairs))


def _refused(reason: str) -> Any:
    return _result(f"{reason} It was not run. Ask again.")


def _result(told: str) -> Any:
    return import_module("autogen_core.code_executor").CodeResult(exit_code=1, output=told)


def _ended(run: Run, result: Any) -> dict[str, Any]:
    return run.told(exit_code=result.exit_code, output_head=str(result.output))


def _said(message: Any) -> dict[str, str]:
    # Without its id and its time: the same question has the same evidence.
    try:
        content = str(message.to_text())
    except Exception as error:  # noqa: BLE001 - a strange message may raise anything
        content = f"Left out: it could not be read ({type(error).__name__})."
    kind, source = getattr(message, "type", ""), getattr(message, "source", "")
    return {"type": str(kind), "source": str(source), "content": content}


# --- what people build on ----------------------------------------------------------------------


def for_agent(name: str, **options: Unpack[GateOptions]) -> Callable[[Any], Awaitable[Any]]:
    """Return an ``approval_func`` that says who asks: a coroutine function, as AutoGen wants it.

    Args:
        name: Of the agent; shown as its claim.
        options: ``run_id`` groups the questions of one run and links a retry with what was
            rejected; a new one if it is not given. ``context`` is what reviewers see of the
            conversation: JSON, or a function that returns it and is called for each question;
            AutoGen's own if None, which is empty for an agent without a model, such as
            MagenticOne's. ``objective`` says what the run is for, ``time_limit_s`` how long
            reviewers have, in seconds (the server's default if None), ``accepts_grants`` whether a
            remembered approval may answer, and ``client`` who asks (configured by the environment
            if None). ``on_pending`` is called with the answer when a person has to decide, and
            ``on_decided`` when it was decided: see ``Client.telling``.

    Raises:
        TypeError: The client is one that blocks, or an option is unknown.
    """
    return Gate(name, **options).ask


def gate(agent: Any, **options: Unpack[GateOptions]) -> list[CodeExecutorAgent]:
    """Have every ``CodeExecutorAgent`` in ``agent`` ask first, and tell how what it ran ended.

    A gated agent runs exactly the blocks that were approved, once, and nothing without approval:
    its code executor is guarded too. It shows reviewers what it was told where AutoGen's own
    context is empty. Gate it again to start another run, or with other options.

    Args:
        agent: An agent, or a team with agents and teams in it, also behind AutoGen's agent and
            team tools, its message filter and its society of mind.
        options: Those of ``for_agent``, which all of them share.

    Returns:
        The agents that ask now.

    Raises:
        ValueError: There is no such agent in it.
        TypeError: AutoGen is older than 0.7.2, an option is wrong, or the client blocks.

    Warns:
        UserWarning: A tool in it runs code, and AutoGen asks nobody before a tool.
    """
    runners = executors(agent)
    if not runners:
        raise ValueError(
            f"There is no CodeExecutorAgent in this {type(agent).__name__}. Nothing was gated. "
            "Pass the agent, or the team that it is in."
        )
    options["run_id"] = options.get("run_id") or uuid4().hex
    gates = [Gate(runner.name, **options) for runner in runners]
    for runner, its_gate in zip(runners, gates, strict=True):
        its_gate.close(runner)
    _warn_about(loose_tools(agent))
    return runners


def ungated(*agents: Any) -> list[Any]:
    """Return what in ``agents`` runs code and asks nobody, and warn about each.

    It is a ``CodeExecutorAgent`` without an approval function, whatever function it is, or a tool
    that runs code, which nothing gates.

    Warns:
        UserWarning: One for each.
    """
    gaps = [runner for agent in agents for runner in executors(agent) if not runner._approval_func]  # noqa: SLF001 - there is no other name
    for runner in gaps:
        warnings.warn(
            f"{runner.name!r} runs code and asks nobody. Call gate() with it, or with its team.",
            stacklevel=2,
        )
    tools = [tool for agent in agents for tool in loose_tools(agent)]
    _warn_about(tools)
    return [*gaps, *tools]


def _warn_about(tools: list[Any]) -> None:
    for tool in tools:
        warnings.warn(
            f"The tool {tool.name!r} runs code and asks nobody: AutoGen has no approval for "
            "tools. Give the code to a CodeExecutorAgent instead.",
            stacklevel=3,
        )
