import pytest

from approval_client.wire import Kind
from dashboard.policies.evaluate import EVERYTHING_TO_A_PERSON, Effect
from dashboard.policies.rules.wording import duration
from dashboard.policies.wording import changes, loosens, rule_sentence, sentences
from tests.policies.ask import READS, WRITES, effect_of, policy, question, rule, silent

ORDER = (Kind.CODE, Kind.MEMORY, Kind.TOOL_CALL, Kind.PLAN)
EVERY_POLICY = [
    policy(mode=mode, python=python, memory=memory)
    for mode in ("selective", "all_capabilities")
    for python in ("all_code", "epics_writes", "disabled", None)
    for memory in (True, False, None)
]


@pytest.mark.parametrize("judged", EVERY_POLICY)
def test_each_sentence_says_what_is_done(judged):
    said = [sentence.asks for sentence in sentences(judged)[:4]]

    def always_asks(kind):
        asked = [question(kind, findings=found) for found in ([READS], [WRITES])]
        return all(effect_of(judged, each) is Effect.REVIEW for each in asked)

    assert said == [always_asks(kind) for kind in ORDER]


def test_the_first_policy_in_words():
    assert [f"{s.subject}: {s.text}" for s in sentences(EVERYTHING_TO_A_PERSON)] == [
        "Code: A person is always asked.",
        "Memory changes: A person is always asked.",
        "Tool calls: A person is always asked (there is no mode for them).",
        "Plans: A person is always asked (there is no mode for them).",
        ("Owners of agents: May not approve requests of their own agents; another reviewer must."),
    ]


def test_that_a_rule_may_reject_is_said_of_what_a_person_is_asked_about():
    with_rule = policy(rule("reject", "no"), python="all_code", memory=True)

    assert [sentence.text for sentence in sentences(with_rule)[:2]] == [
        "A person is asked, unless a rule rejects it."
    ] * 2


def test_that_a_rule_may_approve_changes_nothing_where_a_person_is_always_asked():
    with_rule = policy(rule("approve", "yes"), python="all_code")

    assert sentences(with_rule)[0].text == "A person is always asked."


def test_that_a_rule_may_ask_is_said_where_code_is_approved_without_asking():
    with_rule = policy(rule("review", "ask"), python="epics_writes")

    assert sentences(with_rule)[0].text.endswith("without asking, unless a rule says otherwise.")


def test_a_gate_that_is_off_has_one_sentence():
    said = sentences(policy(mode="disabled"))

    assert [(s.subject, s.asks) for s in said] == [("Everything", False)]


def test_a_gate_that_is_off_names_the_rules_that_hold():
    said = sentences(policy(rule("reject", "no"), mode="disabled"))

    assert said[0].text.endswith("unless a rule stops it.")
    assert (said[1].subject, said[1].text) == ("Rule 'no'", "Requests: rejected.")


def test_epics_writes_says_which_code_is_asked_about():
    assert sentences(policy(python="epics_writes"))[0].text == (
        "A person is asked about code that writes to the control system, is not Python, could not "
        "be read or followed, or calls something unknown. Other code is approved without "
        "asking."
    )


def test_a_mode_that_is_not_set_leaves_it_to_the_rules():
    assert sentences(silent(rule("approve", kinds=["code"])))[0].text == (
        "A person is asked, unless a rule decides (the mode is not set)."
    )


def test_only_an_approving_rule_opens():
    rules = [rule(effect, effect) for effect in ("approve", "review", "reject")]

    assert [s.asks for s in sentences(policy(*rules))[5:]] == [False, True, True]


@pytest.mark.parametrize(
    ("when", "sentence"),
    [
        ({}, "Requests"),
        ({"kinds": ["code", "plan"]}, "Code or plans"),
        (
            {"kinds": ["code"], "languages": ["bash"], "findings": {"at_least": "high"}},
            "Code in bash with any finding of high severity",
        ),
        (
            {"findings": {"names": ["sql-*"], "at_least": "low"}},
            "Requests with findings like sql-* of low severity or higher",
        ),
        ({"tools": ["a", "b*"]}, "Calls of tools like a or b*"),
        (
            {"arguments": [{"path": "a.b", "test": "over", "value": 100}], "agents": ["x"]},
            "Requests from the agent x where a.b is over 100",
        ),
        (
            {"arguments": [{"path": "a", "test": "one_of", "value": ["x", 1]}]},
            'Requests where a is one of "x", 1',
        ),
        (
            {"hours": {"from": "22:00", "until": "06:00", "days": ["sat"]}},
            "Requests on Sat between 22:00 and 06:00 (UTC)",
        ),
        ({"hours": {}}, "Requests between 00:00 and 24:00 (UTC)"),
        ({"content_matches": "a"}, "Requests whose text contains a match for 'a'"),
        (
            {"repeated": 3},
            "Requests asked 3 times or more before in the same run",
        ),
        ({"capabilities": ["delete_*"]}, "Requests that claim a capability like delete_*"),
        ({"runs": ["nightly"]}, "Requests that claim the run nightly"),
        ({"tools": ["a: rejected"]}, "Calls of the tool 'a: rejected'"),
    ],
)
def test_a_rule_in_words(when, sentence):
    assert rule_sentence(rule("reject", **when)) == f"{sentence}: rejected."


def test_an_approving_rule_in_words():
    approving = rule(
        "approve", languages=["python"], no_findings_above="info", content_matches="a"
    )

    assert rule_sentence(approving) == (
        "Requests in python without a finding above info severity whose whole text matches 'a': "
        "approved without asking."
    )


def test_what_a_review_asks_for_in_words():
    demands = {
        "approvals": 2,
        "groups": ["ops"],
        "escalate_to": "chiefs",
        "owner_may_approve": False,
        "editor_may_approve": True,
        "time_limit_s": 5400,
        "reason_required": True,
        "grants_allowed": True,
        "whole_content": False,
    }

    assert rule_sentence(rule("review", demands=demands)) == (
        "Requests: two people from ops (from half time on also from chiefs) must approve within "
        "90 minutes, with a reason; the agent's owner may not approve; whoever edits it may "
        "approve; the approval may be remembered; reading to the end is not required."
    )


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(1, "1 second"), (90, "90 seconds"), (60, "1 minute"), (7200, "2 hours"), (86_400, "1 day")],
)
def test_a_length_of_time_in_words(seconds, words):
    assert duration(seconds) == words


def test_the_first_policy_changed_nothing():
    assert changes(None, policy()) == ["The first policy."]


def test_changes_name_what_was_and_what_is():
    after = policy(mode="all_capabilities", python="disabled", memory=False, owners=True)

    assert changes(policy(), after) == [
        "Global mode: selective → all_capabilities",
        "Mode for code: all_code → disabled",
        "Asking about memory: on → off",
        "Owners may approve: no → yes",
    ]


def test_a_mode_that_is_taken_away_is_named():
    assert changes(policy(), policy(python=None)) == [
        "Asking about code: on → not set",
        "Mode for code: all_code → not set",
    ]


def test_equal_policies_have_no_changes():
    assert changes(policy(rule()), policy(rule())) == []


def test_rules_that_came_went_and_changed_have_a_sentence_each():
    before = policy(rule("reject", "a"), rule("review", "b"))
    after = policy(rule("review", "b", demands={"approvals": 2}), rule("reject", "c"))

    assert changes(before, after) == [
        "Rule 'c' was added as number 2. Requests: rejected.",
        "Rule 'a' was removed. It said: Requests: rejected.",
        (
            "Rule 'b' was changed. It said: Requests: a person must approve. "
            "It says: Requests: two people must approve."
        ),
    ]


def test_only_what_moved_among_the_others_is_said_to_have_moved():
    before, after = ([rule("reject", name) for name in order] for order in ("abcd", "bcad"))

    assert changes(policy(*before), policy(*after)) == ["Rule 'a' was moved from number 1 to 3."]


def test_other_words_for_the_agent_are_a_change():
    before, after = (policy(rule("reject", reason=reason)) for reason in ("No.", "Never."))

    assert changes(before, after) == ["The reason of rule 'rule' changed."]


@pytest.mark.parametrize(
    "after",
    [
        policy(mode="disabled"),
        policy(python="disabled"),
        policy(python="epics_writes"),
        policy(memory=False),
        policy(owners=True),
        policy(rule("approve", tools=["pay"])),
    ],
)
def test_what_lets_something_through_loosens(after):
    assert loosens(policy(), after)
    assert not loosens(after, policy())


def test_a_change_without_effect_does_not_loosen():
    everything = policy(mode="all_capabilities")

    assert not loosens(everything, policy(mode="all_capabilities", memory=False))


def test_the_first_policy_loosens_nothing():
    assert not loosens(None, policy(mode="disabled"))


def test_kinds_and_seconds_are_said():
    sentence = rule_sentence(rule("reject", kinds=["code"], tools=["delete_file"]))
    hours = {"from": "10:00", "until": "10:00:30"}

    assert sentence == "Calls of the tool delete_file that are code: rejected."
    assert "between 10:00 and 10:00:30 (UTC)" in rule_sentence(rule("review", hours=hours))


def test_a_change_that_no_sentence_says_is_called_what_it_is():
    old = rule("review", demands={"escalate_to": "ops"})
    new = rule("review", findings={"names": ["*", "x"]})

    assert changes(policy(old), policy(rule("review"))) == ["The demands of rule 'rule' changed."]
    assert changes(policy(rule("review", findings={"names": ["*"]})), policy(new)) == [
        "The conditions of rule 'rule' changed."
    ]


def test_another_reason_is_said_beside_another_sentence():
    old, new = rule("reject", reason="No."), rule("reject", tools=["x"], reason="Never.")

    assert changes(policy(old), policy(new))[0].endswith(" Its reason changed too.")


def test_an_approving_rule_names_only_the_tools_that_it_approves():
    tools = ["*", "get_order", "*_*"]

    assert rule_sentence(rule("approve", tools=tools)) == (
        "Calls of the tool get_order: approved without asking."
    )
    assert rule_sentence(rule("reject", tools=tools)) == (
        "Calls of tools like * or get_order or *_*: rejected."
    )
