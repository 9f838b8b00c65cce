"""Agents send notebooks, as they are, before they ask."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from django.http import HttpResponse, JsonResponse
from ninja import Path, Router, Schema

from approval_client.wire import MAX_NOTEBOOK_BYTES
from dashboard.api import problems
from dashboard.api.auth import AgentBearer, AgentRequest
from dashboard.api.schemas import ProblemOut
from dashboard.approvals import services
from dashboard.approvals.errors import NotebookTooLarge

_PIECE = 1 << 16
_REFUSALS: dict[int, Any] = dict.fromkeys((400, 401, 403, 409, 413, 415, 422, 503), ProblemOut)
_BODY = {
    "requestBody": {
        "required": True,
        "description": "The bytes of the .ipynb, 10 MiB at the most, not compressed.",
        "content": {
            "application/octet-stream": {"schema": {"type": "string", "format": "binary"}}
        },
    }
}
Digest = Annotated[
    str, Path(pattern="^[0-9a-f]{64}$", description="SHA-256 of the bytes, in small letters.")
]


class NotebookOut(Schema):
    """A notebook that is kept. ``size`` is in bytes."""

    digest: str
    size: int
    sent_at: datetime


router = Router(auth=AgentBearer(), tags=["notebooks"])


@router.put(
    "/notebooks/{digest}",
    response={201: NotebookOut, 200: NotebookOut, **_REFUSALS},
    summary="Send a notebook",
    openapi_extra=_BODY,
)
def send_notebook(request: AgentRequest, digest: Digest) -> HttpResponse:
    """Send a notebook that a question will name as ``evidence.notebook``.

    Sending the same bytes again changes nothing. What no question names within a day is deleted.
    """
    if request.headers.get("Content-Encoding", "identity") != "identity":
        raise problems.Compressed
    body = _read(request)
    notebook, created = services.send_notebook(token=request.auth, digest=digest, body=body)
    answer = {"digest": notebook.digest, "size": notebook.size, "sent_at": notebook.sent_at}
    headers = {"Cache-Control": "no-store"}
    return JsonResponse(answer, status=201 if created else 200, headers=headers)


def _read(request: AgentRequest) -> bytes:
    """Read the body piece by piece, and no further than it may be."""
    body = bytearray()
    while piece := request.read(_PIECE):
        body += piece
        if len(body) > MAX_NOTEBOOK_BYTES:
            raise NotebookTooLarge
    return bytes(body)
