"""A plan as it is read: numbered steps, each led by what is done and by whom."""

import pytest

from approval_client.wire import canonical_json
from dashboard.web.content import render_content
from dashboard.web.drawing import tree


def render(*steps):
    return render_content("plan", canonical_json({"steps": list(steps)}))


def text(content, number):
    return content.blocks[number].code.lines[0] if number else None


def leads(content):
    return [(text(content, s.capability), text(content, s.objective)) for s in content.plan.steps]


@pytest.mark.parametrize(
    ("step", "lead"),
    [
        (
            {"capability": "data_loader", "task_objective": "Load data"},
            ("data_loader", "Load data"),
        ),
        ({"tool": "mail", "task": "Write it"}, ("mail", "Write it")),
        ({"agent": "a", "tool": "b", "task": "c", "objective": "d"}, ("b", "d")),
        ({"capability": 5, "objective": ""}, (None, None)),
        ({"objective": "two\nlines"}, (None, None)),
        ({"do": "load"}, (None, None)),
    ],
)
def test_a_step_is_led_by_who_does_what(step, lead):
    assert leads(render(step)) == [lead]


def test_steps_are_numbered_in_their_order():
    plan = render({"task": "b"}, {"task": "a"}).plan

    assert [step.number for step in plan.steps] == [1, 2]


def test_whatever_does_not_lead_is_a_row():
    step = {"capability": "c", "task": "t", "title": "x", "inputs": [{"A": 1}], "tool": "y"}
    (drawn,) = render(step).plan.steps

    assert [member.name for member in drawn.members] == ["title", "tool", "inputs"]


def test_all_of_it_stands_there_as_json_too():
    content = render({"task": "t", "x": [1, 2]})

    assert (content.blocks[0].title, content.blocks[0].is_raw) == ("Raw JSON", True)


def test_a_flood_of_steps_is_shown_as_json_alone(monkeypatch):
    monkeypatch.setattr(tree, "MOST_MEMBERS", 3)
    content = render({"task": "t"}, {"task": "t"})

    assert (content.plan.is_whole, len(content.blocks)) == (False, 1)
