"""``approval_func``: whatever goes wrong is a returned rejection with its own reason."""

import asyncio
import inspect
from dataclasses import dataclass, field
from functools import partial

import httpx2
import pytest

from approval_client import ApprovalRequest, ApprovalResponse, Client, approval_func
from approval_client._refusals import for_model
from approval_client.testing import FakeDashboard, approve, reject
from approval_client.wire import PROTOCOL_HEADER, Source, Status

MARKDOWN = "```python\nprint('hello')\n\n```\n\n```sh\necho hi\n```"


@dataclass
class Event:
    """What AutoGen hands over, as far as anybody looks at it."""

    code: str = MARKDOWN
    context: list = field(default_factory=list)


def deny(fake, event=None):
    """Ask through the blocking twin and return why not."""
    response = fake.client().approval_func(event or Event())
    assert response.approved is False
    return response


async def test_it_is_configured_when_it_is_called(monkeypatch):
    monkeypatch.delenv("DASHBOARD_URL", raising=False)

    response = await approval_func(Event())

    assert response.approved is False
    assert "Set DASHBOARD_URL and DASHBOARD_TOKEN in the environment" in response.reason


async def test_the_environment_says_where(served, monkeypatch):
    fake = FakeDashboard.approving()
    with served(fake) as url:
        monkeypatch.setenv("DASHBOARD_URL", url)
        monkeypatch.setenv("DASHBOARD_TOKEN", fake.token)
        response = await asyncio.wait_for(approval_func(Event()), 5)

    assert response.approved is True


async def test_the_note_of_an_approval_is_its_reason():
    with FakeDashboard.approving("Only until 15:00.").installed():
        response = await approval_func(Event())

    assert (response.approved, response.reason) == (True, "Only until 15:00.")


async def test_the_code_goes_as_it_is_and_names_no_language():
    with FakeDashboard.approving().installed() as fake:
        await approval_func(Event())

    assert fake.approvals[0].content == {"code": MARKDOWN}
    assert fake.approvals[0].body["capability"] == "python_execution"


@pytest.mark.parametrize(
    "code",
    [
        "a\r\nb\rc",
        "\ufeffx",
        "\u202eevil\u2066",
        "x\n```",
        "\t \n",
        "e\u0301\ufb01",
        "x" * 400_000,
    ],
)
def test_code_is_never_altered(code):
    fake = FakeDashboard.approving()

    response = fake.client().approval_func(Event(code))

    assert (response.approved, fake.approvals[0].content) == (True, {"code": code})


@pytest.mark.parametrize(
    ("code", "why"), [("a\0b", "a NUL character"), ("\ud800", "half of a surrogate pair")]
)
def test_code_that_cannot_be_sent_is_a_rejection_that_says_why(code, why):
    fake = FakeDashboard.approving()

    assert why in deny(fake, Event(code)).reason
    assert fake.calls == []


def test_code_that_is_too_large_is_a_rejection_and_nothing_is_sent():
    fake = FakeDashboard.approving()

    assert "1,048,576" in deny(fake, Event("x" * 1_048_577)).reason
    assert fake.calls == []


def test_a_request_of_ours_is_taken_too():
    fake = FakeDashboard.approving()

    fake.client().approval_func(ApprovalRequest.code("x", "sh", objective="To see."))

    assert fake.approvals[0].content == {"code": "x", "language": "sh"}


@pytest.mark.parametrize("event", [None, object(), {"code": "x"}, Event(code=None)])
def test_a_request_without_code_is_a_rejection(event):
    fake = FakeDashboard.approving()

    response = fake.client().approval_func(event)

    assert (response.approved, fake.calls) == (False, [])
    assert "holds no code" in response.reason


def test_a_request_with_code_that_is_no_text_says_so():
    fake = FakeDashboard.approving()

    response = fake.client().approval_func(Event(code=b"x"))

    assert (response.approved, fake.calls) == (False, [])
    assert "The code of Event is bytes and must be a text." in response.reason


class Exploding:
    @property
    def code(self):
        raise ZeroDivisionError("secret")


def test_a_request_that_explodes_is_a_rejection_without_its_words():
    reason = deny(FakeDashboard.approving(), Exploding()).reason

    assert reason.startswith("Asking for approval failed (ZeroDivisionError). Nothing was")


def test_the_reviewers_words_come_first_and_unchanged():
    words = 'Use "rm -i", not rm.\n  Second line.'

    reason = deny(FakeDashboard.rejecting(words)).reason

    assert reason.startswith(words + "\n\nThis was rejected by reviewer. Nothing was run.")


def test_a_rejection_tells_the_model_not_to_retry_unchanged_code():
    reason = deny(FakeDashboard.rejecting("No.")).reason

    assert "Do not ask for the same again unchanged" in reason


def test_silence_says_that_nobody_decided_and_blames_nobody():
    response = deny(FakeDashboard.silent())

    assert response.status is Status.EXPIRED
    assert response.reason.startswith("Nobody decided in time. Nothing was run.")


def test_an_unreachable_dashboard_says_so():
    response = deny(FakeDashboard.unreachable())

    assert response.status is None
    assert "gave no usable answer in time" in response.reason


def test_everything_held_says_so():
    fake = FakeDashboard.approving()
    fake.on_hold = True

    assert "an admin has put everything on hold" in deny(fake).reason


def test_a_withdrawn_request_says_so():
    fake = FakeDashboard.silent()

    def withdraw(request):
        if request.url.path.endswith("/wait"):
            fake.client().cancel(fake.approvals[0].id, "Another run took over.")
        return fake._carry(request)

    client = Client(fake.url, fake.token, transport=httpx2.MockTransport(withdraw))
    response = client.approval_func(Event())

    assert (response.approved, response.status) == (False, Status.CANCELLED)
    assert response.reason.startswith("Another run took over.")


def test_an_approval_that_was_edited_does_not_open():
    fake = FakeDashboard.scripted(approve(content={"code": "other"}))

    assert "does not accept edits" in deny(fake).reason


def test_an_approval_of_other_content_does_not_open():
    fake = FakeDashboard.approving()
    original = fake._answer

    def lie(approval, **options):
        approval.body["content"] = {"code": "rm -rf /"}
        return original(approval, **options)

    fake._answer = lie

    assert "this agent wants to run" in deny(fake).reason


@pytest.mark.parametrize(
    ("status", "said"),
    [(401, "did not accept the token"), (403, "did not accept the token"), (422, "http_422")],
)
def test_each_refusal_has_its_own_reason(status, said):
    signed = {PROTOCOL_HEADER: "1"}
    transport = httpx2.MockTransport(lambda _: httpx2.Response(status, headers=signed))

    response = Client("https://a.example", "dash_x", transport=transport).approval_func(Event())

    assert (response.approved, said in response.reason) == (False, True)


@pytest.mark.parametrize("body", [b"", b"{}", b"approved", b'{"approved": true}', b"[" * 9999])
def test_nonsense_with_a_200_is_no_approval(body):
    fake = FakeDashboard()
    transport = httpx2.MockTransport(lambda _: httpx2.Response(200, content=body))
    client = Client(
        fake.url, fake.token, transport=transport, clock=fake.clock, sleep=fake.advance
    )

    assert client.approval_func(Event()).approved is False


def test_a_broken_driver_is_a_rejection():
    def explode(request):
        raise MemoryError

    client = Client("https://a.example", "dash_x", transport=httpx2.MockTransport(explode))

    assert client.approval_func(Event()).reason.startswith("Asking for approval failed")


def test_a_bound_method_may_be_bound_further():
    client = FakeDashboard.approving().async_client()

    assert inspect.iscoroutinefunction(partial(client.approval_func))


def test_each_retry_of_a_loop_is_a_question_of_its_own():
    fake = FakeDashboard.scripted(reject("No."), approve())
    client = fake.client()

    answers = [client.approval_func(Event()).approved for _ in range(2)]

    assert (answers, len(fake.approvals)) == ([False, True], 2)


async def test_what_a_person_must_mend_is_logged_too(monkeypatch, caplog):
    monkeypatch.delenv("DASHBOARD_URL", raising=False)

    await approval_func(Event())

    [record] = caplog.records
    assert (record.name, record.levelname) == ("approval_client", "WARNING")
    assert "Set DASHBOARD_URL" in record.message


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (Source.REVIEWER, "a person would be asked again."),
        (Source.POLICY, "a rule rejected it without asking anybody."),
    ],
)
def test_a_model_is_told_what_asking_again_would_come_to(source, words):
    answer = ApprovalResponse(
        approved=False, reason="Not there.", status=Status.REJECTED, source=source
    )

    told = for_model(answer).reason

    assert told.startswith("Not there.\n\nThis was rejected by ")
    assert f"Do not ask for the same again unchanged: {words} Change what" in told
