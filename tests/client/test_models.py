"""Questions and answers as the agent holds them."""

import json
import re
from dataclasses import FrozenInstanceError

import pytest

from approval_client import ApprovalRequest, ApprovalResponse, wire
from approval_client.wire import Kind, Status


@pytest.mark.parametrize(
    ("request_", "kind", "capability", "content"),
    [
        (ApprovalRequest.code("x"), "code", "python_execution", {"code": "x"}),
        (
            ApprovalRequest.code("x", "sh"),
            "code",
            "python_execution",
            {"code": "x", "language": "sh"},
        ),
        (
            ApprovalRequest.tool_call("rm", {"path": "/"}),
            "tool_call",
            "rm",
            {"tool": "rm", "arguments": {"path": "/"}},
        ),
        (ApprovalRequest.plan([{"do": 1}]), "plan", "plan", {"steps": [{"do": 1}]}),
        (
            ApprovalRequest.memory("save", "u1", "likes tea"),
            "memory",
            "memory",
            {"operation": "save", "user_id": "u1", "content": "likes tea", "existing": None},
        ),
    ],
)
def test_each_kind_has_its_content_and_its_capability(request_, kind, capability, content):
    assert (request_.kind, request_.capability, request_.content) == (kind, capability, content)
    assert request_.digest == wire.digest(kind, content)


def test_a_given_capability_goes_before_the_usual_one():
    assert ApprovalRequest.code("x", capability="shell").capability == "shell"


def test_a_kind_may_be_given_as_text():
    assert ApprovalRequest(kind="plan", content={"steps": []}).kind is Kind.PLAN


def test_an_unknown_kind_is_refused():
    with pytest.raises(ValueError, match="'dance' is not a valid Kind"):
        ApprovalRequest(kind="dance", content={})


def test_content_that_changes_afterwards_does_not_change_the_question():
    step = {"do": ["look"]}
    request = ApprovalRequest.plan([step])

    step["do"].append("delete everything")

    assert request.content == {"steps": [{"do": ["look"]}]}


def test_a_request_cannot_be_reassigned():
    with pytest.raises(FrozenInstanceError):
        ApprovalRequest.code("x").content = {}


def test_the_body_holds_only_what_was_said():
    body = json.loads(ApprovalRequest.code("x", accepts_grants=False).body())

    assert body == {"kind": "code", "capability": "python_execution", "content": {"code": "x"}}


def test_the_body_holds_everything_that_was_said():
    said = {
        "objective": "To see.",
        "evidence": {"context": "none"},
        "run_id": "r1",
        "time_limit_s": 60,
        "max_wait_s": 0,
        "accepts_edits": True,
        "accepts_grants": True,
    }

    body = json.loads(ApprovalRequest.code("x", **said).body())

    assert {name: body[name] for name in said} == said


def test_only_true_itself_accepts_edits():
    body = json.loads(ApprovalRequest.code("x", accepts_edits="no", accepts_grants=1).body())

    assert "accepts_edits" not in body
    assert "accepts_grants" not in body


def test_a_remembered_yes_may_answer_unless_the_agent_says_no():
    asked = [ApprovalRequest.code("x"), ApprovalRequest.code("x", accepts_grants=False)]

    assert [json.loads(r.body()).get("accepts_grants") for r in asked] == [True, None]


def test_the_server_hashes_what_the_agent_hashed():
    content = {"id": 2**63 + 1, "ratio": 0.1, "text": "a\r\nb\u202e"}
    request = ApprovalRequest.tool_call("t", content)

    received = wire.parse_json(request.body())

    assert wire.digest(received["kind"], received["content"]) == request.digest


def test_content_that_is_not_json_is_a_type_error():
    with pytest.raises(TypeError, match="object is not JSON"):
        ApprovalRequest.tool_call("t", {"x": object()})


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (float("nan"), "content.arguments.x: nan is not JSON."),
        ([1, {"a": float("inf")}], "content.arguments.x.1.a: inf is not JSON."),
        (10**5000, "content.arguments.x: A number has too many digits."),
        ({"a\0": 1}, "content.arguments.x: A string in the JSON holds a NUL character."),
        ({"a\u202e": "\0"}, r"content.arguments.x.'a\u202e': A string in the JSON holds a NUL"),
        ({1: 2}, "content.arguments.x: A key must be a string, not 1."),
        (
            json.loads("[" * 40 + "]" * 40),
            "content.arguments.x: The JSON is nested deeper than 32",
        ),
        (b"x", "content.arguments.x: bytes is not JSON: b'x'."),
    ],
    ids=["NaN", "Infinity", "digits", "NUL", "hidden", "key", "deep", "bytes"],
)
def test_what_cannot_be_sent_is_named_with_its_place(value, told):
    with pytest.raises((TypeError, ValueError), match=f"^{re.escape(told)}"):
        ApprovalRequest.tool_call("t", {"first": 1, "x": value})


def test_a_cause_that_cannot_be_sent_is_named_with_its_place():
    with pytest.raises(ValueError, match=r"^objective: A string in the JSON holds half of a surr"):
        ApprovalRequest.code("x", objective="\ud800").body()


@pytest.mark.parametrize("text", ["a\0b", "\ud800"])
def test_text_that_cannot_be_sent_as_it_is_is_refused(text):
    with pytest.raises(wire.JsonError):
        ApprovalRequest.code(text)


def test_code_does_not_show_in_repr():
    request = ApprovalRequest.code("password = 'x'", evidence={"context": "password"})
    response = ApprovalResponse(approved=True, reason="", content={"code": "password"})

    assert "password" not in repr(request)
    assert "password" not in repr(response)


@pytest.mark.parametrize("approved", [True, False])
def test_a_response_stands_for_approved_in_a_condition(approved):
    assert bool(ApprovalResponse(approved=approved, reason="")) is approved


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ({"approved": True, "status": "approved", "decided_by": "ana"}, "approved by ana"),
        ({"approved": True, "status": "approved", "source": "policy"}, "approved by policy"),
        ({"approved": False, "status": "expired", "source": "deadline"}, "expired by deadline"),
        ({"approved": False, "reason": "No server."}, "not approved: No server."),
        (
            {"approved": False, "status": "rejected", "decided_by": "ana", "reason": "Too broad."},
            "rejected by ana: Too broad.",
        ),
    ],
)
def test_a_response_is_printed_as_one_line(fields, line):
    status = Status(fields["status"]) if "status" in fields else None

    assert str(ApprovalResponse(**{"reason": "", **fields, "status": status})) == line


@pytest.mark.parametrize("approved", ["yes", "no", 1, None, "approved"])
def test_a_response_takes_nothing_but_true_and_false(approved):
    with pytest.raises(TypeError, match="approved must be True or False"):
        ApprovalResponse(approved=approved, reason="")


@pytest.mark.parametrize("status", [s for s in Status if s is not Status.APPROVED])
def test_no_other_status_can_be_approved(status):
    with pytest.raises(ValueError, match="approved is True, but status is"):
        ApprovalResponse(approved=True, reason="", status=status)
