"""What people approve, written so that two different values are never written alike."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum
from pathlib import PosixPath, PurePosixPath, PureWindowsPath, WindowsPath
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from approval_client.wire import canonical_json

_JSON = {str, int, float, bool, type(None)}
_PATHS = {PosixPath, PurePosixPath, PureWindowsPath, WindowsPath}
_SAID_BY_REPR = {bytes, date, datetime, time, timedelta, Decimal, UUID, *_PATHS}
_BUILT_IN = (str, bytes, int, float, dict, list, tuple, set, frozenset, BaseException)


def whole(value: Any) -> Any:
    """Return all of ``value`` as JSON; what is not JSON of its own is ``{"<its type>": …}``.

    Raises:
        ValueError: Something would be left out, or look like something else.
    """
    try:
        json_value = _written(value)
        canonical_json(json_value)
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(
            f"This cannot be shown whole: {error} Nobody was asked. Use plain JSON instead, or "
            "make the question yourself."
        ) from error
    return json_value


def _written(value: Any) -> Any:  # noqa: PLR0911 - one for each way to write
    # Exact types only: a type of somebody's own may hold more than what it looks like.
    kind = type(value)
    if kind in _JSON:
        return value
    if kind is dict:
        return _plain({name: _written(item) for name, item in value.items()})
    if kind is list:
        return _each(value)
    if kind is tuple:
        return {"<tuple>": _each(value)}
    if kind in {set, frozenset}:
        return {f"<{kind.__name__}>": sorted(_each(value), key=canonical_json)}
    if kind in _SAID_BY_REPR and _has_plain_zone(value):
        return {f"<{kind.__name__}>": repr(value)}
    return {f"<{kind.__module__}.{kind.__qualname__}>": _inside(value)}


def _inside(value: Any) -> Any:
    if isinstance(value, Enum):
        return _written(value.value)
    if is_dataclass(value) and not isinstance(value, (type, *_BUILT_IN)):
        members = {field.name: getattr(value, field.name) for field in fields(value)}
        if _attributes(value) == members.keys():  # and nothing that would not be shown
            return {name: _written(item) for name, item in members.items()}
    raise TypeError(f"a {type(value).__name__} may contain more than can be shown.")


def _attributes(value: Any) -> set[str]:
    slots = {name for kind in type(value).mro() for name in getattr(kind, "__slots__", ())}
    return {*slots, *getattr(value, "__dict__", ())} - {"__dict__", "__weakref__"}


def _each(values: Iterable[Any]) -> list[Any]:
    return [_written(item) for item in values]


def _plain(members: dict[Any, Any]) -> dict[Any, Any]:
    names = [name for name in members if str(name).startswith("<")]
    if len(members) == 1 and names:
        raise ValueError(f"the name {names[0]!r:.80} looks like the name of a type.")
    return members


def _has_plain_zone(value: Any) -> bool:
    zone = getattr(value, "tzinfo", None)
    plain_types = {type(None), timezone, ZoneInfo}
    return type(zone) in plain_types or type(zone).__module__.startswith("pydantic_core")
