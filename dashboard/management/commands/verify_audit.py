"""``approval-dashboard verify_audit``: prove the audit log, and the tables by it."""

from __future__ import annotations

import time
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from django.db import DatabaseError

from dashboard.approvals.rules.proof import rows_to_compare
from dashboard.approvals.services import compare
from dashboard.audit import queries
from dashboard.audit.chain import Walk
from dashboard.audit.heads import (
    Head,
    Heads,
    add_head,
    heads_file,
    kept_heads,
    last_of,
    read_heads,
)
from dashboard.audit.services import (
    OPERATOR,
    failed_with,
    keep_verification,
    verify,
    verify_part,
)
from dashboard.management.operator import OperatorCommand

_SAY_EVERY_S = 2.0
_MOST_NAMED = 20


class Command(OperatorCommand):
    """Walk the audit log and compare the tables with it; print the head of the log.

    If something is wrong, name it and exit with status 1. Keep the printed head elsewhere:
    ``--expect SEQ:HASH`` then finds a log that was rewritten together with the tables, which
    nothing else can.
    """

    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take heads that were kept."""
        parser.add_argument("--expect", metavar="SEQ:HASH", help="a head printed earlier")
        parser.add_argument("--heads", metavar="FILE", help="a file of heads that start kept")

    def handle(self, *_: Any, expect: str | None, heads: str | None = None, **__: Any) -> None:
        """Verify, keep what was found for every page to show, and print the head."""
        expected = _kept(heads)
        pinned = _parse(expect) if expect else failed_with()
        if pinned:
            add_head(expected, *pinned)
        walk, self._said_at = Walk(), time.monotonic()
        if broken := self._walk(walk, expected):
            problems = [broken]
            title = f"The audit log is broken: {broken}."
        else:
            problems = self._compare()
            title = "\n".join(
                f"The tables and the audit log disagree: {problem}." for problem in problems
            )
        if not problems and (late_break := verify(walk, expected)):  # what was written meanwhile
            problems = [late_break.reason]
            title = f"The audit log is broken: {late_break.reason}."
        with_head = pinned or last_of(expected)
        self._keep(walk, problems[0] if problems else "", with_head)
        if problems:
            raise CommandError(title)
        self.stdout.write(f"The audit log is whole. Head: {walk.seq}:{walk.hash}")

    def _walk(self, walk: Walk, expected: Heads) -> str:
        head = queries.head()
        last_seq, previous_seq = head.seq if head else 0, -1
        while walk.seq != previous_seq and walk.seq < last_seq:
            previous_seq = walk.seq
            if problem := verify_part(walk, expected):
                return problem.reason
            self._say(f"Walked {walk.seq:,} of {last_seq:,} entries.")
        problem = verify(walk, expected)
        return problem.reason if problem else ""

    def _compare(self) -> list[str]:
        rows, compared, problems = rows_to_compare(), 0, list[str]()
        for count, differences in compare():
            compared += count
            problems += [difference.said for difference in differences]
            self._say(f"Compared {compared:,} of {max(rows, compared):,} rows with the log.")
            if len(problems) >= _MOST_NAMED:
                return [*problems[:_MOST_NAMED], "and perhaps more: this stopped here"]
        return problems

    def _say(self, progress: str) -> None:
        """Tell whoever waits how far it is; the answer alone goes to stdout."""
        if time.monotonic() - self._said_at >= _SAY_EVERY_S:
            self._said_at = time.monotonic()
            self.stderr.write(progress)
            self.stderr.flush()

    def _keep(self, walk: Walk, problem: str, expect: tuple[int, str] | None) -> None:
        try:
            keep_verification(OPERATOR, walk, problem, expect=expect)
        except DatabaseError as error:  # a copy that nothing can be written to
            self.stderr.write(f"What was found could not be kept for the pages: {error}")


def _kept(heads: str | None) -> Heads:
    path = Path(heads) if heads else heads_file()
    try:
        return read_heads(Path(heads)) if heads else kept_heads()
    except (OSError, ValueError) as error:
        raise CommandError(
            f"Nothing was verified. The heads in {path} cannot be read: {error}"
        ) from None


def _parse(expect: str) -> Head:
    head = Head.parse(expect)
    if head is None or " " in expect:
        raise CommandError(
            "Nothing was verified. Give --expect as SEQ:HASH, the way this command printed it."
        )
    return head
