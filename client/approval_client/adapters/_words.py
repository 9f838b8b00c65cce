"""Other words for what a parameter is called here: earlier ones, and a framework's own."""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def formerly(**words: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Take an earlier word for a parameter too, and warn.

    Args:
        words: Each earlier word, and what the parameter is called now.
    """
    return _taking(words, _warn)


def also(**words: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Take a framework's own word for a parameter too, so that code for it works as it is."""
    return _taking(words, lambda *_: None)


def _taking(
    words: dict[str, str], told: Callable[[str, str], None]
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    def wrap(function: Callable[P, R]) -> Callable[P, R]:
        def translated(kwargs: dict[str, Any]) -> dict[str, Any]:
            for word in words.keys() & kwargs.keys():
                if words[word] in kwargs:
                    raise TypeError(
                        f"{function.__name__}() was given {word} and {words[word]}, which are "
                        f"the same. Nothing was asked. Pass {words[word]} alone."
                    )
                told(word, words[word])
                kwargs[words[word]] = kwargs.pop(word)
            return kwargs

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            return function(*args, **translated(kwargs))

        @functools.wraps(function)
        async def acall(*args: Any, **kwargs: Any) -> Any:
            return await function(*args, **translated(kwargs))  # type: ignore[misc] # it can be

        wrapper: Any = acall if inspect.iscoroutinefunction(function) else call
        return wrapper  # type: ignore[no-any-return]

    return wrap


def _warn(word: str, now: str) -> None:
    warnings.warn(f"{word} is called {now} now.", DeprecationWarning, stacklevel=4)
