"""One configuration for all capabilities, with the global mode applied."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Any

from approval_client.capabilities.configs import (
    GlobalApprovalConfig,
    MemoryApprovalConfig,
    PythonExecutionApprovalConfig,
)
from approval_client.capabilities.evaluators import (
    MemoryApprovalEvaluator,
    PythonExecutionApprovalEvaluator,
)
from approval_client.capabilities.modes import ALL_CAPABILITIES, DISABLED

log = logging.getLogger(__name__)


class ApprovalManager:
    """Hands out configurations and evaluators that the global mode has been applied to.

    ``all_capabilities`` switches approval on and leaves the mode alone, as Osprey does: with mode
    ``disabled`` it still asks nobody.
    """

    def __init__(self, approval_config: dict[str, Any]) -> None:
        self.config = GlobalApprovalConfig.from_dict(approval_config)

    def get_python_execution_config(self) -> PythonExecutionApprovalConfig:
        """Return the configuration that holds for Python code."""
        configured = self.config.python_execution
        return replace(configured, enabled=self._enabled(configured=configured.enabled))

    def get_memory_config(self) -> MemoryApprovalConfig:
        """Return the configuration that holds for memory."""
        return MemoryApprovalConfig(self._enabled(configured=self.config.memory.enabled))

    def get_python_execution_evaluator(self) -> PythonExecutionApprovalEvaluator:
        """Return a new evaluator for Python code."""
        return PythonExecutionApprovalEvaluator(self.get_python_execution_config())

    def get_memory_evaluator(self) -> MemoryApprovalEvaluator:
        """Return a new evaluator for memory."""
        return MemoryApprovalEvaluator(self.get_memory_config())

    def get_config_summary(self) -> dict[str, Any]:
        """Return what holds, as plain values for a log or a page."""
        python = self.get_python_execution_config()
        return {
            "global_mode": self.config.global_mode,
            "python_execution": {"enabled": python.enabled, "mode": python.mode.value},
            "memory": {"enabled": self.get_memory_config().enabled},
        }

    def log_summary(self) -> None:
        """Write what holds into the log of the program, so that it can be looked up afterwards."""
        log.info("Approval is configured: %s.", self.get_config_summary())

    def _enabled(self, *, configured: bool) -> bool:
        overrides = {DISABLED: False, ALL_CAPABILITIES: True}
        return overrides.get(self.config.global_mode, configured)
