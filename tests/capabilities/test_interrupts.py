import inspect
from pathlib import Path
from types import SimpleNamespace

import pytest

from approval_client.capabilities import (
    create_channel_write_approval_interrupt,
    create_code_approval_interrupt,
    create_memory_approval_interrupt,
    create_plan_approval_interrupt,
    create_step_approval_interrupt,
    get_approval_resume_data,
)

PLAN = {"steps": [{"task_objective": "Load data", "capability": "data_loader"}]}
STEP = PLAN["steps"][0]
CODE = {
    "approval_type": "python_executor",
    "step_objective": "Execute Python code",
    "code": "print(1)",
    "analysis_details": {"a": 1},
    "execution_mode": "readonly",
    "safety_concerns": ["risky"],
    "notebook_path": None,
    "notebook_link": None,
    "execution_request": None,
    "expected_results": None,
    "execution_folder_path": None,
}
WRITE = {"channel_address": "SR:HC1", "value": 0.5, "units": "A", "notes": "small"}
INTERRUPTS = {
    "python_executor": create_code_approval_interrupt("print(1)", {}, "readonly", []),
    "orchestrator_plan": create_plan_approval_interrupt(PLAN),
    "memory_save": create_memory_approval_interrupt("x", "save", "u1"),
    "reactive_orchestrator_step": create_step_approval_interrupt(STEP, 1, PLAN),
    "channel_write": create_channel_write_approval_interrupt([WRITE], {}),
}


def payload(interrupt):
    return interrupt["resume_payload"]


@pytest.mark.parametrize("approval_type", INTERRUPTS)
def test_an_interrupt_is_a_message_and_a_payload_of_its_type(approval_type):
    interrupt = INTERRUPTS[approval_type]
    assert list(interrupt) == ["user_message", "resume_payload"]
    assert payload(interrupt)["approval_type"] == approval_type


@pytest.mark.parametrize("approval_type", INTERRUPTS)
def test_what_is_asked_can_be_resumed_with(approval_type):
    asked = payload(INTERRUPTS[approval_type])
    state = {"approval_approved": True, "approved_payload": asked}
    assert get_approval_resume_data(state, approval_type) == (True, asked)


def test_code_is_asked_about_with_defaults():
    asked = payload(create_code_approval_interrupt("print(1)", {"a": 1}, "readonly", ["risky"]))
    assert asked == CODE


def test_code_is_asked_about_with_everything():
    files = {"notebook_path": "/n/a.ipynb", "execution_folder_path": "/n"}
    rest = {"notebook_link": "http://jupyter/a", "execution_request": 5, "expected_results": {}}
    given = {"code": "x", "analysis_details": {}, "execution_mode": "write", "safety_concerns": []}
    given |= rest | {"step_objective": "Tune"}
    paths = {name: Path(path) for name, path in files.items()}
    asked = payload(create_code_approval_interrupt(**given, **paths))
    assert asked == {"approval_type": "python_executor", **given, **files}


def test_the_objects_given_are_the_objects_resumed_with():
    details, concerns, request = {"a": object()}, ["b"], object()
    asked = payload(
        create_code_approval_interrupt("x", details, "m", concerns, execution_request=request)
    )
    found = asked["analysis_details"], asked["safety_concerns"], asked["execution_request"]
    assert all(a is b for a, b in zip(found, (details, concerns, request), strict=True))


def test_a_plan_is_asked_about_as_it_is():
    plan = SimpleNamespace(steps=[])
    asked = payload(create_plan_approval_interrupt(plan))
    assert asked == {"approval_type": "orchestrator_plan", "execution_plan": plan}


def test_a_plan_names_its_files_only_if_they_are_given():
    assert payload(create_plan_approval_interrupt(PLAN, Path("/p/a.json"), "/p")) == {
        "approval_type": "orchestrator_plan",
        "execution_plan": PLAN,
        "plan_file_path": "/p/a.json",
        "pending_plans_dir": "/p",
    }
    assert list(payload(create_plan_approval_interrupt(PLAN, pending_plans_dir="/p"))) == [
        "approval_type",
        "execution_plan",
        "pending_plans_dir",
    ]


@pytest.mark.parametrize("operation", ["save", "create", "update", "delete"])
def test_memory_is_asked_about_by_operation(operation):
    assert payload(create_memory_approval_interrupt("new", operation, "u1", "old", "Note")) == {
        "approval_type": f"memory_{operation}",
        "step_objective": "Note",
        "content": "new",
        "operation_type": operation,
        "user_id": "u1",
        "existing_memory": "old",
    }


def test_memory_is_asked_about_with_defaults():
    asked = payload(create_memory_approval_interrupt("new", "save", "u1"))
    assert (asked["existing_memory"], asked["step_objective"]) == ("", "Save content to memory")


@pytest.mark.parametrize("operation", ["", "a b", None, 5])
def test_an_operation_without_a_name_is_not_asked_about(operation):
    with pytest.raises(ValueError, match="operation_type must be a name"):
        create_memory_approval_interrupt("x", operation, "u1")


def test_a_step_is_asked_about_with_its_plan():
    assert payload(create_step_approval_interrupt(STEP, 2, PLAN)) == {
        "approval_type": "reactive_orchestrator_step",
        "execution_plan": PLAN,
        "step": STEP,
        "step_number": 2,
    }


@pytest.mark.parametrize("operation", [WRITE, SimpleNamespace(**WRITE)])
def test_channel_writes_are_asked_about_as_plain_values(operation):
    asked = payload(create_channel_write_approval_interrupt([operation], {"a": 1}, ["b"], "Tune"))
    assert asked == {
        "approval_type": "channel_write",
        "step_objective": "Tune",
        "operations": [WRITE],
        "analysis_details": {"a": 1},
        "safety_concerns": ["b"],
    }


def test_channel_writes_are_asked_about_with_defaults():
    asked = payload(create_channel_write_approval_interrupt([], {}))
    objective = "Write values to control system channels"
    assert (asked["safety_concerns"], asked["step_objective"]) == ([], objective)


def test_units_and_notes_may_be_left_out():
    asked = payload(
        create_channel_write_approval_interrupt([{"channel_address": "A", "value": 0}], {})
    )
    assert asked["operations"] == [
        {"channel_address": "A", "value": 0, "units": None, "notes": None}
    ]


@pytest.mark.parametrize(
    ("operation", "missing"),
    [
        ({"value": 1}, "channel_address"),
        ({"channel_address": "A"}, "value"),
        (5, "channel_address"),
    ],
)
def test_a_write_without_channel_or_value_is_not_asked_about(operation, missing):
    message = f"^Write operation 2 has no '{missing}'. Nobody was asked.$"
    with pytest.raises(ValueError, match=message):
        create_channel_write_approval_interrupt([WRITE, operation], {})


@pytest.mark.parametrize(
    ("function", "names"),
    [
        (
            create_code_approval_interrupt,
            (
                "code analysis_details execution_mode safety_concerns notebook_path notebook_link "
                "execution_request expected_results execution_folder_path step_objective"
            ),
        ),
        (create_plan_approval_interrupt, "execution_plan plan_file_path pending_plans_dir"),
        (
            create_memory_approval_interrupt,
            "content operation_type user_id existing_memory step_objective",
        ),
        (create_step_approval_interrupt, "step step_number execution_plan"),
        (
            create_channel_write_approval_interrupt,
            "operations analysis_details safety_concerns step_objective",
        ),
    ],
)
def test_arguments_have_ospreys_names_and_order(function, names):
    assert list(inspect.signature(function).parameters) == names.split()
