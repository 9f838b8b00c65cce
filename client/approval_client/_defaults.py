"""The clients that are made where none is given: from the environment, when they are needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from approval_client._async_client import AsyncClient
from approval_client._calls import Contact
from approval_client._refusals import refusal
from approval_client._sync_client import Client


@dataclass(frozen=True)
class _Makers:
    """What makes the clients. To whoever names none, all that it makes are one client.

    So what one of them reached, the next one waits for.
    """

    client: Callable[[], Client]
    async_client: Callable[[], AsyncClient]
    contacts: dict[str, Contact] = field(default_factory=dict)


_makers = [_Makers(Client, AsyncClient)]


def default_client() -> Client:
    """Return a client configured by the environment, or by a test."""
    maker = _makers[-1]
    client = maker.client()
    client._share_contact(maker.contacts)  # noqa: SLF001 - one package
    return client


def default_async_client() -> AsyncClient:
    """Return an asynchronous client configured by the environment, or by a test."""
    maker = _makers[-1]
    client = maker.async_client()
    client._share_contact(maker.contacts)  # noqa: SLF001 - one package
    return client


@contextmanager
def defaults(
    client: Callable[[], Client], async_client: Callable[[], AsyncClient]
) -> Iterator[None]:
    """Have these make the clients for a while, in every thread: for tests."""
    _makers.append(_Makers(client, async_client))
    try:
        yield
    finally:
        _makers.pop()


async def approval_func(request: Any) -> Any:
    """Ask people whether code may run, and wait: AutoGen's ``approval_func``.

    ``DASHBOARD_URL`` and ``DASHBOARD_TOKEN`` say where and as whom. Whatever goes wrong is
    returned as a rejection whose reason says what happened; nothing is raised, because an
    exception would end the whole run of agents.

    Args:
        request: AutoGen's request, or anything with ``code``, or our own ``ApprovalRequest``.

    Returns:
        An ``ApprovalResponse``. It is typed as anything, because AutoGen asks for its own class.
    """
    try:
        client = default_async_client()
    except Exception as error:  # noqa: BLE001 - whatever goes wrong is a rejection
        return refusal(error)
    return await client.approval_func(request)
