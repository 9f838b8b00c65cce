"""What an interrupt of ours asks, without LangGraph."""

import pytest

from dashboard.client import ApprovalRequest
from dashboard.client.adapters.langgraph import _question


@pytest.mark.parametrize("takes", [True, False])
def test_who_asks_within_a_graph_says_whether_a_remembered_yes_may_answer(takes):
    request = ApprovalRequest.code("a = 1", "python", accepts_grants=takes)

    (asked,) = _question({"approval_request": request.body()}, "gate").requests

    assert asked.accepts_grants is takes
