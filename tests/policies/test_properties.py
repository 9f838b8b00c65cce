"""What holds for every policy and every question."""

from dataclasses import replace

import pytest
from hypothesis import assume, event, given
from hypothesis import strategies as st

from dashboard.inspection.findings import UNSEEN, Finding, Severity, in_doubt
from dashboard.policies.evaluate import Effect, Policy, evaluate, is_laxer, stricter
from dashboard.policies.loosenings import loosenings
from dashboard.policies.rules.demands import join, required, shortfalls
from tests.policies import random_policies as any_

requireds = st.builds(required, any_.demands, owner_may_approve=any_.bools)
moments_s = st.sampled_from([0, 29, 30, 299, 300, 899, 900, 5000])


def put(policy, rule, place):
    rules = list(policy.rules)
    rules.insert(place, rule.model_copy(update={"name": "new"}))
    return Policy(policy.modes, owner_may_approve=policy.owner_may_approve, rules=tuple(rules))


@given(any_.policies, any_.questions())
def test_evaluation_is_total_and_deterministic(policy, question):
    assert evaluate(policy, question) == evaluate(Policy.from_json(policy.to_json()), question)


@given(any_.policies, any_.rejecting, st.integers(0, 4), any_.questions())
def test_a_rejecting_rule_anywhere_never_loosens(policy, rule, place, question):
    after = put(policy, rule, place)

    assert not is_laxer(evaluate(after, question), evaluate(policy, question))
    assert loosenings(policy, after) == []


@given(any_.policies, any_.reviewing, st.integers(0, 4), any_.questions())
def test_a_reviewing_rule_never_approves_anything_new(policy, rule, place, question):
    if evaluate(put(policy, rule, place), question).effect is Effect.APPROVE:
        assert evaluate(policy, question).effect is Effect.APPROVE


@given(any_.policies, any_.questions())
def test_what_the_agent_says_of_itself_never_makes_an_answer_laxer(policy, question):
    silent = replace(question, capability="", execution_mode="", run_id="", repeated=0)

    assert not is_laxer(evaluate(policy, question), evaluate(policy, silent))


@given(any_.policies, any_.questions(), st.data())
def test_no_edits_approve_what_nothing_speaks_for(policy, question, data):
    after = data.draw(any_.edited(data.draw(any_.edited(policy))))
    answer = evaluate(after, question)

    speaking = {rule.name for rule in after.rules if rule.effect is Effect.APPROVE}
    approving = any(step.matches and step.rule in speaking for step in answer.steps)
    modes = after.read_modes.effects(question.kind)
    assert answer.effect is not Effect.APPROVE or approving or Effect.APPROVE in modes


@given(any_.policies, st.lists(any_.questions(), min_size=3, max_size=3), st.data())
def test_what_loosens_anything_is_told(policy, questions, data):
    after = data.draw(any_.edited(policy))
    laxer = [is_laxer(evaluate(after, q), evaluate(policy, q)) for q in questions]

    event(f"laxer: {any(laxer)}, told: {bool(loosenings(policy, after))}")
    if any(laxer):
        assert loosenings(policy, after)


def finding(name):
    return Finding(name, Severity.HIGH, 1, 1, "x")


def without(report, data):
    """Return a report that lost some of what was seen, as by padding or by a detour."""
    left = [f for f in report.findings if f.unseen or data.draw(any_.bools)]
    return tuple(left)


def with_switches_on(policy):
    rules = [
        rule.model_copy(update={"also_if_not_followed": rule.effect is Effect.REJECT})
        for rule in policy.rules
    ]
    return Policy(policy.modes, owner_may_approve=policy.owner_may_approve, rules=tuple(rules))


@given(any_.policies, any_.questions(), st.data())
def test_what_was_not_read_never_makes_an_answer_laxer(policy, question, data):
    left = without(question.report, data)
    lost = replace(question.report, findings=(*left, finding("too-large")))

    after = evaluate(policy, replace(question, report=lost))

    assert not is_laxer(after, evaluate(policy, question))


@given(any_.policies, any_.questions())
def test_nor_does_an_inspection_that_came_to_nothing(policy, question):
    nothing = in_doubt("too-slow", "The inspection was stopped.")

    after = evaluate(policy, replace(question, report=nothing))

    assert not is_laxer(after, evaluate(policy, question))


@given(any_.policies, any_.questions(), st.data())
@pytest.mark.parametrize("name", ["cannot-be-followed", "unknown-call"])
def test_what_was_not_followed_never_makes_it_laxer_where_rejecting_rules_say_so(
    name, policy, question, data
):
    policy = with_switches_on(policy)
    left = without(question.report, data)
    lost = replace(question.report, findings=(*left, finding(name)))

    after = evaluate(policy, replace(question, report=lost))

    assert not is_laxer(after, evaluate(policy, question))


@given(any_.policies, any_.questions(), st.data())
@pytest.mark.parametrize("name", ["cannot-be-followed", "unknown-call"])
def test_what_was_not_followed_makes_nothing_laxer_but_a_rejection(name, policy, question, data):
    left = without(question.report, data)
    lost = replace(question.report, findings=(*left, finding(name)))
    before = evaluate(policy, question)
    assume(before.effect is not Effect.REJECT)

    assert not is_laxer(evaluate(policy, replace(question, report=lost)), before)


@given(any_.policies, any_.questions(), st.data())
def test_no_condition_on_findings_approves_what_was_not_seen(policy, question, data):
    name = data.draw(st.sampled_from(sorted(UNSEEN)))
    unseen = replace(question.report, findings=(*question.report.findings, finding(name)))
    answer = evaluate(policy, replace(question, report=unseen))

    looking = {r.name for r in policy.rules if r.when.findings or r.when.no_findings_above}
    approving = {rule.name for rule in policy.rules if rule.effect is Effect.APPROVE}
    assert not any(s.matches for s in answer.steps if s.rule in looking & approving)


@given(any_.policies, any_.policies, any_.questions())
def test_of_two_policies_the_stricter_answer_holds(one, other, question):
    a, b = evaluate(one, question), evaluate(other, question)
    both = stricter(a, b)

    assert not is_laxer(both, a)
    assert not is_laxer(both, b)


@given(requireds, requireds, requireds)
def test_joining_demands_is_a_join(a, b, c):
    assert join(a, b) == join(b, a)
    assert join(a, join(b, c)) == join(join(a, b), c)
    assert join(a, a) == a
    assert shortfalls(join(a, b), a) == shortfalls(join(a, b), b) == []


@given(requireds, requireds, st.frozensets(st.sampled_from("xyz")), moments_s)
def test_a_vote_that_counts_for_both_counts_for_the_join(a, b, groups, after_s):
    each = [one.admits(groups, after_s=after_s) for one in (a, b)]

    assert join(a, b).admits(groups, after_s=after_s) == all(each)


@given(requireds, requireds, st.frozensets(st.sampled_from("xyz")), moments_s)
def test_what_asks_for_no_less_admits_nobody_else_at_any_time(a, b, groups, after_s):
    no_less = [one for one in (a, join(a, b)) if not shortfalls(one, b)]

    assert join(a, b) in no_less
    for one in no_less:
        assert b.admits(groups, after_s=after_s) or not one.admits(groups, after_s=after_s)
