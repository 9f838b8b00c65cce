"""Refusing what a caller passes by mistake, before anybody is asked.

A message names the argument, what it takes, and the type that was passed. It never shows a text,
which may be code or a secret.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

NOBODY = "Nobody was asked."
UNREPORTED = "Nothing was reported."

_MOST_S = 1e10  # three centuries; what is larger is no time to anybody, nor to every clock


def refuse(
    name: str, takes: str, value: object, advice: str = "", *, undone: str = NOBODY
) -> TypeError:
    """Return the error for a value of a wrong type, which says what was not done."""
    remedy = f" {advice}" if advice else ""
    return TypeError(f"{name} takes {takes}, not {type(value).__name__}. {undone}{remedy}")


def check_type(
    name: str, value: object, kinds: tuple[type, ...], advice: str, *, undone: str = NOBODY
) -> None:
    """Refuse what is no object of ours.

    Raises:
        TypeError: It is none.
    """
    if not isinstance(value, kinds):
        takes = f"only {' or '.join(k.__name__ for k in kinds)}"
        raise refuse(name, takes, value, advice, undone=undone)


def check_seconds(name: str, value: float | None, *, undone: str = NOBODY) -> None:
    """Refuse what is no length of time. None is one: nobody has limited it here.

    Raises:
        TypeError: It is no number.
        ValueError: It is negative, infinite or NaN.
    """
    check_number(name, value, undone=undone)
    if value is not None and not 0 <= value <= _MOST_S:
        size = repr(value) if abs(value) <= _MOST_S or isinstance(value, float) else "one so large"
        raise ValueError(
            f"{name} takes a number of seconds from 0, or None for no limit of your own, not "
            f"{size}. {undone}"
        )


def check_number(name: str, value: object, *, undone: str = NOBODY) -> None:
    """Refuse what is neither a number of seconds nor None.

    Raises:
        TypeError: It is neither.
    """
    if isinstance(value, bool) or not isinstance(value, int | float | None):
        raise refuse(name, "a number of seconds or None", value, undone=undone)


def check_end(exit_code: object, error: object, duration_s: float | None, output: object) -> None:
    """Refuse what cannot be reported of how something ended.

    Raises:
        TypeError: One of them is of a wrong type.
        ValueError: ``duration_s`` is negative, infinite or NaN.
    """
    if isinstance(exit_code, bool) or not isinstance(exit_code, int | None):
        raise refuse("exit_code", "a whole number or None", exit_code, undone=UNREPORTED)
    check_text("error", error, undone=UNREPORTED)
    check_seconds("duration_s", duration_s, undone=UNREPORTED)
    check_text("output_head", output, undone=UNREPORTED)


def check_text(name: str, value: object, *, optional: bool = False, undone: str = NOBODY) -> None:
    """Refuse what is no text.

    Raises:
        TypeError: It is none.
    """
    if isinstance(value, str) or (optional and value is None):
        return
    takes = "a text or None" if optional else "a text"
    is_binary = isinstance(value, bytes | bytearray)
    raise refuse(name, takes, value, "Decode it first." if is_binary else "", undone=undone)


def check_object(name: str, value: object) -> None:
    """Refuse what is no mapping.

    Raises:
        TypeError: It is none.
    """
    if not isinstance(value, Mapping):
        raise refuse(name, "an object, such as a dict", value)


def check_steps(steps: Any) -> list[Any]:
    """Return the steps of a plan as a list.

    Raises:
        TypeError: They are no sequence of objects. A text is a sequence of characters.
    """
    if not isinstance(steps, Iterable) or isinstance(steps, str | bytes | bytearray | Mapping):
        advice = 'Pass a list of dicts, such as [{"do": "…"}].'
        raise refuse("steps", "a sequence of objects", steps, advice)
    members = list(steps)
    for number, step in enumerate(members):
        check_object(f"steps.{number}", step)
    return [dict(step) for step in members]


def check_listener(name: str, listener: object) -> None:
    """Refuse what cannot be called.

    Raises:
        TypeError: It cannot.
    """
    if listener is not None and not callable(listener):
        raise refuse(name, "a function or None", listener)
