import json

import pytest

from dashboard.policies.rules.demands import Circle, Required, join, required, shortfalls
from dashboard.policies.rules.rule import Demands

OPS, CHIEFS = Circle(("ops",)), Circle(("chiefs",))


def of(**given):
    return required(Demands(**given), owner_may_approve=False)


def test_a_rule_without_demands_asks_for_what_is_asked_anyway():
    assert of() == Required()


@pytest.mark.parametrize(
    ("ours", "policys", "expected"),
    [(None, True, True), (None, False, False), (True, False, True), (False, True, False)],
)
def test_a_rule_has_its_own_way_with_owners_or_none(ours, policys, expected):
    demands = Demands(owner_may_approve=ours)

    assert required(demands, owner_may_approve=policys).owner_may_approve is expected


def test_without_groups_everybody_is_admitted():
    assert of(escalate_to="chiefs").admits((), after_s=0)


def test_members_of_any_of_the_groups_are_admitted():
    asked = of(groups=("ops", "night"))

    assert asked.admits(["night", "x"], after_s=0)
    assert not asked.admits(["x"], after_s=900)


def test_a_group_that_comes_later_counts_from_half_time_on():
    asked = of(groups=("ops",), escalate_to="chiefs")

    assert not asked.admits(["chiefs"], after_s=0)
    assert asked.admits(["chiefs"], after_s=900)


def test_half_time_is_that_of_the_rule_that_names_the_group():
    asked = of(groups=("ops",), escalate_to="chiefs", time_limit_s=600)
    both = join(asked, of(time_limit_s=60))

    for each in (asked, both):
        assert not each.admits(["chiefs"], after_s=299)
        assert each.admits(["chiefs"], after_s=300)


def test_an_earlier_half_time_asks_for_less():
    hour = of(groups=("ops",), escalate_to="chiefs", time_limit_s=3600)
    minute = of(groups=("ops",), escalate_to="chiefs", time_limit_s=60)

    assert shortfalls(minute, hour) == [
        "people outside the required groups may approve, or may approve earlier"
    ]
    assert shortfalls(hour, minute) == ["it may stay open longer"]


@pytest.mark.parametrize(("limit_s", "from_s"), [(None, 900), (600, 300)])
def test_demands_of_before_have_half_time_by_their_limit(limit_s, from_s):
    stored = json.loads(of(groups=("ops",), escalate_to="chiefs", time_limit_s=limit_s).to_json())
    del stored["circles"][0]["later_from_s"]

    read = Required.from_json(json.dumps(stored))

    assert [circle.later_from_s for circle in read.circles] == [from_s]


def test_a_vote_has_to_satisfy_both_rules():
    both = join(of(groups=("ops",)), of(groups=("chiefs",)))

    assert both.circles == (CHIEFS, OPS)
    assert not both.admits(["ops"], after_s=900)
    assert both.admits(["ops", "chiefs"], after_s=0)


def test_a_wider_circle_adds_nothing_to_a_narrower_one():
    assert join(of(groups=("ops", "chiefs")), of(groups=("ops",))).circles == (OPS,)


def test_who_comes_later_has_to_be_let_in_by_both():
    both = join(of(groups=("ops",), escalate_to="chiefs"), of(groups=("ops",)))

    assert not both.admits(["chiefs"], after_s=900)


def test_the_stricter_of_each_setting_holds():
    lax = of(time_limit_s=600, grants_allowed=True, editor_may_approve=True, whole_content=False)
    asked = {"reason_required": True, "reveal_required": True, "proof": "passkey"}
    strict = of(approvals=2, time_limit_s=60, **asked)

    assert join(lax, strict) == Required(approvals=2, time_limit_s=60, **asked)


def test_what_is_signed_is_never_remembered():
    assert not of(grants_allowed=True, proof="passkey").grants_allowed
    assert not join(of(grants_allowed=True), of(proof="passkey")).grants_allowed


def test_no_time_limit_is_longer_than_any():
    assert join(of(), of(time_limit_s=60)).time_limit_s == 60


def test_demands_survive_being_stored():
    asked = of(approvals=2, groups=("ops", "a"), escalate_to="chiefs", time_limit_s=60)

    assert Required.from_json(asked.to_json()) == asked


def test_a_later_demand_is_stored_only_where_it_is_made():
    assert "reveal_required" not in of().to_json()  # so what was stored before is still the same
    assert "proof" not in of().to_json()
    strict = of(reveal_required=True, proof="passkey")
    assert Required.from_json(strict.to_json()) == strict


def test_the_groups_are_named_in_words():
    asked = join(of(groups=("ops", "night"), escalate_to="chiefs"), of(groups=("safety",)))

    assert asked.groups_in_words(after_s=0) == "night or ops, and also safety"
    assert asked.groups_in_words(after_s=900) == "night or ops or chiefs, and also safety"


def test_what_asks_for_less_is_named_respect_by_respect():
    lax = {"grants_allowed": True, "editor_may_approve": True, "whole_content": False}
    asked = {"reason_required": True, "reveal_required": True, "proof": "passkey"}
    strict = of(approvals=2, groups=("ops",), time_limit_s=60, **asked)

    assert shortfalls(of(**lax, owner_may_approve=True), strict) == [
        "1 instead of 2 people must approve",
        "people outside the required groups may approve, or may approve earlier",
        "the agent's owner may approve",
        "whoever edited the content may approve it",
        "the approval may be remembered",
        "it may stay open longer",
        "a reason is not required",
        "reading to the end is not required",
        "masked tokens need not be revealed",
        "nobody has to sign with a passkey",
    ]


def test_what_asks_for_more_asks_for_no_less():
    assert shortfalls(of(approvals=3, groups=("ops",)), of(groups=("ops", "chiefs"))) == []
