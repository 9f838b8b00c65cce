"""Have content inspected, in a process that can be killed. Whatever goes wrong is a finding."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from threading import Lock
from typing import Any, NamedTuple

from approval_client.wire import Kind, canonical_json
from dashboard import sandbox
from dashboard.inspection.findings import Finding, Report, in_doubt
from dashboard.inspection.headline import Headline, add_to_headline, unread_headline

COMPUTING_S = 0.5
"""What an inspection may compute; 64 KiB of prose take 0.35 s. It is not a time by the clock: what
is not read in time may be rejected for that, and nobody shall be rejected for a busy machine."""

DEADLINE_S = 3.0
QUEUE_WAIT_S = 10.0  # pages that are drawn need the workers too
HEAVY_BYTES = 1 << 16
"""From here on a content may take seconds. It has more to compute, the longer it is; its workers
are few and let others go first, so that its time by the clock is no measure of it."""

MORE_PER_MIB_S = 12.0
HEAVY_DEADLINE_S = 18.0
HEAVY_QUEUE_WAIT_S = 5.0
MOST_HEAVY = 3
"""So many are read, or wait for it, at once; each takes one of the threads of who asks for it."""

_INSPECTOR = "dashboard.inspection.inspector.inspect"
_SKIMMER = "dashboard.inspection.inspector.skim"
_HEADER = "dashboard.inspection.inspector.head"

_FAILURES = (sandbox.SandboxError, json.JSONDecodeError, KeyError, TypeError, ValueError)
_FAILED = in_doubt("inspection-failed", "inspection-failed")
_TOO_SLOW = in_doubt("too-slow", "too-slow")

log = logging.getLogger(__name__)


_heavy_lock = Lock()
_heavy_askers: list[str] = []


class InspectorsBusy(Exception):
    """All who could read a content are busy with others. Nothing is known of it: ask again."""


class Headed(NamedTuple):
    """What was found in a content, and what lists say of it."""

    report: Report
    headline: Headline

    def with_finding(self, finding: Finding) -> Headed:
        """Return both with a finding more, about the whole of the content."""
        report = replace(self.report, findings=(*self.report.findings, finding))
        return Headed(report, add_to_headline(self.headline, finding))


def inspect(kind: Kind, content: Mapping[str, Any]) -> Report:
    """Return what our inspectors find in ``content``; never raises.

    An inspection that is too slow, crashes, finds no free worker or answers nonsense is a report
    with a high finding that says so. What is too slow is searched for lines that name something
    dangerous.
    """
    try:
        return _report_on(kind, content, asker="")
    except InspectorsBusy:
        return _FAILED


def inspect_and_head(kind: Kind, content: Mapping[str, Any], *, asker: str = "") -> Headed:
    """Return what ``inspect`` finds in ``content``, and its headline.

    Each is asked for by itself: no content can lose its report by what is slow in a headline.

    Args:
        asker: For whom. Nobody has two long contents read at once, so that one agent cannot keep
            others from being heard.

    Raises:
        InspectorsBusy: Nobody was free to read it. That says nothing of the content, so it must
            not be judged by it.
    """
    report = _report_on(kind, content, asker=asker)
    return Headed(report, head(kind, canonical_json(content), report))


def _report_on(kind: Kind, content: Mapping[str, Any], *, asker: str) -> Report:
    payload = canonical_json({"kind": str(kind), "content": content}).encode()
    with _turn(payload, asker):
        try:
            return Report.from_json(_inspected(payload))
        except sandbox.NoWorkerFree:
            raise InspectorsBusy from None
        except sandbox.DeadlineExceeded:
            return _skimmed(payload, in_doubt("too-slow", "too-slow-searched"), _TOO_SLOW)
        except _FAILURES as error:
            log.warning("Inspecting a %s failed: %s", kind, error)
            return _skimmed(payload, _FAILED, _FAILED)


@contextmanager
def _turn(payload: bytes, asker: str) -> Iterator[None]:
    """Let few long contents be read at once, and one of each asker.

    Raises:
        InspectorsBusy: It is not this one's turn.
    """
    if len(payload) <= HEAVY_BYTES:
        yield
        return
    with _heavy_lock:
        if len(_heavy_askers) >= MOST_HEAVY or (asker and asker in _heavy_askers):
            raise InspectorsBusy
        _heavy_askers.append(asker)
    try:
        yield
    finally:
        with _heavy_lock:
            _heavy_askers.remove(asker)


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
    return _called(_INSPECTOR, payload, more_s=MORE_PER_MIB_S * _mib_beyond(payload))


def _skimmed(payload: bytes, doubt: Report, alone: Report) -> Report:
    """Return what dangerous lines do, with the doubt about the rest.

    Args:
        alone: What holds if this cannot be told either.
    """
    try:
        report = Report.from_json(_called(_SKIMMER, payload, more_s=_mib_beyond(payload)))
    except _FAILURES:
        return alone
    return replace(report, findings=(*doubt.findings, *report.findings))


def _mib_beyond(payload: bytes) -> float:
    """Return by how much a payload is larger than what every inspection has time for."""
    return max(len(payload) - HEAVY_BYTES, 0) / (1 << 20)


def _called(function: str, payload: bytes, more_s: float = 0.0) -> bytes:
    is_heavy = len(payload) > HEAVY_BYTES
    return sandbox.call(
        function,
        payload,
        HEAVY_DEADLINE_S if is_heavy else DEADLINE_S,
        computing_s=COMPUTING_S + more_s,
        queue_wait_s=HEAVY_QUEUE_WAIT_S if is_heavy else QUEUE_WAIT_S,
        is_heavy=is_heavy,
    )
