import json

import pytest
from django.db import OperationalError
from django.test import Client

from approval_client.wire import MAX_BODY_BYTES, digest
from dashboard.api.schemas import AnswerOut
from dashboard.approvals import services
from dashboard.approvals.models import ApprovalRequest
from tests import make
from tests.api.conftest import CODE

pytestmark = pytest.mark.django_db


def problem(response):
    assert response["Content-Type"] == "application/problem+json"
    return response.status_code, response.json()["code"]


def test_a_question_is_answered_with_where_it_stands(api):
    response = api.submit()

    body = response.json()
    assert response.status_code == 201
    assert (body["status"], body["version"], body["decision"]) == ("pending", 1, None)
    assert body["digest"] == digest("code", CODE["content"])
    assert body["review_url"] == f"http://127.0.0.1:8000/approvals/{body['id']}"
    assert body["policy"] == {
        "revision": 1,
        "trace": ["Global mode is 'all_capabilities'.", "All code requires approval."],
    }


def test_an_answer_has_the_shape_that_is_documented(api, alice):
    approval_id = api.submit().json()["id"]
    make.decided(ApprovalRequest.objects.get(), alice, reason="Fine.")

    body = api.get(f"/approvals/{approval_id}").json()

    assert json.loads(AnswerOut(**body).model_dump_json()).keys() == body.keys()
    assert body["decision"]["decided_by"] == "alice"


def test_the_same_question_again_is_the_same_request(api):
    first = api.post("/approvals", CODE, key="k")
    again = api.post("/approvals", CODE, key="k")

    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json()["id"] == again.json()["id"]


def test_the_digest_is_of_the_bytes_that_were_sent(api):
    text = '{"tool":"pay","arguments":{"amount":1.10,"id":12345678901234567890}}'
    body = f'{{"kind":"tool_call","capability":"pay","content":{text}}}'

    api.post("/approvals", body)

    stored = ApprovalRequest.objects.get()
    assert stored.content == '{"arguments":{"amount":1.10,"id":12345678901234567890},"tool":"pay"}'


def test_an_agent_reads_its_own_requests_only(api, stranger):
    approval_id = api.submit().json()["id"]

    assert api.get(f"/approvals/{approval_id}").status_code == 200
    assert problem(stranger.get(f"/approvals/{approval_id}")) == (404, "not_found")
    assert problem(stranger.post(f"/approvals/{approval_id}/cancel", {})) == (404, "not_found")


def test_what_is_overdue_is_read_as_expired(api, token):
    approval = make.overdue(token)

    body = api.get(f"/approvals/{approval.pk}").json()

    assert (body["status"], body["decision"]["source"]) == ("expired", "deadline")


def test_an_agent_takes_its_question_back(api):
    approval_id = api.submit().json()["id"]

    body = api.post(f"/approvals/{approval_id}/cancel", {"reason": "Not needed."}).json()

    assert (body["status"], body["decision"]["reason"]) == ("cancelled", "Not needed.")


def test_an_approval_is_started_once_and_then_finished(api, token, alice):
    approval = make.approved(token, alice)
    path, start = f"/approvals/{approval.pk}/outcome", {"state": "started"}
    start["digest"] = approval.digest

    body = api.post(path, start, key="a").json()
    again = api.post(path, start, key="b")
    end = api.post(path, {**start, "state": "finished", "exit_code": 0, "duration_s": 1}).json()

    assert body["outcome"]["started_at"] is not None
    assert problem(again) == (409, "already_started")
    assert end["outcome"]["finished_at"] is not None


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ('{"kind":"code","kind":"memory"}', "duplicate_key"),
        ('{"a": NaN}', "not_finite"),
        ('{"a": "\\u0000"}', "nul_character"),
        ('{"a": "\\ud800"}', "lone_surrogate"),
        ("[" * 33 + "]" * 33, "too_deep"),
        ("[" * 100_000, "too_deep"),
        ("9" * 5000, "number_too_long"),
        ("{", "not_json"),
        ('{"a": 1}'.encode("utf-16"), "not_utf8"),
    ],
)
def test_json_that_could_be_read_differently_is_refused(api, body, code):
    assert problem(api.post("/approvals", body)) == (400, code)


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "shell"},
        {"kind": None},
        {"capability": ""},
        {"capability": "a\nb"},
        {"capability": 5},
        {"capability": "x" * 201},
        {"content": {}},
        {"content": {"code": ""}},
        {"content": {"code": "x", "extra": 1}},
        {"content": "print(1)"},
        {"evidence": []},
        {"objective": ["x"]},
        {"time_limit_s": 4},
        {"time_limit_s": True},
        {"time_limit_s": 60.5},
        {"time_limit_s": 2_592_001},
        {"accepts_edits": "no"},
        {"surprise": 1},
    ],
)
def test_a_wrong_shape_is_refused_and_says_where(api, change):
    response = api.submit(**change)

    assert problem(response) == (422, "invalid")
    assert response.json()["errors"][0]["where"]
    assert not ApprovalRequest.objects.exists()


@pytest.mark.parametrize("body", ["5", "0", "true", "null", '"text"', "[]", '["reason"]'])
def test_a_withdrawal_that_is_not_an_object_withdraws_nothing(api, body):
    asked = api.submit().json()

    response = api.post(f"/approvals/{asked['id']}/cancel", body)

    assert problem(response) == (422, "invalid")
    assert response.json()["detail"].startswith("body: ")
    assert api.get(f"/approvals/{asked['id']}").json()["status"] == "pending"


def test_a_key_that_cannot_be_one_is_refused_in_words(api):
    response = api.post("/approvals", CODE, key="a b")

    assert response.json()["detail"] == (
        "header.Idempotency-Key: This must be 1 to 200 visible ASCII characters, without a space. "
        "Nothing was done."
    )


MANY_NAMES = {f"language{number}": 0 for number in range(30_000)}


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (MANY_NAMES, "body"),
        ({"content": {"code": "1"} | MANY_NAMES}, "body.content"),
        ({"content": {"code": "1"} | {"x" * 500_000: 0}}, f"body.content.{'x' * 100}…"),
        ({"x" * 500_000: 0}, f"body.{'x' * 100}…"),
        ({"kind": "plan", "content": {"steps": [1] * 300_000}}, "body.content.steps.0"),
        ({"kind": "plan", "content": {"steps": [{}, "a"]}}, "body.content.steps.1"),
        ({"content": {"code": "1", "a\n\u202eb": 0}}, "body.content.a\\n\\u202eb"),
        ({"content": "print(1)"}, "body.content"),
        ({"evidence": ["a"]}, "body.evidence"),
    ],
    ids=lambda found: str(found)[:30],
)
def test_however_much_is_wrong_a_refusal_is_short_and_names_the_place(api, change, place):
    response = api.submit(**change)

    assert problem(response) == (422, "invalid")
    assert response.json()["detail"].partition(": ")[0] == place
    assert len(response.content) < 2_000


def test_a_refusal_ends_its_sentences_once(api):
    response = api.submit(content={"code": "1", "zz": 1})

    assert response.json()["detail"].endswith("'language'. Nothing was done.")


@pytest.mark.parametrize("name", ["python_execution", "memory"])
def test_no_tool_carries_the_name_of_a_mode(api, name):
    response = api.submit(kind="tool_call", content={"tool": name, "arguments": {}})

    assert problem(response) == (422, "invalid")


def test_a_question_without_a_key_is_refused(api):
    response = api.http.post(
        "/api/v1/approvals", json.dumps(CODE), "application/json", headers=api.headers
    )

    assert problem(response) == (422, "invalid")


def test_a_body_that_does_not_say_it_is_json_is_refused(api):
    response = api.post("/approvals", CODE, content_type="text/plain")

    assert problem(response) == (415, "unsupported_media_type")


@pytest.mark.parametrize("header", ["", "Bearer", "Bearer dash_wrong", "Basic YTpi", "Bearer é"])
def test_without_a_token_that_works_nothing_opens(db, header):
    response = Client(SERVER_NAME="127.0.0.1", SERVER_PORT="8000").post(
        "/api/v1/approvals", "{}", "application/json", headers={"Authorization": header}
    )

    assert problem(response) == (401, "unauthorized")
    assert response["WWW-Authenticate"] == "Bearer"


def test_a_revoked_token_opens_nothing(api, agent):
    services.revoke_token(agent.tokens.get(), by=make.BY)

    assert problem(api.submit()) == (401, "unauthorized")


def test_a_full_token_is_told_when_to_try_again(api, settings):
    settings.PENDING_PER_TOKEN = 1
    api.submit()

    response = api.submit()

    assert problem(response) == (429, "too_many_pending")
    assert response["Retry-After"] == "10"


def test_a_body_over_the_limit_is_a_problem_also_where_another_server_let_it_through(api):
    assert problem(api.post("/approvals", b" " * (2 * MAX_BODY_BYTES))) == (413, "too_large")


def test_a_method_that_an_address_does_not_take_is_a_problem_too(api):
    response = api.http.put("/api/v1/approvals", headers=api.headers)

    assert problem(response) == (405, "method_not_allowed")
    assert response["Allow"] == "POST"


def test_an_address_that_does_not_exist_is_a_problem_too(api):
    assert problem(api.get("/nothing")) == (404, "not_found")


def test_the_documentation_is_served_from_here(client):
    page = client.get("/api/v1/docs", SERVER_NAME="127.0.0.1", SERVER_PORT="8000")

    assert page.status_code == 200
    assert b"://" not in page.content.replace(b"http://www.w3.org", b"")


def test_a_wait_answers_at_once_where_something_else_serves_django(api):
    approval_id = api.submit().json()["id"]

    assert api.get(f"/approvals/{approval_id}/wait?hold=25").json()["status"] == "pending"


def test_without_an_answer_of_the_database_it_is_said_to_try_again(api, monkeypatch):
    def nothing(**_):
        raise OperationalError("canceling statement due to lock timeout")

    monkeypatch.setattr(services, "submit", nothing)

    response = api.submit()

    assert problem(response) == (503, "unavailable")
    assert response["Retry-After"] == "2"


@pytest.mark.parametrize(
    "hidden", ["\u202e", "\u200b", "\u200d", "\u2800", "\u3164", "\ufe0f", "\ufeff", "\U000e0041"]
)
@pytest.mark.parametrize(
    "sent",
    [
        {"run_id": "nightly{}"},
        {"capability": "mail{}"},
        {"kind": "tool_call", "content": {"tool": "mail{}", "arguments": {}}},
        {"kind": "memory", "content": {"operation": "add", "user_id": "{}ann", "content": "x"}},
    ],
)
def test_names_with_characters_that_nobody_sees_are_refused(api, sent, hidden):
    text = json.dumps(sent, ensure_ascii=False).replace("{}", hidden, 1)
    response = api.submit(**json.loads(text))

    assert problem(response) == (422, "invalid")
    sentence = "This must be one line of text, without control characters and hidden ones."
    assert sentence in response.json()["detail"]
    assert not ApprovalRequest.objects.exists()


def taken_back(approval, by, reason="The beam is on."):
    services.recall(approval_id=approval.pk, person=by, auth="session:password", reason=reason)


@pytest.mark.parametrize("path", ["", "/wait?hold=0"])
def test_what_was_taken_back_is_told_as_cancelled_by_whom_and_why(api, token, alice, path):
    approval = make.approved(token, alice)
    taken_back(approval, alice)

    body = api.get(f"/approvals/{approval.pk}{path}").json()

    said = body["decision"]
    assert (body["status"], said["status"], said["taken_back"]) == ("cancelled", "cancelled", True)
    assert said["reason"] == "The approval was taken back by alice: The beam is on."
    assert (said["source"], said["decided_by"]) == ("reviewer", "alice")
    assert said["valid_until"] == said["decided_at"] <= body["now"]


def test_an_edit_that_was_taken_back_is_not_told(api, token, alice, bob):
    approval = make.pending(token, accepts_edits=True)
    edit = make.edited(approval, alice)
    make.decided(approval, bob, basis=make.basis(approval, edit))
    taken_back(approval, bob)

    said = api.get(f"/approvals/{approval.pk}").json()["decision"]

    assert "content" not in said
    assert said["digest"] == approval.digest


def test_what_was_taken_back_does_not_start(api, token, alice):
    approval = make.approved(token, alice)
    taken_back(approval, alice)
    start = {"state": "started", "digest": approval.digest}

    response = api.post(f"/approvals/{approval.pk}/outcome", start)

    assert problem(response) == (409, "taken_back")
    assert "taken back by alice" in response.json()["detail"]


def test_the_same_question_under_the_same_key_is_told_that_it_was_taken_back(api, alice):
    api.post("/approvals", CODE, key="k")
    approval = ApprovalRequest.objects.get()
    make.decided(approval, alice)
    taken_back(approval, alice)

    assert api.post("/approvals", CODE, key="k").json()["status"] == "cancelled"


def test_who_reads_what_was_decided_is_told_that_it_was_taken_back(api, token, alice):
    approval = make.approved(token, alice)
    taken_back(approval, alice)

    [one] = api.get("/decisions").json()["decisions"]
    assert (one["id"], one["status"]) == (str(approval.pk), "cancelled")


@pytest.mark.parametrize(
    ("kind", "content", "place", "said"),
    [
        ("tool_call", {"tool": "x", "arguments": ["a"]}, "body.content.arguments", "dictionary"),
        ("tool_call", {"tool": "", "arguments": {}}, "body.content.tool", "at least 1 character"),
        ("tool_call", {"tool": "a\nb", "arguments": {}}, "body.content.tool", "one line of text"),
        ("code", {"code": "1", "lang": "py"}, "body.content.lang", "Did you mean 'language'?"),
        ("code", {"code": "1", "{x}": "py"}, "body.content.{x}", "which has 'code', 'language'."),
        ("plan", {"steps": ["read"]}, "body.content.steps.0", "dictionary"),
        ("memory", {"operation": "write"}, "body.content.user_id", "Field required"),
    ],
)
def test_a_refusal_names_the_place_where_the_author_wrote_it(api, kind, content, place, said):
    response = api.submit(kind=kind, capability="x", content=content)

    assert problem(response) == (422, "invalid")
    assert response.json()["detail"].startswith(f"{place}: ")
    assert said in response.json()["detail"]


def test_an_integer_of_400_digits_is_asked_and_shown(api, client, alice):
    content = {"tool": "pay", "arguments": {"n": 10**400}}

    response = api.submit(kind="tool_call", capability="pay", content=content)

    assert response.status_code == 201
    client.force_login(alice)
    page = client.get(f"/approvals/{response.json()['id']}", headers={"host": "127.0.0.1:8000"})
    assert page.status_code == 200
    assert "1" + "0" * 400 in page.content.decode()
