"""Have content inspected, in a process that can be killed. Whatever goes wrong is a finding."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from typing import Any, NamedTuple

from approval_client.wire import Kind, canonical_json
from dashboard import sandbox
from dashboard.inspection.findings import Report, in_doubt
from dashboard.inspection.headline import Headline, unread_headline

COMPUTING_S = 0.5
"""What an inspection may compute; 64 KiB of prose take 0.35 s. It is not a time by the clock: what
is not read in time may be rejected for that, and nobody shall be rejected for a busy machine."""

DEADLINE_S = 3.0
QUEUE_WAIT_S = 10.0  # pages that are drawn need the workers too
_INSPECTOR = "dashboard.inspection.inspector.inspect"
_HEADER = "dashboard.inspection.inspector.head"

log = logging.getLogger(__name__)


class Headed(NamedTuple):
    """What was found in a content, and what lists say of it."""

    report: Report
    headline: Headline


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
        return in_doubt("too-slow", "too-slow")
    except (sandbox.SandboxError, json.JSONDecodeError, KeyError, TypeError, ValueError) as error:
        log.warning("Inspecting a %s failed: %s", kind, error)
        return in_doubt("inspection-failed", "inspection-failed")


def inspect_and_head(kind: Kind, content: Mapping[str, Any]) -> Headed:
    """Return what ``inspect`` finds in ``content``, and its headline; never raises.

    Each is asked for by itself: no content can lose its report by what is slow in a headline.
    """
    report = inspect(kind, content)
    return Headed(report, head(kind, canonical_json(content), report))


def head(kind: Kind, content: str, report: Report) -> Headline:
    """Return the headline of a content that was inspected; never raises.

    Args:
        content: As it is stored, as JSON.
    """
    report_json = json.dumps(report.to_json())
    payload = f'{{"kind":{json.dumps(kind)},"content":{content},"report":{report_json}}}'
    try:
        return Headline.from_json(kind, _called(_HEADER, payload.encode()).decode())
    except (sandbox.SandboxError, KeyError, TypeError, ValueError) as error:
        log.warning("Making the headline of a %s failed: %s", kind, error)
        return unread_headline(kind, report)


def _inspected(payload: bytes) -> bytes:
    return _called(_INSPECTOR, payload)


def _called(function: str, payload: bytes) -> bytes:
    return sandbox.call(
        function,
        payload,
        DEADLINE_S,
        computing_s=COMPUTING_S,
        queue_wait_s=QUEUE_WAIT_S,
    )
