"""Reading the server's answers: what is not exactly an answer is no answer."""

import json

import pytest

from approval_client._answers import Malformed, read_answer, read_problem


@pytest.fixture
def approved(say):
    return say.fields("approved", decision=say.decision())


def read(fields):
    return read_answer(json.dumps(fields).encode())


def test_an_honest_answer_is_read(approved, question):
    answer = read(approved)

    assert (answer.id, answer.status, answer.digest) == ("a1", "approved", question.digest)
    assert (answer.decision.decided_by, answer.decision.edited) == ("alice", False)
    assert (answer.policy_revision, answer.trace) == (3, ("No rule matched.",))


def test_a_grant_that_answered_is_named_by_its_number(say):
    decision = say.decision(source="grant", decided_by=None, grant=7)

    assert read(say.fields("approved", decision=decision)).decision.grant == 7


def test_what_was_taken_back_is_read_as_that(say):
    decision = say.decision("cancelled", taken_back=True)

    assert read(say.fields("cancelled", decision=decision)).decision.taken_back is True


@pytest.mark.parametrize("said", [True, "yes", 1])
def test_what_is_approved_and_taken_back_is_malformed(say, said):
    with pytest.raises(Malformed, match="approved and was taken back"):
        read(say.fields("approved", decision=say.decision(taken_back=said)))


@pytest.mark.parametrize("source", ["", "deadline", "agent", "admin"])
def test_what_nobody_could_have_approved_is_malformed(say, source):
    with pytest.raises(Malformed, match=r"nobody made|approved by"):
        read(say.fields("approved", decision=say.decision(source=source)))


def test_a_source_of_a_later_server_is_read(say):
    decision = say.decision(source="quorum")

    assert read(say.fields("approved", decision=decision)).decision.source == "quorum"


def test_what_ended_and_never_started_is_malformed(approved):
    outcome = {"started_at": None, "finished_at": approved["now"]}

    with pytest.raises(Malformed, match="never started"):
        read(approved | {"outcome": outcome})


@pytest.mark.parametrize("grant", ["7", True, 7.5, {}])
def test_a_grant_that_is_no_number_is_malformed(say, grant):
    with pytest.raises(Malformed):
        read(say.fields("approved", decision=say.decision(grant=grant)))


def test_what_a_later_server_adds_is_ignored(approved):
    assert read(approved | {"news": 1}) == read(approved)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b'"approved"',
        b"true",
        b"null",
        b"NaN",
        b"\xff\xfe",
        b"<html></html>",
        b"[" * 5000,
        b'{"status": "approved", "status": "approved"}',
    ],
)
def test_what_is_no_json_object_is_malformed(body):
    with pytest.raises(Malformed):
        read_answer(body)


@pytest.mark.parametrize(
    "name",
    [
        "id",
        "status",
        "digest",
        "version",
        "now",
        "submitted_at",
        "expires_at",
        "review_url",
        "policy",
        "decision",
        "outcome",
    ],
)
def test_an_answer_without_a_field_is_malformed(approved, name):
    del approved[name]

    with pytest.raises(Malformed, match=f"'{name}' is missing"):
        read(approved)


@pytest.mark.parametrize(
    "name", ["status", "source", "reason", "decided_by", "digest", "decided_at", "valid_until"]
)
def test_a_decision_without_a_field_is_malformed(approved, name):
    del approved["decision"][name]

    with pytest.raises(Malformed, match=f"'{name}' is missing"):
        read(approved)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("id", "../secrets"),
        ("id", ""),
        ("id", 7),
        ("status", "Approved"),
        ("status", "approved "),
        ("status", "yes"),
        ("status", True),
        ("digest", "0" * 63),
        ("digest", "A" * 64),
        ("digest", "0" * 64 + "\n"),
        ("version", True),
        ("version", "1"),
        ("version", 1.0),
        ("now", "2026-11-21T12:00:00"),
        ("now", "soon"),
        ("expires_at", None),
        ("review_url", None),
        ("policy", []),
        ("policy", {"revision": 1, "trace": [1]}),
        ("policy", {"revision": True, "trace": []}),
        ("decision", "approved"),
        ("decision", None),
        ("outcome", None),
        ("outcome", {"started_at": True, "finished_at": None}),
    ],
)
def test_a_field_of_another_type_is_malformed(approved, name, value):
    with pytest.raises(Malformed):
        read(approved | {name: value})


def test_a_decision_that_says_otherwise_is_malformed(say):
    with pytest.raises(Malformed, match="it is approved and its decision is rejected"):
        read(say.fields("approved", decision=say.decision("rejected")))


def test_a_pending_request_with_a_decision_is_malformed(say):
    with pytest.raises(Malformed):
        read(say.fields("pending", decision=say.decision()))


def test_a_problem_is_read_and_cut():
    body = json.dumps({"code": "invalid", "detail": "x" * 1000}).encode()

    problem = read_problem(422, body)

    assert (problem.code, len(problem.detail)) == ("invalid", 500)
