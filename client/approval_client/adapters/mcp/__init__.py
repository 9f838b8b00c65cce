"""For the Model Context Protocol: what ``approvals mcp`` answers. Checked against mcp 2.3.0.

Knows nothing of the protocol: it takes the name of a tool with its arguments and returns text.
Claude Code's side of ``permission_prompt`` was checked against Claude Code 2.1.330.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from approval_client._answers import Answer
from approval_client._async_client import AsyncClient
from approval_client._calls import canonical_id
from approval_client._defaults import default_async_client
from approval_client._errors import (
    DashboardError,
    NotApproved,
    OnHold,
    RequestRefused,
    Unreachable,
)
from approval_client._models import (
    ApprovalRequest,
    ApprovalResponse,
    Asked,
    Pending,
    sendable,
    within_limit,
)
from approval_client._outcomes import Run, report_async
from approval_client._refusals import NOT_AS_THEY_ARE, Unaskable, for_model, refusal
from approval_client.adapters import _binding, _core, claude_code
from approval_client.adapters._pauses import not_run
from approval_client.wire import JsonError, Kind, Status, canonical_json

__all__ = ["INSTRUCTIONS", "TOOLS", "Desk", "Told"]

# --- what an MCP client is told about our tools ------------------------------------------------

ASK, CHECK, FINISH = "request_approval", "check_approval", "report_finished"
PROMPT = "permission_prompt"
INSTRUCTIONS = (
    f"Before you do something dangerous, call {ASK} with exactly what would run. Do it only "
    f'after an answer says "approved": true, once, and exactly as it says. Then call {FINISH}. '
    f'While the status is "pending", nothing is approved: call {CHECK}. Anything else, '
    "including an error, means no."
)


@dataclass(frozen=True)
class Tool:
    """One tool: every argument with its JSON Schema, those that are needed first."""

    name: str
    description: str
    needed: dict[str, Any]
    optional: dict[str, Any]

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of its arguments."""
        return {
            "type": "object",
            "properties": self.needed | self.optional,
            "required": list(self.needed),
            "additionalProperties": False,
        }


def _said(kind: str, description: str, **more: Any) -> dict[str, Any]:
    return {"type": kind, "description": description, **more}


_ID = _said("string", f"The id that {ASK} returned.")
_WAIT = _said("number", "How long to wait at most, in seconds.", minimum=0)

TOOLS = (
    Tool(
        ASK,
        "Ask people whether something may be done, and wait for their answer. If nobody decides "
        f"soon, the status is pending: then call {CHECK}.",
        {
            "kind": _said("string", "What it is.", enum=[str(kind) for kind in Kind]),
            "content": _said(
                "object",
                "Exactly what would run, and nothing else. code: {code, language}. tool_call: "
                "{tool, arguments}. plan: {steps}. memory: {operation, user_id, content, "
                "existing}.",
            ),
        },
        {
            "objective": _said("string", "What it is for, in a sentence."),
            "capability": _said("string", "What is gated; leave it out if unsure."),
            "evidence": _said("object", "What people should know, such as safety_concerns."),
            "time_limit_s": _said("integer", "How long people have, in seconds.", minimum=5),
            "accepts_edits": _said(
                "boolean",
                (
                    "Whether people may change it. Set it only if you will do what comes back "
                    "as content."
                ),
            ),
            "wait_s": _WAIT,
        },
    ),
    Tool(
        CHECK,
        f"Go on waiting for what {ASK} left pending. If this returns an approval, the approval "
        "is used up: do it then, once.",
        {"id": _ID, "digest": _said("string", "The digest that came with the id.")},
        {"wait_s": _WAIT},
    ),
    Tool(
        FINISH,
        "Tell people how something that was approved ended.",
        {"id": _ID},
        {
            "exit_code": _said("integer", "0 if it went well."),
            "error": _said("string", "What went wrong."),
            "output_head": _said("string", "The beginning of its output."),
        },
    ),
    Tool(
        PROMPT,
        "For Claude Code's --permission-prompt-tool, not for models: asks people about one call "
        "of a tool.",
        {
            "tool_name": _said("string", "The tool."),
            "input": _said("object", "Its arguments."),
        },
        {"tool_use_id": _said("string", "Names this one call.")},
    ),
)


# --- the tools ---------------------------------------------------------------------------------

DEFAULT_WAIT_S = 45  # below the 60 s after which many clients give a tool up
DEFAULT_PROMPT_S = 570
FAREWELL_S = 4.0  # for taking a question back, which takes up to 3 s
CONTACT_S = 5  # even who does not want to wait gives the dashboard time to answer once
_TYPES: dict[str, Any] = {
    "string": str,
    "object": dict,
    "integer": int,
    "number": int | float,
    "boolean": bool,
}
_NOT_TAKEN = "Claude Code does not take the changed call"
_NOT_RUN = f"{NOT_AS_THEY_ARE} Nothing was run. Do not retry: stop and report it."
_GONE = "The host stopped waiting."
_DO = f"Do exactly this now, once, and then call {FINISH}."
_DO_CHANGED = (
    "A person changed this before approving it. Do exactly what stands in content, now and once, "
    f"and not your own, neither now nor later. Then call {FINISH}."
)
_WAIT_ON = f"Nothing was approved, so do not do it. Call {CHECK} with this id and digest."
Approved = Callable[[str, ApprovalResponse, Mapping[str, Any] | None], None]


class Wrong(ValueError):
    """A tool was called with what it does not take. Nothing was asked."""


@dataclass(frozen=True)
class Told:
    """What a tool returns: one JSON object, and whether it is an error."""

    fields: Mapping[str, Any]
    is_error: bool = False

    @property
    def text(self) -> str:
        """The object as JSON, its numbers with the digits that people saw."""
        return canonical_json(self.fields)


class Desk:
    """Answers the tools of one MCP server. Whatever goes wrong is a rejection.

    Args:
        client: Who asks; configured by the environment, when it is needed, if None.
        run_id: Groups the questions of this server, so that repetitions are linked.
        wait_s: How long a call waits at most, in seconds, before it says "pending".
        prompt_s: Within how many seconds ``permission_prompt`` answers, whatever happens.
        evidence: What is shown beside a call of a tool, by its name and arguments.
        approved: Called with the ``tool_use_id`` of every call that is allowed, the answer, and
            the input if a person changed it.
    """

    def __init__(
        self,
        client: AsyncClient | None = None,
        *,
        run_id: str = "",
        wait_s: float = DEFAULT_WAIT_S,
        prompt_s: float = DEFAULT_PROMPT_S,
        evidence: Callable[[str, Any], Mapping[str, Any]] = lambda *_: {},
        approved: Approved = lambda *_: None,
    ) -> None:
        self._client = client
        self._run_id = _core.line(run_id)
        self._wait_s = wait_s
        self._prompt_s = prompt_s
        self._evidence = evidence
        self._approved = approved
        self._undecided: dict[str, Pending] = {}
        self._running: dict[str, tuple[ApprovalResponse, Run]] = {}
        self._calls: set[asyncio.Task[Told]] = set()

    async def call(self, name: str, arguments: Mapping[str, Any] | None) -> Told:
        """Answer one call of a tool. If cancelled, it withdraws what it asked.

        The work is a task of its own, because hosts cancel in ways that let nothing be awaited.
        """
        task = asyncio.create_task(self._answer(name, dict(arguments or {})))
        self._calls.add(task)
        task.add_done_callback(self._calls.discard)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            _stop(task)
            raise

    async def close(self) -> None:
        """Stop every call, and give each a moment to withdraw what it asked."""
        for task in self._calls:
            _stop(task)
        if self._calls:
            await asyncio.wait(self._calls, timeout=FAREWELL_S)

    async def _answer(self, name: str, arguments: dict[str, Any]) -> Told:
        verbs: dict[str, Callable[[dict[str, Any]], Awaitable[Told]]] = {
            ASK: self._ask,
            CHECK: self._check,
            FINISH: self._finish,
            PROMPT: self._prompt,
        }
        try:
            _check_arguments(name, arguments)
            return await verbs[name](arguments)
        except Exception as error:  # noqa: BLE001 - whatever goes wrong is a rejection
            response = _refusal(error)
            if name == PROMPT:
                return _denied(response.reason)
            return Told(_fields(response), is_error=True)

    async def _ask(self, arguments: dict[str, Any]) -> Told:
        wait_s = self._limit(arguments)
        evidence = sendable(arguments.pop("evidence", {}))
        request = within_limit(
            ApprovalRequest(run_id=self._run_id, evidence=evidence, **arguments)
        )
        body = request.body()
        matches = (entry for entry in self._undecided.values() if entry.request.body() == body)
        pending = next(matches, None)
        until = asyncio.get_running_loop().time() + wait_s
        if pending is None:
            asking = self._asking
            limit_s = max(wait_s, CONTACT_S)
            pending = await _within(limit_s, asking.submit(request), str(asking.contact))
            self._undecided[pending.id] = pending
        try:
            return await self._wait(pending, until - asyncio.get_running_loop().time())
        except asyncio.CancelledError:
            self._undecided.pop(pending.id, None)
            with suppress(Exception):
                async with asyncio.timeout(FAREWELL_S):
                    await self._asking.cancel(pending.id, _GONE)
            raise

    async def _check(self, arguments: dict[str, Any]) -> Told:
        wait_s = self._limit(arguments)
        approval_id = canonical_id(arguments["id"])
        pending = Pending(request=Asked(digest=arguments["digest"]), id=approval_id)
        # Of what another process asked the content is not known, so its digest has to do.
        own_pending = self._undecided.get(pending.id, pending)
        if own_pending.request.digest != pending.request.digest:
            raise Wrong("This id has another digest. Pass the one that came with it.")
        return await self._wait(own_pending, wait_s)

    async def _wait(self, pending: Pending, wait_s: float) -> Told:
        try:
            return await self._follow(pending, wait_s)
        except DashboardError as error:
            if _is_end(error):
                self._undecided.pop(pending.id, None)
            raise

    async def _follow(self, pending: Pending, wait_s: float) -> Told:
        answers: list[Answer] = []
        until = asyncio.get_running_loop().time() + wait_s

        def heard(answer: Answer) -> None:
            if not answers:
                limit.reschedule(until)
            answers.append(answer)

        try:
            async with asyncio.timeout(max(wait_s, CONTACT_S)) as limit:
                response = await self._asking.decided(pending, withdraw=False, heard=heard)
        except TimeoutError:
            return Told(_open(pending, answers))
        response = await self._asking.start(response)  # no time limit ends what uses an approval
        self._undecided.pop(pending.id, None)
        if response.approved is True:
            self._running[response.id] = (response, Run())
        return Told(_fields(for_model(response)))

    async def _finish(self, arguments: dict[str, Any]) -> Told:
        approval_id = canonical_id(arguments.pop("id"))
        if approval_id not in self._running:
            raise Wrong(
                f"{approval_id!r:.60} was not approved here, or its end was reported already."
            )
        response, run = self._running[approval_id]
        try:
            await self._asking.report_finished(response, **run.told(**arguments))
        except DashboardError as error:
            reason = f"Its end was not reported ({type(error).__name__}). What was done is done."
            return Told({"reported": False, "id": approval_id, "reason": reason}, is_error=True)
        del self._running[approval_id]
        return Told({"reported": True, "id": approval_id})

    async def _prompt(self, arguments: dict[str, Any]) -> Told:
        tool, inputs = arguments["tool_name"], arguments["input"]
        claude_code.check_numbers(inputs)
        event = {"hook_event_name": claude_code.EVENT, "tool_name": tool, "tool_input": inputs}
        event |= {"session_id": self._run_id, "tool_use_id": arguments.get("tool_use_id")}
        request = claude_code.to_request(
            event,
            wait_s=claude_code.people_have_s(self._prompt_s),
            evidence=self._evidence(tool, inputs),
        )
        request = replace(request, accepts_edits=True)
        key = claude_code.key(event)
        answers: list[Answer] = []
        approval = self._asking.request_approval(
            request, idempotency_key=f"{key}-prompt" if key else None, heard=answers.append
        )
        try:
            async with asyncio.timeout(self._prompt_s - claude_code.MARGIN_S):
                response = await approval
        except TimeoutError:
            progress = claude_code.Progress.PENDING if answers else claude_code.Progress.ASKED
            return _denied(claude_code.late(self._prompt_s, progress))
        if response.approved is not True:
            return _denied(for_model(response).reason)
        try:
            changed = _changed(request, response, inputs)
        except Unaskable:
            await report_async(self._asking, response, not_run(_NOT_TAKEN))
            return _denied(_NOT_RUN)
        self._approved(str(arguments.get("tool_use_id", "")), response, changed)
        return Told({"behavior": "allow", "updatedInput": inputs if changed is None else changed})

    @property
    def _asking(self) -> AsyncClient:
        if self._client is None:
            self._client = default_async_client()
        return self._client

    def _limit(self, arguments: dict[str, Any]) -> float:
        wanted_s: float = arguments.pop("wait_s", self._wait_s)
        return min(wanted_s, self._wait_s)


def _stop(task: asyncio.Task[Told]) -> None:
    if not task.cancelling():  # a second time would interrupt what it says in parting
        task.cancel()


def _is_end(error: DashboardError) -> bool:
    """Say whether the question can never be approved any more, however often it is checked."""
    is_gone = isinstance(error, RequestRefused) and error.code == "not_found"
    return is_gone or (isinstance(error, NotApproved) and not isinstance(error, OnHold))


async def _within(limit_s: float, submitting: Coroutine[Any, Any, Pending], who: str) -> Pending:
    try:
        async with asyncio.timeout(limit_s):
            return await submitting
    except TimeoutError:
        raise Unreachable(
            f"{who} gave no usable answer within {limit_s:.0f} s. Nothing was approved. "
            "Check that it is running and that DASHBOARD_URL is its address."
        ) from None


def _check_arguments(name: str, arguments: Mapping[str, Any]) -> None:
    tool = next((tool for tool in TOOLS if tool.name == name), None)
    if tool is None:
        raise Wrong(f"There is no tool {name!r:.60}.")
    parameters = tool.needed | tool.optional
    missing_names = sorted(tool.needed.keys() - arguments.keys())
    if missing_names or (arguments.keys() - parameters.keys() and name != PROMPT):
        raise Wrong(f"{name} takes {', '.join(parameters)}, and needs {', '.join(tool.needed)}.")
    for argument in parameters.keys() & arguments.keys():
        _check_argument(argument, arguments[argument], parameters[argument])


def _check_argument(name: str, value: Any, schema: Mapping[str, Any]) -> None:
    kind = schema["type"]
    strange = isinstance(value, bool) and kind != "boolean"  # which Python calls an int
    if strange or not isinstance(value, _TYPES[kind]):
        instead = f" It was {_binding.kind_of(value)}: pass the value itself."
        raise Wrong(f"{name} must be of type {kind}.{instead}")
    if value not in schema.get("enum", (value,)):
        raise Wrong(f"{name} must be one of {', '.join(schema['enum'])}.")
    try:
        canonical_json({name: value})
    except JsonError as error:
        raise _binding.unreadable(error, name) from None
    if "minimum" in schema and value < schema["minimum"]:
        raise Wrong(f"{name} must be at least {schema['minimum']}.")


def _refusal(error: Exception) -> ApprovalResponse:
    if isinstance(error, Unaskable) or not isinstance(error, TypeError | ValueError):
        return refusal(error)
    reason = (
        f"{error} Nothing was asked and nothing was approved. Correct the arguments and call it "
        "again."
    )
    return ApprovalResponse(approved=False, reason=reason)


def _fields(response: ApprovalResponse) -> dict[str, Any]:
    fields: dict[str, Any] = {"approved": response.approved is True, "status": response.status}
    for name in ("id", "digest", "reason", "decided_by", "review_url"):
        fields |= {name: value} if (value := getattr(response, name)) else {}
    if response.approved is True:
        fields |= {"next": _DO_CHANGED if response.edited else _DO, "edited": response.edited}
        fields |= {} if response.content is None else {"content": response.content}
    return fields


def _open(pending: Pending, heard: list[Answer]) -> dict[str, Any]:
    fields = {"approved": False, "status": Status.PENDING, "id": pending.id}
    fields |= {"digest": pending.request.digest, "next": _WAIT_ON}
    url = heard[-1].review_url if heard else pending.review_url
    fields |= {"review_url": url} if url else {}
    reason = "Nobody has decided yet." if heard else "The dashboard did not answer meanwhile."
    return fields | {"reason": reason}


def _denied(message: str) -> Told:
    return Told({"behavior": "deny", "message": message})


def _changed(
    request: ApprovalRequest, response: ApprovalResponse, arguments: Mapping[str, Any]
) -> Mapping[str, Any] | None:
    """Return what Claude Code runs instead, if a reviewer changed it.

    Raises:
        Unaskable: It would read a number of it as another one.
    """
    if not response.edited:
        return None
    content = response.content
    if request.kind is Kind.CODE:
        return {**arguments, "command": content["code"]}
    claude_code.check_numbers(content["arguments"])
    return dict(content["arguments"])
