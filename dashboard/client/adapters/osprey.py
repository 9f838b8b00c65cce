"""For Osprey. Checked against osprey-framework 0.11.5, the last with ``osprey.approval``.

Interrupts made by it or by ``dashboard.capabilities`` become requests of their own kind, and
answers come back as the state update that ``get_approval_resume_data`` reads.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from dashboard.client._async_client import AsyncClient
from dashboard.client._defaults import default_async_client
from dashboard.client._errors import DigestMismatch
from dashboard.client._models import ApprovalRequest, ApprovalResponse
from dashboard.client.adapters import _core
from dashboard.client.adapters._graphs import Desk, Question, checked, resuming
from dashboard.client.adapters._pauses import Undecided
from dashboard.client.adapters._steps import drive, drive_async
from dashboard.wire import canonical_json

__all__ = ["Undecided", "aresume_pending", "resume_pending", "state_update", "to_request"]
PLAN_FILES = ("modified_execution_plan.json", "pending_execution_plan.json")  # the first wins
Payload = Mapping[str, Any]
Tell = Callable[[ApprovalResponse], Mapping[str, Any]]


def resume_pending(graph: Any, config: Mapping[str, Any], **options: Any) -> Any:
    """Put what is pending on the desk, wait, and have the graph go on, until nothing is.

    Osprey has no place for a reason, and its state holds one answer at a time.

    Args:
        graph: A compiled graph with a checkpointer.
        config: Names the thread, as LangGraph takes it.
        options: ``client`` (an ``AsyncClient``), ``wait_s`` (how long to wait for people, in
            seconds; 0 to look only), ``time_limit_s`` (how long they have), and ``tell``, which
            makes of an answer what else goes into the state, such as a message with its reason.

    Returns:
        What the graph returned last, or its values if nothing was pending.

    Raises:
        Undecided: Nobody decided within ``wait_s``. The question stays on the desk.
        DashboardError: There is no yes and no no. The graph stays interrupted.
        ValueError: The interrupt is none of Osprey's, or several are pending at once.
    """
    return drive(graph, config, resuming(_desk(checked(config), **options)))


async def aresume_pending(graph: Any, config: Mapping[str, Any], **options: Any) -> Any:
    """Do what ``resume_pending`` does, with a graph that is awaited."""
    return await drive_async(graph, config, resuming(_desk(checked(config), **options)))


def to_request(value: Any) -> ApprovalRequest:
    """Return what an interrupt asks: code, a plan, a memory change, or a call.

    Raises:
        ValueError: It is no interrupt of Osprey's.
        TypeError: What would run is not JSON.
    """
    payload = _payload(value)
    approval_type = payload["approval_type"]
    make = _KINDS.get(approval_type, _call)
    if approval_type.startswith("memory_"):
        make = _memory
    try:
        return _core.fitting(make(payload))
    except KeyError as error:
        raise ValueError(f"The interrupt {approval_type!r:.80} holds no {error}.") from None


def state_update(value: Any, response: ApprovalResponse) -> dict[str, Any]:
    """Return what to put into the state. The payload is the interrupt's own, or a reviewer's."""
    if response.approved is not True:
        return {"approval_approved": False, "approved_payload": None}
    payload = dict(_payload(value))
    if response.edited:
        payload |= _edited(payload, _core.plain(response.content))
    return {"approval_approved": True, "approved_payload": payload}


def _desk(
    config: Mapping[str, Any],
    *,
    client: AsyncClient | None = None,
    tell: Tell | None = None,
    wait_s: float | None = None,
    time_limit_s: int | None = None,
) -> Desk:
    return Desk(
        client=client or default_async_client(),
        config=config,
        read=partial(_question, tell),
        command=_update,
        wait_s=wait_s,
        time_limit_s=time_limit_s,
        most=1,
    )


def _question(tell: Tell | None, value: Any, _: str) -> Question:
    def answer(responses: Sequence[ApprovalResponse]) -> dict[str, Any]:
        more = tell(responses[0]) if tell else {}
        return {**more, **state_update(value, responses[0])}

    request = to_request(value)
    return Question(requests=[request], answer=answer, check=partial(_check_plan, value))


def _update(values: Mapping[str, Any]) -> Any:
    (update,) = values.values()
    return import_module("langgraph.types").Command(update=update)


def _payload(value: Any) -> Payload:
    payload = value.get("resume_payload") if isinstance(value, Mapping) else None
    if not isinstance(payload, Mapping) or not isinstance(payload.get("approval_type"), str):
        told = "This is no interrupt of Osprey's: it has no payload with a type. Nobody was asked."
        raise ValueError(told)  # noqa: TRY004 - a value out of a graph, and no argument
    return payload


def _code(payload: Payload) -> ApprovalRequest:
    return ApprovalRequest.code(
        payload["code"], "python", accepts_edits=True, **_about(payload, {"code"})
    )


def _plan(payload: Payload) -> ApprovalRequest:
    plan = payload["execution_plan"]
    steps = plan.get("steps") if isinstance(plan, Mapping) else plan
    if not isinstance(steps, Sequence) or isinstance(steps, str) or not steps:
        raise ValueError("The plan holds no steps. Nobody was asked.")
    return ApprovalRequest.plan(steps, **_about(payload, {"execution_plan"}))


def _step(payload: Payload) -> ApprovalRequest:
    return ApprovalRequest.plan([payload["step"]], **_about(payload, {"step"}))


def _memory(payload: Payload) -> ApprovalRequest:
    names = ("operation_type", "user_id", "content", "existing_memory")
    operation, user_id, content, existing = (payload[name] for name in names)
    about = _about(payload, set(names))
    return ApprovalRequest.memory(
        operation, user_id, content, existing or None, accepts_edits=True, **about
    )


def _writes(payload: Payload) -> ApprovalRequest:
    arguments = {"operations": payload["operations"]}
    about = _about(payload, {"operations"})
    return ApprovalRequest.tool_call("channel_write", arguments, accepts_edits=True, **about)


def _call(payload: Payload) -> ApprovalRequest:
    arguments = {name: value for name, value in payload.items() if name != "approval_type"}
    return ApprovalRequest.tool_call(payload["approval_type"], arguments)


_KINDS = {
    "python_executor": _code,
    "orchestrator_plan": _plan,
    "reactive_orchestrator_step": _step,
    "channel_write": _writes,
}


def _about(payload: Payload, content: set[str]) -> dict[str, Any]:
    left_out = content | {"approval_type", "step_objective"}
    found = {name: value for name, value in payload.items() if name not in left_out}
    objective = str(payload.get("step_objective") or "")[: _core.MAX_TEXT]
    return {"objective": objective, "evidence": _core.evidence(found)}


def _edited(payload: Payload, content: Mapping[str, Any]) -> dict[str, Any]:
    if payload["approval_type"] == "python_executor":
        return {"code": content["code"]}
    if payload["approval_type"] == "channel_write":
        return {"operations": content["arguments"]["operations"]}
    return {"content": content["content"]}  # of a memory: nothing else accepts edits


def _check_plan(value: Any) -> None:
    """Make sure that the file which Osprey will read holds the plan that was asked about.

    Osprey keeps one file for all sessions, and takes its steps instead of the payload's.
    """
    payload = _payload(value)
    if payload["approval_type"] != "orchestrator_plan":
        return
    for path in _plan_files(payload):
        if path.exists():
            _check_steps(path, to_request(value).content["steps"])
            return


def _plan_files(payload: Payload) -> list[Path]:
    folder, file = payload.get("pending_plans_dir"), payload.get("plan_file_path")
    where = [Path(folder)] if folder else []
    where += [Path(file).parent] if file else []
    named = [Path(file)] if file else []
    return [path / name for name in PLAN_FILES for path in where] + named


def _check_steps(path: Path, steps: Any) -> None:
    try:
        found = json.loads(path.read_bytes())["steps"]
        same = canonical_json(found) == canonical_json(steps)
    except (OSError, ValueError, TypeError, KeyError):
        same = False
    if not same:
        raise DigestMismatch(
            f"The plan file {path} does not hold the steps that were approved. The graph was not "
            "resumed. Remove the file or plan anew."
        )
