"""Osprey's interrupts as requests, and answers as the state that is read: without LangGraph."""

from enum import Enum

import pytest

from approval_client import ApprovalResponse, capabilities
from approval_client.adapters.osprey import state_update, to_request
from approval_client.wire import Status

CODE = capabilities.create_code_approval_interrupt("x = 1", {}, "readonly", [])


class Mode(Enum):
    READ = "read"


def answer(status=Status.APPROVED, **fields):
    return ApprovalResponse(
        approved=status is Status.APPROVED, reason="Because.", status=status, **fields
    )


def test_the_state_after_a_yes_is_read_as_a_yes():
    state = state_update(CODE, answer())

    assert capabilities.get_approval_resume_data(state, "python_executor") == (
        True,
        CODE["resume_payload"],
    )


def test_the_state_after_a_no_is_read_as_a_no():
    state = state_update(CODE, answer(Status.REJECTED))

    assert capabilities.get_approval_resume_data(state, "python_executor") == (True, None)


@pytest.mark.parametrize("status", [Status.EXPIRED, Status.CANCELLED])
def test_no_other_answer_opens(status):
    assert state_update(CODE, answer(status))["approval_approved"] is False


def test_strange_evidence_is_written_as_far_as_it_can_be():
    details = {"mode": Mode.READ, "set": {2, 1}, "object": object()}
    made = capabilities.create_code_approval_interrupt("x", details, "readonly", [])

    assert to_request(made).evidence["analysis_details"] == {
        "mode": "read",
        "set": [1, 2],
        "object": "<object>",
    }


def test_an_unknown_approval_is_a_call_of_its_type():
    made = {"resume_payload": {"approval_type": "vent_chamber", "valve": 3}}

    assert to_request(made).content == {"tool": "vent_chamber", "arguments": {"valve": 3}}


@pytest.mark.parametrize("value", [None, "Go?", {}, {"resume_payload": {"approval_type": 5}}])
def test_what_is_no_interrupt_of_ospreys_is_refused(value):
    with pytest.raises(ValueError, match="not an interrupt of Osprey"):
        to_request(value)


def test_an_interrupt_that_lacks_its_content_is_refused():
    with pytest.raises(ValueError, match="has no 'code'"):
        to_request({"resume_payload": {"approval_type": "python_executor"}})


@pytest.mark.parametrize("steps", [[], "steps", None])
def test_a_plan_without_steps_is_refused(steps):
    payload = {"approval_type": "orchestrator_plan", "execution_plan": {"steps": steps}}

    with pytest.raises(ValueError, match="no steps"):
        to_request({"resume_payload": payload})
