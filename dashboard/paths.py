"""Who asks for what, as far as the head of an HTTP request tells."""

from __future__ import annotations

from typing import Any

_API = "/api/"
_MACHINES = {"/readyz", "/metrics", "/sign-in/provider/signed-out"}
_SUBMIT = ("POST", "/api/v1/approvals")


def is_machine(path: str) -> bool:
    """Whether a path is for programs: agents, those who watch this server, a provider."""
    return path.startswith(_API) or path in _MACHINES


def is_submission(method: str, path: str) -> bool:
    """Whether an agent asks for an approval."""
    return (method, path) == _SUBMIT


def header_of(scope: Any, name: bytes) -> bytes:
    """Return a header of an ASGI scope; several lines are one with commas, as Django reads them.

    Empty if it was not sent. A proxy may add a line of its own to what a stranger sent.
    """
    return b",".join(value for key, value in scope["headers"] if key == name)


def token_of(authorization: str) -> str:
    """Return the token in a header; its scheme may be spelled in any case, as RFC 9110 has it."""
    return authorization.partition(" ")[2]
