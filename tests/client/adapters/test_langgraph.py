"""What an interrupt of ours asks, without LangGraph."""

from types import SimpleNamespace

import pytest

from approval_client import ApprovalRequest
from approval_client.adapters.langgraph import _question

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
