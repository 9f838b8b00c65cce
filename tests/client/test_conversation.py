"""The conversation without I/O: submit, wait, verify, start."""

import pytest

from approval_client import (
    ApprovalRequest,
    RequestRefused,
    TokenRefused,
    Unreachable,
)
from approval_client._calls import Failure, Reply
from approval_client.wire import Status


def test_asking_submits_waits_and_starts_before_it_opens(stage, question, say):
    stage = stage(say.pending(), say.pending(), say.approved(), say.started())

    response = stage.ask(question)

    assert response.approved is True
    assert stage.paths == [
        "POST /api/v1/approvals",
        "GET /api/v1/approvals/a1/wait?hold=50",
        "GET /api/v1/approvals/a1/wait?hold=50",
        "POST /api/v1/approvals/a1/outcome",
    ]


def test_what_a_policy_approved_at_once_is_not_waited_for(stage, question, say):
    stage = stage(say.approved(), say.started())

    assert stage.ask(question).approved is True
    assert stage.paths == ["POST /api/v1/approvals", "POST /api/v1/approvals/a1/outcome"]


def test_the_response_tells_who_decided_what_and_why(stage, question, say):
    response = stage(say.approved(), say.started()).ask(question)

    assert (response.reason, response.decided_by, response.source, response.id) == (
        "Looks fine.",
        "alice",
        "reviewer",
        "a1",
    )
    assert (response.digest, response.content) == (question.digest, {"code": "print('hello')"})


def test_a_rejection_is_returned_with_the_reviewers_words(stage, question, say):
    stage = stage(say.pending(), say.rejected("Not on a Friday."))

    response = stage.ask(question)

    assert (response.approved, response.reason) == (False, "Not on a Friday.")
    assert (response.status, response.content) == (Status.REJECTED, None)


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        ("rejected", "No reason was given."),
        ("expired", "Nobody decided in time."),
        ("cancelled", "The request was withdrawn before anybody decided."),
    ],
)
def test_a_closed_request_without_words_still_says_what_happened(
    stage, question, say, status, reason
):
    response = stage(say.json(say.fields(status))).ask(question)

    assert (response.approved, response.status, response.reason) == (False, status, reason)


def test_the_submission_and_its_retries_carry_one_key_and_one_text(stage, question, say):
    stage = stage(
        Failure("ConnectError"), Reply(status=503, protocol="", body=b""), say.rejected()
    )

    stage.ask(question)

    assert {(call.key, call.text) for call in stage.calls} == {("k1", question.body())}


@pytest.mark.parametrize("status", [500, 502, 503, 504, 429, 408])
def test_a_passing_failure_is_tried_again(stage, question, say, status):
    stage = stage(Reply(status=status, protocol="", body=b"<html>"), say.rejected())

    assert stage.ask(question).status == Status.REJECTED
    assert len(stage.sleeps) == 1


def test_retries_come_less_often_up_to_five_seconds(stage, question, say):
    failures = [Failure("ConnectError")] * 7
    stage = stage(*failures, say.rejected())

    stage.ask(question)

    assert stage.sleeps == [0.25, 0.5, 1.0, 2.0, 4.0, 5.0, 5.0]


@pytest.mark.parametrize(
    ("header", "slept"), [("7", 7.0), ("0", 0.25), ("86400", 60.0), ("soon", 0.25), ("-5", 0.25)]
)
def test_retry_after_is_honoured_up_to_a_minute(stage, question, say, header, slept):
    busy = Reply(status=429, protocol="1", body=b"", retry_after=header)
    stage = stage(busy, say.rejected())

    stage.ask(question)

    assert stage.sleeps == [slept]


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_token_is_reported_at_once(stage, question, status):
    stage = stage(Reply(status=status, protocol="1", body=b""))

    with pytest.raises(TokenRefused, match="Perhaps it was cut off when it was copied"):
        stage.ask(question)

    assert len(stage.calls) == 1


@pytest.mark.parametrize("status", [400, 404, 409, 413, 415, 422])
def test_a_refused_request_is_reported_at_once_with_its_code(stage, question, say, status):
    stage = stage(say.problem(status, "some_code", "It was odd."))

    with pytest.raises(RequestRefused, match=r"'some_code': It was odd\. Nothing") as caught:
        stage.ask(question)

    assert (caught.value.code, caught.value.detail) == ("some_code", "It was odd.")
    assert len(stage.calls) == 1


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b'{"code": 7}', b"\xff", b'{"code": ""}'])
def test_a_refusal_without_a_problem_still_has_a_code(stage, question, body):
    with pytest.raises(RequestRefused) as caught:
        stage(Reply(status=404, protocol="1", body=body)).ask(question)

    assert (caught.value.code, caught.value.detail) == ("http_404", "")


def test_a_redirect_is_refused_and_not_followed(stage, question):
    with pytest.raises(RequestRefused, match="Check that DASHBOARD_URL is") as caught:
        stage(Reply(status=301, protocol="1", body=b"")).ask(question)

    assert caught.value.code == "http_301"


def test_a_request_over_the_limit_is_never_sent(stage):
    stage = stage()

    with pytest.raises(RequestRefused, match=r"It was not sent") as caught:
        stage.ask(ApprovalRequest.code("x" * 1_048_576))

    assert (caught.value.code, stage.calls) == ("too_large", [])


def test_an_unreachable_dashboard_is_given_up_after_the_time_limit(stage):
    stage = stage(Failure("ConnectError"), reached=True)

    with pytest.raises(Unreachable, match=r"last try: ConnectError\)\. Nothing was approved\."):
        stage.ask(ApprovalRequest.code("x", time_limit_s=60))

    assert stage.now == 60.0


def test_max_wait_goes_before_the_time_limit(stage):
    stage = stage(Failure("ConnectError"))

    with pytest.raises(Unreachable):
        stage.ask(ApprovalRequest.code("x", time_limit_s=600, max_wait_s=20))

    assert stage.now == 20.0


def test_without_any_limit_it_is_given_up_after_half_an_hour(stage, question):
    stage = stage(Failure("ConnectError"), reached=True)

    with pytest.raises(Unreachable):
        stage.ask(question)

    assert stage.now == 1800.0


def test_max_wait_zero_tries_once(stage):
    stage = stage(Failure("ConnectError"))

    with pytest.raises(Unreachable):
        stage.ask(ApprovalRequest.code("x", max_wait_s=0))

    assert len(stage.calls) == 1


def held(reply):
    """Give ``reply`` after the hold that was asked for."""

    def wait(stage):
        stage.now += float(stage.calls[-1].path.partition("hold=")[2] or 0)
        return reply

    return wait


def test_the_wait_follows_expires_at_and_a_grace_of_ten_seconds(stage, question, say):
    at = {"expires_at": "2026-11-21T12:00:20Z"}
    late, over = "2026-11-21T12:00:25Z", "2026-11-21T12:00:30Z"
    stage = stage(
        say.pending(**at), held(say.pending(now=late, **at)), say.pending(now=over, **at)
    )

    response = stage.ask(question)

    assert [path.rpartition("/")[2] for path in stage.paths[1:]] == [
        "wait?hold=30",
        "wait?hold=5",
        "cancel",
    ]
    assert (response.approved, response.status) == (False, Status.EXPIRED)


def test_an_extension_is_followed(stage, question, say):
    soon, later = "2026-11-21T12:00:10Z", "2026-11-21T13:00:00Z"
    extended = held(say.pending(expires_at=later))
    stage = stage(say.pending(expires_at=soon), extended, say.approved(), say.started())

    assert stage.ask(question).approved is True
    assert stage.paths[2] == "GET /api/v1/approvals/a1/wait?hold=50"


def test_the_servers_clock_may_be_wrong(stage, question, say):
    old = {"now": "1999-01-01T00:00:00Z", "expires_at": "1999-01-01T00:01:00Z"}
    stage = stage(say.pending(**old), say.approved(), say.started())

    assert stage.ask(question).approved is True


def test_after_its_own_max_wait_the_agent_withdraws_and_says_so(stage, say_for):
    question = ApprovalRequest.code("x", max_wait_s=30)
    pending = held(say_for(question).pending())
    stage = stage(pending, pending, pending, pending)

    response = stage.ask(question)

    assert (response.approved, response.source) == (False, "agent")
    assert response.reason.startswith("Nobody decided while this agent waited")
    assert stage.paths[-1] == "POST /api/v1/approvals/a1/cancel"
    assert stage.now == 30.0


def test_a_wait_that_ends_early_is_not_repeated_at_once(stage, question, say):
    stage = stage(say.pending(), say.pending(), say.rejected())

    stage.ask(question)

    assert stage.sleeps == [1.0]


def test_a_wait_that_was_held_is_repeated_at_once(stage, question, say):
    stage = stage(say.pending(), held(say.pending()), say.rejected())

    stage.ask(question)

    assert stage.sleeps == []


def test_resuming_reads_where_it_stands_first(stage, question, say):
    stage = stage(say.pending(), say.approved(), say.started())

    response = stage.play(stage.talk(question).resume("a1"))

    assert response.approved is True
    assert stage.paths[0] == "GET /api/v1/approvals/a1"


def test_withdrawing_before_anything_was_sent_does_nothing(stage, question):
    stage = stage()

    stage.play(stage.talk(question).withdraw("Enough."))

    assert stage.calls == []


def test_withdrawing_an_unanswered_submission_learns_its_id_first(stage, question, say):
    stage = stage(say.pending(), say.pending())
    talk = stage.talk(question)
    talk.ask().send(None)  # the submission went out, and no answer came

    stage.play(talk.withdraw("Enough."))

    assert stage.paths == ["POST /api/v1/approvals", "POST /api/v1/approvals/a1/cancel"]
    assert {call.timeout_s for call in stage.calls} == {1.5}


def test_withdrawing_what_has_an_id_may_take_the_whole_time(stage, question, say):
    stage = stage(say.pending(), say.pending())
    talk = stage.talk(question)
    stage.play(talk.submit())

    stage.play(talk.withdraw("Enough."))

    assert stage.calls[-1].timeout_s == 3


def test_withdrawing_twice_sends_once(stage, question, say):
    stage = stage(say.pending())
    talk = stage.talk(question)
    stage.play(talk.submit())

    stage.play(talk.withdraw("Enough."))
    stage.play(talk.withdraw("Enough."))

    assert stage.paths.count("POST /api/v1/approvals/a1/cancel") == 1
