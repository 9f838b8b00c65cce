"""Code within Python code: in the arguments of ``exec``, of a shell or of a database."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dashboard.inspection import control_system
from dashboard.inspection.findings import Finding, Severity
from dashboard.inspection.knowledge import CONTROL_SYSTEM
from dashboard.inspection.notes import FindingKind, doubt, names
from dashboard.inspection.python.notes import UNFOLLOWED
from dashboard.inspection.python.strings import HOLE, Text
from dashboard.inspection.shell.inspector import inspect_script
from dashboard.inspection.sql import inspect_sql

MAX_DEPTH = 3
_PLACEHOLDER = "${_}"
_KNOWN_PROGRAMS = names("""
    ls cat echo printf head tail wc sort uniq cut grep date pwd whoami hostname uname df du ps id
    which stat file true false caget cainfo camonitor pvget pvinfo nproc uptime free lscpu sleep
    rm mv cp mkdir touch chmod chown kill shutdown reboot dd curl wget sudo su git
""")

_WRITES = FindingKind(*control_system.WRITES[:2], "command-writes-control")


@dataclass(slots=True)
class Budget:
    """What may still be read, shared by all depths: each text takes up to some milliseconds."""

    texts: int = 25
    characters: int = 1 << 17

    def take(self, text: str) -> bool:
        """Use some of it for ``text``; return whether there was enough."""
        self.texts -= 1
        self.characters -= len(text)
        return self.texts >= 0 and self.characters >= 0


Inspect = Callable[[str, int, Budget], list[Finding]]


class Nested:
    """Reads texts in other languages, and in Python again, as long as there are not too many."""

    def __init__(self, inspect: Inspect, depth: int, budget: Budget) -> None:
        self._inspect = inspect
        self._depth = depth
        self._budget = budget

    def python(self, text: Text) -> list[Finding]:
        """Return what a text does when it is run as Python."""
        if not text.known:
            return [_doubt("code-while-running")]
        if self._depth >= MAX_DEPTH:
            return [_unread("too-nested", "code-within-code")]
        if not self._budget.take(text.value):
            return [_unread("too-large", "too-much-code")]
        return self._inspect(text.value, self._depth + 1, self._budget)

    def shell(self, text: Text) -> list[Finding]:
        """Return what a text does as the command of a shell."""
        command = text.value.strip()
        if not command.strip(HOLE):
            return [_doubt("command-while-running")]
        if not self._budget.take(text.value):
            return [_unread("too-large", "too-many-commands")]
        findings = inspect_script(command.replace(HOLE, _PLACEHOLDER), python=self._afresh)
        program = command.split(maxsplit=1)[0].rpartition("/")[2]
        if not CONTROL_SYSTEM.commands.isdisjoint(command.replace(HOLE, " ").split()):
            findings.append(_WRITES.finding(1, 1))
        if not text.known:
            findings.append(_doubt("part-of-command-while-running"))
        elif findings and program not in _KNOWN_PROGRAMS:  # without one, it only looks
            findings.append(_doubt("program-not-inspected"))
        return findings

    def sql(self, text: Text) -> list[Finding]:
        """Return what a text does as a statement of SQL."""
        if not text.value.strip(HOLE + " \n"):
            return [_doubt("sql-while-running")]
        if not self._budget.take(text.value):
            return [_unread("too-large", "too-much-sql")]
        findings = inspect_sql(text.value.replace(HOLE, "hole_"))
        if not text.known:
            findings = [
                finding for finding in findings if not finding.is_doubt
            ]  # a hole is not SQL
            findings.append(_doubt("part-of-sql-while-running"))
        return findings

    def _afresh(self, text: str) -> list[Finding]:
        return self._inspect(text, 0, Budget())


def _doubt(code: str) -> Finding:
    return doubt(UNFOLLOWED, code, Severity.MEDIUM).finding(1, 1)


def _unread(name: str, code: str) -> Finding:
    return doubt(name, code).finding(1, 1)
