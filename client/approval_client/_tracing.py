"""Traces: what is asked of the dashboard belongs to the agent's own trace.

Only where the program has loaded OpenTelemetry's API itself: it is not needed, and never loaded.
Whatever goes wrong with it changes nothing of what is asked and answered.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import Any

logger = logging.getLogger("approval_client")


@contextmanager
def conversation() -> Iterator[Mapping[str, str]]:
    """Give the headers that put calls into one span, which ends with this; without a tracer, none.

    The span is not made the current one: whatever hosts an agent may end a conversation in another
    context than it began in.
    """
    span, headers = _begin()
    try:
        yield headers
    finally:
        if span is not None:
            _end(span, sys.exc_info()[0])


def _begin() -> tuple[Any, dict[str, str]]:
    trace: Any = sys.modules.get("opentelemetry.trace")
    if trace is None:
        return None, {}
    try:
        w3c: Any = import_module("opentelemetry.trace.propagation.tracecontext")
        span = trace.get_tracer("approval_client").start_span(
            "approval", kind=trace.SpanKind.CLIENT
        )
        headers: dict[str, str] = {}
        # Nothing else of the context, such as baggage, is the dashboard's business.
        propagator = w3c.TraceContextTextMapPropagator()
        propagator.inject(headers, context=trace.set_span_in_context(span))
    except Exception as error:  # noqa: BLE001 - it is the program's, and asking goes on without
        logger.debug("Nothing is traced (%s).", type(error).__name__)
        return None, {}
    return span, headers


def _end(span: Any, error: type[BaseException] | None) -> None:
    try:
        if error is not None:
            span.set_attribute("error.type", error.__name__)
        span.end()
    except Exception as failure:  # noqa: BLE001 - the same
        logger.debug("A span could not be ended (%s).", type(failure).__name__)
