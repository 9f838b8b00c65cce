"""What all questions that a part of a program asks have in common."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from copy import copy
from dataclasses import dataclass
from typing import Any

from approval_client._models import ApprovalRequest, Asked
from approval_client.wire import canonical_json, parse_json


@dataclass(frozen=True)
class _Run:
    run_id: str
    evidence: Mapping[str, Any]


_current: ContextVar[_Run | None] = ContextVar("approval_client.run", default=None)


@contextmanager
def run(run_id: str, *, evidence: Mapping[str, Any] | None = None) -> Iterator[None]:
    """Group what is asked inside as one run, whichever function, client or adapter asks it.

    It holds in tasks and in ``asyncio.to_thread``. A thread that the program starts itself takes
    it with ``contextvars.copy_context().run``. A question that has a run of its own, as some
    adapters give them, keeps it.

    Args:
        run_id: A name of the run, on one line.
        evidence: JSON that is shown to reviewers beside each question, as the agent's claim. What
            a question says itself goes before it; an inner run adds to an outer one.

    Raises:
        ValueError: The name is empty or has several lines, or the evidence is not JSON.
        TypeError: As ``ValueError``, for values of another type.
    """
    if not isinstance(run_id, str):
        raise TypeError(f"A run's name is text, not {type(run_id).__name__}. Nothing was asked.")
    if not run_id.strip() or not run_id.isprintable():
        raise ValueError("A run's name is printable text on one line. Nothing was asked.")
    claims = parse_json(canonical_json(dict(evidence or {})))
    outer_run = _current.get()
    token = _current.set(_Run(run_id, {**(outer_run.evidence if outer_run else {}), **claims}))
    try:
        yield
    finally:
        _current.reset(token)


def in_run(request: ApprovalRequest | Asked) -> ApprovalRequest | Asked:
    """Return a question with what its run says, as far as it does not say so itself.

    It has the very content of the caller's and the digest that this had when it was made, so a
    change of either is noticed.
    """
    current = _current.get()
    if current is None or isinstance(request, Asked):
        return request
    question = copy(request)
    object.__setattr__(question, "run_id", request.run_id or current.run_id)
    object.__setattr__(question, "evidence", {**current.evidence, **request.evidence})
    return question
