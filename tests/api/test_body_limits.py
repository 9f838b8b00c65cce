"""What a body may hold, before Django hears of it: more where a notebook is sent, only there."""

import json

import pytest

from approval_client.wire import MAX_BODY_BYTES, MAX_NOTEBOOK_BYTES
from dashboard.api.limits import LimitBody

NOTEBOOK = f"/api/v1/notebooks/{'a' * 64}"
PIECE = b"x" * 65_536


async def send(method, path, size, *, declared):
    """Send so many bytes; returns how many were taken, and the refusal if there was one."""
    pieces, taken, told = [PIECE] * (size // len(PIECE)) + [b"x" * (size % len(PIECE))], 0, []

    async def app(_scope, receive, _send):
        nonlocal taken
        while (message := await receive())["type"] == "http.request":
            taken += len(message["body"])
            if not message["more_body"]:
                return

    async def receive():
        body = pieces.pop(0)
        return {"type": "http.request", "body": body, "more_body": bool(pieces)}

    async def answer(message):
        told.append(message)

    headers = [(b"content-length", str(size).encode())] if declared else []
    scope = {"type": "http", "method": method, "path": path, "headers": headers}
    await LimitBody(app)(scope, receive, answer)
    return taken, (told[0]["status"], json.loads(told[1]["body"])) if told else None


@pytest.mark.parametrize("declared", [True, False])
@pytest.mark.parametrize(
    ("method", "path", "most"),
    [
        ("PUT", NOTEBOOK, MAX_NOTEBOOK_BYTES),
        ("POST", NOTEBOOK, MAX_BODY_BYTES),
        ("PUT", f"{NOTEBOOK}/", MAX_BODY_BYTES),
        ("PUT", f"{NOTEBOOK}a", MAX_BODY_BYTES),
        ("PUT", "/api/v1/approvals", MAX_BODY_BYTES),
        ("POST", "/api/v1/approvals", MAX_BODY_BYTES),
    ],
)
async def test_a_body_is_taken_up_to_its_limit_and_no_further(method, path, most, declared):
    assert await send(method, path, most, declared=declared) == (most, None)

    taken, (status, problem) = await send(method, path, most + 1, declared=declared)
    assert (status, problem["code"]) == (413, "too_large")
    assert taken <= (0 if declared else most)


async def test_a_refused_notebook_is_told_its_own_limit():
    _, (_, problem) = await send("PUT", NOTEBOOK, MAX_NOTEBOOK_BYTES + 1, declared=True)

    assert problem["detail"].startswith("A notebook may have at most 10,485,760 bytes.")
