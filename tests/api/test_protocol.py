"""Each call and each answer says which version of the protocol it speaks; another is refused."""

import json

import pytest
from asgiref.testing import ApplicationCommunicator

from approval_client.wire import PROTOCOL
from dashboard.api import protocol
from dashboard.api.protocol import Protocol
from tests.live.conftest import scope

PATH = "/api/v1/approvals"


async def call(*versions, path=PATH):
    """Call through ``Protocol``; returns whether it was let through, and status, headers, body."""
    reached = []

    async def app(scope, receive, send):
        reached.append(scope["path"])
        headers = [(b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": 201, "headers": headers})
        await send({"type": "http.response.body", "body": b"{}"})

    said = [(b"approval-protocol", version.encode()) for version in versions]
    talk = ApplicationCommunicator(Protocol(app), scope(path, headers=said))
    start, body = await talk.receive_output(), await talk.receive_output()
    await talk.wait()
    return bool(reached), start["status"], dict(start["headers"]), json.loads(body["body"])


@pytest.mark.parametrize("versions", [(), ("1",), ("1.3",)])
async def test_version_1_is_spoken_and_so_is_a_call_that_names_none(versions):
    reached, status, headers, _ = await call(*versions)

    assert (reached, status) == (True, 201)
    assert headers[b"approval-protocol"] == b"1"


@pytest.mark.parametrize("path", [PATH, f"{PATH}/x/wait", "/api/v1/notebooks/x", "/api/v1/docs"])
async def test_another_version_is_refused_before_anything_reads_the_call(path):
    reached, status, headers, problem = await call("2", path=path)

    assert (reached, status) == (False, 400)
    assert headers[b"content-type"] == b"application/problem+json"
    assert headers[b"approval-protocol"] == b"1"
    assert (problem["code"], problem["status"]) == ("unsupported_protocol", 400)
    assert problem["detail"] == (
        "This call speaks version 2 of the protocol and this server speaks version 1: upgrade the "
        "server. Nothing was done."
    )


async def test_a_server_of_the_next_version_has_older_agents_upgraded(monkeypatch):
    monkeypatch.setattr(protocol, "PROTOCOL", PROTOCOL + 1)

    answers = [await call("1"), await call()]

    assert {(reached, status) for reached, status, _, _ in answers} == {(False, 400)}
    [detail] = {problem["detail"] for *_, problem in answers}
    assert detail == (
        "This call speaks version 1 of the protocol and this server speaks version 2: upgrade "
        "approval-client, or what asks instead. Nothing was done."
    )


@pytest.mark.parametrize(
    "versions", [("",), ("0",), ("one",), ("1, 1",), ("1;2",), ("\u0661",), ("1", "2"), ("1", "x")]
)
async def test_what_is_no_version_and_two_that_differ_are_refused(versions):
    reached, status, _, problem = await call(*versions)

    assert (reached, status, problem["code"]) == (False, 400, "unsupported_protocol")


async def test_pages_know_nothing_of_it():
    reached, _, headers, _ = await call("2", path="/")

    assert reached
    assert b"approval-protocol" not in headers


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("path", [PATH, f"{PATH}/{'0' * 8}-0000-4000-8000-{'0' * 12}/wait"])
async def test_the_whole_application_signs_its_refusals_too(path):
    from dashboard.asgi import application  # noqa: PLC0415 - fills the app registry

    talk = ApplicationCommunicator(application, scope(path))
    await talk.send_input({"type": "http.request", "body": b"", "more_body": False})
    start = await talk.receive_output(timeout=10)
    talk.stop()

    assert start["status"] in {401, 405}
    assert [v for name, v in start["headers"] if name == b"approval-protocol"] == [b"1"]
