"""The fake keeps the real one's rules, so that a test against it means something."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import httpx2
import pytest

from approval_client import (
    AlreadyUsed,
    ApprovalRequest,
    DigestMismatch,
    TakenBack,
    TooLate,
    approval_func,
    testing,
)
from approval_client._errors import not_approved
from approval_client.testing import EPOCH, FakeDashboard, approve, reject, remember
from approval_client.wire import MAX_BODY_BYTES, Source, Status

UNKNOWN = "00000000-0000-4000-8000-000000000000"
BODY = {"kind": "code", "capability": "python_execution", "content": {"code": "x"}}


@pytest.fixture
def fake():
    return FakeDashboard.approving()


@pytest.fixture
def post(fake):
    """Speak to the fake without the library."""

    def post(path="", body=BODY, *, key="k", token=fake.token):
        url = f"{fake.url}/api/v1/approvals{path}"
        headers = {
            "Authorization": f"Bearer {token}",
            "Idempotency-Key": key,
            "Content-Type": "application/json",
        }
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        request = httpx2.Request("POST", url, headers=headers, content=content)
        response = fake._carry(request)
        return response.status_code, response.json().get("code")

    return post


def test_a_remembered_yes_says_which_one_it_is():
    client = FakeDashboard.scripted(remember(7)).client()

    response = client.request_approval(ApprovalRequest.code("x"))

    assert (response.approved, response.source, response.grant) == (True, Source.GRANT, 7)
    assert response.decided_by == ""


def test_a_remembered_yes_does_not_answer_who_wants_a_person():
    client = FakeDashboard.scripted(remember()).client()

    response = client.request_approval(ApprovalRequest.code("x", accepts_grants=False))

    assert (response.approved, response.status) == (False, Status.EXPIRED)


def test_a_new_question_is_201_and_its_repetition_200(post):
    assert [post(), post()] == [(201, None), (200, None)]


def test_a_key_names_one_question(post):
    post()

    assert post(body=BODY | {"objective": "Other."}) == (409, "idempotency_conflict")


def test_a_repetition_may_describe_the_tool_otherwise(post):
    post()

    assert post(body=BODY | {"evidence": {"tool_schema": {"type": "object"}}}) == (200, None)


@pytest.mark.parametrize(
    ("body", "refused"),
    [
        (b"{", (400, "not_json")),
        (b'{"a":1,"a":2}', (400, "duplicate_key")),
        (b"[]", (422, "invalid")),
        (BODY | {"approve": True}, (422, "invalid")),
        ({"kind": "code"}, (422, "invalid")),
        (BODY | {"kind": "dance"}, (422, "invalid")),
        (BODY | {"content": {"code": "x", "more": 1}}, (422, "invalid")),
        (BODY | {"content": "x"}, (422, "invalid")),
        (BODY | {"content": {"code": ""}}, (422, "invalid")),
        (BODY | {"max_wait_s": 4}, (422, "invalid")),
        (BODY | {"time_limit_s": 4}, (422, "invalid")),
        (BODY | {"time_limit_s": 2_592_001}, (422, "invalid")),
        (b"x" * (MAX_BODY_BYTES + 1), (413, "too_large")),
    ],
)
def test_it_refuses_what_the_dashboard_refuses(post, body, refused):
    assert post(body=body) == refused


def test_it_wants_its_token(post):
    assert post(token="dash_other") == (401, "unauthorized")


def test_it_wants_a_key(post):
    assert post(key="") == (422, "invalid")


def test_it_knows_no_other_page(post):
    assert post("/nowhere/at/all") == (404, "not_found")
    assert post(f"/{UNKNOWN}/cancel", {}) == (404, "not_found")


def test_it_says_what_is_no_id(post):
    assert post("/unknown/cancel", {}) == (422, "invalid")


def test_an_approval_is_used_once(fake):
    client, request = fake.client(), ApprovalRequest.code("x")
    client.request_approval(request, idempotency_key="k")

    with pytest.raises(AlreadyUsed):
        client.request_approval(request, idempotency_key="k")

    assert fake.approvals[0].started == 1


def test_an_approval_is_good_for_ten_minutes(fake):
    client = fake.client()
    pending = client.submit(ApprovalRequest.code("x"))
    wait = f"/api/v1/approvals/{pending.id}/wait?hold=1"
    headers = {"Authorization": f"Bearer {fake.token}"}
    fake._carry(httpx2.Request("GET", fake.url + wait, headers=headers))

    fake.advance(601)

    with pytest.raises(TooLate):
        client.wait(pending)


@pytest.mark.parametrize(
    ("body", "refused"),
    [
        ({"state": "started", "digest": "0" * 64}, (409, "digest_mismatch")),
        ({"state": "begun"}, (422, "invalid")),
    ],
)
def test_it_checks_what_is_reported(fake, post, body, refused):
    pending = fake.client().submit(ApprovalRequest.code("x"))
    fake.approvals[0].close(approve(), Source.REVIEWER, EPOCH)

    assert post(f"/{pending.id}/outcome", body) == refused


def test_only_what_is_approved_can_start(fake, post):
    pending = fake.client().submit(ApprovalRequest.code("x"))

    outcome = {"state": "started", "digest": pending.request.digest}

    assert post(f"/{pending.id}/outcome", outcome) == (409, "not_approved")


def test_withdrawing_twice_changes_nothing(fake, post):
    pending = fake.client().submit(ApprovalRequest.code("x"))

    assert [post(f"/{pending.id}/cancel", {}) for _ in range(2)] == [(200, None)] * 2


def test_an_end_is_reported_once_and_after_a_beginning(fake, post):
    pending = fake.client().submit(ApprovalRequest.code("x"))
    fake.approvals[0].close(approve(), Source.REVIEWER, EPOCH)
    told = {"state": "finished", "digest": pending.request.digest}

    def report(key):
        return post(f"/{pending.id}/outcome", told, key=key)

    assert report("early") == (409, "not_started")
    post(f"/{pending.id}/outcome", told | {"state": "started"}, key="s")
    assert [report("f"), report("f")] == [(200, None)] * 2
    assert report("other") == (409, "already_finished")


def test_a_script_is_followed_and_then_nobody_answers():
    client = FakeDashboard.scripted(approve(), reject("No."), None).client()

    answers = [client.request_approval(ApprovalRequest.code("x")).status for _ in range(4)]

    assert answers == [Status.APPROVED, Status.REJECTED, Status.EXPIRED, Status.EXPIRED]


def test_an_edit_is_taken_by_an_agent_that_accepts_edits():
    client = FakeDashboard.scripted(*[approve(content={"code": "y"})] * 2).client()

    response = client.request_approval(ApprovalRequest.code("x", accepts_edits=True))

    assert (response.content, response.edited) == ({"code": "y"}, True)
    with pytest.raises(DigestMismatch):
        client.request_approval(ApprovalRequest.code("x"))


def test_everything_expires_at_its_own_time():
    fake = FakeDashboard.silent()

    fake.client().request_approval(ApprovalRequest.code("x", time_limit_s=60))

    assert fake.clock() == 60


def test_it_may_be_decided_before_it_is_asked():
    fake = FakeDashboard.manual()
    fake.reject_next("Never.")

    assert fake.client().request_approval(ApprovalRequest.code("x")).reason == "Never."


async def test_installed_it_answers_approval_func_and_afterwards_no_more(monkeypatch):
    monkeypatch.delenv("DASHBOARD_URL", raising=False)
    with FakeDashboard.approving().installed():
        inside = await approval_func(ApprovalRequest.code("x"))
    outside = await approval_func(ApprovalRequest.code("x"))

    assert (inside.approved, outside.approved) == (True, False)


def test_an_approval_that_was_taken_back_opens_nothing_and_says_by_whom_and_why():
    fake = FakeDashboard.approving()
    client = fake.client()
    pending = client.submit(ApprovalRequest.code("x"))

    fake.take_back("The beam is on.", by="alice")

    response = client.wait(pending)
    assert (response.approved, response.status, response.taken_back) == (
        False,
        Status.CANCELLED,
        True,
    )
    assert str(response) == "The approval was taken back by alice: The beam is on."
    error = not_approved(response)
    assert type(error) is TakenBack
    assert str(error) == (
        "Not approved: The approval was taken back by alice: The beam is on. Nothing was run."
    )


def test_an_approval_that_was_taken_back_does_not_start(fake, post):
    post()
    approval = fake.approvals[0]
    fake.take_back("The beam is on.")

    start = {"state": "started", "digest": approval.digest}
    assert post(f"/{approval.id}/outcome", start, key="s") == (409, "taken_back")


def test_what_was_started_is_not_taken_back(fake):
    fake.client().request_approval(ApprovalRequest.code("x"))

    with pytest.raises(ValueError, match="not started"):
        fake.take_back("Too late.")


def test_a_key_asks_once_also_from_two_threads(fake, monkeypatch):
    together, make = threading.Barrier(2), testing.FakeApproval

    def made(*arguments):
        with suppress(threading.BrokenBarrierError):
            together.wait(0.05)
        return make(*arguments)

    monkeypatch.setattr(testing, "FakeApproval", made)

    def submit(_):
        return fake.client().submit(ApprovalRequest.code("x"), idempotency_key="k").id

    with ThreadPoolExecutor(2) as pool:
        ids = set(pool.map(submit, range(2)))

    assert len(ids) == len(fake.approvals) == 1
