"""Rows of the history for other programs: CSV for spreadsheets, JSON lines for all else."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

_COLUMNS = {
    "id": "id",
    "agent": "agent_name",
    "run_id": "run_id",
    "kind": "kind",
    "capability": "capability",
    "digest": "digest",
    "asked_at": "asked_at",
    "expires_at": "time_limit",
    "status": "stands",
    "decided_digest": "decided_digest",
    "source": "source",
    "decided_by": "decided_by",
    "approved_by": "votes",
    "reason": "reason",
    "decided_at": "decided_at",
    "valid_until": "valid_until",
    "grant": "grant_number",
    "policy_revision": "revision",
    "started_at": "started_at",
    "finished_at": "finished_at",
    "exit_code": "exit_code",
    "error": "error",
}
COLUMNS = tuple(_COLUMNS)
_FORMULA = ("=", "+", "-", "@", "\t", "\r")

Rows = Sequence[dict[str, Any]]


def as_csv(rows: Rows) -> str:
    """Write rows as CSV. Everything is quoted, and what a spreadsheet might run is defused."""
    return _csv([_cell(value) for value in record.values()] for record in map(_record, rows))


def csv_head() -> str:
    """Write the names of the columns."""
    return _csv([list(COLUMNS)])


def as_jsonl(rows: Rows) -> str:
    """Write rows as JSON, one object a line, every text as it is."""
    return "".join(f"{json.dumps(_record(row))}\n" for row in rows)


def no_head() -> str:
    """Write nothing: each line names its members itself."""
    return ""


FORMATS: dict[str, tuple[str, Callable[[], str], Callable[[Rows], str]]] = {
    "csv": ("text/csv; charset=utf-8", csv_head, as_csv),
    "jsonl": ("application/jsonl; charset=utf-8", no_head, as_jsonl),
}
"""Name of a format -> its media type, what stands before the rows, and how rows are written."""


def _record(row: dict[str, Any]) -> dict[str, Any]:
    return {name: _plain(row[column]) for name, column in _COLUMNS.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(timespec="microseconds")
    return value if isinstance(value, int | str | list | None) else str(value)


def _csv(lines: Any) -> str:
    out = io.StringIO()
    # A comma that is no separator somewhere may not make a cell out of a part of one.
    csv.writer(out, quoting=csv.QUOTE_ALL).writerows(lines)
    return out.getvalue()


def _cell(value: Any) -> str:
    text = ", ".join(value) if isinstance(value, list) else "" if value is None else str(value)
    return f"'{text}" if text.startswith(_FORMULA) else text
