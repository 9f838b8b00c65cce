"""Osprey: whatever is approved is what the node resumes with."""

import math
import os
from copy import deepcopy

from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st

from approval_client.adapters.osprey import resume_pending
from approval_client.testing import FakeDashboard
from approval_client.wire import canonical_json
from tests.frameworks.osprey.test_adapter import THREAD, paused
from tests.frameworks.random_calls import EXAMPLES, INTS, ODD, TEXTS

VALUES = st.recursive(
    st.none() | st.booleans() | INTS | TEXTS | st.floats(allow_nan=False, allow_infinity=False),
    lambda some: st.lists(some, max_size=2) | st.dictionaries(TEXTS, some, max_size=2),
    max_leaves=4,
)
STEPS = st.lists(st.dictionaries(TEXTS, VALUES, max_size=3), max_size=3)
PARTS = {
    "python_executor": {"code": TEXTS},
    "orchestrator_plan": {"execution_plan": st.fixed_dictionaries({"steps": STEPS}) | STEPS},
    "memory_save": {
        "operation_type": st.sampled_from(["save", "save", "save", "delete"]),
        "user_id": st.sampled_from(["alice", "bob", "é"]),
        "content": TEXTS,
        "existing_memory": st.none() | TEXTS,
    },
    "channel_write": {"operations": st.lists(VALUES, max_size=3)},
    "my_tool": {"x": VALUES, "y": VALUES},
}
SPOILT = ODD | st.sampled_from([math.nan, {"a": math.inf}, "\0", b"x", [], "", False, {1: 2}])


@st.composite
def payloads(draw):
    kind = draw(st.sampled_from(sorted([*PARTS, "memory_save", "python_executor"])))
    found = {name: draw(values) for name, values in PARTS[kind].items()}
    how = draw(st.sampled_from(["good", "good", "good", "odd", "left out", "extra"]))
    name = draw(st.sampled_from(sorted(found)))
    if how == "odd":
        found[name] = draw(SPOILT)
    if how == "left out":
        del found[name]
    if how == "extra":
        found[draw(st.sampled_from(["z", "language", "step_objective"]))] = draw(SPOILT)
    return {"approval_type": kind, **found}


def content(payload):
    """Return what has to be shown of what a node resumes with."""
    match payload:
        case {"approval_type": "python_executor", "code": code}:
            return {"code": code, "language": "python"}
        case {"approval_type": "orchestrator_plan", "execution_plan": {"steps": steps}}:
            return {"steps": steps}
        case {"approval_type": "orchestrator_plan", "execution_plan": steps}:
            return {"steps": steps}
        case {"approval_type": "memory_save", "existing_memory": known}:
            names = {"operation": "operation_type", "user_id": "user_id", "content": "content"}
            shown = {name: payload[own] for name, own in names.items()}
            return {**shown, "existing": None if known == "" else known}
        case {"approval_type": "channel_write", "operations": operations}:
            return {"tool": "channel_write", "arguments": {"operations": operations}}
    arguments = {name: payload[name] for name in payload if name != "approval_type"}
    return {"tool": payload["approval_type"], "arguments": arguments}


def run(payload):
    """Approve everything; returns what was shown, what the node got, and what was told."""
    fake, reasons = FakeDashboard.approving(), []
    try:
        graph = paused({"resume_payload": deepcopy(payload)})
    except TypeError:  # LangGraph keeps no integers of more than 64 bits, and so asks nothing
        reject()
    tell = {"tell": lambda answer: reasons.append(answer.reason) or {}}
    try:
        state = resume_pending(graph, THREAD, client=fake.async_client(), **tell)
    except ValueError as error:
        return [one.content for one in fake.approvals], None, str(error)
    return [one.content for one in fake.approvals], state["ran"], reasons[0]


def test_what_is_approved_is_what_the_node_resumes_with():
    count = {"asked": 0, "told": 0}

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        derandomize="EXAMPLES" not in os.environ,  # so that a check does not fail by chance
        suppress_health_check=list(HealthCheck),
    )
    @given(payloads())
    def what_is_approved_is_resumed_with(payload):
        shown, ran, told = run(payload)
        count["asked" if shown else "told"] += 1
        if shown:
            assert [canonical_json(content(ran))] == list(map(canonical_json, shown))
            assert list(ran) == list(payload)
        else:
            assert ran is None
            assert "Nobody was asked" in told

    what_is_approved_is_resumed_with()
    assert min(count.values()) > EXAMPLES / 10, count  # it tries both
    print(count)  # noqa: T201 - shown with -s
