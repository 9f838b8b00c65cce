"""The name of a row as it was written, for the log to keep. Pure."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import UUID


def fingerprint(values: Mapping[str, Any], key: str = "") -> str:
    """Return what names the columns of a row, as 64 hexadecimal digits.

    The log keeps it in the entry that describes the row: whoever changes the row later cannot
    change what the log says of it.

    Args:
        values: The columns.
        key: Any text. With it this is an HMAC-SHA256, and nobody who lacks the key can
            find out by trying what stood in a row that is gone. Without it, a SHA-256.
    """
    plain = {name: _plain(value) for name, value in values.items()}
    text = json.dumps(plain, ensure_ascii=True, separators=(",", ":"), sort_keys=True)
    if key:
        return hmac.new(key.encode(), text.encode(), hashlib.sha256).hexdigest()
    return hashlib.sha256(text.encode()).hexdigest()


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(timespec="microseconds")
    if isinstance(value, float):
        return value + 0.0  # databases read -0.0 back as 0.0
    return str(value) if isinstance(value, UUID | str) else value
