"""Notebooks, read in a process that can be killed."""

from __future__ import annotations

import json
import logging
import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from uuid import UUID

from django.core.cache import cache
from django.db.models import QuerySet

from dashboard import sandbox
from dashboard.approvals.errors import NotebookRefused
from dashboard.approvals.models import ApprovalRequest, Notebook, NotebookPin
from dashboard.inspection.notebooks import READER_VERSION, Cell, Outline

log = logging.getLogger(__name__)

CHECK_WITHIN_S = 5.0
READ_WITHIN_S = 3.0
TURN_WITHIN_S = 0.5
READ_TURN_WITHIN_S = 5.0
CACHED_S = 600
_CACHED_BYTES = 500_000
_READER = "dashboard.inspection.notebooks"
_DIGEST = re.compile(r"[0-9a-f]{64}", re.ASCII)
_BUSY = "The server is reading another notebook. Send this one again."
_TOO_SLOW = "The notebook could not be read in time or in the memory that there is for it."
_FAILED = (
    "Our reader failed on this notebook, which is a fault of ours. It was not kept. Ask without "
    "it, and report it with the line in the server's log."
)
_FAULT = "A notebook could not be read, which is a fault of ours: %s"
_turns = threading.Lock()


class ReaderBusy(sandbox.SandboxError):
    """Another notebook is being read."""


@contextmanager
def turn(within_s: float = READ_TURN_WITHIN_S) -> Iterator[None]:
    """Read one notebook at a time, so that a worker is left for what agents submit.

    Raises:
        ReaderBusy: It was not our turn in time.
    """
    if not _turns.acquire(timeout=within_s):
        raise ReaderBusy
    try:
        yield
    finally:
        _turns.release()


def is_digest(value: Any) -> bool:
    """Say whether ``value`` could name a notebook."""
    return isinstance(value, str) and _DIGEST.fullmatch(value) is not None


def check(body: bytes) -> str:
    """Return the outline of a notebook, as JSON.

    Raises:
        NotebookRefused: It is not one, or one that could not be shown, or it was not its turn.
    """
    try:
        with turn(TURN_WITHIN_S):
            text = sandbox.call(f"{_READER}.check", body, CHECK_WITHIN_S).decode()
    except ReaderBusy:
        raise NotebookRefused("unavailable", _BUSY) from None
    except sandbox.CallFailed as error:
        log.warning(_FAULT, error)
        raise NotebookRefused("not_a_notebook", _FAILED) from None
    except sandbox.SandboxError:
        raise NotebookRefused("not_a_notebook", _TOO_SLOW) from None
    outline = json.loads(text)
    if "problem" in outline:
        raise NotebookRefused(outline["code"], outline["problem"])
    return text


def pinned_to(approval_id: UUID) -> Notebook | None:
    """Return the notebook that a request names, without its bytes, if its agent had sent it."""
    pin = _pins().filter(approval=approval_id).first()
    return pin.notebook if pin else None


def pinned_before(approval: ApprovalRequest) -> Notebook | None:
    """Return the notebook of the request before, in the same run."""
    if not approval.run_id:
        return None
    earlier = _pins().filter(
        approval__agent=approval.agent_id,
        approval__run_id=approval.run_id,
        approval__submitted_at__lt=approval.submitted_at,
    )
    pin = earlier.order_by("-approval__submitted_at").first()
    return pin.notebook if pin else None


def outline_of(notebook: Notebook) -> Outline:
    """Return what is kept beside a notebook."""
    outline: Outline = json.loads(notebook.outline)
    return outline


def cells_of(notebook: Notebook, start: int, count: int) -> list[Cell] | None:
    """Return cells, counted from 0, cut to what a page can draw; None if they cannot be read."""
    cells: list[Cell] | None = _asked(notebook, "read", [start, count])
    return cells


def sources_of(notebook: Notebook, numbers: Sequence[int]) -> list[str] | None:
    """Return the whole sources of some cells, counted from 0; None if they cannot be read."""
    sources: list[str] | None = _asked(notebook, "sources", list(numbers))
    return sources


def picture_of(notebook: Notebook, cell: int, output: int) -> bytes | None:
    """Return the PNG of an output, as the agent sent it, or None if there is none."""
    return _called(notebook, "picture", [cell, output]) or None


def _asked(notebook: Notebook, function: str, numbers: list[int]) -> Any:
    key = f"notebook:{READER_VERSION}:{function}:{numbers}:{notebook.digest}".replace(" ", "")
    text = cache.get(key)
    if text is None:
        text = _called(notebook, function, numbers)
        if text is not None and len(text) <= _CACHED_BYTES:
            cache.set(key, text, CACHED_S)
    return None if text is None else json.loads(text)


def _called(notebook: Notebook, function: str, numbers: list[int]) -> bytes | None:
    payload = json.dumps(numbers).encode() + b"\n" + bytes(notebook.body)
    try:
        with turn():
            return sandbox.call(f"{_READER}.{function}", payload, READ_WITHIN_S)
    except sandbox.CallFailed as error:
        log.warning(_FAULT, error)
        return None
    except sandbox.SandboxError:
        return None


def _pins() -> QuerySet[NotebookPin]:
    return NotebookPin.objects.select_related("notebook").defer("notebook__body")
