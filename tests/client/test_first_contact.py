"""An address where no dashboard ever answered: nobody waits half an hour for a typing error."""

import asyncio
import contextlib
import logging
import socket
import ssl
import threading

import httpx2
import pytest

from approval_client import (
    ApprovalRequest,
    AsyncClient,
    Client,
    NotADashboard,
    RequestRefused,
    Unreachable,
    approval_func,
)
from approval_client._calls import Failure, Reply
from approval_client.command.codes import Code, code_of_error
from approval_client.testing import FakeDashboard

WITHIN_S = 60.0
TOKEN = "dash_x"


class Clock:
    """Time that passes when somebody sleeps, so that nothing waits in earnest."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now

    def sleep(self, seconds):
        self.now += seconds

    async def asleep(self, seconds):
        self.now += seconds


@contextlib.contextmanager
def listening(*answers):
    """Answer each connection at a real socket with these bytes, the last of them for ever."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        left, over = list(answers), threading.Event()

        def serve():
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                with connection, contextlib.suppress(OSError):
                    if over.is_set():
                        return
                    connection.settimeout(1)
                    connection.recv(65_536)
                    connection.sendall(left.pop(0) if len(left) > 1 else left[0])

        thread = threading.Thread(target=serve)
        thread.start()
        address = server.getsockname()
        try:
            yield f"http://127.0.0.1:{address[1]}"
        finally:
            over.set()
            with contextlib.suppress(OSError):
                socket.create_connection(address, timeout=1).close()
            thread.join()


def http(status, body=b"", *headers):
    lines = [f"HTTP/1.1 {status} X", f"Content-Length: {len(body)}", "Connection: close", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def nowhere():
    """Return an address of this machine where nothing listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return f"http://127.0.0.1:{server.getsockname()[1]}"


def blocking(url, clock):
    return Client(url, TOKEN, clock=clock, sleep=clock.sleep).request_approval


def awaiting(url, clock):
    client = AsyncClient(url, TOKEN, clock=clock, sleep=clock.asleep)
    return lambda question: asyncio.run(client.request_approval(question))


BOTH = pytest.mark.parametrize("asking", [blocking, awaiting])
STRANGERS = [
    (http(404, b"<html>Not Found</html>"), "with a web page (HTTP 404)"),
    (http(501, b"<!DOCTYPE HTML>"), "with a web page (HTTP 501)"),
    (http(200, b"<html>Welcome</html>"), "with a web page (HTTP 200)"),
    (http(200, b'{"hello": "world"}'), "with other JSON (HTTP 200)"),
    (http(404, b'{"message": "Not Found"}'), "with other JSON (HTTP 404)"),
    (http(401, b'{"error": "no"}'), "with other JSON (HTTP 401)"),
    (http(403, b"<html>Forbidden</html>"), "with a web page (HTTP 403)"),
    (http(204), "without the header Approval-Protocol (HTTP 204)"),
    (http(200, b"OK"), "without the header Approval-Protocol (HTTP 200)"),
    (
        http(301, b"", "Location: https://other.example/api/v1/approvals"),
        "redirects to 'https://other.example/api/v1/approvals' (HTTP 301)",
    ),
    (
        http(400, b"<html>The plain HTTP request was sent to HTTPS port</html>"),
        "with a web page (HTTP 400)",
    ),
    (b"\x15\x03\x01\x00\x02\x02\x46", "does not answer in HTTP; try https:// instead of http://"),
    (b"-ERR unknown command 'POST'\r\n\r\n", "does not answer in HTTP"),
]


@BOTH
def test_where_nothing_listens_it_gives_up_within_a_minute_and_names_the_address(asking, question):
    clock, url = Clock(), nowhere()

    with pytest.raises(Unreachable, match=r"Check that the dashboard is running") as caught:
        asking(url, clock)(question)

    assert (url in str(caught.value), 40 < clock.now <= WITHIN_S) == (True, True)


@BOTH
def test_a_host_name_that_does_not_exist_is_given_up_within_a_minute(asking, question):
    clock = Clock()

    with pytest.raises(Unreachable, match=r"'https://nowhere\.invalid' gave no usable answer"):
        asking("https://nowhere.invalid", clock)(question)

    assert clock.now <= WITHIN_S


@BOTH
@pytest.mark.parametrize(("answer", "said"), STRANGERS)
def test_what_is_no_dashboard_is_said_to_be_none_at_once(asking, question, answer, said):
    clock = Clock()

    with listening(answer) as url, pytest.raises(NotADashboard) as caught:
        asking(url, clock)(question)

    told = str(caught.value)
    assert (said in told, url in told, "Nothing was approved." in told) == (True, True, True)
    assert clock.now == 0.0


@BOTH
def test_tls_on_a_plain_port_is_said_at_once(asking, question):
    clock = Clock()

    with listening(http(400)) as url, pytest.raises(NotADashboard, match="try http:// instead"):
        asking(url.replace("http:", "https:"), clock)(question)

    assert clock.now == 0.0


@pytest.mark.parametrize(("scheme", "is_doubted"), [("https", True), ("http", False)])
def test_tls_that_is_never_answered_is_doubted_in_the_end(scheme, is_doubted, stage, question):
    stage = stage(Failure("ConnectTimeout"), url=f"{scheme}://127.0.0.1:1")

    with pytest.raises(Unreachable) as caught:
        stage.ask(question)

    assert ("begins with http://" in str(caught.value)) is is_doubted


@pytest.mark.parametrize(("end", "is_doubted"), [("/approvals", True), ("/", False), ("", False)])
def test_a_page_in_the_address_is_doubted(question, end, is_doubted):
    with (
        listening(http(404, b"<html>Not Found</html>")) as url,
        pytest.raises(NotADashboard) as caught,
    ):
        blocking(url + end, Clock())(question)

    assert ("Perhaps '/approvals' at its end is too much." in str(caught.value)) is is_doubted


def test_a_certificate_that_is_not_trusted_is_said_at_once(stage, question):
    stage = stage(Failure("ConnectError", untrusted="self-signed certificate"))

    with pytest.raises(Unreachable, match=r"not trusted \(self-signed certificate\)"):
        stage.ask(question)

    assert stage.sleeps == []


def test_a_certificate_error_is_recognised_below_the_http_client():
    from approval_client._driver import failure  # noqa: PLC0415 - for this one test

    cause = ssl.SSLCertVerificationError(1, "certificate verify failed")
    cause.verify_message = "self-signed certificate"
    error = httpx2.ConnectError("no")
    error.__cause__ = cause

    assert failure(error).untrusted == "self-signed certificate"


@pytest.mark.parametrize("status", [500, 502, 503, 504, 429])
def test_a_proxy_whose_dashboard_is_being_started_is_waited_for(stage, question, say, status):
    busy = Reply(status=status, protocol="", body=b"<html>Bad Gateway</html>")
    stage = stage(*[busy] * 9, say.approved(), say.started())

    assert stage.ask(question).approved is True
    assert 20 < stage.now < WITHIN_S


def test_a_proxy_that_never_finds_its_dashboard_is_given_up_within_a_minute(stage, question):
    stage = stage(Reply(status=502, protocol="", body=b"<html>Bad Gateway</html>"))

    with pytest.raises(Unreachable, match="HTTP 502"):
        stage.ask(question)

    assert stage.now <= WITHIN_S


def test_who_waits_on_for_an_earlier_request_waits_as_long_as_reviewers_have(stage, question, say):
    busy = Reply(status=502, protocol="", body=b"<html>Bad Gateway</html>")
    stage = stage(*[busy] * 40, say.approved(), say.started())

    response = stage.play(stage.talk(question).resume("a1"))

    assert (response.approved, stage.now > 2 * WITHIN_S) == (True, True)


def test_no_try_of_a_first_contact_lasts_longer_than_all_of_it(stage, question):
    def silent(stage):
        stage.now += stage.calls[-1].timeout_s
        return Failure("ReadTimeout")

    stage = stage(silent)
    with pytest.raises(Unreachable):
        stage.ask(question)

    assert stage.now <= WITHIN_S


def test_with_a_notebook_it_takes_no_longer(stage):
    stage = stage(Failure("ConnectError"))

    with pytest.raises(Unreachable):
        stage.ask(ApprovalRequest.code("x", notebook=b'{"nbformat": 4, "cells": []}'))

    assert stage.now <= WITHIN_S


def test_a_proxy_that_refuses_the_notebook_first_does_not_keep_the_question(stage, say_for):
    question = ApprovalRequest.code("x", notebook=b'{"nbformat": 4, "cells": []}')
    say = say_for(question)
    too_large = Reply(status=413, protocol="", body=b"<html>Too large</html>")
    stage = stage(too_large, say.approved(), say.started())

    assert stage.ask(question).approved is True


def test_a_dashboard_that_answered_once_is_waited_for_as_long_as_people_have(stage, question, say):
    stage = stage(say.pending(), Failure("ConnectError"))

    with pytest.raises(Unreachable):
        stage.ask(question)

    assert 1800 <= stage.now <= 1811


def test_a_refusal_of_the_dashboards_own_counts_as_contact(stage, question, say):
    stage = stage(say.problem(503, "unavailable"), Failure("ConnectError"))

    with pytest.raises(Unreachable):
        stage.ask(question)

    assert stage.now == 1800.0


def test_the_warning_names_the_address_and_comes_again_each_minute(stage, question, caplog):
    stage = stage(Failure("ConnectError: refused"), reached=True)

    with caplog.at_level(logging.WARNING), pytest.raises(Unreachable):
        stage.ask(ApprovalRequest.code("x", time_limit_s=300))

    told = [record.getMessage() for record in caplog.records]
    assert told[0] == (
        "The dashboard at 'https://dashboard.example' could not answer (ConnectError: refused). "
        "Trying again for 300 s at most."
    )
    assert len(told) == 5


DOWN = Failure("ConnectError: refused")


def told(caplog):
    return [record.getMessage().removeprefix(PLACE) for record in caplog.records]


PLACE = "The dashboard at 'https://dashboard.example' "


def test_after_an_outage_it_says_once_that_it_is_back_and_waits(stage, question, say, caplog):
    replies = [say.pending(), DOWN, DOWN, say.pending(), say.rejected()]

    with caplog.at_level(logging.WARNING):
        played = stage(*replies)
        played.ask(question)

    assert told(caplog)[1:] == [
        "answers again. Waiting for a person: https://dashboard.example/approvals/a1"
    ]
    # It looks where it is answered at once, and then waits on.
    waits = "GET /api/v1/approvals/a1/wait?hold=50"
    looks = "GET /api/v1/approvals/a1"
    assert played.paths[1:] == [waits, looks, looks, waits]


def test_what_was_decided_during_an_outage_is_taken_at_once(stage, question, say, caplog):
    with caplog.at_level(logging.WARNING):
        response = stage(say.pending(), DOWN, say.rejected()).ask(question)

    assert (response.status, told(caplog)[1:]) == ("rejected", ["answers again."])


def test_a_dashboard_that_is_started_late_answers_now(stage, question, say, caplog):
    with caplog.at_level(logging.WARNING):
        stage(DOWN, say.rejected()).ask(question)

    assert told(caplog)[1:] == ["answers now."]


def test_a_line_that_is_cut_off_all_the_time_is_told_once_a_minute(stage, question, say, caplog):
    cut = [DOWN, say.pending()] * 10

    with caplog.at_level(logging.WARNING):
        played = stage(say.pending(), *cut, say.rejected())
        played.ask(question)

    assert played.now < 60
    assert len(told(caplog)) == 2


def test_a_stranger_is_not_sent_the_question_again_to_take_it_back(question):
    asked = []

    def carry(request):
        asked.append(request.method)
        return httpx2.Response(404, content=b"<html>")

    client = Client("https://a.example", TOKEN, transport=httpx2.MockTransport(carry))
    with pytest.raises(NotADashboard):
        client.request_approval(question)

    assert asked == ["POST"]


def test_an_address_with_a_path_too_much_is_told_so(stage, question, say):
    stage = stage(say.problem(404, "not_found"))

    with pytest.raises(RequestRefused, match="without /api/v1"):
        stage.ask(question)


async def test_the_functions_of_the_environment_know_what_they_reached_before():
    fake = FakeDashboard.approving()
    asked = ApprovalRequest.code("x")
    with fake.installed():
        assert (await approval_func(asked)).approved is True
        fake.reachable, began = False, fake.clock()
        response = await approval_func(asked)

    assert (response.approved, fake.clock() - began) == (False, 1800.0)


@pytest.mark.parametrize("verb", ["get", "cancel", "iter_decided", "submit", "report_finished"])
def test_whatever_is_called_first_says_that_it_is_no_dashboard(verb, question):
    fake = FakeDashboard.approving()
    response = fake.client().request_approval(question)
    page = httpx2.MockTransport(lambda _: httpx2.Response(200, content=b"<html>"))
    client = Client("https://a.example", TOKEN, transport=page)
    calls = {
        "get": lambda: client.get("a1"),
        "cancel": lambda: client.cancel("a1"),
        "iter_decided": lambda: list(client.iter_decided()),
        "submit": lambda: client.submit(question),
        "report_finished": lambda: client.report_finished(response),
    }

    with pytest.raises(NotADashboard, match=r"'https://a\.example' is not a dashboard"):
        calls[verb]()


def test_to_a_model_it_is_a_rejection_that_says_what_answers():
    class Event:
        code = "print(1)"
        context = ()

    with listening(http(200, b"<html>")) as url:
        response = Client(url, TOKEN).approval_func(Event())

    assert (response.approved, "is not a dashboard" in response.reason) == (False, True)


def test_for_shells_it_has_the_code_of_what_cannot_be_reached():
    assert code_of_error(NotADashboard("No.")) is Code.UNREACHABLE
