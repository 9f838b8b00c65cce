"""What an interrupt of ours asks, without LangGraph."""

from types import SimpleNamespace

import pytest

from approval_client import ApprovalRequest
from approval_client.adapters.langgraph import _kept, _question
from approval_client.testing import FakeDashboard, approve

HARMLESS = ApprovalRequest.code("a = 1", "python")
DISGUISES = [
    {"approval_request": HARMLESS.body()},
    {"action_requests": [{"name": "look", "args": {}}]},
    {"type": "tool_approval", "name": "look", "args": {}},
]


def asked_by(value, node):
    return _question(SimpleNamespace(value=value), node).requests


@pytest.mark.parametrize("takes", [True, False])
def test_who_asks_within_a_graph_says_whether_a_remembered_yes_may_answer(takes):
    request = ApprovalRequest.code("a = 1", "python", accepts_grants=takes)

    (asked,) = asked_by({"approval_request": request.body()}, "gate")

    assert asked.accepts_grants is takes


@pytest.mark.parametrize("disguise", DISGUISES)
def test_what_an_interrupt_holds_besides_a_question_is_asked_about_too(disguise):
    value = {"path": "/etc/passwd", **disguise}

    (asked,) = asked_by(value, "delete")

    assert asked.content == {"tool": "langgraph.delete", "arguments": {"value": value}}


MAIL = ApprovalRequest.tool_call("send_mail", {"to": "me"}, accepts_edits=True)
CHANGED = {"tool": "send_mail", "arguments": {"to": "all"}}


@pytest.fixture
def resume_value():
    """What a graph is resumed with after a reviewer changed the mail."""
    client = FakeDashboard.scripted(approve(content=CHANGED)).client()
    question = _question(SimpleNamespace(value={"approval_request": MAIL.body()}), "gate")
    return question.answer([client.request_approval(MAIL)])


def test_a_changed_answer_is_one_to_its_question(resume_value):
    response = _kept.read(MAIL, resume_value)

    assert (response.approved, response.edited, response.content) == (True, True, CHANGED)


def test_a_changed_answer_is_none_to_another_question(resume_value):
    other = ApprovalRequest.tool_call("send_mail", {"to": "you"}, accepts_edits=True)

    assert _kept.read(other, resume_value).approved is False


def test_a_changed_answer_that_does_not_say_what_was_asked_is_none(resume_value):
    del resume_value[_kept.QUESTION]

    assert _kept.read(MAIL, resume_value).approved is False


def test_a_changed_answer_that_changes_the_tool_is_none(resume_value):
    other = ApprovalRequest.tool_call("set_field", {"to": "you"}, accepts_edits=True)

    assert _kept.read(other, {**resume_value, _kept.QUESTION: other.digest}).approved is False
