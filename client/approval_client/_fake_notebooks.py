"""The server's rules about notebooks, in memory: what ``FakeDashboard`` keeps and refuses."""

from __future__ import annotations

import hashlib
import json

import httpx2

from approval_client._fake import Refused
from approval_client._fake_replies import as_json
from approval_client.wire import MAX_NOTEBOOK_BYTES

NOTEBOOKS = "/api/v1/notebooks/"


def keep(request: httpx2.Request, kept: dict[str, bytes]) -> httpx2.Response:
    """Keep a notebook under its digest; the same one again changes nothing."""
    digest, body = request.url.path.removeprefix(NOTEBOOKS), bytes(request.content)
    if len(body) > MAX_NOTEBOOK_BYTES:
        raise Refused(413, "too_large", "The notebook has more than 10 MiB.")
    if hashlib.sha256(body).hexdigest() != digest:
        raise Refused(409, "digest_mismatch", "The bytes have another SHA-256 than the address.")
    if not _is_notebook(body):
        raise Refused(422, "not_a_notebook", "This is not a notebook of nbformat 4.")
    status = 200 if digest in kept else 201
    kept[digest] = body
    return as_json(status, {"digest": digest, "size": len(body)})


def _is_notebook(body: bytes) -> bool:
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return False
    is_four = isinstance(found, dict) and found.get("nbformat") == 4  # noqa: PLR2004 - the format's
    return is_four and isinstance(found.get("cells"), list)
