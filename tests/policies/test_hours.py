from datetime import datetime

import pytest

from dashboard.policies.rules.hours import includes, zone
from dashboard.policies.rules.rule import Hours


def at(text):
    return datetime.fromisoformat(text)


@pytest.mark.parametrize(
    ("moment", "expected"),
    [
        ("2026-03-04T08:00+00:00", True),
        ("2026-03-04T07:59:59+00:00", False),
        ("2026-03-04T17:59+00:00", True),
        ("2026-03-04T18:00+00:00", False),
        ("2026-03-07T12:00+00:00", False),  # a Saturday
    ],
)
def test_a_window_begins_and_ends_on_its_days(moment, expected):
    office = Hours(days=("mon", "tue", "wed", "thu", "fri"), from_="08:00", until="18:00")

    assert includes(office, at(moment)) is expected


@pytest.mark.parametrize(
    ("moment", "expected"),
    [
        ("2026-03-07T23:00+00:00", True),
        ("2026-03-08T05:59+00:00", True),  # Sunday, but it began on Saturday
        ("2026-03-08T06:00+00:00", False),
        ("2026-03-08T23:00+00:00", False),
        ("2026-03-07T05:00+00:00", False),
    ],
)
def test_over_midnight_the_day_is_the_one_on_which_it_began(moment, expected):
    night = Hours(days=("sat",), from_="22:00", until="06:00")

    assert includes(night, at(moment)) is expected


def test_until_midnight_is_the_end_of_the_day():
    evening = Hours(days=("wed",), from_="20:00")

    assert includes(evening, at("2026-03-04T23:59:59+00:00"))
    assert not includes(evening, at("2026-03-05T00:00+00:00"))


def test_the_day_is_that_of_the_time_zone():
    sunday = Hours(days=("sun",), timezone="Pacific/Auckland")

    assert includes(sunday, at("2026-03-07T12:00+00:00"))


def test_a_moment_needs_a_time_zone():
    with pytest.raises(ValueError, match="with a time zone"):
        includes(Hours(), at("2026-03-04T08:00"))


@pytest.mark.parametrize(
    "name", ["Berlin", "", "../etc/passwd", "America", "/etc/localtime", "a\0"]
)
def test_a_time_zone_that_is_none_is_refused(name):
    with pytest.raises(ValueError, match="There is no time zone"):
        zone(name)
