"""The clients that are made where none is given: from the environment, when they are needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from approval_client._async_client import AsyncClient
from approval_client._models import ApprovalResponse
from approval_client._refusals import refusal
from approval_client._sync_client import Client

_makers: list[tuple[Callable[[], Client], Callable[[], AsyncClient]]] = [(Client, AsyncClient)]


def default_client() -> Client:
    """Return a client configured by the environment, or by a test."""
    return _makers[-1][0]()


def default_async_client() -> AsyncClient:
    """Return an asynchronous client configured by the environment, or by a test."""
    return _makers[-1][1]()


@contextmanager
def defaults(
    client: Callable[[], Client], async_client: Callable[[], AsyncClient]
) -> Iterator[None]:
    """Have these make the clients for a while, in every thread: for tests."""
    _makers.append((client, async_client))
    try:
        yield
    finally:
        _makers.pop()


async def approval_func(request: Any) -> ApprovalResponse:
    """Ask people whether code may run, and wait: AutoGen's ``approval_func``.

    ``DASHBOARD_URL`` and ``DASHBOARD_TOKEN`` say where and as whom. Whatever goes wrong is
    returned as a rejection whose reason says what happened; nothing is raised, because an
    exception would end the whole run of agents.

    Args:
        request: AutoGen's request, or anything with ``code``, or our own ``ApprovalRequest``.
    """
    try:
        client = default_async_client()
    except Exception as error:  # noqa: BLE001 - whatever goes wrong is a rejection
        return refusal(error)
    return await client.approval_func(request)
