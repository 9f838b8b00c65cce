"""Exports of the history."""

from __future__ import annotations

from collections.abc import Mapping

from django.db import transaction

from dashboard.audit.services import Actor, Event, record


def record_export(*, by: Actor, form: str, filters: Mapping[str, str], rows: int) -> None:
    """Record who exported what, before the first row leaves.

    Args:
        form: ``"csv"`` or ``"jsonl"``.
        filters: What the rows were chosen by; empty for all of them.
        rows: How many there were when the export began.
    """
    details = {"format": form, "filters": dict(filters), "rows": rows}
    with transaction.atomic():
        record(by, Event("history.exported", details=details))
