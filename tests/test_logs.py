"""The log holds no link that works, and is not flooded by one line."""

import json
import logging

import pytest
from django.db import OperationalError

from dashboard.logs import REQUEST_ID, WINDOW_S, JsonLine, Line, Sparing, trouble


@pytest.fixture
def clock():
    return [0.0]


@pytest.fixture
def written(clock):
    """Logs as the server does; gives a function that logs, and what was written."""
    lines = []
    handler = logging.Handler()
    handler.setFormatter(Line("{levelname} {name}: {message}{of_request}", style="{"))
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


@pytest.mark.parametrize(
    "secret", ["dash_f7WD9zKx31LmQpRsTuVwXyZ012345678", "Bearer abcdefgh1234"]
)
def test_nor_is_what_opens_the_api(written, secret):
    log, lines = written
    log.warning("It sent %s and failed.", secret)

    assert lines[0].endswith("… and failed.")
    assert secret[-8:] not in lines[0]


def test_one_trouble_is_written_once_a_minute_whatever_it_names(written):
    log, lines = written
    for number in range(1000):
        log.error("The disk of %s is full.", number)

    assert lines == ["ERROR tests.logs: The disk of 0 is full."]


def test_a_minute_later_it_says_how_many_were_left_out(written, clock):
    log, lines = written
    for _ in range(25):
        log.error("Full.")
    clock[0] = WINDOW_S
    log.error("Full.")

    assert lines[-1] == "ERROR tests.logs: Full. (24 more like this were left out.)"


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


@pytest.fixture
def request_id():
    token = REQUEST_ID.set("4f2a")
    yield "4f2a"
    REQUEST_ID.reset(token)


def test_the_id_of_the_request_stands_in_its_lines(written, request_id):
    log, lines = written
    log.warning("Odd.")

    assert lines == [f"WARNING tests.logs: Odd. [{request_id}]"]


def test_a_line_of_json_has_the_same_in_fields(request_id):
    fields = {"path": "/sign-in/8EJMn0-n0pSH8nyQ8JsMr_ZE", "status": 200}
    record = logging.LogRecord("tests", logging.INFO, "", 1, "It\nsaid %s.", ("x",), None)
    record.fields = fields
    line = JsonLine().format(record)

    assert "\n" not in line
    said = json.loads(line)
    assert said.pop("time").endswith("+00:00")
    assert said == {
        "level": "info",
        "logger": "tests",
        "message": "It\nsaid x.",
        "path": "/sign-in/…",
        "status": 200,
        "request_id": request_id,
    }


def test_a_line_of_json_can_be_written_whatever_it_names():
    record = logging.LogRecord("tests", logging.INFO, "", 1, "Path \ud800\u202e.", (), None)

    assert JsonLine().format(record).isascii()


def test_a_line_of_json_holds_the_traceback_without_secrets():
    error = ValueError('{"token": "dash_f7WD9zKx31LmQpRsTuVwXyZ012345678"}')
    details = (ValueError, error, None)
    record = logging.LogRecord("tests", logging.ERROR, "", 1, "It failed.", (), details)
    said = json.loads(JsonLine().format(record))

    assert said["traceback"].endswith('ValueError: {"token": "dash_…"}')


def test_a_database_that_is_away_is_a_line_and_what_nobody_foresaw_a_traceback(written):
    log, lines = written
    trouble(log, "Looking failed", OperationalError("connection refused\nIs it running?"))
    trouble(log, "Looking failed", KeyError("seq"))

    assert lines[0] == "WARNING tests.logs: Looking failed (connection refused)."
    assert lines[1].startswith("ERROR tests.logs: Looking failed.\nKeyError: 'seq'")
