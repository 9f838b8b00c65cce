"""Grounds are stored as facts, and what cannot be read for certain is refused."""

import pytest

from approval_client.wire import Kind
from dashboard.policies.evaluate import Effect, Evaluation, stopped
from dashboard.policies.judgements.grounds import (
    Grounds,
    ModeSays,
    RuleGround,
    Says,
    UnclearGround,
)

UNCLEAR = UnclearGround(
    "A", "findings", "not_read", "too-large", "too-large", "", "", "review", True
)
ALL = Grounds(
    kind=Kind.CODE,
    modes=(ModeSays.ALL_CODE,),
    by_modes=True,
    rules=(RuleGround("A", Says.ASKS, claims=True), RuleGround("B", Says.DEMANDS)),
    unclear=(UNCLEAR,),
    doubts=("too-large",),
    held=True,
    told=("Something else.",),
)


@pytest.mark.parametrize("grounds", [ALL, Grounds(kind=Kind.PLAN)])
def test_grounds_are_read_as_they_were_written(grounds):
    assert Grounds.from_json(grounds.to_json()) == grounds


@pytest.mark.parametrize(
    "kept",
    [
        *("", "null", "5", '"x"', "[]", "{}", '{"kind":"x"}', '{"kind":"code","more":1}'),
        '{"kind":"code","held":{}}',
        '{"kind":"code","by_modes":"no"}',
        '{"kind":"code","modes":["odd"]}',
        '{"kind":"code","rules":[["A","odd",false]]}',
        '{"kind":"code","rules":[["A"]]}',
        '{"kind":"code","unclear":[["A"]]}',
        '{"kind":"code","unclear":[["A","findings","odd","","","","","review",true]]}',
    ],
)
def test_what_is_no_grounds_is_refused(kept):
    with pytest.raises((KeyError, TypeError, ValueError)):
        Grounds.from_json(kept)


def test_two_judgements_rest_on_what_both_rest_on():
    other = Grounds(kind=Kind.CODE, modes=(ModeSays.NOTHING,), rules=(RuleGround("C", Says.ASKS),))

    both = other.joined(ALL)

    assert both.saying(Says.ASKS) == ["C", "A"]
    assert both.modes == (ModeSays.NOTHING, ModeSays.ALL_CODE)
    assert both.held


def test_on_hold_it_is_not_the_modes_that_ask():
    approved = Evaluation(Effect.APPROVE, ("x",), grounds=Grounds(kind=Kind.CODE, by_modes=True))

    held = stopped(approved)

    assert (held.effect, held.grounds.held, held.grounds.by_modes) == (Effect.REVIEW, True, False)
