"""The log holds no link that works, and is not flooded by one line."""

import logging

import pytest

from dashboard.logs import MOST, WINDOW_S, Line, Sparing


@pytest.fixture
def clock():
    return [0.0]


@pytest.fixture
def written(clock):
    """Logs as the server does; gives a function that logs, and what was written."""
    lines = []
    handler = logging.Handler()
    handler.setFormatter(Line("{levelname} {name}: {message}", style="{"))
    handler.addFilter(Sparing(lambda: clock[0]))
    handler.emit = lambda record: lines.append(handler.format(record))
    logger = logging.getLogger("tests.logs")
    logger.propagate = False
    logger.addHandler(handler)
    yield logger, lines
    logger.removeHandler(handler)
    logger.propagate = True


def test_a_link_that_signs_in_is_not_written(written):
    log, lines = written
    log.warning("Forbidden (%s): %s", "CSRF cookie not set.", "/sign-in/8EJMn0-n0pSH8nyQ8JsMr_ZE")

    assert lines == ["WARNING tests.logs: Forbidden (CSRF cookie not set.): /sign-in/…"]


def test_nor_in_a_traceback(written):
    log, lines = written
    error = ValueError("http://a.example/sign-in/8EJMn0-n0pSH8nyQ8JsMr_ZE is wrong")
    log.error("It failed.", exc_info=error)

    assert "http://a.example/sign-in/… is wrong" in lines[0]
    assert "8EJMn0" not in lines[0]


def test_one_message_is_written_ten_times_a_minute_whatever_it_names(written):
    log, lines = written
    for number in range(1000):
        log.error("The disk of %s is full.", number)

    assert len(lines) == MOST
    last = f"The disk of {MOST - 1} is full. (More like this are left out for {WINDOW_S} s.)"
    assert lines[-1] == f"ERROR tests.logs: {last}"


def test_a_minute_later_it_says_how_many_were_left_out(written, clock):
    log, lines = written
    for _ in range(25):
        log.error("Full.")
    clock[0] = WINDOW_S
    log.error("Full.")

    assert lines[-1] == "ERROR tests.logs: Full. (15 more like this were left out.)"


def test_another_message_is_written_meanwhile(written):
    log, lines = written
    for _ in range(25):
        log.error("Full.")
    log.error("Gone.")

    assert lines[-1] == "ERROR tests.logs: Gone."


def test_what_is_no_warning_is_not_counted(written):
    log, lines = written
    log.setLevel(logging.INFO)
    for _ in range(25):
        log.info("Stopping.")

    assert len(lines) == 25


def test_no_more_messages_are_kept_than_a_few_hundred(written):
    log, _ = written
    for number in range(2000):
        log.error(f"Line {number}.")  # noqa: G004 - each a message of its own

    (sparing,) = log.handlers[0].filters
    assert len(sparing._counted) <= 500
