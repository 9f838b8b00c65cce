"""Exports of the history."""

from __future__ import annotations

from collections.abc import Mapping

from django.db import transaction

from dashboard.audit.actions import Action
from dashboard.audit.services import Actor, AuditEvent, record


def record_export(*, by: Actor, form: str, filters: Mapping[str, str], rows: int) -> None:
    """Record who exported what, before the first row leaves.

    Args:
        form: ``"csv"`` or ``"jsonl"``.
        filters: What the rows were chosen by; empty for all of them. Of a run and a tool
            the log keeps only that one was named: the names are the agent's.
        rows: How many there were when the export began.
    """
    logged_filters = {
        name: True if name in {"run", "tool"} else value for name, value in filters.items()
    }
    details = {"format": form, "filters": logged_filters, "rows": rows}
    with transaction.atomic(durable=True):
        record(by, AuditEvent(Action.HISTORY_EXPORTED, details=details))
