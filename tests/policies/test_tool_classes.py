"""Rules and the classes of tools: what is approved, and what a class, or its loss, never opens."""

from dataclasses import replace

import pytest
from hypothesis import given

from approval_client.wire import Kind
from dashboard.policies.evaluate import Effect, PolicyError, evaluate, stricter
from dashboard.policies.judgements.wording import TOOLS
from dashboard.policies.rules.rule import ToolClass
from tests.policies import random_policies as any_
from tests.policies.ask import call, policy, question, rule, silent

READS, MONEY, FINAL = ToolClass.READS, ToolClass.MONEY, ToolClass.IRREVERSIBLE
NAMED = {"tools": ["pay"]}
TWO = {"approvals": 2}


def asked(tool_class=None, **more):
    return call({"amount": 5}, tool_class=tool_class, **more)


def effect(a_policy, tool_class=None, **more):
    return evaluate(a_policy, asked(tool_class, **more)).effect


@pytest.mark.parametrize(
    "when",
    [
        {},
        {"kinds": ["tool_call"]},
        {"tools": ["*"]},
        {"tools": ["???"]},
        {"tools": ["[a-z]*"]},
        {"kinds": ["tool_call"], "no_findings_above": "info"},
        {"agents": ["robot"], "arguments": [{"path": "amount", "test": "under", "value": 10}]},
    ],
)
@pytest.mark.parametrize("tool_class", [None, READS, MONEY])
def test_a_rule_that_names_no_tool_approves_no_call(when, tool_class):
    assert effect(silent(rule("approve", **when)), tool_class) is Effect.REVIEW


@pytest.mark.parametrize("tools", [["pay"], ["p*"], ["*pay"], ["*", "p[a]y"], ["?ay"]])
def test_a_rule_that_names_the_tool_approves_it(tools):
    assert effect(silent(rule("approve", tools=tools))) is Effect.APPROVE


@pytest.mark.parametrize("tools", [["*"], ["*a*"], ["?*y"], ["*_*"], ["[a-z]*"], ["*[p]*"]])
def test_a_rule_that_names_no_more_than_a_letter_approves_no_call(tools):
    assert effect(silent(rule("approve", tools=tools))) is Effect.REVIEW


def test_a_rule_without_tools_still_approves_other_kinds():
    assert evaluate(silent(rule("approve")), question(Kind.PLAN)).effect is Effect.APPROVE


@pytest.mark.parametrize("kind", ["review", "reject"])
def test_other_rules_need_no_name(kind):
    assert effect(silent(rule(kind, kinds=["tool_call"]), rule("approve", "b", **NAMED))) is (
        Effect(kind)
    )


@pytest.mark.parametrize("tool_class", [None, MONEY, FINAL])
def test_a_class_makes_an_approving_rule_narrower(tool_class):
    by_class = silent(rule("approve", tool_classes=["reads"], **NAMED))

    assert effect(by_class, READS) is Effect.APPROVE
    assert effect(by_class, tool_class) is Effect.REVIEW


@pytest.mark.parametrize("tools", [(), ["*"], ["[!]]*"]])
def test_a_class_alone_approves_nothing_and_is_refused(tools):
    with pytest.raises(PolicyError, match="a class alone does not approve"):
        rule("approve", tool_classes=["reads"], tools=tools)


def test_a_rule_that_would_approve_what_is_irreversible_is_refused():
    with pytest.raises(PolicyError, match="never approved without a person"):
        rule("approve", tool_classes=["reads", "irreversible"], **NAMED)


@pytest.mark.parametrize("mode", ["selective", "disabled"])
def test_what_is_irreversible_is_never_approved_without_a_person(mode):
    approves = policy(rule("approve", **NAMED), mode=mode)
    answer = evaluate(approves, asked(FINAL))

    assert evaluate(approves, asked()).effect is Effect.APPROVE
    assert answer.effect is Effect.REVIEW
    assert TOOLS["irreversible"] in answer.sentences
    assert TOOLS["irreversible"] in answer.trace


def test_what_is_irreversible_cannot_be_remembered():
    remembers = silent(rule("review", demands={"grants_allowed": True}))

    assert evaluate(remembers, asked(MONEY)).demands.grants_allowed
    assert not evaluate(remembers, asked(FINAL)).demands.grants_allowed


@pytest.mark.parametrize("mode", ["selective", "disabled"])
def test_another_schema_does_not_bring_a_classed_tool_past_a_person(mode):
    """The schema is the agent's word: sent anew, it would take off any class."""
    approves = policy(rule("approve", **NAMED), mode=mode)
    answer = evaluate(approves, asked(classed_otherwise=True))

    assert answer.effect is Effect.REVIEW
    assert TOOLS["classed-otherwise"] in answer.sentences
    assert not answer.demands.grants_allowed


def test_a_review_by_class_also_holds_for_a_tool_that_nobody_classed():
    by_two = silent(rule("review", demands=TWO, tool_classes=["money"]))

    assert [evaluate(by_two, asked(c)).demands.approvals for c in (MONEY, None, READS)] == [
        2,
        2,
        1,
    ]
    assert any("Nobody has classed the tool" in s for s in evaluate(by_two, asked()).sentences)


def test_a_rejection_by_class_asks_a_person_about_a_tool_that_nobody_classed():
    no_money = silent(rule("reject", "no", tool_classes=["money"]), rule("approve", **NAMED))

    assert effect(no_money, MONEY) is Effect.REJECT
    assert effect(no_money, READS) is Effect.APPROVE
    assert effect(no_money) is Effect.REVIEW
    assert TOOLS["unclassed"] in evaluate(no_money, asked()).sentences


def test_a_class_says_nothing_about_other_kinds():
    by_class = silent(rule("reject", tool_classes=["money"]))

    assert evaluate(by_class, question(Kind.PLAN)).effect is Effect.REVIEW


@pytest.mark.parametrize("rules", [[rule("review")], [rule("approve", tools=["pay"])], []])
def test_a_later_judgement_says_how_the_tool_is_classed_now(rules):
    earlier = evaluate(silent(rule("reject", tool_classes=["reads"])), asked())
    later = evaluate(silent(*rules), asked(MONEY))

    assert stricter(earlier, later).grounds.tool_class == "money"


@given(any_.policies, any_.questions())
def test_a_call_is_approved_by_a_rule_that_names_it_or_by_a_gate_that_is_off(a_policy, one):
    one = replace(one, kind=Kind.TOOL_CALL, content={"tool": "a", "arguments": {}})
    if evaluate(a_policy, one).effect is Effect.APPROVE:
        names = [r for r in a_policy.rules if r.effect is Effect.APPROVE and r.tools]
        assert names or a_policy.asks_nobody


@given(any_.policies, any_.questions(), any_.classes)
def test_losing_its_class_never_brings_a_tool_past_a_person(a_policy, one, tool_class):
    one = replace(one, kind=Kind.TOOL_CALL, content={"tool": "a", "arguments": {}})
    lost = replace(one, tool_class=None, classed_otherwise=True)

    assert evaluate(a_policy, lost).effect is not Effect.APPROVE
    classed = evaluate(a_policy, replace(one, tool_class=tool_class))
    if classed.effect is Effect.REVIEW:
        approvals = evaluate(a_policy, lost).demands.approvals
        assert approvals >= classed.demands.approvals
