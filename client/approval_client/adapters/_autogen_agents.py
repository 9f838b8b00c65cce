"""What stands in a team of AutoGen's, found by the names that 0.7.2 to 0.7.5 keep it under."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

_WITHIN = ("_participants", "_team", "_agent", "_wrapped_agent", "_workbench", "_tools")


def executors(agent: Any) -> list[Any]:
    """Return the code executor agents in ``agent``, itself too, in their order.

    Raises:
        TypeError: One of them cannot ask: AutoGen is older than 0.7.2.
    """
    found = [one for one in _walk(agent, set()) if hasattr(one, "execute_code_block")]
    for one in found:
        if not hasattr(one, "_approval_func"):
            raise TypeError(
                f"{one.name!r} cannot ask for approval. Nothing was gated. Install "
                "autogen-agentchat 0.7.2 or newer."
            )
    return found


def loose_tools(agent: Any) -> list[Any]:
    """Return the tools in ``agent`` that run code by themselves, past every approval."""
    walked = _walk(agent, set())
    return [one for one in walked if hasattr(vars(one).get("_executor"), "execute_code_blocks")]


def _walk(one: Any, seen: set[int]) -> Iterator[Any]:
    if isinstance(one, list | tuple):
        for each in one:
            yield from _walk(each, seen)
    elif hasattr(one, "__dict__") and not isinstance(one, type) and id(one) not in seen:
        seen.add(id(one))
        yield one
        for name in _WITHIN:
            yield from _walk(vars(one).get(name), seen)
