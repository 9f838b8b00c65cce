"""httpx2, imported with the first client: it takes most of the time that this library would.

Modules name it ``httpx2`` and use it as ever; for whoever checks types it is httpx2.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any


def __getattr__(name: str) -> Any:
    value = globals()[name] = getattr(import_module("httpx2"), name)
    return value
