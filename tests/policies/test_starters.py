import pytest

from dashboard.policies.evaluate import EVERYTHING_TO_A_PERSON, Effect
from dashboard.policies.loosenings import loosenings
from dashboard.policies.starters import (
    CONTROL_WRITES,
    DANGEROUS,
    EVERYTHING,
    OPERATORS,
    READ_ONLY,
    STARTERS,
    add,
)
from dashboard.policies.warnings import KnownNames, warnings
from tests.policies.ask import READS, effect_of, policy, question, rule

HARMLESS = question(findings=[READS])


@pytest.mark.parametrize("starter", STARTERS)
def test_a_starter_has_nothing_that_is_not_meant(starter):
    assert warnings(starter.policy, KnownNames(groups={OPERATORS})) == []


@pytest.mark.parametrize("starter", STARTERS)
def test_a_starter_with_rules_has_examples_of_both_sorts(starter):
    assert all(each.match and each.not_match for each in starter.policy.rules)


@pytest.mark.parametrize("starter", [EVERYTHING, DANGEROUS, CONTROL_WRITES])
def test_only_one_starter_opens_anything(starter):
    assert loosenings(EVERYTHING_TO_A_PERSON, starter.policy) == []
    assert loosenings(EVERYTHING_TO_A_PERSON, READ_ONLY.policy)


@pytest.mark.parametrize("starter", STARTERS)
def test_added_to_the_first_policy_a_starter_is_itself(starter):
    assert add(EVERYTHING.policy, starter) == starter.policy


@pytest.mark.parametrize("starter", STARTERS)
def test_adding_a_starter_twice_adds_it_once(starter):
    assert add(add(policy(), starter), starter) == add(policy(), starter)


def test_rules_that_stop_something_come_first_and_those_that_open_last():
    built = policy(rule("review", "mine", agents=["x"]))
    for starter in (READ_ONLY, CONTROL_WRITES, DANGEROUS):
        built = add(built, starter)

    assert [r.effect for r in built.rules] == ["reject", "review", "review", "approve"]
    assert built.rules[2].name == "mine"


def test_another_rule_of_the_same_name_stays():
    built = add(policy(rule("reject", "Dangerous commands", tools=["rm"])), DANGEROUS)

    assert [r.name for r in built.rules] == ["Dangerous commands (2)", "Dangerous commands"]


def test_an_approving_starter_takes_the_mode_out_of_its_way():
    built = add(policy(memory=False), READ_ONLY)

    assert effect_of(built, HARMLESS) is Effect.APPROVE
    assert effect_of(built, question(languages=["bash"])) is Effect.REVIEW
    assert built.config.memory.enabled is False


def test_what_everything_on_meant_for_memory_stays():
    assert add(policy(mode="all_capabilities", memory=False), READ_ONLY).config.memory.enabled


def test_a_gate_that_is_off_stays_off():
    assert add(policy(mode="disabled"), READ_ONLY).asks_nobody
