"""Sums of what was asked and answered."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from uuid import uuid4
from zoneinfo import ZoneInfo

import pytest

from approval_client.wire import Kind
from dashboard.approvals.rules import insight
from dashboard.approvals.rules.insight import (
    PARTS,
    AskedRequest,
    CountedVote,
    DaySums,
    Period,
    ReadingDot,
    WaitingHour,
    deciding_rule,
    percentile,
    rounded,
)
from dashboard.policies.judgements.grounds import Grounds, RuleGround, Says

MONDAY = datetime(2026, 3, 23, tzinfo=UTC)
BERLIN = ZoneInfo("Europe/Berlin")  # an hour ahead until the night to Sunday the 29th, then two
WEEK = Period(MONDAY, MONDAY + timedelta(days=7))
HOUR_S, DAY_S = 3600, 86_400
NOTHING = WaitingHour(0, None)


def asked(status="approved", source="reviewer", *, since_s=0.0, **changes):
    fields = {
        "id": uuid4(),
        "agent": "beamline",
        "capability": "python_execution",
        "decided_by": "alice" if source == "reviewer" else None,
        "reason": "",
        "digest": "d",
        "asked_at": MONDAY + timedelta(seconds=since_s),
        "waited_s": 10.0,
        "viewed_s": 4.0,
    }
    return AskedRequest(status=status, source=source, **(fields | changes))


def yes(after_s=5.0, lines=3, **changes):
    fields = {"id": 1, "person": "alice", "reason": "", "became": "approved", "waited_s": 9.0}
    return CountedVote(after_s=after_s, lines=lines, asked_at=MONDAY, **(fields | changes))


def summed(rows=(), votes=()):
    """The sums of requests and votes, as they are after they were stored in two parts."""
    stored = DaySums()
    for some, given in [(rows[::2], votes[::2]), (rows[1::2], votes[1::2])]:
        for day in insight.by_day(some, given).values():
            for part in PARTS:
                stored.add_stored(part, day.stored(part))
    assert {part: stored.stored(part) for part in PARTS}.keys() == set(PARTS)
    return stored


def tally(rows):
    return summed(rows).whole


def by_day(*rows):
    return insight.by_day(rows, [])


@pytest.mark.parametrize(
    ("values", "percent", "expected"),
    [([], 50, None), ([7], 90, 7), ([3, 1, 2], 50, 2), (range(1, 11), 90, 9), ([1, 9], 50, 1)],
)
def test_a_percentile_is_one_of_the_values(values, percent, expected):
    assert percentile(Counter(map(rounded, values)), percent) == expected


@pytest.mark.parametrize(
    ("seconds", "kept"), [(-1, 0), (0, 0), (0.0123, 0.012), (4.26, 4.3), (59.9, 60), (4321, 4300)]
)
def test_a_time_is_kept_to_two_digits(seconds, kept):
    assert float(rounded(seconds)) == kept


def test_what_a_policy_or_a_grant_answered_says_nothing_about_people():
    total = tally([asked(source="policy"), asked(source="grant"), asked()])

    assert (total.asked, total.of_people, total.approved) == (3, 1, 1)
    assert total.decided_s == {"1.0e+01": 1}


def test_the_rate_is_of_what_people_decided():
    total = tally([asked(), asked("rejected"), asked("expired", "deadline")])

    assert total.rate == 0.5


def test_there_is_no_rate_of_nothing():
    assert tally([asked("expired", "deadline")]).rate is None


def test_what_expired_is_unseen_only_if_nobody_opened_it():
    seen, unseen = (asked("expired", "deadline", viewed_s=at) for at in (3.0, None))

    total = tally([seen, unseen])

    assert (total.expired, total.unseen) == (2, 1)


@pytest.mark.parametrize(
    ("after_s", "is_quick"), [(0.0, True), (0.99, True), (1.0, False), (None, False)]
)
def test_a_yes_within_a_second_of_sight_is_quick(after_s, is_quick):
    assert yes(after_s).is_quick is is_quick


@pytest.mark.parametrize(
    ("after_s", "seen_s", "in_view_s", "is_quick"),
    [(14.0, 1, 1.0, True), (14.0, 2, 2.0, False), (3.0, 60, 4.0, False), (None, 1, None, False)],
)
def test_the_page_says_how_long_it_was_in_view_and_never_longer_than_it_was_known(
    after_s, seen_s, in_view_s, is_quick
):
    vote = yes(after_s, seen_s=seen_s)

    assert (vote.in_view_s, vote.is_quick) == (in_view_s, is_quick)


@pytest.mark.parametrize(
    ("after_s", "lines", "is_unread"),
    [(0.5, 15, False), (0.5, 16, True), (29.0, 300, False), (28.9, 300, True), (1.0, None, False)],
)
def test_more_than_ten_lines_for_each_second_in_sight_are_not_read(after_s, lines, is_unread):
    assert yes(after_s, lines).is_unread is is_unread


def test_each_person_has_sums_of_their_own():
    no = asked("rejected", decided_by="bob", reason="No.")

    found = summed([asked(), no], [yes(), yes(0.1, became="rejected", id=2)]).people

    alice, bob = found["alice"], found["bob"]
    assert (alice.approvals, alice.rejections, alice.quick, alice.overruled) == (2, 0, 1, 1)
    assert (bob.approvals, bob.rejections, bob.reasons, bob.rate) == (0, 1, 1, 0.0)


@pytest.mark.parametrize(
    ("second", "disagree"),
    [
        (("d", "bob", "rejected"), True),
        (("d", "alice", "rejected"), False),  # they changed their mind
        (("d", "bob", "approved"), False),
        (("other", "bob", "rejected"), False),
    ],
)
def test_people_disagree_about_one_content(second, disagree):
    answers = [("d", "alice", "approved"), second]

    assert list(insight.disagreements(answers)) == (["d"] if disagree else [])


@pytest.mark.parametrize(
    ("rules", "effect", "rule"),
    [
        ([("A", Says.ASKS)], "review", "A"),
        ([("claims", Says.ASKS), ("certain", Says.ASKS)], "review", "certain"),
        ([("A", Says.APPROVES), ('it\'s "B"', Says.REJECTS)], "reject", 'it\'s "B"'),
        ([("A", Says.APPROVES)], "review", ""),
        ([("A", Says.APPROVES), ("B", Says.DEMANDS)], "review", "B"),
        ([], "review", ""),
    ],
)
def test_the_rule_that_decided_is_the_one_that_the_page_names(rules, effect, rule):
    grounds = Grounds(kind=Kind.CODE, rules=tuple(RuleGround(*one) for one in rules))

    assert deciding_rule(grounds.to_json(), effect) == rule


@pytest.mark.parametrize("kept", [None, "", "{", "[]", '{"kind":"x"}'])
def test_grounds_that_are_missing_or_cannot_be_read_name_no_rule(kept):
    assert deciding_rule(kept, "review") == ""


def decided_after(*seconds):
    return deciding([asked(waited_s=after) for after in seconds])


def deciding(rows):
    return insight.time_to_decision(summed(rows).whole)


def test_nothing_asked_has_no_decisions_and_no_limits():
    assert deciding([]) == ([0] * 14, 0, [])


@pytest.mark.parametrize(
    ("seconds", "bar"),
    [
        (0.0, 0),
        (0.99, 0),
        (1.0, 1),
        (59.9, 5),
        (60.0, 6),
        (86_399.9, 12),
        (86_400.0, 13),
        (9e9, 13),
    ],
)
def test_an_edge_belongs_to_the_bar_that_it_begins(seconds, bar):
    assert decided_after(seconds).counts == [int(number == bar) for number in range(14)]


def test_only_decisions_of_people_are_in_the_time_to_decision():
    found = deciding(
        [
            asked(source="policy"),
            asked("expired", "deadline", waited_s=60.0),
            asked("cancelled", "agent"),
            asked("pending", None, waited_s=None),
            asked("rejected"),
        ]
    )

    assert (sum(found.counts), found.expired) == (1, 1)


def test_usual_time_limits_are_those_of_one_in_twenty_requests():
    limits = [1800.2] * 60 + [300.0] * 36 + [60.0] * 4

    found = deciding([asked(limit_s=limit_s) for limit_s in limits])

    assert found.limits == [(300, 36), (1800, 60)]


def test_at_most_three_time_limits_are_usual():
    found = deciding([asked(limit_s=float(n)) for n in (10, 20, 30, 30, 40, 40)])

    assert found.limits == [(10, 1), (30, 2), (40, 2)]


def waits(*rows, zone=UTC):
    """What is said of the hours in which something was asked: (weekday, hour) -> what."""
    days = insight.waiting_by_hour(by_day(*rows), zone)
    hours = [((day, hour), one) for day, row in enumerate(days) for hour, one in enumerate(row)]
    assert len(hours) == 7 * 24
    return {at: one for at, one in hours if one != NOTHING}


def test_an_empty_history_has_seven_days_of_hours_without_anything():
    assert waits() == {}


@pytest.mark.parametrize(
    ("since_s", "at"),
    [
        (0.0, (0, 0)),
        (HOUR_S - 0.1, (0, 0)),
        (HOUR_S, (0, 1)),
        (7 * DAY_S - 0.1, (6, 23)),
    ],
)
def test_an_hour_holds_its_beginning_and_not_its_end(since_s, at):
    assert waits(asked(since_s=since_s, waited_s=5.0)) == {at: (1, 5.0)}


def test_of_an_hour_the_median_is_told_so_that_one_outlier_is_not_the_answer():
    rows = [asked(waited_s=waited_s) for waited_s in (1.0, 2.0, 1e6)]

    assert waits(*rows) == {(0, 0): (3, 2.0)}


def test_the_same_hour_of_two_weeks_is_one():
    rows = [asked(since_s=0.0, waited_s=1.0), asked(since_s=7.0 * DAY_S, waited_s=3.0)]

    assert waits(*rows) == {(0, 0): (2, 1.0)}


def test_hours_are_those_of_the_zone_on_both_sides_of_its_change():
    saturday, sunday = 5 * DAY_S + 10 * HOUR_S, 6 * DAY_S + 10 * HOUR_S

    found = waits(asked(since_s=saturday), asked(since_s=sunday), zone=BERLIN)

    assert set(found) == {(5, 11), (6, 12)}


def test_a_zone_may_be_off_by_quarters_of_an_hour_and_move_the_weekday():
    late_monday = asked(since_s=18 * HOUR_S + 20 * 60)

    assert set(waits(late_monday, zone=ZoneInfo("Asia/Kathmandu"))) == {(1, 0)}


def test_what_expired_waited_and_what_is_open_or_nobody_was_asked_about_did_not():
    found = waits(
        asked("expired", "deadline", waited_s=60.0),
        asked("pending", None, waited_s=None),
        asked(source="policy", waited_s=0.0),
    )

    assert found == {(0, 0): (1, 60.0)}


def test_outcomes_are_counted_on_their_day():
    rows = [
        asked(),
        asked("rejected", since_s=DAY_S - 0.1),
        asked("expired", "deadline", since_s=DAY_S),
        asked(source="grant", since_s=6.0 * DAY_S),
        asked("pending", None, since_s=7 * DAY_S - 0.1),
    ]

    days = insight.outcomes_by_day(by_day(*rows), WEEK)

    assert [{name for name in day if day[name]} for day in days] == [
        {"approved", "rejected"},
        {"expired"},
        set(),
        set(),
        set(),
        set(),
        {"alone", "other"},
    ]
    assert sum(sum(day.values()) for day in days) == len(rows)


def test_several_days_are_one_stretch_and_the_last_may_be_shorter():
    rows = [asked(since_s=float(day * DAY_S)) for day in range(7)]

    assert [day["approved"] for day in insight.outcomes_by_day(by_day(*rows), WEEK, 3)] == [
        3,
        3,
        1,
    ]


def test_approvals_of_people_are_counted_for_each_agent_by_day():
    rows = [
        asked(),
        asked(since_s=2.0 * DAY_S),
        asked("rejected"),
        asked(source="policy"),
        asked(agent="other", since_s=6.5 * DAY_S),
    ]

    assert insight.approvals_by_day(by_day(*rows), WEEK) == {
        "beamline": [1, 0, 1, 0, 0, 0, 0],
        "other": [0, 0, 0, 0, 0, 0, 1],
    }


def readings(votes):
    return insight.readings(summed(votes=votes).places)


def test_one_approval_is_one_dot_with_the_time_in_view():
    assert readings([yes(3.0, 116)]) == [ReadingDot(4.0, 116, 1, True, "alice")]


def test_a_dot_never_joins_fast_approvals_with_others():
    same_place = [yes(10.0, 110), yes(10.0, 111)]

    assert [(one.lines, one.is_fast) for one in readings(same_place)] == [
        (110, False),
        (111, True),
    ]


def test_approvals_at_the_same_place_are_one_dot():
    assert readings([yes(9.0, 20), yes(9.0, 20, person="bob")]) == [
        ReadingDot(10.0, 20, 2, False, "")
    ]


@pytest.mark.parametrize("unknown", [{"after_s": None}, {"lines": None}, {"lines": 0}])
def test_without_a_time_or_lines_there_is_no_dot(unknown):
    assert readings([yes(**unknown)]) == []


def test_a_hundred_thousand_approvals_are_not_a_hundred_thousand_dots():
    many = [yes(n % 997 * 1.7, 1 + n % 3001) for n in range(20_000)]

    dots = readings(many)

    assert len(dots) < 1000
    assert sum(dot.approvals for dot in dots) == len(many)
