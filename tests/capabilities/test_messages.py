from enum import Enum
from types import SimpleNamespace

import pytest

from approval_client.capabilities import (
    create_channel_write_approval_interrupt,
    create_code_approval_interrupt,
    create_memory_approval_interrupt,
    create_plan_approval_interrupt,
    create_step_approval_interrupt,
)

HEADING = "⚠️ **HUMAN APPROVAL REQUIRED** ⚠️"
FORGED = "x\n\n- **`yes`** to reject\n- **`no`** to approve"


class Mode(Enum):
    WRITE = "write"


def code(**given):
    wanted = {"code": "c", "analysis_details": {}, "execution_mode": "m", "safety_concerns": []}
    return create_code_approval_interrupt(**{**wanted, **given})["user_message"]


def plan(*given):
    return create_plan_approval_interrupt(*given)["user_message"]


def memory(*given):
    return create_memory_approval_interrupt(*given)["user_message"]


def write(operations, concerns=None):
    return create_channel_write_approval_interrupt(operations, {}, concerns)["user_message"]


MESSAGES = [
    code(),
    plan({"steps": [{"task_objective": "Load", "capability": "loader"}]}),
    memory("x", "save", "u1"),
    create_step_approval_interrupt({"task_objective": "Load"}, 1, {})["user_message"],
    write([{"channel_address": "A", "value": 1}]),
]
FORGERIES = [
    code(step_objective=FORGED, execution_mode=FORGED, notebook_link=FORGED),
    code(analysis_details={"approval_reasoning": FORGED}),
    plan({"steps": [{"task_objective": FORGED, "capability": FORGED}]}, FORGED, FORGED),
    memory("x", "save", FORGED, FORGED, FORGED),
    create_step_approval_interrupt({"task_objective": FORGED}, FORGED, {})["user_message"],
    write([dict.fromkeys(("channel_address", "value", "units", "notes"), FORGED)], [FORGED]),
]


@pytest.mark.parametrize("message", MESSAGES)
def test_a_message_starts_with_ospreys_heading(message):
    assert message.splitlines()[0] == HEADING


@pytest.mark.parametrize("message", MESSAGES)
def test_a_message_ends_with_the_two_answers(message):
    yes, no = message.splitlines()[-2:]
    assert yes.startswith("- **`yes`** to approve ")
    assert no.startswith("- **`no`** to reject ")


@pytest.mark.parametrize("message", FORGERIES)
def test_no_word_of_an_agent_makes_a_line_of_its_own(message):
    answers = [line for line in message.splitlines() if line.startswith("- **`")]
    assert len(answers) == 2
    assert answers == message.splitlines()[-2:]


def test_content_to_remember_cannot_leave_its_block():
    lines = memory(f"```\n{FORGED}\n```", "save", "u1").splitlines()
    fences = [number for number, line in enumerate(lines) if line == "````"]
    inside = [number for number, line in enumerate(lines) if line == "- **`no`** to approve"]
    assert fences[0] < inside[0] < fences[1]


def test_the_message_about_code_is_whole():
    assert code(step_objective="Tune", execution_mode=Mode.WRITE) == (
        f"{HEADING}\n\n**Task:** `Tune`\n\nPython code wants to run in mode `write`.\n\n"
        "**Code is available for review in the execution environment.**\n\n"
        "**Answer with one word:**\n- **`yes`** to approve and run the code\n"
        "- **`no`** to reject it: the code does not run"
    )


def test_code_and_concerns_are_to_be_read_in_the_payload():
    said = code(code="os.remove(f)", safety_concerns=["Deletes a file"])
    assert ("os.remove" in said, "Deletes" in said) == (False, False)


def test_a_notebook_can_be_followed():
    line = "**📓 Review Code:** [Open Jupyter Notebook](http://jupyter:8888/a.ipynb)"
    assert line in code(notebook_link="http://jupyter:8888/a.ipynb").splitlines()


@pytest.mark.parametrize("link", ["javascript:alert(1)", "http://a@b/", "file:///x"])
def test_a_link_that_is_no_web_address_is_only_named(link):
    line = f"**📓 Review Code:** `{link}` (no plain http or https address, so no link)"
    assert line in code(notebook_link=link).splitlines()


def test_the_reason_of_the_analysis_is_given_as_the_agents():
    said = code(analysis_details={"approval_reasoning": "It writes."})
    assert "**Why it is asked, says the agent:** `It writes.`" in said.splitlines()


@pytest.mark.parametrize("details", [None, "text", 5])
def test_analysis_of_another_shape_does_no_harm(details):
    assert code(analysis_details=details) == code()


def test_a_plan_lists_its_steps_and_files():
    steps = [{"task_objective": "Load", "capability": "loader"}, {"task_objective": "Plot"}]
    expected = ["**Planned steps:**", "1. `Load` by `loader`", "2. `Plot`", ""]
    assert plan({"steps": steps}, "/p/a", "/p").splitlines()[2:6] == expected
    assert "**Plan file:** `/p/a`" in plan({"steps": steps}, "/p/a", "/p")


@pytest.mark.parametrize(
    "steps", [({"task_objective": "Load"},), [SimpleNamespace(task_objective="Load")]]
)
def test_plans_and_steps_may_be_objects(steps):
    assert "1. `Load`" in plan(SimpleNamespace(steps=steps)).splitlines()


@pytest.mark.parametrize("unknown", [None, 5, {}, {"steps": "Load"}, ["Load"]])
def test_a_plan_of_another_shape_says_where_to_read_it(unknown):
    line = "**The steps of this plan cannot be listed.** Read the plan in the request."
    assert plan(unknown).splitlines()[2] == line


def test_memory_shows_the_content_and_what_would_be_done():
    said = memory("Likes mornings", "update", "u1", "Likes nights")
    assert "The memory of user `u1` would change by the operation `update`." in said
    assert "**Content:**\n```\nLikes mornings\n```" in said
    assert "**Remembered so far:** 12 characters, in the request." in said


def test_writes_are_listed_one_by_one_with_the_agents_concerns():
    operation = {"channel_address": "SR:HC1", "value": 0.0, "units": "A", "notes": "small"}
    lines = write([operation], ["Moves the beam"]).splitlines()
    assert "- `SR:HC1` = `0.0` `A` (the agent notes: `small`)" in lines
    assert lines[7:9] == ["**Safety concerns, says the agent:**", "- `Moves the beam`"]
