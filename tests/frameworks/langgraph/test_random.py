"""LangGraph: random questions; what was shown is what the node gets."""

import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph

from approval_client import ApprovalRequest
from approval_client.adapters import langgraph as adapter
from approval_client.testing import FakeDashboard, approve
from approval_client.wire import canonical_json
from tests.frameworks.langgraph.test_adapter import THREAD, State
from tests.frameworks.random_calls import EXAMPLES

TEXT = st.text(max_size=6)
ODD = st.sampled_from([float("nan"), "\0", "\ud800", 10**30, b"x", "1e400"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT | ODD,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
TRIED = settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize="EXAMPLES" not in os.environ,
    suppress_health_check=list(HealthCheck),
)


def run(fake, node):
    """Bring a graph to its end; whether it could be asked about."""
    graph = StateGraph(State)
    graph.add_node("node", node)
    graph.add_edge(START, "node")
    graph = graph.compile(checkpointer=InMemorySaver())
    try:
        graph.invoke({}, THREAD)
        adapter.resume_pending(graph, THREAD, client=fake.async_client())
    except (TypeError, ValueError):  # it is not JSON, or cannot be shown whole
        assert fake.approvals == []


@pytest.mark.parametrize("way", ["ask", "gated"])
def test_what_was_shown_is_what_the_node_gets(way):
    count = {"asked": 0, "told": 0}

    @TRIED
    @given(st.dictionaries(TEXT, JSON, max_size=3), st.booleans(), JSON)
    def shown_is_run(arguments, edited, other):
        fake, got = FakeDashboard.manual(), []
        content = {"tool": "act", "arguments": {"other": other}}
        fake.decide_next(approve(content=content) if edited and is_json(other) else approve())

        def make(_=None):
            return ApprovalRequest.tool_call("act", arguments, accepts_edits=True)

        nodes = {
            "ask": lambda _: got.append(adapter.ask(make())),
            "gated": adapter.gated(lambda _, one: got.append(one), make, client=fake.client()),
        }
        run(fake, nodes[way])

        wanted = [content if edited and is_json(other) else one.content for one in fake.approvals]
        found = [one.content for one in got if one.approved is True]
        assert list(map(canonical_json, found)) == list(map(canonical_json, wanted))
        count["asked" if wanted else "told"] += 1

    shown_is_run()
    assert min(count.values()) > EXAMPLES / 20, count


def is_json(value):
    try:
        canonical_json(value)
    except (TypeError, ValueError):
        return False
    return True
