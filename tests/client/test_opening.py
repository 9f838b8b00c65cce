"""What opens: an approval of this very content whose start was recorded, and nothing else."""

import json

import pytest

from approval_client import (
    AlreadyUsed,
    ApprovalRequest,
    DigestMismatch,
    NotApproved,
    OnHold,
    TakenBack,
    TooLate,
    Unreachable,
)
from approval_client._calls import Failure
from approval_client.wire import Status, digest

NOW = "2026-11-21T12:00:00Z"


def test_an_answer_about_other_content_is_refused_at_once(stage, question, say):
    stage = stage(say.pending(digest="0" * 64))

    with pytest.raises(DigestMismatch, match=r"about content 0{64}, but"):
        stage.ask(question)


@pytest.mark.parametrize("where", ["answer", "decision"])
def test_an_approval_of_other_content_does_not_open(stage, question, say, where):
    other = {"digest": "0" * 64}
    changes = other if where == "answer" else {"decision": other}
    stage = stage(say.pending(), say.approved(**changes), say.started())

    with pytest.raises(DigestMismatch):
        stage.ask(question)

    assert len(stage.calls) == 2


def test_a_start_that_answers_about_other_content_does_not_open(stage, question, say):
    with pytest.raises(DigestMismatch):
        stage(say.approved(), say.started(decision={"digest": "0" * 64})).ask(question)


def test_an_answer_about_another_request_is_a_failed_try(stage, question, say):
    stage = stage(say.pending(), say.approved(id="a2"), say.rejected())

    assert stage.ask(question).status == Status.REJECTED


def test_a_start_without_a_record_of_it_is_a_failed_try(stage, question, say):
    stage = stage(say.approved(), say.approved(), say.started())

    assert stage.ask(question).approved is True
    assert len(stage.calls) == 3


@pytest.mark.parametrize("status", ["rejected", "expired", "cancelled"])
def test_a_start_that_answers_anything_but_approved_does_not_open(stage, question, say, status):
    told = say.fields(status, decision=say.decision(status), started_at=NOW)
    stage = stage(say.approved(), say.json(told))

    with pytest.raises(Unreachable, match="does not say that the start was recorded"):
        stage.ask(question)


@pytest.mark.parametrize(
    ("code", "error", "why"),
    [
        ("already_started", AlreadyUsed, "the approval was used already"),
        ("approval_expired", TooLate, "time to use the approval is over"),
        ("on_hold", OnHold, "an admin has put everything on hold"),
        ("taken_back", TakenBack, "Because"),
        ("digest_mismatch", DigestMismatch, "about different content"),
        ("not_approved", NotApproved, r"may not start \(not_approved\)"),
    ],
)
def test_a_refused_start_does_not_open_and_says_why(stage, question, say, code, error, why):
    stage = stage(say.approved(), say.problem(409, code))

    with pytest.raises(error, match=why) as caught:
        stage.ask(question)

    assert type(caught.value) is error
    assert len(stage.calls) == 2


def test_a_start_that_never_gets_through_gives_up_when_the_approval_ends(stage, question, say):
    stage = stage(say.approved(), Failure("ConnectError"))

    with pytest.raises(Unreachable):
        stage.ask(question)

    assert stage.now == 600.0


def test_an_edit_is_refused_unless_the_request_accepts_edits(stage, question, say):
    edit = {"content": {"code": "print('bye')"}}
    edit["digest"] = digest("code", edit["content"])
    stage = stage(say.approved(decision=edit), say.started(decision=edit))

    with pytest.raises(DigestMismatch, match="does not accept edits"):
        stage.ask(question)

    assert len(stage.calls) == 1


def test_an_accepted_edit_is_what_may_run(stage, say_for):
    question = ApprovalRequest.code("x", accepts_edits=True)
    say, edit = say_for(question), {"content": {"code": "y"}}
    edit["digest"] = digest("code", edit["content"])
    stage = stage(say.approved(decision=edit), say.started(decision=edit))

    response = stage.ask(question)

    assert (response.content, response.edited) == ({"code": "y"}, True)
    assert json.loads(stage.calls[-1].text)["digest"] == response.digest == edit["digest"]


def test_an_edit_whose_digest_is_not_its_own_does_not_open(stage, say_for):
    question = ApprovalRequest.code("x", accepts_edits=True)
    edit = {"content": {"code": "y"}, "digest": question.digest}

    with pytest.raises(DigestMismatch):
        stage(say_for(question).approved(decision=edit)).ask(question)


def test_the_start_is_retried_with_one_key_of_its_own(stage, question, say):
    stage = stage(say.approved(), Failure("ReadTimeout"), say.started())

    stage.ask(question)

    keys = [call.key for call in stage.calls]
    assert keys[1] == keys[2]
    assert keys[0] != keys[1]


def test_the_start_names_the_digest(stage, question, say):
    stage = stage(say.approved(), say.started())

    stage.ask(question)

    assert json.loads(stage.calls[-1].text) == {"state": "started", "digest": question.digest}


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"outcome": {"started_at": NOW, "finished_at": NOW}}, Unreachable),
        ({"decision": {"valid_until": "2020-01-01T00:00:00Z"}}, TooLate),
    ],
    ids=["ended already", "over for years"],
)
def test_a_start_that_contradicts_itself_opens_nothing(stage, say, question, changes, error):
    stage = stage(say.approved(), say.started(**changes))

    with pytest.raises(error):
        stage.ask(question)
