"""Calls a service that is a graph of its own: what it asks, the graph around it asks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from logging import Logger
from typing import Any, NoReturn


async def handle_service_with_interrupts(
    service: Any,
    request: Any,
    config: dict[str, Any],
    logger: Logger,
    capability_name: str = "parent_capability",
) -> Any:
    """Return what ``service.ainvoke`` returns. What interrupts it interrupts the graph around it.

    Needs langgraph. Osprey emits events of its own here; this logs instead.

    Raises:
        RuntimeError: The service asks several things at once, of which only one could be asked;
            or the graph was resumed with a value and not by its state. Nothing was approved.
    """
    interrupted: Any = import_module("langgraph.errors").GraphInterrupt
    try:
        result = await service.ainvoke(request, config)
        # A graph with a checkpointer of its own raises nothing, and returns what it asks.
        interrupts = result.get("__interrupt__") if isinstance(result, Mapping) else None
    except interrupted as error:
        interrupts = error.args[0]
    if interrupts is not None:
        logger.info("%s: the service waits for approval.", capability_name)
        _ask(interrupts, capability_name)
    logger.info("%s: the service completed normally.", capability_name)
    return result


def _ask(asked: Sequence[Any], capability_name: str) -> NoReturn:
    if len(asked) != 1:
        raise RuntimeError(
            f"The service of {capability_name} asks {len(asked)} things at once, and one can be "
            "asked. Nothing was approved. Have it ask one after the other."
        )
    import_module("langgraph.types").interrupt(asked[0].value)
    raise RuntimeError(
        f"{capability_name} was resumed with a value, and its answer belongs in the state. "
        "Nothing was approved. Resume it with Command(update=…)."
    )
