"""Have content inspected, in a process that can be killed. Whatever goes wrong is a finding."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from typing import Any

from approval_client.wire import Kind, canonical_json
from dashboard import sandbox
from dashboard.inspection.findings import Report, in_doubt

COMPUTING_S = 0.5
"""What an inspection may compute; 64 KiB of prose take 0.35 s. It is not a time by the clock: what
is not read in time may be rejected for that, and nobody shall be rejected for a busy machine."""

DEADLINE_S = 3.0
QUEUE_WAIT_S = 10.0  # pages that are drawn need the workers too
_INSPECTOR = "dashboard.inspection.inspector.inspect"
_TOO_SLOW = "too-slow"
_FAILED = "inspection-failed"

log = logging.getLogger(__name__)


def inspect(kind: Kind, content: Mapping[str, Any]) -> Report:
    """Return what our inspectors find in ``content``; never raises.

    Blocks for ``DEADLINE_S`` at the most, the wait for a free worker and its first start.
    An inspection that is too slow, crashes or answers nonsense is a report with one high finding
    that says so.
    """
    payload = canonical_json({"kind": str(kind), "content": content}).encode()
    try:
        return Report.from_json(_inspected(payload))
    except sandbox.DeadlineExceeded:
        return in_doubt("too-slow", _TOO_SLOW)
    except (sandbox.SandboxError, json.JSONDecodeError, KeyError, TypeError, ValueError) as error:
        log.warning("Inspecting a %s failed: %s", kind, error)
        return in_doubt("inspection-failed", _FAILED)


def _inspected(payload: bytes) -> bytes:
    return sandbox.call(
        _INSPECTOR,
        payload,
        DEADLINE_S,
        computing_s=COMPUTING_S,
        queue_wait_s=QUEUE_WAIT_S,
    )
