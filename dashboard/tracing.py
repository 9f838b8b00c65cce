"""Traces by OpenTelemetry, where it is installed (the extra ``[otel]``) and an SDK is set up.

A span is recorded when it is over, with its beginning, so nothing is wrapped around the work. Its
parent is what the agent said it is (W3C Trace Context), and the agent may say what it likes.
"""

from __future__ import annotations

import re
from time import time_ns
from typing import Any

try:
    from opentelemetry import trace
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
except ImportError:  # nothing is traced
    trace = None  # type: ignore[assignment]

TRACEPARENT = re.compile(r"[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}")
"""The header ``traceparent``, https://www.w3.org/TR/trace-context/."""


def record(name: str, traceparent: str | None, began_ns: int, **attributes: Any) -> None:
    """Record a span that ends now.

    Args:
        name: What was done, such as ``approval.decide``.
        traceparent: The span that it is part of; without one nothing is recorded.
        began_ns: When it began, as ``time.time_ns`` has it.
    """
    if trace is None or not traceparent or not TRACEPARENT.fullmatch(traceparent):
        return
    context = TraceContextTextMapPropagator().extract({"traceparent": traceparent})
    tracer = trace.get_tracer("approval_dashboard")
    span = tracer.start_span(
        name,
        context=context,
        kind=trace.SpanKind.SERVER,
        start_time=began_ns,
        attributes=attributes,
    )
    span.end(time_ns())
