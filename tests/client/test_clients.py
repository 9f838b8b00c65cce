"""The two drivers, over sockets and over a transport."""

import asyncio
import gc
import logging
import threading
import time
import uuid

import httpx2
import pytest

from approval_client import (
    ApprovalRequest,
    AsyncClient,
    Client,
    DashboardError,
    NotADashboard,
    NotConfigured,
    RequestRefused,
    TokenRefused,
    Unreachable,
    requires_approval,
)
from approval_client._calls import Call
from approval_client.testing import FakeDashboard, approve
from approval_client.wire import Status

DRIVERS = ["sync", "async"]


@pytest.fixture(params=DRIVERS)
def ask(request, question):
    """Ask a fake dashboard, through either client."""

    def ask(fake):
        if request.param == "sync":
            return fake.client().request_approval(question)
        return asyncio.run(fake.async_client().request_approval(question))

    return ask


def test_an_approval_opens(ask):
    assert ask(FakeDashboard.approving("Fine.")).approved is True


def test_a_rejection_is_returned(ask):
    response = ask(FakeDashboard.rejecting("No."))

    assert (response.approved, response.reason) == (False, "No.")


def test_silence_expires(ask):
    assert ask(FakeDashboard.silent()).status is Status.EXPIRED


def test_an_unreachable_dashboard_is_an_error(ask):
    with pytest.raises(Unreachable, match=r"ConnectError: Connection refused"):
        ask(FakeDashboard.unreachable())


@pytest.mark.parametrize("name", ["client", "async_client"])
def test_submitting_and_waiting_are_two_calls_too(name, question):
    fake = FakeDashboard.approving()
    client = getattr(fake, name)()

    pending = run(client.submit(question))
    assert fake.approvals[0].status is Status.PENDING

    assert run(client.wait(pending)).approved is True


def run(result):
    return asyncio.run(result) if asyncio.iscoroutine(result) else result


@pytest.mark.parametrize("name", ["client", "async_client"])
def test_the_same_key_finds_the_same_question(name, question):
    fake = FakeDashboard.approving()
    client = getattr(fake, name)()

    first = run(client.submit(question, idempotency_key="k"))
    second = run(client.submit(question, idempotency_key="k"))

    assert (first, len(fake.approvals)) == (second, 1)


@pytest.mark.parametrize("key", ["", " k", "k\n", "refund 1", "r\u00e9", "\u4e2d", "k" * 201])
@pytest.mark.parametrize("name", ["client", "async_client"])
@pytest.mark.parametrize("verb", ["submit", "request_approval"])
def test_a_key_that_cannot_be_sent_is_refused_before_anything_is(name, verb, key, question):
    fake = FakeDashboard.approving()

    with pytest.raises(RequestRefused, match="1 to 200 visible characters") as raised:
        run(getattr(getattr(fake, name)(), verb)(question, idempotency_key=key))

    assert (raised.value.code, fake.calls) == ("invalid", [])


@pytest.mark.parametrize(
    ("key", "advice"), [("", "Leave it out, or pass None"), (uuid.uuid4(), r"such as str\(key\)")]
)
def test_who_passed_a_key_that_is_none_reads_what_to_pass(key, advice, question):
    with pytest.raises(RequestRefused, match=advice):
        FakeDashboard.approving().client().submit(question, idempotency_key=key)


@pytest.mark.parametrize("made", [Client, AsyncClient])
def test_what_is_no_http_is_not_tried_again(made, question):
    tries = []

    def fail(request):
        tries.append(request.url.path)
        raise httpx2.LocalProtocolError("Illegal header value b'dash_x'")

    client = made("http://localhost", "dash_x", transport=httpx2.MockTransport(fail))

    with pytest.raises(RequestRefused, match="cannot be sent") as raised:
        run(client.request_approval(question))

    assert (len(tries), "dash_x" in str(raised.value)) == (1, False)


@pytest.mark.parametrize("name", ["client", "async_client"])
def test_getting_never_opens(name, question):
    fake = FakeDashboard.approving()
    client = getattr(fake, name)()
    pending = run(client.submit(question))
    run(client.wait(pending))

    answer = run(client.get(pending.id))

    assert (answer.status, hasattr(answer, "approved")) == (Status.APPROVED, False)


@pytest.mark.parametrize("name", ["client", "async_client"])
def test_cancelling_withdraws_with_the_reason(name, question):
    fake = FakeDashboard.silent()
    client = getattr(fake, name)()
    pending = run(client.submit(question))

    answer = run(client.cancel(pending.id, "Changed my mind."))

    assert answer.status is Status.CANCELLED
    assert fake.approvals[0].cancel_reason == "Changed my mind."


@pytest.mark.parametrize("name", ["client", "async_client"])
def test_cancelling_what_is_decided_is_refused(name, question):
    client = getattr(FakeDashboard.rejecting("No."), name)()
    response = run(client.request_approval(question))

    with pytest.raises(RequestRefused) as caught:
        run(client.cancel(response.id))

    assert caught.value.code == "already_closed"


@pytest.mark.parametrize("name", ["client", "async_client"])
def test_the_end_is_reported(name, question):
    fake = FakeDashboard.approving()
    client = getattr(fake, name)()
    response = run(client.request_approval(question))

    run(client.report_finished(response, exit_code=3, error="x", duration_s=1.23456))

    assert fake.approvals[0].finished == {"exit_code": 3, "error": "x", "duration_s": 1.235}


@pytest.mark.parametrize("name", ["client", "async_client"])
def test_an_end_is_reported_although_the_server_restarts_for_90_seconds(name, question):
    fake = FakeDashboard.approving()
    client = getattr(fake, name)()
    response = run(client.request_approval(question))
    fake.reachable, back_at = False, fake.clock() + 90
    serve = fake._serve

    def serve_again(request):
        fake.reachable = fake.clock() >= back_at
        return serve(request)

    fake._serve = serve_again
    run(client.report_finished(response, exit_code=0))

    assert fake.approvals[0].finished == {"exit_code": 0}


@pytest.mark.parametrize(
    ("error", "most_s"), [(ValueError("x"), 30), (KeyboardInterrupt(), 3), (SystemExit(1), 3)]
)
def test_who_stops_the_program_does_not_wait_for_a_report(error, most_s, question):
    fake = FakeDashboard.approving()
    began_at = None

    @requires_approval(client=fake.client())
    def stop():
        nonlocal began_at
        fake.reachable, began_at = False, fake.clock()
        raise error

    with pytest.raises(type(error)):
        stop()

    assert fake.clock() - began_at == pytest.approx(most_s, abs=1)


def test_what_a_program_printed_is_cut_and_cleaned_for_the_report(question):
    fake = FakeDashboard.approving()
    client = fake.client()

    client.report_finished(client.request_approval(question), output_head="\0\ud800" + "x" * 9000)

    assert fake.approvals[0].finished == {"output_head": "\ufffd?" + "x" * 3998}


def test_only_what_was_approved_can_be_reported(question):
    client = FakeDashboard.rejecting("No.").client()
    response = client.request_approval(question)

    with pytest.raises(ValueError, match="Only what was approved"):
        client.report_finished(response)


def test_a_wrong_token_is_refused_over_the_wire(served, question):
    with served(FakeDashboard.approving()) as url, pytest.raises(TokenRefused):
        Client(url, "dash_wrong").request_approval(question)


def test_a_client_leaves_no_socket_open(served, question):
    fake = FakeDashboard.approving()
    with served(fake) as url:
        assert Client(url, fake.token).request_approval(question).approved is True
        gc.collect()  # an open socket would warn here, and a warning is an error


def test_an_async_client_outlives_its_event_loop(served, question):
    fake = FakeDashboard.approving()
    with served(fake) as url:
        client = AsyncClient(url, fake.token)
        for _ in range(2):
            assert asyncio.run(client.request_approval(question)).approved is True
            gc.collect()
    assert len(fake.approvals) == 2


async def test_agents_of_one_loop_share_one_http_client(question):
    client = FakeDashboard.silent().async_client()

    async with client, client:
        assert [shared.users for shared in client._shared.values()] == [2]

    assert len(client._shared) == 0


def test_with_keeps_the_connections_open_in_between(served, question):
    fake = FakeDashboard.approving()
    with served(fake) as url, Client(url, fake.token) as client:
        client.request_approval(question)
        kept = client._http
        client.request_approval(question)
        assert client._http is kept
    assert client._http is None


async def test_everything_else_runs_while_one_agent_waits(question, asked):
    fake = FakeDashboard.manual()
    waiting = asyncio.create_task(fake.async_client().request_approval(question))
    await asked(fake)

    fake.approve_next()

    assert (await waiting).approved is True


async def test_answers_may_come_in_another_order(question, asked):
    fake = FakeDashboard.manual()
    client = fake.async_client()
    first, second = (asyncio.create_task(client.request_approval(question)) for _ in range(2))
    await asked(fake, 2)

    fake.approvals[1].verdict = approve("Second.")
    assert (await second).reason == "Second."
    fake.reject_next("First.")
    assert (await first).reason == "First."


def test_threads_share_a_client(question):
    fake = FakeDashboard.approving()
    client, found = fake.client(), []
    threads = [
        threading.Thread(target=lambda: found.append(client.request_approval(question)))
        for _ in range(5)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ([r.approved for r in found], client._http) == ([True] * 5, None)


def redirecting(request):
    return httpx2.Response(307, headers={"Location": "https://evil.example/"})


def test_a_token_does_not_travel_to_where_a_redirect_points(question):
    seen = []
    transport = httpx2.MockTransport(lambda r: seen.append(r.url.host) or redirecting(r))

    with pytest.raises(NotADashboard, match="HTTP 307"):
        Client("https://a.example", "dash_x", transport=transport).request_approval(question)

    assert seen == ["a.example"]


def test_proxies_of_the_environment_do_not_see_the_token_for_this_machine(
    served, question, monkeypatch
):
    fake = FakeDashboard.approving()
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    with served(fake) as url:
        assert Client(url, fake.token).request_approval(question).approved is True


@pytest.mark.parametrize("make", [Client, AsyncClient])
def test_a_proxy_that_cannot_be_used_is_a_matter_of_configuration(make, question, monkeypatch):
    monkeypatch.setenv("ALL_PROXY", "nonsense://x")

    with pytest.raises(NotConfigured, match="Check the proxies"):
        run(make("https://a.example", "dash_x").request_approval(question))


def test_neither_code_nor_token_is_logged(question, caplog):
    caplog.set_level(logging.DEBUG)
    fake = FakeDashboard.approving()
    replies = iter([httpx2.Response(503)])
    transport = httpx2.MockTransport(lambda r: next(replies, None) or fake._carry(r))

    Client(fake.url, fake.token, transport=transport, sleep=fake.advance).request_approval(
        question
    )

    assert caplog.text.count("could not answer") == 1
    assert (fake.token in caplog.text, "print" in caplog.text) == (False, False)


def test_a_failure_never_repeats_the_token(question):
    def fail(request):
        raise httpx2.LocalProtocolError(f"Illegal header {request.headers['Authorization']}")

    client = Client(
        "https://a.example",
        "dash_secret",
        transport=httpx2.MockTransport(fail),
        sleep=lambda _: None,
        clock=iter(range(0, 10_000, 900)).__next__,
    )

    with pytest.raises(DashboardError) as caught:
        client.request_approval(question)

    assert "dash_secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("options", "tool", "place"),
    [
        ({}, "rm\u202e", "body.content.tool:"),
        ({"capability": "rm\u202e"}, "rm", "body.capability:"),
    ],
)
def test_a_refusal_names_what_was_written_and_no_capability_that_was_made_of_it(
    options, tool, place
):
    asked = ApprovalRequest.tool_call(tool, {}, **options)

    with pytest.raises(RequestRefused, match=place) as raised:
        FakeDashboard.approving().client().request_approval(asked)

    assert raised.value.detail.startswith(place)


class Dripping(httpx2.SyncByteStream, httpx2.AsyncByteStream):
    """The body of an answer that comes in many pieces, in its own time."""

    def __init__(self, piece, pieces, pause_s):
        self._piece, self._pieces, self._pause_s = piece, pieces, pause_s

    def __iter__(self):
        for _ in range(self._pieces):
            time.sleep(self._pause_s)
            yield self._piece

    async def __aiter__(self):
        for _ in range(self._pieces):
            await asyncio.sleep(self._pause_s)
            yield self._piece


@pytest.mark.parametrize("made", [Client, AsyncClient])
@pytest.mark.parametrize(
    ("body", "headers", "detail"),
    [
        (Dripping(b" ", 50, 0.001), {}, "its answer took too long"),
        (Dripping(b" " * 1_048_576, 17, 0), {}, "its answer is too long"),
        (Dripping(b"\x1f\x8b", 1, 0), {"Content-Encoding": "x-unknown"}, "is compressed"),
    ],
    ids=["slow", "long", "compressed"],
)
def test_an_answer_is_read_as_long_as_it_may_take_and_no_further(made, body, headers, detail):
    def flow():
        timeout_s = 0.01 if "took" in detail else 60.0
        return (yield Call(method="GET", path="/", timeout_s=timeout_s))

    transport = httpx2.MockTransport(lambda _: httpx2.Response(200, headers=headers, stream=body))
    client = made("http://localhost", "dash_x", transport=transport)

    assert detail in run(client._converse(None, flow())).detail


class Unread(httpx2.SyncByteStream, httpx2.AsyncByteStream):
    """A body that must not be read."""

    def __iter__(self):
        raise AssertionError("It was read.")

    async def __aiter__(self):
        raise AssertionError("It was read.")
        yield b""


@pytest.mark.parametrize("made", [Client, AsyncClient])
def test_nothing_is_unpacked_of_an_answer_that_is_compressed(made):
    def flow():
        return (yield Call(method="GET", path="/"))

    headers = {"Content-Encoding": "gzip, gzip"}
    transport = httpx2.MockTransport(
        lambda _: httpx2.Response(200, headers=headers, stream=Unread())
    )
    client = made("http://localhost", "dash_x", transport=transport)

    assert "is compressed" in run(client._converse(None, flow())).detail


def test_no_try_takes_longer_than_there_is_time_left(stage, say_for):
    question = ApprovalRequest.code("x", max_wait_s=5)
    say = say_for(question)
    stage = stage(say.approved(), say.started())

    assert stage.ask(question).approved is True

    assert [call.timeout_s for call in stage.calls] == [5, 10]


def test_a_large_body_has_the_time_that_it_takes_to_send():
    call = Call(method="PUT", path="/", data=b"x" * 10 * 1_048_576, timeout_s=60)

    assert call.limit_s == 60 + 640
