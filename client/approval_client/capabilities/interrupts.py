"""What an agent hands to LangGraph's ``interrupt``: a message and a payload to resume with.

The payload holds what was given, as it was given, so that the agent resumes with its own objects;
only paths become text.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from approval_client.capabilities import messages
from approval_client.capabilities.approval_types import create_approval_type
from approval_client.capabilities.messages import message, said

if TYPE_CHECKING:
    from pathlib import Path


def create_code_approval_interrupt(  # noqa: PLR0913, PLR0917 - Osprey's signature
    code: str,
    analysis_details: dict[str, Any],
    execution_mode: str,
    safety_concerns: list[str],
    notebook_path: Path | None = None,
    notebook_link: str | None = None,
    execution_request: Any = None,
    expected_results: dict[str, Any] | None = None,
    execution_folder_path: Path | None = None,
    step_objective: str = "Execute Python code",
) -> dict[str, Any]:
    """Ask whether Python code may run.

    A link that is not a plain http(s) address is named in the message, but cannot be followed.
    """
    about = messages.about_code(step_objective, execution_mode, analysis_details, notebook_link)
    yes, no = "approve and run the code", "reject it: the code does not run"
    payload = {
        "approval_type": create_approval_type("python_executor"),
        "step_objective": step_objective,
        "code": code,
        "analysis_details": analysis_details,
        "execution_mode": execution_mode,
        "safety_concerns": safety_concerns,
        "notebook_path": _path(notebook_path),
        "notebook_link": notebook_link,
        "execution_request": execution_request,
        "expected_results": expected_results,
        "execution_folder_path": _path(execution_folder_path),
    }
    return {"user_message": message(*about, yes=yes, no=no), "resume_payload": payload}


def create_plan_approval_interrupt(
    execution_plan: Any, plan_file_path: str | None = None, pending_plans_dir: str | None = None
) -> dict[str, Any]:
    """Ask whether a plan may be followed. The payload names the paths only if they are given."""
    raw_paths = {"plan_file_path": plan_file_path, "pending_plans_dir": pending_plans_dir}
    paths = {name: str(path) for name, path in raw_paths.items() if path}
    titles = {"plan_file_path": "Plan file", "pending_plans_dir": "Folder of pending plans"}
    files = {titles[name]: path for name, path in paths.items()}
    about = messages.about_plan(execution_plan, files)
    yes, no = "approve and follow the plan", "reject it: no step is taken"
    payload = {
        "approval_type": create_approval_type("orchestrator", "plan"),
        "execution_plan": execution_plan,
        **paths,
    }
    return {"user_message": message(*about, yes=yes, no=no), "resume_payload": payload}


def create_memory_approval_interrupt(
    content: str,
    operation_type: str,
    user_id: str,
    existing_memory: str = "",
    step_objective: str = "Save content to memory",
) -> dict[str, Any]:
    """Ask whether what is remembered about a user may be changed.

    Raises:
        ValueError: ``operation_type`` gives no approval type of its own.
    """
    if operation_type is None:
        raise ValueError("operation_type must be a name, got None. Nobody was asked.")
    about = messages.about_memory(
        step_objective, operation_type, user_id, content, existing_memory
    )
    yes = f"approve the operation {said(operation_type)}"
    no = "reject it: the memory stays as it is"
    payload = {
        "approval_type": create_approval_type("memory", operation_type),
        "step_objective": step_objective,
        "content": content,
        "operation_type": operation_type,
        "user_id": user_id,
        "existing_memory": existing_memory,
    }
    return {"user_message": message(*about, yes=yes, no=no), "resume_payload": payload}


def create_step_approval_interrupt(
    step: dict[str, Any], step_number: int, execution_plan: dict[str, Any]
) -> dict[str, Any]:
    """Ask whether one step of a reactive plan may be taken (Osprey 0.11)."""
    about = messages.about_step(step_number, step)
    yes, no = "approve and take this step", "reject it: the step is not taken"
    payload = {
        "approval_type": create_approval_type("reactive_orchestrator", "step"),
        "execution_plan": execution_plan,
        "step": step,
        "step_number": step_number,
    }
    return {"user_message": message(*about, yes=yes, no=no), "resume_payload": payload}


def create_channel_write_approval_interrupt(
    operations: Sequence[Any],
    analysis_details: dict[str, Any],
    safety_concerns: list[str] | None = None,
    step_objective: str = "Write values to control system channels",
) -> dict[str, Any]:
    """Ask whether values may be written to channels (Osprey 0.11).

    The message lists the operations themselves, and not what the analysis says about them.

    Raises:
        ValueError: An operation names no channel or no value.
    """
    writes = [_operation(number, operation) for number, operation in enumerate(operations, 1)]
    concerns = [] if safety_concerns is None else safety_concerns
    about = messages.about_writes(step_objective, writes, concerns)
    yes, no = "approve and write these values", "reject it: nothing is written"
    payload = {
        "approval_type": create_approval_type("channel_write"),
        "step_objective": step_objective,
        "operations": writes,
        "analysis_details": analysis_details,
        "safety_concerns": concerns,
    }
    return {"user_message": message(*about, yes=yes, no=no), "resume_payload": payload}


def _operation(number: int, given: object) -> dict[str, Any]:
    names = ("channel_address", "value", "units", "notes")
    fields = {name: messages.field(given, name) for name in names}
    for name in ("channel_address", "value"):
        if fields[name] is None:
            raise ValueError(f"Write operation {number} has no {name!r}. Nobody was asked.")
    return fields


def _path(path: object) -> str | None:
    return str(path) if path else None
