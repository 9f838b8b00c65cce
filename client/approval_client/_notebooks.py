"""Sending a notebook before the question that names it, without I/O."""

from __future__ import annotations

import hashlib

from approval_client._calls import Call, Flow, Reply, Timing, insist_on, logger
from approval_client._errors import RequestRefused, Unreachable
from approval_client._fields import Malformed
from approval_client.wire import JsonError, parse_json

NOTEBOOKS = "/api/v1/notebooks"
WITHIN_S = 60.0
_TIMEOUT_S = 60.0  # ten mebibytes over a slow line


def send_notebook(body: bytes, until: float, timing: Timing) -> Flow[None]:
    """Send a notebook. Where it is not taken the question is asked without it: its page says so.

    Tries for ``WITHIN_S`` and until ``until`` at the most: a proxy that takes no large body must
    not keep the question from people.

    Raises:
        TokenRefused: The dashboard does not accept the token.
    """
    digest = hashlib.sha256(body).hexdigest()
    call = Call(method="PUT", path=f"{NOTEBOOKS}/{digest}", data=body, timeout_s=_TIMEOUT_S)

    def understand(reply: Reply) -> str:
        if _named(reply.body) != digest:
            raise Malformed("it names another notebook")
        return digest

    until = min(until, timing.clock() + WITHIN_S)
    try:
        yield from insist_on(call, understand, until=until, timing=timing)
    except RequestRefused as error:
        logger.warning("The notebook was not taken (%s); the question goes without.", error.code)
    except Unreachable:
        logger.warning("The notebook could not be sent; the question goes without.")


def _named(body: bytes) -> object:
    try:
        told = parse_json(body)
    except (JsonError, RecursionError):
        return None
    return told.get("digest") if isinstance(told, dict) else None
