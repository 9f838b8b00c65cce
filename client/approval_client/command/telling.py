"""What ``approvals`` tells: a live status while it waits, and the result in words or as JSON."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.spinner import Spinner
from rich.style import Style
from rich.text import Text

from approval_client import Answer, ApprovalResponse, NotApproved, Pending
from approval_client._flow import Heard
from approval_client.command.codes import Code, code_of_error, code_of_status
from approval_client.wire import Status

FRAMES_A_SECOND = 4
MOVED_S = 5.0  # a deadline that moved by less is told by a clock, and not by a person


@dataclass(frozen=True, kw_only=True)
class Result:
    """What came of it: the exit code, a sentence for people, and everything as JSON."""

    code: Code
    sentence: str
    fields: dict[str, Any]

    def tell(self, *, as_json: bool, output: bool) -> None:
        """Write the JSON alone to standard output, or the sentence there or to standard error."""
        if not as_json and not output:
            say(self.sentence)
        elif as_json:
            summary = {"approved": self.code is Code.APPROVED, "exit_code": int(self.code)}
            sys.stdout.write(json.dumps(summary | self.fields) + "\n")
        else:
            sys.stdout.write(plain(self.sentence) + "\n")
        sys.stdout.flush()


def of_response(response: ApprovalResponse) -> Result:
    """Return the result of having waited."""
    opened = response.approved is True
    return Result(
        code=Code.APPROVED if opened else code_of_status(response.status),
        sentence=str(response),
        fields=_decided(response),
    )


_DECIDED = (
    *("status", "id", "digest", "reason", "source", "decided_by", "valid_until", "grant"),
    "review_url",
)


def of_error(error: Exception) -> Result:
    """Return the result of something that was raised instead of an answer."""
    response = error.response if isinstance(error, NotApproved) else None
    fields = _decided(response) if response else dict.fromkeys(_DECIDED)
    return Result(
        code=code_of_error(error),
        sentence=f"approvals: {error}",
        fields=fields | {"reason": str(error), "error": type(error).__name__},
    )


def without_answer(code: Code, reason: str) -> Result:
    """Return the result of having stopped before there was an answer."""
    sentence = f"{reason} Nothing was approved."
    return Result(
        code=code,
        sentence=f"approvals: {sentence}",
        fields=dict.fromkeys(_DECIDED) | {"reason": sentence},
    )


def of_pending(pending: Pending) -> Result:
    """Return the result of having asked without waiting: the id, alone on its line."""
    fields = dict.fromkeys(_DECIDED) | {"status": Status.PENDING, "id": pending.id}
    fields |= {"digest": pending.request.digest, "review_url": pending.review_url}
    return Result(code=Code.PENDING, sentence=pending.id, fields=fields)


_MOMENTS = ("decided_at", "valid_until")


def of_answer(answer: Answer) -> Result:
    """Return the result of having looked, which uses no approval."""
    decision = answer.decision
    fields = {name: getattr(decision, name, None) for name in _DECIDED}
    fields |= {"status": answer.status, "id": answer.id, "review_url": answer.review_url}
    fields["digest"] = answer.digest
    if decision is not None:
        fields |= {name: _moment(getattr(decision, name)) for name in _MOMENTS}
    for name in ("submitted_at", "expires_at", "started_at", "finished_at"):
        fields[name] = _moment(getattr(answer, name))
    fields["policy"] = {"revision": answer.policy_revision, "trace": list(answer.trace)}
    rows = [(name, value) for name, value in fields.items() if value and name != "policy"]
    width = max(len(name) for name, _ in rows)
    lines = [f"{name:<{width}}  {value}" for name, value in rows]
    lines += [f"{'policy':<{width}}  {sentence}" for sentence in answer.trace]
    return Result(code=code_of_status(answer.status), sentence="\n".join(lines), fields=fields)


def _decided(response: ApprovalResponse) -> dict[str, Any]:
    fields = {name: getattr(response, name) for name in _DECIDED}
    return fields | {"valid_until": _moment(response.valid_until)}


def _moment(value: datetime | None) -> str | None:
    return None if value is None else value.isoformat()


class WaitingDisplay:
    """What is shown while nobody has decided: the time left and the link.

    At a terminal it is drawn again and again; elsewhere it is a line, and another one when the
    time that is left has changed.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self._spinner = Spinner("dots")
        self._link = ""
        self._ends_at: float | None = None
        self._live: Live | None = None

    def heard(self, answer: Answer) -> None:
        """Take what the dashboard says. Called by the client for every answer."""
        left_s = (answer.expires_at - answer.now).total_seconds()
        ends_at = time.monotonic() + left_s
        moved = self._ends_at is None or abs(ends_at - self._ends_at) > MOVED_S
        self._ends_at, self._link = ends_at, plain(answer.review_url)
        if self._live is None and moved:
            sentence = f"Waiting for a person, for {span(left_s)} at most: {self._link}"
            self._console.print(Text(sentence), soft_wrap=True)

    @contextmanager
    def shown(self) -> Iterator[None]:
        """Show it for as long as this lasts."""
        if not self._console.is_terminal or self._console.is_dumb_terminal:
            yield
            return
        with Live(
            self, console=self._console, refresh_per_second=FRAMES_A_SECOND, transient=True
        ) as self._live:
            yield

    def __rich__(self) -> Spinner:
        if self._ends_at is None:
            text = Text("Asking")
        else:
            time_left = Text(span(max(0.0, self._ends_at - time.monotonic())), style="bold")
            # As a link of the terminal's own, it stays whole where the line is too short for it.
            link = Text(self._link, style=Style(link=self._link or None))
            text = Text.assemble("Waiting for a person, ", time_left, " left\n  ", link)
        self._spinner.update(text=text)
        return self._spinner


def span(seconds: float) -> str:
    """Return a length of time as a person says it."""
    whole = int(seconds)
    days, hours = divmod(whole // 3600, 24)
    minutes = whole // 60 % 60
    if days:
        return f"{days} d {hours} h"
    if hours:
        return f"{hours} h {minutes:02} min"
    return f"{minutes} min {whole % 60:02} s" if minutes else f"{whole} s"


def say(text: str) -> None:
    """Tell something on standard error."""
    sys.stderr.write(plain(text) + "\n")
    sys.stderr.flush()


def plain(text: str) -> str:
    """Return text without what a terminal would obey or hide."""
    return "".join(c if c.isprintable() or c in "\n\t" else "\ufffd" for c in text)


@contextmanager
def waiting() -> Iterator[Heard]:
    """Show on standard error what is waited for; gives what the client tells its answers."""
    display = WaitingDisplay(Console(stderr=True, highlight=False))
    with display.shown():
        yield display.heard
