"""The modes that say when a person is needed."""

from __future__ import annotations

from enum import Enum

DISABLED = "disabled"
SELECTIVE = "selective"
ALL_CAPABILITIES = "all_capabilities"
GLOBAL_MODES = (DISABLED, SELECTIVE, ALL_CAPABILITIES)


class ApprovalMode(Enum):
    """When code needs approval: never, when it writes to the control system, or always.

    ``CONTROL_WRITES`` is what Osprey calls ``EPICS_WRITES`` since 0.8: the same member, whose
    value is written ``epics_writes`` and can be read in both spellings.
    """

    DISABLED = "disabled"
    EPICS_WRITES = "epics_writes"
    CONTROL_WRITES = EPICS_WRITES
    ALL_CODE = "all_code"

    @classmethod
    def _missing_(cls, value: object) -> ApprovalMode | None:
        return cls.EPICS_WRITES if value == "control_writes" else None
