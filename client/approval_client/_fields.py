"""Reading JSON objects of the dashboard, without believing anything about them."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime
from typing import Any, TypeVar

from approval_client.wire import Status, parse_json

T = TypeVar("T")
ID = re.compile(r"[A-Za-z0-9_-]{1,100}", re.ASCII)
DIGEST = re.compile(r"[0-9a-f]{64}", re.ASCII)


class Malformed(ValueError):
    """The text is not an answer."""


class Fields:
    """Takes fields out of a JSON object and insists on their types."""

    def __init__(self, value: Any) -> None:
        if not isinstance(value, dict):
            raise Malformed("it is not a JSON object")
        self._value = value

    def get(self, name: str) -> Any:
        """Return a member, or None."""
        return self._value.get(name)

    def any(self, name: str) -> Any:
        """Return a member that has to be there."""
        if name not in self._value:
            raise Malformed(f"{name!r} is missing")
        return self._value[name]

    def text(self, name: str) -> str:
        """Return text."""
        value = self.any(name)
        if not isinstance(value, str):
            raise Malformed(f"{name!r} is not text")
        return value

    def matching(self, name: str, pattern: re.Pattern[str]) -> str:
        """Return text of that shape."""
        value = self.text(name)
        if not pattern.fullmatch(value):
            raise Malformed(f"{name!r} is not what it should look like")
        return value

    def whole(self, name: str) -> int:
        """Return a whole number."""
        value = self.any(name)
        if not isinstance(value, int) or isinstance(value, bool):
            raise Malformed(f"{name!r} is not a whole number")
        return value

    def status(self, name: str) -> Status:
        """Return a word for where a request stands."""
        word = self.text(name)
        try:
            return Status(word)
        except ValueError:
            raise Malformed(f"{name!r} is not a known word") from None

    def moment(self, name: str) -> datetime:
        """Return a moment with its time zone."""
        value = datetime.fromisoformat(self.text(name))
        if value.utcoffset() is None:
            raise Malformed(f"{name!r} has no time zone")
        return value

    def texts(self, name: str) -> tuple[str, ...]:
        """Return a list of texts."""
        value = self.any(name)
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise Malformed(f"{name!r} is not a list of texts")
        return tuple(value)

    def objects(self, name: str) -> list[Fields]:
        """Return a list of objects; none where the member is missing."""
        value = self.get(name) or []
        if not isinstance(value, list):
            raise Malformed(f"{name!r} is not a list")
        return [Fields(item) for item in value]

    def object(self, name: str) -> Fields:
        """Return an object."""
        return Fields(self.any(name))

    def optional(self, name: str, read: Callable[[str], T]) -> T | None:
        """Return what ``read`` makes of a member, or None where it is null."""
        return None if self.any(name) is None else read(name)


def strictly(body: bytes, read: Callable[[Fields], T]) -> T:
    """Read a JSON object strictly.

    Raises:
        Malformed: It is not JSON, or ``read`` finds something wrong with it.
    """
    try:
        return read(Fields(parse_json(body)))
    except Malformed:
        raise
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        raise Malformed(f"it is not readable ({type(error).__name__})") from None
