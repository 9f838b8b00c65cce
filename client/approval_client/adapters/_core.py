"""What the adapters share: plain values, evidence of strange objects, and telling the end."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import asdict, is_dataclass
from enum import Enum
from pathlib import PurePath
from typing import Any, TypeVar

from approval_client._async_client import AsyncClient
from approval_client._defaults import default_async_client
from approval_client._errors import not_approved
from approval_client._models import (
    ApprovalResponse,
    about_tool,
    sendable,
)
from approval_client._outcomes import Run, report_async
from approval_client._telling import Listener
from approval_client.adapters import _binding
from approval_client.wire import TOOL_OUT_OF_SIGHT, Status, canonical_json

T = TypeVar("T")
_LEAVES = (str, int, float, bool, type(None))
_DEEPEST = 20  # levels of evidence; the wire takes a few more
_UNKNOWN = (
    "Nobody here can read what this tool takes. It may ignore arguments that it does not know, "
    "read others in its own way, and add defaults that are not shown."
)
MAX_LINE, MAX_TEXT = 200, 4000  # what the dashboard takes for a name and for an objective


def plain(value: Any) -> Any:
    """Return JSON as ordinary Python values, whose numbers no longer remember their digits."""
    return json.loads(canonical_json(value))


def line(text: str) -> str:
    """Return ``text`` as the dashboard takes a name: one line that is not too long."""
    return "".join(c if c.isprintable() else " " for c in text)[:MAX_LINE]


def evidence(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return what there is of ``facts``, as far as it can be written as JSON."""
    return sendable({name: jsonable(value) for name, value in facts.items() if _says(value)})


def of_call(
    facts: Mapping[str, Any],
    schema: Callable[[], Any],
    annotations: Callable[[], Any] = lambda: None,
) -> dict[str, Any]:
    """Return the evidence of a call: ``facts``, and what there is of its tool.

    By the schema the dashboard sees that a tool is not the one that an admin classed.
    """
    return evidence(facts) | about_tool(schema, annotations)


def out_of_sight(tool: Any) -> dict[str, str]:
    """Return the evidence that nobody knows what a tool takes; none if it is in sight."""
    return {} if tool is not None else {TOOL_OUT_OF_SIGHT: _UNKNOWN}


def differing(original: Any, asked: Mapping[str, Any]) -> Any:
    """Return what a model wrote, if people are asked about something else."""
    try:
        same = canonical_json(_binding.read(original)) == canonical_json(asked)
    except ValueError:
        same = False
    return None if same or original in ("", None) else original


def jsonable(value: Any, level: int = 0) -> Any:
    """Return ``value`` as JSON, the same in every process; a strange object only as its type."""
    if level > _DEEPEST:
        return "Left out: this was nested too deeply."
    value = _opened(value)
    if isinstance(value, Mapping):
        return {_name(name, value): jsonable(item, level + 1) for name, item in value.items()}
    if isinstance(value, AbstractSet):
        return sorted((jsonable(item, level + 1) for item in value), key=repr)
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [jsonable(item, level + 1) for item in value]
    return value if isinstance(value, _LEAVES) else f"<{type(value).__name__}>"


def _name(name: object, among: Mapping[Any, Any]) -> str:
    """Return a name as JSON has it; one that another is called too says of which type it is."""
    if isinstance(name, str) or str(name) not in among:
        return str(name)
    return f"{name} <{type(name).__name__}>"


def awaited(client: Any, framework: str) -> AsyncClient | None:
    """Return ``client``, if it can be awaited.

    Raises:
        TypeError: It is one that blocks.
    """
    if client is None or isinstance(client, AsyncClient):
        return client
    raise TypeError(f"{framework} cannot wait for a blocking client. Pass an AsyncClient.")


def asking(
    client: AsyncClient | None,
    framework: str,
    on_pending: Listener | None,
    on_decided: Listener | None,
) -> AsyncClient:
    """Return who asks: ``client``, or one configured by the environment, with these listeners.

    Raises:
        TypeError: The client is one that blocks.
    """
    asker = awaited(client, framework) or default_async_client()
    return asker.telling(on_pending=on_pending, on_decided=on_decided)


async def decided(answer: Awaitable[ApprovalResponse]) -> ApprovalResponse:
    """Return the answer if it is an approval or a rejection.

    Raises:
        NotApproved: Nobody did.
        DashboardError: There is no answer, or one that must not be used.
    """
    response = await answer
    if response.approved is not True and response.status is not Status.REJECTED:
        raise not_approved(response)
    return response


async def telling(
    client: AsyncClient,
    response: ApprovalResponse,
    call: Callable[[], Awaitable[T]],
    told: Callable[[Run, T], dict[str, Any]] = Run.returned,
) -> T:
    """Make ``call``, which was approved, and tell the dashboard how it ended."""
    run = Run()
    try:
        result = await call()
    except GeneratorExit:  # nothing can be awaited any more
        raise
    except BaseException as error:
        await report_async(client, response, run.raised(error))
        raise
    await report_async(client, response, told(run, result))
    return result


def _opened(value: Any) -> Any:
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, PurePath):
        return str(value)
    try:
        if hasattr(value, "model_dump"):
            return value.model_dump(mode="json")
        return asdict(value) if is_dataclass(value) and not isinstance(value, type) else value
    except Exception as error:  # noqa: BLE001 - a strange object may raise anything
        return f"Left out: {type(value).__name__} could not be read ({type(error).__name__})."


def _says(value: Any) -> bool:
    return value is not None and not (isinstance(value, str | Sequence | Mapping) and not value)
