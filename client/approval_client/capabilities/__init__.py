"""Osprey's approval vocabulary: which kinds of action there are and when a person is needed.

Names, messages and truth table are those of ``framework.approval`` 0.7.8, which were run to find
out, and the interrupts of later releases stand beside them. ``EPICS_WRITES`` can be spelled
``CONTROL_WRITES`` too, as later releases do. Where the original took more than an approval for
one, this is stricter; ``docs/capabilities.md`` lists it. Standard library only.
"""

from approval_client.capabilities.approval_types import create_approval_type
from approval_client.capabilities.configs import (
    GlobalApprovalConfig,
    MemoryApprovalConfig,
    PythonExecutionApprovalConfig,
)
from approval_client.capabilities.evaluators import (
    ApprovalDecision,
    MemoryApprovalEvaluator,
    PythonExecutionApprovalEvaluator,
)
from approval_client.capabilities.interrupts import (
    create_channel_write_approval_interrupt,
    create_code_approval_interrupt,
    create_memory_approval_interrupt,
    create_plan_approval_interrupt,
    create_step_approval_interrupt,
)
from approval_client.capabilities.manager import ApprovalManager
from approval_client.capabilities.modes import ApprovalMode
from approval_client.capabilities.resume import (
    clear_approval_state,
    get_approval_resume_data,
    get_approved_payload_from_state,
)
from approval_client.capabilities.services import handle_service_with_interrupts
from approval_client.capabilities.singleton import configure_approval, get_approval_manager

__all__ = [
    "ApprovalDecision",
    "ApprovalManager",
    "ApprovalMode",
    "GlobalApprovalConfig",
    "MemoryApprovalConfig",
    "MemoryApprovalEvaluator",
    "PythonExecutionApprovalConfig",
    "PythonExecutionApprovalEvaluator",
    "clear_approval_state",
    "configure_approval",
    "create_approval_type",
    "create_channel_write_approval_interrupt",
    "create_code_approval_interrupt",
    "create_memory_approval_interrupt",
    "create_plan_approval_interrupt",
    "create_step_approval_interrupt",
    "get_approval_manager",
    "get_approval_resume_data",
    "get_approved_payload_from_state",
    "handle_service_with_interrupts",
]
