"""``approvals hook``: Claude Code asks before it calls a tool, and is told allow or deny.

Claude Code lets a tool through when its hook ends with most exit codes, says nothing, or takes too
long. So this one always answers: whatever goes wrong is ``deny`` with the reason, well before the
hook's own time is over, and nothing but that JSON reaches standard output.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NoReturn

from approval_client._answers import Answer
from approval_client._defaults import default_async_client
from approval_client._refusals import for_model, refusal
from approval_client.adapters import _binding, claude_code
from approval_client.adapters.claude_code import Progress
from approval_client.command import notes
from approval_client.command.changes import difference
from approval_client.wire import MAX_BODY_BYTES, JsonError, parse_json

DEFAULT_S = 50  # below the 60 s that older versions of Claude Code give a hook
SHORTEST_S, LONGEST_S = 5, 86_400
LAST_S = 0.5  # before the end, an answer is written whatever else is going on
MAX_EVENT_BYTES = 4 * MAX_BODY_BYTES  # more cannot be asked anyway
_BLOCKS = 2  # the one exit code with which Claude Code blocks a tool
_STOPPED = "The hook was stopped before anybody decided. Nothing was approved."


class Question:
    """How far the question of this hook came."""

    progress = Progress.UNREAD

    def late(self, limit_s: float) -> dict[str, Any]:
        """Return what Claude Code is told when the time is over."""
        return claude_code.deny(claude_code.late(limit_s, self.progress))


class HookOutput:
    """Standard output, kept for one answer: what anything else prints goes to standard error."""

    def __init__(self) -> None:
        sys.stdout.flush()
        self._output = os.dup(1)
        os.dup2(2, 1)
        self.said = False
        self._lock = threading.Lock()

    def say(self, reports: dict[str, Any]) -> None:
        """Write what Claude Code is told."""
        self.said = True
        _write(self._output, json.dumps(reports).encode() + b"\n")

    def end(self, reports: dict[str, Any]) -> NoReturn:
        """Write the answer and end the process at once, whatever its threads are doing."""
        with self._lock:  # never given back: who comes second waits for the end
            try:
                self.say(reports)
            except BaseException:  # noqa: BLE001 - nobody was told, so the code must block
                os._exit(_BLOCKS)
            os._exit(0)


def main(arguments: Sequence[str]) -> NoReturn:
    """Read an event from standard input, ask, answer and end the process."""
    try:
        answering = HookOutput()
    except BaseException:  # noqa: BLE001 - there is no output to answer on
        os._exit(_BLOCKS)
    try:
        options = _options(arguments)
        if options.finished:
            _report(answering, capture=options.capture)
        limit_s = options.timeout
        question = Question()
        _never_late(answering, limit_s, question)
        decision = asyncio.run(_answer(limit_s, question))
    except BaseException as error:  # noqa: BLE001 - whatever goes wrong is a rejection
        decision = claude_code.deny(_why(error))
    answering.end(decision)


async def _answer(limit_s: float, question: Question) -> dict[str, Any]:
    _deny_when_stopped()
    try:
        async with asyncio.timeout(limit_s - claude_code.MARGIN_S):
            return await _ask(limit_s, question)
    except TimeoutError:
        return question.late(limit_s)
    except asyncio.CancelledError:
        return claude_code.deny(_STOPPED)


async def _ask(limit_s: float, question: Question) -> dict[str, Any]:
    event = parse_json(await _read())
    question.progress = Progress.ASKED
    wait_s = claude_code.people_have_s(limit_s)
    request = claude_code.to_request(event, wait_s=wait_s, evidence=_evidence(event))
    key = claude_code.key(event)

    def heard(_: Answer) -> None:
        question.progress = Progress.PENDING

    try:
        client = default_async_client()
        response = await client.request_approval(request, idempotency_key=key, heard=heard)
    except Exception as error:  # noqa: BLE001 - whatever goes wrong is a rejection
        return claude_code.answer(refusal(error))
    if key and response.approved is True:
        notes.keep(key, response)
    return claude_code.answer(for_model(response))


def _evidence(event: Any) -> dict[str, Any]:
    if not isinstance(event, dict) or not isinstance(event.get("tool_input"), dict):
        return {}
    diff = difference(str(event.get("tool_name")), event["tool_input"], event.get("cwd"))
    return {"difference": diff} if diff else {}


async def _read() -> bytes:
    """Read standard input in a thread, because nobody promises that it ends."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[bytes] = loop.create_future()

    def read() -> None:
        try:
            raw = sys.stdin.buffer.read(MAX_EVENT_BYTES + 1)
        except Exception:  # noqa: BLE001 - nothing that can be asked about
            raw = b""
        with suppress(RuntimeError):  # the loop is over
            loop.call_soon_threadsafe(_give, future, raw)

    threading.Thread(target=read, daemon=True).start()
    raw = await future
    if len(raw) > MAX_EVENT_BYTES:
        raise ValueError("The event is too large to be asked about.")
    return raw


def _give(found: asyncio.Future[bytes], raw: bytes) -> None:
    if not found.done():
        found.set_result(raw)


def _deny_when_stopped() -> None:
    task = asyncio.current_task()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        loop.add_signal_handler(number, task.cancel if task else sys.exit)


def _never_late(answering: HookOutput, limit_s: float, question: Question) -> None:
    timer = threading.Timer(limit_s - LAST_S, lambda: answering.end(question.late(limit_s)))
    timer.daemon = True
    timer.start()


def _report(answering: HookOutput, *, capture: bool) -> NoReturn:
    from approval_client.command import finished  # noqa: PLC0415 - not needed before a tool is called

    try:
        finished.report(answering.say, capture=capture)
    except finished.NotTheEnd as error:  # put before a tool by mistake, it must not let it through
        _write(2, f"approvals: {error} Nothing was approved.\n".encode())
        os._exit(_BLOCKS)
    except BaseException as error:  # noqa: BLE001 - what has run has run
        _write(2, f"approvals: how it ended was not reported ({error}).\n".encode())
        os._exit(0 if answering.said else 1)  # with 1, what was said is not read
    os._exit(0)


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="approvals hook", description=__doc__)
    parser.add_argument(
        "--timeout",
        type=int,
        default=DEFAULT_S,
        metavar="SECONDS",
        help="answer within this time; set it below the hook's own (default %(default)s)",
    )
    parser.add_argument(
        "--finished", action="store_true", help="report the end of a tool, after it was called"
    )
    parser.add_argument(
        "--capture", action="store_true", help="report the beginning of its output too"
    )
    options = parser.parse_args(arguments)
    if not SHORTEST_S <= options.timeout <= LONGEST_S:
        parser.error(f"--timeout must be {SHORTEST_S} to {LONGEST_S}.")
    return options


def _why(error: BaseException) -> str:
    if isinstance(error, SystemExit):
        return "The hook's command line is wrong, so nothing was asked and nothing was approved."
    if isinstance(error, JsonError) and error.code not in {"not_json", "not_utf8"}:
        return str(_binding.unreadable(error))
    if isinstance(error, ValueError):
        return f"The tool call cannot be asked about: {error} Nothing was approved."
    return f"Asking for approval failed ({type(error).__name__}). Nothing was approved."


def _write(descriptor: int, text: bytes) -> None:
    while text:
        text = text[os.write(descriptor, text) :]
