import re
from types import MappingProxyType

import pytest

from approval_client.capabilities import (
    clear_approval_state,
    get_approval_resume_data,
    get_approved_payload_from_state,
)

TYPE = "python_executor"
VALID = {"approval_type": TYPE, "code": "print(1)"}
OTHER = {"approval_type": "memory_save", "content": "x"}


def resume(approved, payload, expected=TYPE):
    state = {"approval_approved": approved, "approved_payload": payload}
    return get_approval_resume_data(state, expected)


def fails_with(message):
    return pytest.raises(ValueError, match=f"^{re.escape(message)}$")


@pytest.mark.parametrize(
    ("approved", "payload", "result"),
    [
        (None, None, (False, None)),
        (None, VALID, (False, None)),
        (True, VALID, (True, VALID)),
        (False, None, (True, None)),
        (False, {}, (True, None)),
        (False, VALID, (True, None)),
    ],
)
def test_the_table_of_answers(approved, payload, result):
    assert resume(approved, payload) == result


@pytest.mark.parametrize("state", [{}, {"approved_payload": VALID}, {"messages": []}])
def test_nothing_is_resumed_before_there_is_an_answer(state):
    assert get_approval_resume_data(state, TYPE) == (False, None)


def test_a_rejection_needs_no_payload():
    assert get_approval_resume_data({"approval_approved": False}, TYPE) == (True, None)


def test_a_state_may_be_any_mapping():
    state = MappingProxyType({"approval_approved": True, "approved_payload": VALID})
    assert get_approval_resume_data(state, TYPE) == (True, VALID)


def test_the_payload_is_the_object_that_was_stored():
    assert resume(True, VALID)[1] is VALID


@pytest.mark.parametrize("payload", [None, {}])
def test_a_yes_needs_something_that_it_is_said_to(payload):
    with fails_with("approval_approved=True but no approved_payload found"):
        resume(True, payload)


@pytest.mark.parametrize("approved", [True, False])
@pytest.mark.parametrize("payload", ["x", "", 5, 0, [], [VALID], True, MappingProxyType(VALID)])
def test_a_payload_must_be_a_dict(approved, payload):
    with fails_with(f"approved_payload must be dict, got {type(payload)}"):
        resume(approved, payload)


@pytest.mark.parametrize("approved", [True, False])
def test_a_payload_must_name_its_type(approved):
    with fails_with("approved_payload missing required 'approval_type' field"):
        resume(approved, {"code": "print(1)"})


@pytest.mark.parametrize("approved", [True, False])
@pytest.mark.parametrize("named", [" ", "", "\n", 5, None, True, [TYPE]])
def test_the_type_of_a_payload_must_be_a_name(approved, named):
    with fails_with(f"approval_type must be a non-empty string, got: {named!r}"):
        resume(approved, {"approval_type": named})


@pytest.mark.parametrize("expected", ["python_executor", "python", "memory", "memory_save "])
def test_a_yes_to_another_question_is_refused(expected):
    with fails_with(f"Approval was approved but no valid payload found for type {expected}"):
        resume(True, OTHER, expected)


def test_so_is_a_no_to_another_question():
    with fails_with(f"Approval was rejected but no valid payload found for type {TYPE}"):
        resume(False, OTHER)


@pytest.mark.parametrize("payload", [None, VALID])
@pytest.mark.parametrize("approved", ["yes", "no", "true", "", 1, 0, 1.0, [], [True], {}, object])
def test_only_true_and_false_are_answers(approved, payload):
    with fails_with(
        f"approval_approved must be True or False, got {approved!r}. Nothing was approved: put "
        f"the decision into the state as a bool."
    ):
        resume(approved, payload)


@pytest.mark.parametrize("state", [None, "x", 5, [], object()])
def test_a_state_that_is_no_mapping_is_refused(state):
    with fails_with(f"The state must be a mapping, got {type(state)}. Nothing was approved."):
        get_approval_resume_data(state, TYPE)


@pytest.mark.parametrize("expected", ["", " ", None, 5])
def test_an_expected_type_must_be_a_name(expected):
    with fails_with(
        f"The expected approval type must be a non-empty string, got {expected!r}. "
        f"Nothing was approved."
    ):
        resume(True, VALID, expected)


def test_a_cleared_state_resumes_nothing():
    answered = {"approval_approved": True, "approved_payload": VALID, "messages": ["hello"]}
    cleared = {**answered, **clear_approval_state()}
    assert cleared == {"approval_approved": None, "approved_payload": None, "messages": ["hello"]}
    assert get_approval_resume_data(cleared, TYPE) == (False, None)


def test_each_cleared_state_is_a_new_one():
    assert clear_approval_state() is not clear_approval_state()


@pytest.mark.parametrize(
    ("approved", "payload", "found"),
    [
        (True, VALID, VALID),
        (True, OTHER, None),
        (True, None, None),
        (True, {}, None),
        (True, "python_executor", None),
        (False, VALID, None),
        (None, VALID, None),
        ("yes", VALID, None),
        (1, VALID, None),
    ],
)
def test_the_payload_is_given_for_true_alone(approved, payload, found):
    state = {"approval_approved": approved, "approved_payload": payload}

    assert get_approved_payload_from_state(state, TYPE) == found
