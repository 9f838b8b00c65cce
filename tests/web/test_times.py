import re
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
        (0.0999, "0.1 s"),
        (9.94, "9.9 s"),
        (9.97, "10 s"),
        (59.4, "59 s"),
        (59.7, "1 min"),
        (60, "1 min"),
        (75, "1 min 15 s"),
        (3599.6, "1 h"),
        (3660, "1 h 1 min"),
        (86_399.7, "1 d"),
        (90_000, "1 d 1 h"),
    ],
)
def test_lengths_are_as_exact_as_one_cares_for(seconds, said):
    assert times.length(seconds) == said


def test_moments_of_the_record_have_their_zone():
    assert times.exact(NOW) == "2026-03-04 14:05:03 UTC"
    assert times.clock(NOW) == "14:05:03 UTC"


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("15m", 900),
        ("15 min", 900),
        ("15 minutes", 900),
        ("2h", 7200),
        ("2 Hours", 7200),
        ("1 day", 86_400),
        ("3d", 259_200),
        ("1 week", 604_800),
        ("90s", 90),
        ("1h 30m", 5400),
        ("1h30m", 5400),
        ("1.5h", 5400),
        (" 1 day 2 h ", 93_600),
    ],
)
def test_a_length_is_read_as_people_write_it(text, seconds):
    assert times.read_length(text) == seconds


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("30", "Add a unit: 30m, 30h or 30d."),
        ("1:30", "A colon could mean hours or minutes. Write 1h 30m, or 1m 30s."),
        ("1,5h", "Write a point instead of the comma, such as 1.5h."),
        ("5M", "M could mean minutes or months. Write min, or days."),
        ("2 months", "Months and years differ in length. Write days."),
        ("1 fortnight", "'fortnight' is not a unit of time. Write s, min, h or days."),
        ("30m 1h", "Write each unit once, the longest first, such as 1h 30m."),
        ("1h 2h", "Write each unit once, the longest first, such as 1h 30m."),
        ("0.0001h", "Write a length of time, such as 15m, 2h or 1 day."),
        ("0.5s", "Write whole seconds, such as 90s."),
        ("-5m", "Write a length of time, such as 15m, 2h or 1 day."),
        ("soon", "Write a length of time, such as 15m, 2h or 1 day."),
        ("h", "Write a length of time, such as 15m, 2h or 1 day."),
    ],
)
def test_what_could_mean_two_things_is_refused(text, said):
    with pytest.raises(ValueError, match=re.escape(said)):
        times.read_length(text)


@pytest.mark.parametrize("seconds", [0, 5, 60, 90, 3600, 5400, 86_400, 93_600, 604_800, 2_592_000])
def test_a_length_is_written_as_it_is_read(seconds):
    assert times.read_length(times.write_length(seconds)) == seconds


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(900, "15 min"), (5400, "1 h 30 min"), (86_400, "1 day"), (172_800, "2 days"), (5, "5 s")],
)
def test_a_length_in_few_words(seconds, text):
    assert times.write_length(seconds) == text
