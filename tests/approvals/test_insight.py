"""Sums of what was asked and answered."""

import pytest

from approval_client.wire import canonical_json
from dashboard.approvals.rules import insight
from dashboard.approvals.rules.insight import AskedRequest, CountedVote, deciding_rule, percentile


def asked(status="approved", source="reviewer", **changes):
    fields = {
        "agent": "beamline",
        "capability": "python_execution",
        "decided_by": "alice" if source == "reviewer" else None,
        "reason": "",
        "digest": "d",
        "since_s": 0.0,
        "waited_s": 10.0,
        "viewed_s": 4.0,
    }
    return AskedRequest(status=status, source=source, **(fields | changes))


def yes(after_s=5.0, lines=3, **changes):
    fields = {"id": 1, "person": "alice", "reason": "", "became": "approved", "waited_s": 9.0}
    return CountedVote(after_s=after_s, lines=lines, **(fields | changes))


@pytest.mark.parametrize(
    ("values", "percent", "expected"),
    [([], 50, None), ([7], 90, 7), ([3, 1, 2], 50, 2), (range(1, 11), 90, 9), ([1, 9], 50, 1)],
)
def test_a_percentile_is_one_of_the_values(values, percent, expected):
    assert percentile(list(values), percent) == expected


def test_what_a_policy_or_a_grant_answered_says_nothing_about_people():
    total = insight.tally([asked(source="policy"), asked(source="grant"), asked()])

    assert (total.asked, total.of_people, total.approved) == (3, 1, 1)
    assert total.decided_s == [10.0]


def test_the_rate_is_of_what_people_decided():
    total = insight.tally([asked(), asked("rejected"), asked("expired", "deadline")])

    assert total.rate == 0.5


def test_there_is_no_rate_of_nothing():
    assert insight.tally([asked("expired", "deadline")]).rate is None


def test_what_expired_is_unseen_only_if_nobody_opened_it():
    seen, unseen = (asked("expired", "deadline", viewed_s=at) for at in (3.0, None))

    total = insight.tally([seen, unseen])

    assert (total.expired, total.unseen) == (2, 1)


@pytest.mark.parametrize(
    ("after_s", "is_quick"), [(0.0, True), (0.99, True), (1.0, False), (None, False)]
)
def test_a_yes_within_a_second_of_sight_is_quick(after_s, is_quick):
    assert yes(after_s).is_quick is is_quick


@pytest.mark.parametrize(
    ("after_s", "lines", "is_unread"),
    [(0.5, 15, False), (0.5, 16, True), (29.0, 300, False), (28.9, 300, True), (1.0, None, False)],
)
def test_more_than_ten_lines_for_each_second_in_sight_are_not_read(after_s, lines, is_unread):
    assert yes(after_s, lines).is_unread is is_unread


def test_each_person_has_sums_of_their_own():
    no = asked("rejected", decided_by="bob", reason="No.")

    found = insight.by_person([asked(), no], [yes(), yes(0.1, became="rejected")])

    alice, bob = found["alice"], found["bob"]
    assert (alice.yeses, alice.noes, alice.quick, alice.overruled) == (2, 0, 1, 1)
    assert (bob.yeses, bob.noes, bob.reasons, bob.rate) == (0, 1, 1, 0.0)


@pytest.mark.parametrize(
    ("second", "disagree"),
    [
        (asked("rejected", decided_by="bob"), True),
        (asked("rejected"), False),  # they changed their mind
        (asked(decided_by="bob"), False),
        (asked("rejected", decided_by="bob", digest="other"), False),
        (asked("rejected", "policy", decided_by=None), False),
    ],
)
def test_people_disagree_about_one_content(second, disagree):
    assert list(insight.disagreements([asked(), second])) == (["d"] if disagree else [])


@pytest.mark.parametrize(
    ("sentences", "rule"),
    [
        (["Global mode is 'x'.", "Rule 'A' asks for a review."], "A"),
        (["Rule 'A' approves.", "Rule 'it's \"B\"' rejects."], 'it\'s "B"'),
        (["Rule 'A': the argument is no number.", "A person is asked."], ""),
        (["Rule 'A' says what the review asks for."], ""),
        ([], ""),
    ],
)
def test_the_rule_that_decided_is_read_from_the_trace(sentences, rule):
    assert deciding_rule(canonical_json(sentences)) == rule
