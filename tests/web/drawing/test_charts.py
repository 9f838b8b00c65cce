"""Where the marks of charts lie, and what they say."""

from datetime import UTC, date, datetime, timedelta

import pytest

from dashboard.approvals.rules.insight import EDGES_S, OUTCOMES, Deciding, ReadingDot, WaitingHour
from dashboard.web.drawing import charts
from dashboard.web.drawing.charts import Stages, Tick

BEGIN = datetime(2026, 3, 2, 9, tzinfo=UTC)


def per_cent(place):
    return float(place.removesuffix("%"))


@pytest.mark.parametrize(
    ("most", "steps"),
    [
        (0, [0, 1]),
        (1, [0, 1]),
        (3, [0, 1, 2, 3]),
        (7, [0, 2, 4, 6, 8]),
        (35, [0, 10, 20, 30, 40]),
        (100_000, [0, 50_000, 100_000]),
    ],
)
def test_an_axis_has_round_numbers_that_reach_the_most(most, steps):
    assert list(charts.scale(most).steps) == steps


def test_the_bottom_of_an_axis_is_zero_and_its_top_the_last_step():
    assert charts.scale(7).ticks[0] == Tick("100%", "0")
    assert charts.scale(7).ticks[-1] == Tick("0%", "8")


def day(**counts):
    return dict.fromkeys(OUTCOMES, 0) | counts


def test_a_day_is_stacked_without_holes_from_the_bottom():
    (column,) = charts.days_chart([day(approved=2, expired=1)], date(2026, 3, 2), 1).columns

    assert [(piece.name, piece.y, piece.height) for piece in column.pieces] == [
        ("approved", "33.33%", "66.67%"),
        ("expired", "0%", "33.33%"),
    ]
    assert column.says == "Mon 2 Mar 2026: 3 requests, 2 approved, 1 expired"


def test_days_without_requests_have_a_sentence_too():
    chart = charts.days_chart([day()], date(2026, 3, 2), 1)

    assert [column.says for column in chart.columns] == ["Mon 2 Mar 2026: no requests"]


def test_a_stretch_of_days_names_its_first_and_last_day():
    chart = charts.days_chart([day()] * 2, date(2026, 2, 27), 4)

    assert [row[0] for row in chart.rows] == ["27 Feb to 2 Mar 2026", "3 Mar to 6 Mar 2026"]


@pytest.mark.parametrize("days", [1, 7, 30, 90, 92])
def test_an_axis_of_days_has_at_most_six_dates(days):
    chart = charts.days_chart([day()] * days, date(2026, 1, 1), 1)

    assert 1 <= len(chart.x_ticks) <= 6
    assert chart.x_ticks[0].words == "1 Jan"


def deciding(*, expired=0, limits=(), **bars):
    counts = [bars.get(f"bar_{number}", 0) for number in range(len(EDGES_S) + 1)]
    return Deciding(counts, expired, list(limits))


def test_every_bar_of_the_time_to_decision_says_from_when_to_when():
    chart = charts.decision_chart(deciding(bar_0=1, bar_5=3, expired=2))
    says = [column.says for column in chart.columns]

    assert says[0] == "Under 1 s: 1 decision, 25% of all"
    assert says[5] == "30 s to 1 min: 3 decisions, 75% of all"
    assert says[-2] == "1 d or more: 0 decisions"
    assert says[-1] == "Expired without an answer: 2"


def test_nothing_decided_is_drawn_too():
    assert len(charts.decision_chart(deciding()).columns) == len(EDGES_S) + 2


def test_an_edge_lies_where_its_bar_begins():
    chart = charts.decision_chart(deciding())

    places = [charts.decision_place(edge) for edge in EDGES_S]

    assert [charts.place(at) for at in places] == [column.x for column in chart.columns[1:-1]]


def test_the_axis_of_the_time_to_decision_never_goes_back():
    places = [charts.decision_place(tenth / 10) for tenth in range(1, 40_000_000, 99_991)]

    assert places == sorted(places)
    assert max(places) <= 1


def test_a_time_limit_is_marked_with_its_length_and_count():
    chart = charts.decision_chart(deciding(limits=[(300, 8), (1800, 1234)]))

    assert [limit.words for limit in chart.limits] == [
        "limit 5 min (8)",
        "limit 30 min (1,234)",
    ]
    assert chart.limits[1].top < chart.limits[0].top  # of two labels, none covers the other


@pytest.mark.parametrize(
    ("seconds", "level"),
    [(0, 1), (60, 1), (60.1, 2), (300, 2), (1800, 3), (7200, 4), (7200.1, 5), (9e9, 5)],
)
def test_the_longer_the_wait_the_larger_the_square(seconds, level):
    assert charts.level(seconds) == level


def test_each_hour_says_how_long_half_waited():
    hours = [[WaitingHour(0, None)] * 24 for _ in range(7)]
    hours[2][23] = WaitingHour(3, 90.0)

    chart = charts.hours_chart(hours)

    assert len(chart.cells) == 7 * 24
    assert chart.cells[0].says == "Monday 00:00 to 01:00: no requests"
    last = chart.cells[2 * 24 + 23]
    assert last.says == "Wednesday 23:00 to 00:00: half of 3 requests waited up to 1 min 30 s"
    assert chart.rows[23][1][2] is last
    assert [cell.level for cell in chart.cells if cell.level] == [2]


def test_a_dot_says_what_is_known_and_judges_nobody():
    chart = charts.reading_chart([ReadingDot(4.0, 116, 1, is_fast=True, person="ana")])

    assert [dot.says for dot in chart.dots] == ["In view 4.0 s, 116 lines, approved by ana"]
    assert chart.dots[0].is_fast


def test_several_approvals_at_one_place_are_a_larger_dot():
    chart = charts.reading_chart(
        [ReadingDot(4.0, 1, count, is_fast=False, person="") for count in (2, 64)]
    )

    assert chart.dots[0].says == "64 approvals: about in view 4.0 s, 1 line"
    assert chart.dots[0].radius > chart.dots[1].radius


def test_ten_lines_a_second_lie_between_what_is_above_and_below():
    fast, slow = ReadingDot(10.0, 101, 1, True, "a"), ReadingDot(10.0, 99, 1, False, "a")
    chart = charts.reading_chart([fast, slow])
    x1, y1, x2, y2 = map(per_cent, chart.limit)
    above, below = sorted(chart.dots, key=lambda dot: per_cent(dot.y))

    at = y1 + (per_cent(above.x) - x1) / (x2 - x1) * (y2 - y1)
    assert per_cent(above.y) < at < per_cent(below.y)


@pytest.mark.parametrize(("seconds", "lines"), [(1.0, 1), (3e6, 1), (1.0, 10**8), (3e6, 10**8)])
def test_outliers_stay_within_the_chart(seconds, lines):
    chart = charts.reading_chart([ReadingDot(seconds, lines, 1, is_fast=False, person="a")])
    (dot,) = chart.dots

    assert 0 <= per_cent(dot.x) <= 100
    assert 0 <= per_cent(dot.y) <= 100
    assert sum(sum(counts) for _, counts in chart.rows) == 1


def test_the_table_of_dots_counts_each_number_of_lines_once():
    chart = charts.reading_chart(
        [ReadingDot(5.0, lines, 1, is_fast=False, person="a") for lines in (1, 9, 10, 99, 100)]
    )

    assert [(name, sum(counts)) for name, counts in chart.rows] == [
        ("1 to 9", 2),
        ("10 or more", 3),
    ]


@pytest.mark.parametrize(
    ("counts", "says"),
    [
        ([], "0 approved, at most 0 a day: "),
        ([0, 0], "0 approved, at most 0 a day: 0, 0"),
        ([0, 5, 1], "6 approved, at most 5 a day: 0, 5, 1"),
    ],
)
def test_a_sparkline_says_all_its_values(counts, says):
    assert charts.sparkline(counts, 1).says == says


def test_a_sparkline_has_a_bar_for_each_day_with_approvals():
    line = charts.sparkline([0, 5, 1], 1)

    assert line.path == "M11 20V0h8V20zM21 20V16h8V20z"
    assert line.width == 30


def stages(asked, **after):
    """A request that was asked so many seconds after the begin; the rest is after that."""
    at = BEGIN + timedelta(seconds=asked)
    named = {name: at + timedelta(seconds=seconds) for name, seconds in after.items()}
    none = dict.fromkeys(("seen", "decided", "started", "finished"))
    return Stages(**{"asked": at, "until": max([at, *named.values()]), **none, **named})


def test_a_request_waits_until_it_is_decided_and_runs_until_it_is_finished():
    (row,) = charts.timeline([stages(0, seen=20, decided=40, started=60, finished=100)]).rows

    assert (row.waits.x, row.waits.width) == ("0%", "40%")
    assert (row.seen, row.decided, row.started, row.finished) == ("20%", "40%", "60%", "100%")
    assert (row.runs.x, row.runs.width) == ("60%", "40%")


def test_what_is_open_waits_until_now_and_has_no_other_marks():
    (row,) = charts.timeline([stages(0, until=50)]).rows

    assert row.waits.width == "100%"
    assert (row.seen, row.decided, row.started, row.runs) == ("", "", "", None)


def test_marks_that_are_too_near_are_moved_apart():
    (row,) = charts.timeline([stages(0, decided=40, started=40.2, finished=40.5)]).rows

    assert (row.started_by, row.finished_by) == (1, 2)


def test_an_answer_at_once_does_not_cover_the_mark_of_the_request():
    at_once, _ = charts.timeline([stages(0, decided=1), stages(1, decided=99)]).rows

    assert at_once.decided_by == 1


def test_one_moment_is_no_division_by_zero():
    (row,) = charts.timeline([stages(0, decided=0)]).rows

    assert row.waits.width == "0%"


def test_a_long_time_without_anything_is_cut_short_and_said():
    drawn = charts.timeline([stages(0, decided=50), stages(7250, decided=50)])

    assert [cut.says for cut in drawn.breaks] == ["Nothing for 2 h"]
    assert [(row.waits.x, row.waits.width) for row in drawn.rows] == [
        ("0%", "48%"),
        ("52%", "48%"),
    ]
    assert [tick.words for tick in drawn.ticks] == ["0", "+30 s", "+2 h", "+2 h 1 min"]


def test_a_short_pause_is_drawn_as_it_was():
    drawn = charts.timeline([stages(0, decided=50), stages(60, decided=40)])

    assert drawn.breaks == []
    assert drawn.rows[1].waits.x == "60%"
    assert [tick.words for tick in drawn.ticks] == ["0", "+30 s", "+1 min", "+1 min 30 s"]


def test_many_pauses_leave_room_for_what_happened():
    drawn = charts.timeline([stages(number * 10_000, decided=10) for number in range(100)])

    widths = [per_cent(row.waits.width) for row in drawn.rows]
    assert sum(widths) == pytest.approx(60, abs=1)
    assert len(drawn.ticks) <= 6
