"""Have content inspected, in a process that can be killed. Whatever goes wrong is a finding."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from dashboard import sandbox
from dashboard.inspection.findings import Report, in_doubt
from dashboard.wire import Kind, canonical_json

DEADLINE_S = 0.2
_INSPECTOR = "dashboard.inspection.inspector.inspect"
_TOO_SLOW = (
    f"The inspection was stopped after {DEADLINE_S * 1000:.0f} ms, so nobody knows what this does."
)
_FAILED = "The inspection failed, so nobody knows what this does."

log = logging.getLogger(__name__)


def inspect(kind: Kind, content: Mapping[str, Any]) -> Report:
    """Return what our inspectors find in ``content``; never raises.

    Blocks for ``DEADLINE_S`` twice at the most, the wait for a free worker and its first start.
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
    with suppress(sandbox.DeadlineExceeded):  # the machine may have been busy for a moment
        return sandbox.call(_INSPECTOR, payload, DEADLINE_S)
    return sandbox.call(_INSPECTOR, payload, DEADLINE_S)
