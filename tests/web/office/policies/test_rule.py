"""Rules as forms: every condition and demand can be typed, and what is wrong stands beside it."""

from typing import get_args, get_origin

import pytest
from pydantic import BaseModel

from dashboard.policies.evaluate import Policy, parse_rule
from dashboard.policies.models import PolicyDraft
from dashboard.policies.rules.rule import Rule
from dashboard.web.office.policies.rule import PARTS
from tests import make
from tests.web.office.drafting import NO_PLANS, begin, change_rule, filled, new_rule, stamp

NEW = "/policies/draft/rules/new"
PLAN = "- kind: plan\n  content:\n    steps: []\n"
TOOL = {"kind": "tool_call", "content": {"tool": "ramp", "arguments": {"to": 3}}, "agent": "a"}
EVERYTHING = {
    "name": "Everything there is",
    "effect": "review",
    "when": {
        "agents": ["beamline-*", "a"],
        "kinds": ["code", "tool_call"],
        "tools": ["ramp_*", "ramp"],
        "tool_classes": ["money", "control_system"],
        "languages": ["python"],
        "arguments": [
            {"path": "to", "test": "over", "value": 2.5},
            {"path": "who.*", "test": "one_of", "value": ["a, b", 3]},
            {"path": "why", "test": "absent"},
        ],
        "content_matches": " caput|ramp ",
        "larger_than": 0,
        "smaller_than": 9000,
        "memory_operations": ["update"],
        "memory_users": ["operator-*"],
        "findings": {"names": ["sql-*", "file-*"], "at_least": "medium"},
        "no_findings_above": "high",
        "hours": {
            "days": ["mon", "fri"],
            "from": "22:00",
            "until": "06:30",
            "timezone": "Europe/Berlin",
        },
        "repeated": 3,
        "capabilities": ["python_execution"],
        "execution_modes": ["write*"],
        "runs": ["nightly-*"],
    },
    "demands": {
        "approvals": 2,
        "groups": ["operators"],
        "owner_may_approve": True,
        "editor_may_approve": True,
        "time_limit_s": 300,
        "escalate_to": "managers",
        "reason_required": True,
        "grants_allowed": True,
        "whole_content": False,
        "reveal_required": True,
        "proof": "passkey",
    },
    "not_match": [TOOL],
}


@pytest.fixture
def draft(admin, db):
    """A draft with one rule, and its author's browser."""
    make.in_force(NO_PLANS)
    begin(admin)
    return admin


def rules():
    return Policy.from_json(PolicyDraft.objects.get().document).rules


def names():
    return [rule.name for rule in rules()]


def put(rule):
    """Have a rule in the draft that no form made."""
    draft = PolicyDraft.objects.get()
    policy = Policy.from_json(draft.document)
    draft.document = Policy(policy.modes, rules=(parse_rule(rule),)).to_json()
    draft.save()


# --- what can be typed --------------------------------------------------------------------------


def test_every_condition_and_demand_survives_its_form(draft):
    make.group("operators")
    make.group("managers")
    put(EVERYTHING)

    reply = change_rule(draft, 0)

    assert reply.status_code == 302
    assert rules() == (parse_rule(EVERYTHING),)


def test_every_field_of_a_rule_is_one_that_the_example_above_fills():
    rule = parse_rule(EVERYTHING)

    for part in (rule.when, rule.demands):
        assert part.model_fields_set == set(type(part).model_fields)


def test_a_new_rule_comes_after_the_others_with_what_was_typed(draft):
    new_rule(draft, name="Ramps", effect="review", tools="ramp_*\nramp", approvals="2")

    added = {"when": {"tools": ["ramp_*", "ramp"]}, "demands": {"approvals": 2}}
    assert rules()[1] == parse_rule({"name": "Ramps", "effect": "review"} | added)


@pytest.mark.parametrize(
    ("test", "typed", "means"),
    [
        ("within", "/etc", "/etc"),
        ("within", "/etc, /root", ["/etc", "/root"]),
        ("host_is", "a.example, b.example", ["a.example", "b.example"]),
        ("within", '["/a,b"]', ["/a,b"]),
        ("equals", '"True"', "True"),
        ("equals", "true", True),
    ],
)
def test_a_value_is_read_as_it_is_meant(draft, test, typed, means):
    row = {"path": "to", "test": test, "value": typed}
    new_rule(draft, name="N", effect="reject", **{f"arguments-0-{k}": v for k, v in row.items()})

    assert rules()[1].when.arguments[0].value == means


def test_hours_of_no_day_are_not_those_of_every_day(draft, read):
    put({**EVERYTHING, "not_match": []})

    reply = change_rule(draft, 0, days=[])

    assert reply.status_code == 422
    assert "Name at least one day." in read(reply, "main")


@pytest.mark.parametrize(
    ("typed", "means"), [("30 s", 30), ("5 min", 300), ("2h", 7200), ("1 day", 86_400)]
)
def test_a_time_limit_is_typed_with_its_unit(draft, typed, means):
    new_rule(draft, name="Soon", effect="review", time_limit=typed)

    assert rules()[1].demands.time_limit_s == means


def test_a_reason_reaches_the_rule_that_rejects(draft):
    new_rule(draft, name="No", effect="reject", tools="x", reason="Not here.")

    assert rules()[1].reason == "Not here."


def test_demands_left_over_from_a_review_do_not_stop_a_rule_that_rejects(draft):
    new_rule(draft, name="No", effect="reject", tools="x", approvals="3")

    assert rules()[1].demands == parse_rule(NO_PLANS).demands


def test_the_groups_there_are_can_be_ticked(draft, read):
    make.group("operators")

    new_rule(draft, name="Two", effect="review", groups=["operators"], escalate_to="")

    assert rules()[1].demands.groups == ("operators",)


def test_a_group_that_was_deleted_is_still_shown_as_missing(draft, read):
    put(EVERYTHING)

    page = read(draft.get("/policies/draft/rules/0"), "main")
    assert "operators (no such group)" in page
    assert "There is no group 'operators'" in read(draft.get("/policies/draft"), "rules")


# --- what is refused ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("field", "typed", "said"),
    [
        ("name", "", "This field is required."),
        ("name", "No plans", "Another rule is called 'No plans' already."),
        ("content_matches", "(", "This is not a valid RE2 pattern"),
        ("larger_than", "-1", "greater than or equal to 0"),
        ("time_limit", "soon", "Write a length of time, such as 15m, 2h or 1 day."),
        ("time_limit", "1 s", "This must not be less than 5."),
        ("approvals", "11", "less than or equal to 10"),
        ("timezone", "Mars/Base", "Mars/Base"),
        ("tools", "x" * 201, "Line 1: This must not be longer than 200 characters."),
        ("effect", "allow", "Select a valid choice."),
        ("match", "{", "This is not YAML"),
        ("match", "kind: plan", "Write a list: each example begins with a hyphen."),
        ("match", "- kind: plan", "Example 1 (content): This is missing."),
        ("not_match", "- kind: mail\n  content: {}", "Example 1 (kind): This must be one of"),
    ],
)
def test_what_cannot_be_is_said_beside_its_field_and_nothing_is_saved(draft, field, typed, said):
    given = {"name": "New", "effect": "review", "tools": "x"} | {field: typed}

    reply = new_rule(draft, **given)

    assert reply.status_code == 422
    errors = reply.context["editor"].form.errors[field]
    assert any(said in error for error in errors), errors
    assert names() == ["No plans"]


@pytest.mark.parametrize("claim", ["capabilities", "execution_modes", "runs"])
def test_a_rule_that_approves_cannot_rest_on_what_the_agent_says(draft, read, claim):
    reply = new_rule(draft, name="Trust", effect="approve", **{claim: "read_only"})

    assert reply.status_code == 422
    assert "a rule that approves cannot rest on it" in read(reply, "main")


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"path": "to", "test": "over", "value": "much"}, "This must be a number."),
        ({"path": "to", "test": "", "value": "1"}, "Say what is tested."),
        ({"path": "", "test": "present", "value": ""}, "Say which argument"),
        ({"path": "to", "test": "present", "value": "1"}, "This test takes no value."),
        ({"path": "to", "test": "equals", "value": "["}, "This is not valid JSON"),
        ({"path": "to", "test": "equals", "value": "True"}, "Write true, or"),
        ({"path": "to", "test": "one_of", "value": "x, None"}, "Write null, or"),
        ({"path": "to", "test": "one_of", "value": "1,000"}, "Write 1000, or 1, 000 with"),
        ({"path": "to", "test": "one_of", "value": '"a", 2,500'}, "Write 2500, or 2, 500 with"),
        ({"path": "to", "test": "within", "value": "/etc:/root"}, "not a plain absolute path"),
        ({"path": "to", "test": "within", "value": "/etc /root"}, "not a plain absolute path"),
    ],
)
def test_what_is_wrong_with_an_argument_stands_in_its_row(draft, read, row, said):
    typed = {f"arguments-0-{name}": value for name, value in row.items()}

    reply = new_rule(draft, name="New", effect="reject", **typed)

    assert reply.status_code == 422
    assert said in read(reply, "main")
    assert names() == ["No plans"]


def test_a_form_that_was_cut_off_saves_no_rule(draft, read):
    form = {**filled(draft.get(NEW), NEW), "name": "All", "effect": "approve", "tools": "x"}
    del form["no_findings_above"]

    reply = draft.post(NEW, form)

    assert reply.status_code == 422
    assert "This form arrived incomplete (no_findings_above is missing)" in read(reply, "main")


# --- examples -----------------------------------------------------------------------------------


def test_an_example_that_fails_is_named_with_its_rule_and_nothing_is_lost(draft, read):
    reply = new_rule(
        draft, name="Ramps", effect="reject", tools="ramp_*", reason="Slowly.", match=PLAN
    )

    assert reply.status_code == 422
    said = "Rule 'Ramps': example 1 of what it must match does not match."
    assert said in read(reply, "main")
    kept = filled(reply, NEW)
    assert (kept["tools"], kept["reason"], kept["match"]) == (["ramp_*"], ["Slowly."], [PLAN])
    assert names() == ["No plans"]


def test_an_example_that_must_not_match_and_does_is_refused(draft, read):
    reply = change_rule(draft, 0, not_match=PLAN)

    said = "Rule 'No plans': example 1 of what it must not match does match."
    assert said in read(reply, "main")


def test_once_it_is_mended_the_rule_is_saved_with_its_examples(draft, read):
    reply = change_rule(draft, 0, not_match=PLAN)
    path = "/policies/draft/rules/0"
    draft.post(path, {**filled(reply, path), "not_match": "", "match": PLAN})

    assert len(rules()[0].match) == 1
    assert "1 example" in read(draft.get("/policies/draft"), "rules")


# --- order, removal, old tabs -------------------------------------------------------------------


def test_buttons_that_need_no_script_change_the_order(draft):
    new_rule(draft, name="Second", effect="reject", tools="x")

    draft.post("/policies/draft/rules/1/move", {"to": "up", "stamp": stamp(draft)})

    assert names() == ["Second", "No plans"]


def test_a_removed_rule_is_out_of_the_draft(draft, read):
    reply = draft.post("/policies/draft/rules/0/remove", {"stamp": stamp(draft)}, follow=True)

    assert "The rule 'No plans' is out of the draft." in read(reply)
    assert names() == []


@pytest.mark.parametrize("what", ["", "/move", "/remove"])
def test_a_tab_that_is_older_than_the_draft_changes_no_rule(draft, read, what):
    path = f"/policies/draft/rules/0{what}"
    form = filled(draft.get("/policies/draft/rules/0"), "/policies/draft/rules/0")
    new_rule(draft, name="Second", effect="reject", tools="x")

    reply = draft.post(path, {**form, "name": "Other", "to": "down"})

    assert reply.status_code == 409
    assert "The draft was changed, published or discarded" in read(reply)
    assert names() == ["No plans", "Second"]


@pytest.mark.parametrize("path", [NEW, "/policies/draft/rules/0", "/policies/draft/rules/7"])
def test_without_a_draft_there_is_no_rule_to_write(admin, path):
    assert admin.get(path).url == "/policies/draft"


def parts_of(model, above=""):
    """Name everything that can be said in a rule, as its problems name it."""
    for name, field in model.model_fields.items():
        part, type_ = f"{above}{field.alias or name}", field.annotation
        several = () if get_origin(type_) is tuple else get_args(type_)
        inner = [one for one in (type_, *several) if is_model(one)]
        yield from parts_of(inner[0], f"{part}.") if inner else [part]


def is_model(one):
    return isinstance(one, type) and issubclass(one, BaseModel)


def test_every_part_of_a_rule_has_a_field():
    elsewhere = {"when.arguments", "match", "not_match"}  # rows and texts of their own

    assert {*parts_of(Rule)} - elsewhere == {*PARTS.values()}


@pytest.mark.parametrize(
    "when",
    [
        {"content_matches": "drop table\n|truncate"},
        {"arguments": [{"path": "a", "test": "glob", "value": "rm\n*"}]},
        {"arguments": [{"path": " a ", "test": "equals", "value": 1}]},
        {"arguments": [{"path": "a", "test": "within", "value": "/srv/a b, c"}]},
        {"runs": ["a b "]},
    ],
)
def test_what_the_form_cannot_write_back_is_changed_as_yaml_only(draft, when):
    present = {"name": "x", "effect": "reject", "when": {"tools": ["x"], **when}}
    put(present)
    reply = change_rule(draft, 0)

    assert reply.status_code == 422
    assert "Nothing can be saved here: change it as YAML." in reply.content.decode()
    assert rules() == (parse_rule(present),)


@pytest.mark.parametrize(
    "present",
    [
        EVERYTHING,
        {"name": "x", "effect": "reject", "reason": " No,\nnever. "},
        {"name": "x", "effect": "reject", "when": {"memory_users": ["a\u2028b"]}},
        {
            "name": "x",
            "effect": "reject",
            "when": {
                "tools": ["x"],
                "arguments": [{"path": f"a{n}", "test": "equals", "value": n} for n in range(60)],
            },
        },
    ],
)
def test_a_rule_that_is_saved_untouched_stays_as_it_is(draft, present):
    put(present)

    assert change_rule(draft, 0).status_code == 302
    assert rules() == (parse_rule(present),)
