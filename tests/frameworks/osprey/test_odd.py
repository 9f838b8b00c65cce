"""Osprey: what is shown is what the node resumes with, whatever an interrupt's payload holds."""

import math
from dataclasses import dataclass
from typing import Any

import pytest

from approval_client.adapters.osprey import to_request
from tests.frameworks.osprey.test_adapter import paused, resume

CODE = {"approval_type": "python_executor", "code": "x = 1"}
STEP = {"context_key": "a", "capability": "read"}
PLAN = {"approval_type": "orchestrator_plan", "execution_plan": {"steps": [STEP]}}
REACT = {**PLAN, "approval_type": "reactive_orchestrator_step", "step": STEP}
MEMORY = {
    "approval_type": "memory_save",
    "operation_type": "save",
    "user_id": "alice",
    "content": "Likes tea.",
    "existing_memory": "",
}
REMEMBERED = {
    "operation": "save",
    "user_id": "alice",
    "content": "Likes tea.",
    "existing": None,
}
WRITE = {"approval_type": "channel_write", "operations": [{"channel_address": "M:1", "value": 1}]}
TOOL = {"approval_type": "my_tool", "x": 1}


def python(code):
    return {"code": code, "language": "python"}


def planned(*steps):
    return {**PLAN, "execution_plan": {"steps": list(steps)}}


def without(payload, name):
    return {key: value for key, value in payload.items() if key != name}


def nested(levels):
    value: Any = "x"
    for _ in range(levels):
        value = [value]
    return value


@dataclass(frozen=True)
class Case:
    name: str
    payload: dict
    shown: Any = None
    told: str = ""  # else: in the error, or in the reason of the rejection


NO_STEPS = "The plan has no steps. Nobody was asked."
CASES = [
    Case("odd letters in code", {**CODE, "code": "\u202ea\r\n\t"}, python("\u202ea\r\n\t")),
    Case("an extra name beside code", {**CODE, "language": "sh"}, python("x = 1")),
    Case("no code", without(CODE, "code"), told="has no 'code'. Nobody was asked."),
    Case("code that is null", {**CODE, "code": None}, told="text"),
    Case("code that is a number", {**CODE, "code": 5}, told="text"),
    Case("code that is NaN", {**CODE, "code": math.nan}, told="'code' of the interrupt cannot be"),
    Case("NUL in code", {**CODE, "code": "a\0"}, told="a text holds a NUL character"),
    Case("bytes", {**CODE, "code": b"x"}, told="bytes is not JSON"),
    Case("1 MiB", {**CODE, "code": "x" * 2**20}, told="the limit is 1,048,576"),
    Case("an extra name in a step", planned({**STEP, "x": 1}), {"steps": [{**STEP, "x": 1}]}),
    Case(
        "an extra name beside steps",
        {**PLAN, "execution_plan": {"steps": [STEP], "goal": "x"}},
        {"steps": [STEP]},
    ),
    Case("a list for a plan", {**PLAN, "execution_plan": [STEP]}, {"steps": [STEP]}),
    Case("one step twice", planned(STEP, STEP), {"steps": [STEP, STEP]}),
    Case("a step that is empty", planned({}), {"steps": [{}]}),
    Case("a plan without steps", planned(), told=NO_STEPS),
    Case("a plan that is null", {**PLAN, "execution_plan": None}, told=NO_STEPS),
    Case("a plan that is a text", {**PLAN, "execution_plan": "steps"}, told=NO_STEPS),
    Case("no plan", without(PLAN, "execution_plan"), told="has no 'execution_plan'"),
    Case("a step that is a text", planned("x"), told="steps"),
    Case("a step that is null", planned(None), told="steps"),
    Case("NaN in a step", planned({"a": math.nan}), told="'execution_plan' of the interrupt"),
    Case("a name that is a number", planned({1: 2}), told="A key must be a string"),
    Case("a deep step", planned({"a": nested(40)}), told="nested deeper than 32 levels"),
    Case("a step of another plan", {**REACT, "step": {}}, told="The step is not in the plan"),
    Case("no user", without(MEMORY, "user_id"), told="has no 'user_id'. Nobody was asked."),
    Case("a user that is null", {**MEMORY, "user_id": None}, told="user_id"),
    Case("a user that is a number", {**MEMORY, "user_id": 5}, told="user_id"),
    Case("a user without a name", {**MEMORY, "user_id": ""}, {**REMEMBERED, "user_id": ""}),
    Case("memory that is null", {**MEMORY, "content": None}, told="content"),
    Case("nothing known", {**MEMORY, "existing_memory": None}, REMEMBERED),
    Case("what is known is a list", {**MEMORY, "existing_memory": []}, told="existing"),
    Case("what is known is false", {**MEMORY, "existing_memory": False}, told="existing"),
    Case("another operation", {**MEMORY, "operation_type": "delete"}, told="which is another one"),
    Case("no operations", without(WRITE, "operations"), told="has no 'operations'"),
    Case("infinite", {**WRITE, "operations": [{"value": math.inf}]}, told="Infinity"),
    Case(
        "operations that are null",
        {**WRITE, "operations": None},
        {"tool": "channel_write", "arguments": {"operations": None}},
    ),
    Case(
        "an extra name of a tool",
        {**TOOL, "y": None},
        {"tool": "my_tool", "arguments": {"x": 1, "y": None}},
    ),
    Case("NUL in a tool", {**TOOL, "x": ["\0"]}, told="'x' of the interrupt cannot be shown"),
    Case("a tool on two lines", {**TOOL, "approval_type": "a\nb"}, told="body.content.tool"),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_is_shown_is_resumed_with_or_nobody_is_asked(gate, case):
    gate.approve_next()
    found, reasons = paused({"user_message": "Go?", "resume_payload": case.payload}), []

    try:
        state = resume(found, gate, tell=lambda no: reasons.append(no.reason) or {})
    except ValueError as error:
        state, reasons = {"ran": None}, [str(error)]

    if case.told:
        assert (gate.asked(), state["ran"]) == ([], None)
        assert case.told in reasons[0]
        assert "Nobody was asked" in reasons[0]
    else:
        assert gate.asked() == [case.shown]
        assert state["ran"] == case.payload


def test_half_of_a_surrogate_pair_is_shown_as_langgraph_keeps_it(gate):
    gate.approve_next()

    state = resume(paused({"resume_payload": {**CODE, "code": "\ud800"}}), gate)

    assert gate.asked() == [python("?")]
    assert state["ran"] == {**CODE, "code": "?"}


def test_half_of_a_surrogate_pair_that_was_kept_is_not_asked():
    with pytest.raises(ValueError, match=r"half of a surrogate pair\. Nobody was asked"):
        to_request({"resume_payload": {**CODE, "code": "\ud800"}})


def test_what_stands_beside_the_steps_of_a_plan_is_evidence(gate):
    gate.approve_next()
    plan = {"steps": [STEP], "goal": "Trim it."}

    resume(paused({"resume_payload": {**PLAN, "execution_plan": plan}}), gate)

    assert gate.evidence() == [{"execution_plan": {"goal": "Trim it."}}]


@pytest.mark.parametrize("objective", ["a\0", nested(9), 5, "x" * 9_000])
def test_an_odd_objective_is_no_reason_not_to_ask(gate, objective):
    gate.approve_next()

    state = resume(paused({"resume_payload": {**CODE, "step_objective": objective}}), gate)

    assert state["ran"]["code"] == "x = 1"


@pytest.mark.parametrize("path", ["a\0.ipynb", 5, ["a"], "x" * 9_000])
def test_a_notebook_that_is_no_path_is_not_sent(gate, path):
    gate.approve_next()
    payload = {**CODE, "notebook_path": path, "execution_folder_path": path}

    resume(paused({"resume_payload": payload}), gate)

    assert gate.evidence()[0]["notebook"].startswith("Not sent: ")


@pytest.mark.parametrize("name", ["plan_file_path", "pending_plans_dir"])
@pytest.mark.parametrize("path", [5, ["a"], "a\0"])
def test_a_plan_file_that_is_no_path_does_not_stop_a_plan(gate, name, path):
    gate.approve_next()

    assert resume(paused({"resume_payload": {**PLAN, name: path}}), gate)["ran"][name] == path
