"""Osprey's interrupts as requests of their kind, and a reviewer's changes as their payload."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

from approval_client._models import ApprovalRequest, sendable, within_limit
from approval_client.adapters import _binding, _core
from approval_client.wire import JsonError, canonical_json

PLAN, STEP = "orchestrator_plan", "reactive_orchestrator_step"
CODE, WRITE = "python_executor", "channel_write"
Payload = Mapping[str, Any]


def to_request(value: Any, edits: Collection[str] = ()) -> ApprovalRequest:
    """Return what an interrupt asks: code, a plan, a memory change, or a call.

    Args:
        value: The interrupt's value.
        edits: Approval types whose nodes run what they find in the payload. Osprey's own do so
            for plans and memory, and never for code and channel writes.

    Raises:
        ValueError: It is not an interrupt of Osprey, or what would run cannot be shown.
    """
    payload = payload_of(value)
    approval_type = payload["approval_type"]
    make = _KINDS.get(approval_type, _call)
    if approval_type.startswith("memory_"):
        make = _memory
    try:
        request = make(payload)
        request.body()
    except KeyError as error:
        raise ValueError(
            f"The interrupt {approval_type!r:.80} has no {error}. Nobody was asked."
        ) from None
    except (JsonError, TypeError, RecursionError) as error:
        raise ValueError(
            f"The interrupt {approval_type!r:.80} cannot be shown: {_binding.cause(error)}. "
            "Nobody was asked and nothing was run. JSON is taken."
        ) from None
    takes = make in (_memory, _plan) or (make in (_code, _writes) and approval_type in edits)
    return within_limit(replace(request, accepts_edits=takes))


def payload_of(value: Any) -> Payload:
    """Return what an interrupt of Osprey's would resume with.

    Raises:
        ValueError: It is not one.
    """
    payload = value.get("resume_payload") if isinstance(value, Mapping) else None
    if not isinstance(payload, Mapping) or not isinstance(payload.get("approval_type"), str):
        message = "This is not an interrupt of Osprey: its payload has no type. Nobody was asked."
        raise ValueError(message)  # noqa: TRY004 - a value out of a graph, and no argument
    return payload


def with_notebook(
    request: ApprovalRequest, payload: Payload, below: str | PathLike[str] | None
) -> ApprovalRequest:
    """Return ``request`` with the notebook that the interrupt names, or with the reason why not.

    Only a file in ``below`` is sent, or in the interrupt's own execution folder if that is None.
    Links are resolved first, because code that ran there may have made some.
    """
    location, folder = payload.get("notebook_path"), below or payload.get("execution_folder_path")
    if not location:
        return request
    with suppress(OSError, ValueError, RuntimeError):  # it is no path, or goes round in circles
        path = Path(str(location)).resolve()
        if folder and path.suffix == ".ipynb" and path.is_relative_to(Path(str(folder)).resolve()):
            return replace(request, notebook=path)
    reason = "Not sent: it is not an .ipynb file in an allowed folder."
    return replace(request, evidence={**request.evidence, "notebook": reason})


def edited(payload: Payload, content: Mapping[str, Any]) -> dict[str, Any]:
    """Return what of the payload is different after an edit."""
    match payload["approval_type"]:
        case "python_executor":
            return {"code": content["code"]}
        case "channel_write":
            return {"operations": content["arguments"]["operations"]}
        case "orchestrator_plan":
            return {"execution_plan": _shorter(payload["execution_plan"], content["steps"])}
    return {"content": content["content"]}  # of a memory: nothing else accepts edits


def _shorter(plan: Any, steps: Any) -> Any:
    return {**plan, "steps": steps} if isinstance(plan, Mapping) else steps


def _code(payload: Payload) -> ApprovalRequest:
    return ApprovalRequest.code(payload["code"], "python", **_about(payload, {"code"}))


def _plan(payload: Payload) -> ApprovalRequest:
    steps = _steps(payload["execution_plan"])
    return ApprovalRequest.plan(steps, **_about(payload, {"execution_plan"}))


def _step(payload: Payload) -> ApprovalRequest:
    steps = _steps(payload["execution_plan"])  # this is what Osprey takes, not the step
    if payload["step"] not in steps:
        raise ValueError("The step is not in the plan that Osprey would follow. Nobody was asked.")
    return ApprovalRequest.plan(steps, **_about(payload, {"execution_plan", "step"}))


def _steps(plan: Any) -> Sequence[Any]:
    steps = plan.get("steps") if isinstance(plan, Mapping) else plan
    if not isinstance(steps, Sequence) or isinstance(steps, str) or not steps:
        raise ValueError("The plan has no steps. Nobody was asked.")
    return steps


def _memory(payload: Payload) -> ApprovalRequest:
    names = ("operation_type", "user_id", "content", "existing_memory")
    operation, user_id, content, existing = (payload[name] for name in names)
    about = _about(payload, set(names))
    if isinstance(operation, str) and payload["approval_type"] != f"memory_{operation}":
        raise ValueError(
            f"The interrupt {payload['approval_type']!r:.80} has the operation {operation!r:.80}, "
            "which is another one. Nobody was asked."
        )
    old_content = None if existing == "" else existing
    return ApprovalRequest.memory(operation, user_id, content, old_content, **about)


def _writes(payload: Payload) -> ApprovalRequest:
    arguments = {"operations": payload["operations"]}
    about = _about(payload, {"operations"})
    return ApprovalRequest.tool_call("channel_write", arguments, **about)


def _call(payload: Payload) -> ApprovalRequest:
    arguments = {name: value for name, value in payload.items() if name != "approval_type"}
    _check(arguments, arguments)
    return ApprovalRequest.tool_call(payload["approval_type"], arguments)


_KINDS = {
    CODE: _code,
    PLAN: _plan,
    STEP: _step,
    WRITE: _writes,
}


def _about(payload: Payload, content: set[str]) -> dict[str, Any]:
    _check(payload, sorted(content))
    left_out = content | {"approval_type", "step_objective"}
    details = {name: value for name, value in payload.items() if name not in left_out}
    plan = payload.get("execution_plan")
    if isinstance(plan, Mapping) and (rest := {k: plan[k] for k in plan if k != "steps"}):
        details["execution_plan"] = rest  # Osprey goes by the steps alone
    objective = str(payload.get("step_objective") or "")
    text = sendable({"objective": objective})["objective"][: _core.MAX_TEXT]
    return {"objective": text, "evidence": _core.evidence(details)}


def _check(payload: Mapping[Any, Any], names: Iterable[Any]) -> None:
    """Refuse what would run if it cannot be shown.

    Raises:
        ValueError: It is not JSON.
    """
    for name in names:
        try:
            canonical_json({name: payload[name]})
        except (TypeError, ValueError, RecursionError) as error:
            raise ValueError(
                f"{name!r:.80} of the interrupt cannot be shown: {_binding.cause(error)}. Nobody "
                "was asked and nothing was run. JSON is taken."
            ) from None
