"""What is refused, and in which words."""

import pytest

from dashboard.policies.evaluate import Policy, PolicyError, parse_rule
from dashboard.policies.rules.rule import MOST_RULES, Hours, Rule
from tests.policies.ask import policy, rule, silent


def problems(**data):
    with pytest.raises(PolicyError) as refusal:
        parse_rule({"name": "x", "effect": "review", **data})
    return refusal.value.problems


def places(**data):
    return [where for where, _ in problems(**data)]


@pytest.mark.parametrize("claim", ["capabilities", "execution_modes", "runs"])
def test_a_rule_that_approves_cannot_rest_on_what_the_agent_says(claim):
    assert problems(effect="approve", when={claim: ["a"]}) == [
        (
            f"when.{claim}",
            "The agent says this of itself, so a rule that approves cannot rest on it.",
        )
    ]


def test_nor_on_repetition():
    assert places(effect="approve", when={"repeated": 1}) == ["when.repeated"]


@pytest.mark.parametrize("effect", ["approve", "reject"])
def test_only_a_review_asks_for_something(effect):
    assert places(effect=effect, demands={"approvals": 2}) == ["demands"]


@pytest.mark.parametrize("effect", ["approve", "review"])
def test_only_a_rejection_has_words_for_the_agent(effect):
    assert places(effect=effect, reason="No.") == ["reason"]


@pytest.mark.parametrize(
    ("when", "where", "sentence"),
    [
        (
            {"content_matches": "(?=a)"},
            "when.content_matches",
            "This is not a valid RE2 pattern: invalid perl operator: (?=.",
        ),
        (
            {"hours": {"timezone": "Berlin"}},
            "when.hours.timezone",
            "There is no time zone 'Berlin'; one is 'Europe/Berlin'.",
        ),
        (
            {"hours": {"from": "8:00"}},
            "when.hours.from",
            'This must be a time of day between "00:00" and "23:59", in quotes.',
        ),
        (
            {"hours": {"from": 480}},
            "when.hours.from",
            'This must be a time of day between "00:00" and "23:59", in quotes.',
        ),
        (
            {"hours": {"from": "08:00", "until": "08:00"}},
            "when.hours.until",
            "The hours end when they begin. Enter another end; 00:00 to 00:00 is the whole day.",
        ),
        ({"hours": {"days": []}}, "when.hours.days", "Name at least one day."),
        (
            {"arguments": [{"path": "a", "test": "over", "value": "5"}]},
            "when.arguments.0.value",
            "This must be a number.",
        ),
        (
            {"larger_than": 10, "smaller_than": 11},
            "when.smaller_than",
            "No size is larger than larger_than and smaller than this.",
        ),
        (
            {"findings": {"names": []}},
            "when.findings.names",
            "Name at least one finding; '*' is any.",
        ),
        (
            {"tool": ["pay"]},
            "when.tool",
            "This is not known. It may be misspelt, or belong elsewhere.",
        ),
        ({"agents": "robot"}, "when.agents", "This must be a list."),
        ({"agents": [True]}, "when.agents.0", "This must be a text; in YAML, put it in quotes."),
        ({"agents": [""]}, "when.agents.0", "This must not be empty."),
        (
            {"kinds": ["script"]},
            "when.kinds.0",
            "This must be one of 'code', 'tool_call', 'plan' or 'memory'.",
        ),
        ({"repeated": 0}, "when.repeated", "This must not be less than 1."),
        ({"repeated": "3"}, "when.repeated", "This must be a whole number."),
    ],
)
def test_a_condition_that_does_not_hold_together_is_named(when, where, sentence):
    assert problems(when=when) == [(where, sentence)]


@pytest.mark.parametrize("given", ["yes", "on", 1, "true", None])
def test_what_is_true_or_false_is_nothing_else(given):
    assert problems(demands={"grants_allowed": given}) == [
        ("demands.grants_allowed", "This must be true or false.")
    ]


def test_each_problem_is_told_at_once():
    assert places(name="", effect="maybe", demands={"approvals": 11}) == [
        "name",
        "effect",
        "demands.approvals",
    ]


def test_an_error_says_all_of_it_in_one_text():
    with pytest.raises(PolicyError, match=r"^name: This is missing\.$"):
        parse_rule({"effect": "review"})


def test_an_example_that_cannot_be_sent_is_refused():
    example = {"kind": "code", "content": {"code": "\ud800"}}

    assert places(match=[example]) == ["match.0.content"]


def test_an_example_asks_at_a_moment_with_a_time_zone():
    def example(moment):
        return {"kind": "plan", "content": {}, "asked_at": moment}

    assert places(match=[example("2026-03-04T12:00:00")]) == ["match.0.asked_at"]
    assert places(match=[example(1_700_000_000)]) == ["match.0.asked_at"]


def test_a_policy_says_which_rule_has_the_problem():
    approving = Rule.model_validate({"name": "b", "effect": "approve", "when": {"runs": ["x"]}})

    with pytest.raises(PolicyError) as refusal:
        silent(rule(name="a"), approving)
    assert [where for where, _ in refusal.value.problems] == ["rules.1.when.runs"]


def test_two_rules_cannot_have_one_name():
    with pytest.raises(PolicyError, match="Another rule is called 'rule' already"):
        silent(rule(), rule("reject"))


def test_there_is_a_most_of_rules():
    rules = [rule(name=str(i)) for i in range(MOST_RULES + 1)]

    with pytest.raises(PolicyError, match="There are 201 rules; at most 200 are allowed"):
        silent(*rules)


@pytest.mark.parametrize(
    "modes",
    [
        {"global_mode": "off"},
        {"globel_mode": "selective"},
        {"rules": []},
        {"capabilities": []},
        {"capabilities": None},
        {"capabilities": {"memory": {"enabled": "no"}}},
        {"capabilities": {"memory": {"enabld": True}}},
        {"capabilities": {"shell": {"enabled": True}}},
        {"capabilities": {"python_execution": {"enabled": 1}}},
        {"capabilities": {"python_execution": {"mode": "never"}}},
        {"capabilities": {"python_execution": True}},
    ],
)
def test_modes_that_do_not_hold_together_are_refused(modes):
    with pytest.raises(PolicyError, match=r"mode|must be") as refusal:
        Policy(modes)
    assert [where for where, _ in refusal.value.problems] == ["modes"]


def test_whether_owners_may_approve_is_true_or_false():
    with pytest.raises(PolicyError, match="owner_may_approve: This must be true or false"):
        Policy({}, owner_may_approve="no")


def test_what_the_caller_does_with_its_modes_later_changes_nothing():
    modes = {"capabilities": {"memory": {"enabled": True}}}
    judged = Policy(modes)
    modes["capabilities"]["memory"]["enabled"] = False

    assert judged.config.memory.enabled


def test_times_are_given_as_text_or_time():
    assert Hours.model_validate({"from": "08:00"}) == Hours(from_="08:00")


def test_modes_that_are_not_set_are_known():
    assert policy(python=None).read_modes.left_unset == {"python_execution"}


@pytest.mark.parametrize("field", ["agents", "kinds", "tools", "languages", "arguments", "runs"])
def test_an_empty_list_is_refused_and_does_not_mean_any(field):
    with pytest.raises(PolicyError, match=f"when.{field}: This is an empty list"):
        rule("approve" if field != "runs" else "review", **{field: []})


def test_an_empty_list_of_groups_is_refused_and_does_not_mean_everybody():
    with pytest.raises(PolicyError, match=r"demands\.groups: This is an empty list"):
        rule(demands={"groups": []})
