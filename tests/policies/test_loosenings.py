"""What is told, and what is not. That nothing is missed is in test_properties.py."""

import pytest

from dashboard.policies.loosenings import loosenings
from tests.policies.ask import policy, rule, silent

TWO = {"approvals": 2}


def told(before, after):
    return loosenings(policy(*before, python=None), policy(*after, python=None))


def test_the_first_policy_loosens_nothing():
    assert loosenings(None, policy(mode="disabled")) == []


def test_switching_the_gate_off_is_told():
    assert loosenings(policy(), policy(mode="disabled")) == [
        "The gate is switched off: nobody is asked, unless a rule says so."
    ]


def test_a_mode_that_asks_less_is_told():
    assert loosenings(policy(), policy(python="epics_writes", memory=False)) == [
        "The modes require less for code.",
        "The modes require less for memory changes.",
    ]


def test_a_mode_that_falls_silent_matters_where_a_rule_approves():
    approving = rule("approve", kinds=["code"])

    assert loosenings(policy(), silent()) == []
    assert loosenings(policy(approving), silent(approving)) == ["The modes require less for code."]


def test_owners_who_may_approve_are_told_once():
    before, after = (policy(rule(), rule(name="b"), owners=owners) for owners in (False, True))

    assert loosenings(before, after) == ["Owners may approve requests of their own agents."]


def test_a_new_approving_rule_is_told():
    assert told([], [rule("approve")]) == [
        "Rule 'rule' approves requests that no rule approved before."
    ]


def test_an_approving_rule_that_the_modes_make_moot_is_not_told():
    assert loosenings(policy(), policy(rule("approve", kinds=["code"]))) == []


def test_an_approving_rule_before_a_reviewing_one_is_told():
    review = rule("review", "b", kinds=["code"])

    assert told([review], [rule("approve", "a", agents=["x"]), review]) == [
        "Rule 'a' approves requests that rule 'b' had reviewed.",
        "Rule 'a' approves requests that no rule approved before.",
    ]


def test_an_approving_rule_that_is_never_reached_is_not_told():
    review = rule("review", "b")

    assert told([review], [review, rule("approve", "a", agents=["x"])]) == []


def test_an_approving_rule_that_is_narrowed_is_not_told():
    before = rule("approve", agents=["x*"], tools=["a", "b"])
    after = rule("approve", agents=["xy"], tools=["a"])

    assert told([before], [after]) == []
    assert told([after], [before]) == [
        "Rule 'rule' approves requests that no rule approved before."
    ]


def test_a_rejecting_rule_that_goes_or_narrows_is_told():
    before, after = rule("reject", tools=["a", "b"]), rule("reject", tools=["a"])

    for left in ([after], []):
        assert told([before], left) == [
            "Some requests that rule 'rule' rejected are no longer rejected."
        ]
    assert told([after], [before]) == []


def test_a_review_that_becomes_a_rejection_is_not_told():
    assert told([rule("review", agents=["a"])], [rule("reject", agents=["a"])]) == []


def test_a_review_that_becomes_an_approval_is_told():
    assert told([rule("review", agents=["a"])], [rule("approve", agents=["a"])]) == [
        "Rule 'rule' approves requests that rule 'rule' had reviewed."
    ]


def test_a_smaller_quorum_is_told():
    before, after = rule("review", demands=TWO), rule("review")

    assert told([before], [after]) == [
        "Rule 'rule' requires less than rule 'rule' did: 1 instead of 2 people must approve."
    ]
    assert told([after], [before]) == []


def test_a_review_that_goes_takes_what_it_asked_for_with_it():
    assert told([rule("review", kinds=["plan"], demands=TWO)], []) == [
        ("The default requires less than rule 'rule' did: 1 instead of 2 people must approve.")
    ]


def test_a_review_that_asks_for_nothing_more_can_go_where_nothing_else_opens():
    assert told([rule("review", kinds=["plan"])], []) == []


def test_a_review_that_goes_from_before_an_open_mode_is_told():
    review = rule("review", kinds=["code"])

    assert loosenings(policy(review, python="disabled"), policy(python="disabled")) == [
        "Some requests that rule 'rule' had reviewed are no longer reviewed."
    ]


def test_a_review_that_is_put_before_a_stricter_one_is_told():
    strict, lax = rule("review", "strict", demands=TWO), rule("review", "lax", agents=["x"])

    assert told([strict], [lax, strict]) == [
        "Rule 'lax' requires less than rule 'strict' did: 1 instead of 2 people must approve."
    ]
    assert told([strict], [strict, lax]) == []


def test_a_claim_that_is_no_longer_reached_is_told():
    loop = rule("review", "loop", repeated=3, demands=TWO)
    review = rule("review", "all")

    assert told([loop, review], [review, loop]) == [
        "Some of what rule 'loop' required is no longer required."
    ]
    assert told([review, loop], [loop, review]) == []


@pytest.mark.parametrize("place", [0, 1, 2, 3])
def test_a_rejecting_rule_loosens_nothing_anywhere(place):
    rules = [rule("review", "a", runs=["x"]), rule("approve", "b"), rule("review", "c")]
    rejecting = rule("reject", "no", content_matches="x")

    assert told(rules, [*rules[:place], rejecting, *rules[place:]]) == []


def test_an_approving_rule_that_goes_loosens_nothing():
    approving, lax = rule("approve", "a"), rule("review", "b", demands={"grants_allowed": True})

    assert told([approving, lax], [lax]) == []


def test_other_names_words_and_examples_loosen_nothing():
    before = [rule("reject", "a", reason="No."), rule("review", "b", demands=TWO)]
    examples = {"match": [{"kind": "plan", "content": {"steps": []}}]}
    after = [rule("reject", "c", examples=examples), rule("review", "d", demands=TWO)]

    assert told(before, after) == []


@pytest.mark.parametrize("globs", [["*"], ["[gt]*"], ["?*"], ["[!]]*"]])
def test_what_stands_for_any_tool_approves_nothing_so_its_going_is_told(globs):
    nothing = rule("approve", tools=globs)

    assert told([], [nothing]) == []
    assert told([nothing], [rule("approve")]) == [
        "Rule 'rule' approves requests that no rule approved before."
    ]


def test_a_rule_that_minds_no_spelling_is_missed_where_another_minds_it():
    folds, minds = rule("reject", tools=["A"]), rule("reject", tools=["[!a]"])

    assert told([folds], [minds])
