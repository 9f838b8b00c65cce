"""What the live pages and waiting agents react to."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from dashboard.approvals.models import ApprovalRequest
from dashboard.approvals.signals import approval_changed, hold_changed
from dashboard.live import push
from dashboard.live.hub import GATE
from dashboard.live.layer import Bell
from dashboard.policies.signals import policy_published


def connect() -> None:
    """Listen to the domain. Called once, when Django starts."""
    approval_changed.connect(_ring, dispatch_uid="live.approval_changed")
    hold_changed.connect(_ring_gate, dispatch_uid="live.gate_changed")
    policy_published.connect(_ring_gate, dispatch_uid="live.policy_published")


def _ring(
    *,
    approval_id: UUID,
    version: int,
    closed: ApprovalRequest | None,
    in_queue: bool,
    **_: Any,
) -> None:
    push.ring(Bell(str(approval_id), version, in_queue), closed)


def _ring_gate(**_: Any) -> None:
    push.ring(Bell(GATE, 0))
