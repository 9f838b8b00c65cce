"""Whether one action needs approval, and why, in the sentences that Osprey's users know."""

from __future__ import annotations

from typing import NamedTuple

from approval_client.capabilities.configs import (
    MemoryApprovalConfig,
    PythonExecutionApprovalConfig,
)
from approval_client.capabilities.modes import ApprovalMode


class ApprovalDecision(NamedTuple):
    """Whether a person is needed, and why."""

    needs_approval: bool
    reasoning: str


class PythonExecutionApprovalEvaluator:
    """Says whether Python code needs approval under a configuration."""

    def __init__(self, config: PythonExecutionApprovalConfig) -> None:
        self.config = config

    def evaluate(
        self,
        has_epics_writes: bool,  # noqa: FBT001 - Osprey's signature
        has_epics_reads: bool,  # noqa: FBT001, ARG002 - Osprey's signature; reads never matter
    ) -> ApprovalDecision:
        """Judge code by what was found in it. An unknown mode means that approval is needed.

        So does whatever is not plainly False: an analysis that failed has not found no writes.
        """
        if self.config.enabled is False:
            return ApprovalDecision(False, "Python execution approval is disabled")
        match self.config.mode:
            case ApprovalMode.DISABLED:
                return ApprovalDecision(False, "Approval mode is disabled")
            case ApprovalMode.EPICS_WRITES if has_epics_writes is not False:
                return ApprovalDecision(True, "Code contains EPICS write operations")
            case ApprovalMode.EPICS_WRITES:
                reasoning = "Code contains no EPICS writes (read-only or pure Python)"
                return ApprovalDecision(False, reasoning)
            case ApprovalMode.ALL_CODE:
                return ApprovalDecision(True, "All code requires approval")
        return ApprovalDecision(True, f"Unknown approval mode: {self.config.mode}")


class MemoryApprovalEvaluator:
    """Says whether a memory operation needs approval under a configuration."""

    def __init__(self, config: MemoryApprovalConfig) -> None:
        self.config = config

    def evaluate(self, operation_type: str = "general") -> ApprovalDecision:  # noqa: ARG002 - Osprey's
        """Judge an operation. Its type makes no difference."""
        if self.config.enabled is False:
            return ApprovalDecision(False, "Memory operation approval is disabled")
        return ApprovalDecision(True, "Memory operations require approval")
