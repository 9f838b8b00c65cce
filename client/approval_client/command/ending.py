"""How a command ends: with one of ``Code``, whatever happens on the way."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

import typer

from approval_client import DashboardError
from approval_client.command import telling
from approval_client.command.asking import Unusable
from approval_client.command.codes import Code
from approval_client.command.files import NotShown
from approval_client.command.telling import Result
from approval_client.wire import JsonError


class StillPending(BaseException):
    """The time to wait is over, and nobody has decided."""


def end(result: Result, *, as_json: bool = False, always: bool = False) -> NoReturn:
    """Tell the result and end with its code.

    Args:
        result: What came of it.
        as_json: As one document on standard output.
        always: On standard output whatever the result is, because it is what was asked for.
    """
    result.tell(as_json=as_json, output=always or result.code is Code.APPROVED)
    raise typer.Exit(result.code)


@contextmanager
def usage() -> Iterator[None]:
    """Say what is wrong with what was given, as with any other wrong option."""
    try:
        yield
    except (Unusable, NotShown) as error:
        raise typer.BadParameter(f"{error} Nothing was asked.") from None


@contextmanager
def end_after(*, as_json: bool = False) -> Iterator[None]:
    """Turn whatever is raised instead of an answer into a result. None of them opens."""
    old_handlers = {
        number: signal.signal(number, _stop) for number in (signal.SIGTERM, signal.SIGHUP)
    }
    try:
        yield
    except (DashboardError, ValueError, TypeError) as error:
        end(telling.of_error(_explained(error)), as_json=as_json)
    except StillPending:
        end(telling.without_answer(Code.PENDING, "Nobody has decided."), as_json=as_json)
    except KeyboardInterrupt:
        end(telling.without_answer(Code.INTERRUPTED, "Interrupted."), as_json=as_json)
    finally:
        for number, handler in old_handlers.items():
            signal.signal(number, handler)


def _explained(error: Exception) -> Exception:
    """Return the error, or one that says what to do where a word of a shell is not UTF-8."""
    if isinstance(error, UnicodeEncodeError):  # in an address
        place = ""
    elif isinstance(error, JsonError) and error.code == "lone_surrogate":
        place = f" ({str(error).rpartition(': ')[0]})"
    else:
        return error
    return JsonError(
        "lone_surrogate",
        f"A word of the command line, or the name of the folder, is not UTF-8{place}, so people "
        "could not be shown it. Nothing was asked and nothing was run. Give what it names another "
        "name, or hand the text on in a file.",
    )


@contextmanager
def time_out(seconds: int | None) -> Iterator[None]:
    """Stop waiting after a while, and leave the question as it is.

    Raises:
        StillPending: The time is over.
    """
    old_handler = signal.signal(signal.SIGALRM, _still_pending)
    signal.setitimer(signal.ITIMER_REAL, seconds or 0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old_handler)


def _stop(number: int, _: object) -> NoReturn:
    sys.exit(128 + number)  # which takes the question back on its way


def _still_pending(*_: object) -> NoReturn:
    raise StillPending
