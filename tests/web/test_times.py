from datetime import UTC, datetime, timedelta

import pytest

from dashboard.web import times

NOW = datetime(2026, 3, 4, 14, 5, 3, tzinfo=UTC)


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0, "time is over"),
        (9, "0:09 left"),
        (192, "3:12 left"),
        (3599, "59:59 left"),
        (3600, "1 h 0 min left"),
        (86_400 * 2 + 3600, "2 d 1 h left"),
    ],
)
def test_time_left_is_exact_below_an_hour(seconds, said):
    assert times.left(seconds) == said


@pytest.mark.parametrize(
    ("left_s", "tone"), [(600, "calm"), (150, "calm"), (149, "soon"), (60, "soon"), (59, "last")]
)
def test_the_tone_turns_in_the_last_quarter_and_the_last_minute(left_s, tone):
    ends = NOW + timedelta(seconds=left_s)

    assert times.time_left(ends - timedelta(seconds=600), ends, NOW).tone == tone


def test_time_that_is_over_is_not_negative():
    assert times.time_left(NOW, NOW - timedelta(seconds=5), NOW).text == "time is over"


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0, "just now"), (5, "5 s ago"), (119, "1 min ago"), (7200, "2 h ago"), (90_000, "1 d ago")],
)
def test_ago_is_told_in_one_unit(seconds, said):
    assert times.ago(timedelta(seconds=seconds)) == said


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0.012, "12 ms"),
        (0.44, "0.4 s"),
        (59.4, "59 s"),
        (60, "1 min"),
        (75, "1 min 15 s"),
        (3660, "1 h 1 min"),
    ],
)
def test_lengths_are_as_exact_as_one_cares_for(seconds, said):
    assert times.length(seconds) == said


def test_moments_of_the_record_have_their_zone():
    assert times.exact(NOW) == "2026-03-04 14:05:03 UTC"
    assert times.clock(NOW) == "14:05:03 UTC"
