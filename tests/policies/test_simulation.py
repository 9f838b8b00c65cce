import time
from dataclasses import replace

import pytest

from dashboard.policies.evaluate import Effect
from dashboard.policies.simulation import PastCase, simulate
from tests.policies.ask import READS, WRITES, question, rule, silent

JUDGED = silent(
    rule("approve", "clean", languages=["python"], no_findings_above="info"),
    rule("reject", "writes", findings={"names": ["control-system-write"]}),
)
CLEAN, WRITING = question(findings=[READS]), question(findings=[WRITES])
OTHER = question(languages=["bash"])


def case(question, answered="approved", *, asked=True, by_person=True, waited_s=60.0, id="1"):  # noqa: A002
    return PastCase(
        id=id,
        question=question,
        answered=answered,
        by_person=by_person,
        was_asked=asked,
        waited_s=waited_s,
    )


def test_effects_and_rules_are_counted():
    found = simulate(JUDGED, [case(CLEAN), case(CLEAN), case(WRITING), case(OTHER)])

    assert found.cases == 4
    assert found.by_effect == {Effect.APPROVE: 2, Effect.REJECT: 1, Effect.REVIEW: 1}
    assert found.by_rule == {"clean": 2, "writes": 1}


def test_prompts_that_fall_away_are_saved():
    found = simulate(JUDGED, [case(CLEAN, id="a"), case(WRITING, id="b")])

    assert found.saved == ["a", "b"]


def test_prompts_that_come_are_added():
    found = simulate(JUDGED, [case(OTHER, asked=False, by_person=False, id="a"), case(OTHER)])

    assert (found.added, found.saved) == (["a"], [])


@pytest.mark.parametrize(
    ("grant", "demands", "is_granted"),
    [
        ("remembered", {"grants_allowed": True}, True),
        ("remembered", {"grants_allowed": True, "approvals": 2}, False),
        ("remembered", {}, False),
        ("replacement", {}, True),
    ],
)
def test_what_a_grant_may_answer_again_is_no_prompt_added(grant, demands, is_granted):
    judged = silent(rule("review", demands=demands))
    past = replace(case(OTHER, asked=False, by_person=False, id="a"), grant=grant)

    trial = simulate(judged, [past])

    assert (trial.granted, trial.added) == ((["a"], []) if is_granted else ([], ["a"]))


def test_what_would_be_approved_and_people_did_not_want_so_is_listed():
    answers = ("approved", "rejected", "edited", "expired", "cancelled", "recalled")

    assert simulate(JUDGED, [case(CLEAN, a, id=a) for a in answers]).wrongly_approved == [
        "rejected",
        "edited",
        "recalled",
    ]


def test_what_would_be_rejected_and_people_approved_is_listed():
    answers = ("approved", "rejected", "edited", "expired")

    assert simulate(JUDGED, [case(WRITING, a, id=a) for a in answers]).wrongly_rejected == [
        "approved"
    ]


def test_only_people_are_the_truth():
    by_policy = [case(CLEAN, "rejected", by_person=False), case(WRITING, by_person=False)]
    found = simulate(JUDGED, by_policy)

    assert found.wrongly_approved == found.wrongly_rejected == []


def test_ten_thousand_cases_take_seconds():
    rules = [
        rule("reject", f"r{i}", content_matches=f"drop\\s+t{i}", tools=["x"]) for i in range(20)
    ]
    begin = time.thread_time()

    assert simulate(silent(*rules), [case(CLEAN)] * 10_000).cases == 10_000
    assert time.thread_time() - begin < 5
