"""Calling a function with the arguments that a reviewer changed."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from inspect import BoundArguments, Parameter
from typing import Any

from approval_client._errors import DigestMismatch
from approval_client._models import ApprovalResponse
from approval_client.wire import Kind, canonical_json, digest

_SPREAD: dict[Any, type] = {Parameter.VAR_POSITIONAL: list, Parameter.VAR_KEYWORD: dict}
_NAMED = {Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY}


def rebound(
    function: Callable[..., Any], response: ApprovalResponse
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments that were approved, to call ``function`` with.

    Raises:
        DigestMismatch: They are not what was approved, or not what the function takes.
    """
    parameters = inspect.signature(function).parameters
    if digest(Kind.TOOL_CALL, response.content) != response.digest:
        raise _unfit("are not what was approved", response)
    given: dict[str, Any] = json.loads(canonical_json(response.content["arguments"]))
    if given.keys() != parameters.keys():
        raise _unfit("do not have the names that the function takes", response)
    named = {name for name, one in parameters.items() if one.kind in _NAMED}
    for name, parameter in parameters.items():
        if not isinstance(given[name], _SPREAD.get(parameter.kind, object)):
            raise _unfit(f"hold something else than the function takes as {name!r}", response)
        if parameter.kind is Parameter.VAR_KEYWORD and not named.isdisjoint(given[name]):
            raise _unfit(f"name in {name!r} what the function takes already", response)
    ordered = {name: given[name] for name in parameters}
    bound = BoundArguments(inspect.signature(function), ordered)
    return bound.args, bound.kwargs


def _unfit(what: str, response: ApprovalResponse) -> DigestMismatch:
    return DigestMismatch(
        f"The arguments that a reviewer changed {what}. Nothing was run. Call it again, or ask "
        "the reviewer to keep their names.",
        response,
    )
