"""``approval-dashboard verify_audit``: prove that the audit log is whole."""

from __future__ import annotations

import re
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from dashboard.audit.chain import Walk
from dashboard.audit.services import verify
from dashboard.management.operator import OperatorCommand

_HEAD = re.compile(r"[0-9]{1,18}:[0-9a-f]{64}")


class Command(OperatorCommand):
    """Walk the audit log; name the first break and exit with status 1, or print its head.

    Keep the printed head elsewhere: ``--expect SEQ:HASH`` then finds a log whose end was cut off
    and rewritten, which the chain alone cannot.
    """

    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take a head that was printed before."""
        parser.add_argument("--expect", metavar="SEQ:HASH", help="a head printed earlier")

    def handle(self, *_: Any, expect: str | None, **__: Any) -> None:
        """Verify, and print the head."""
        walk = Walk()
        seq, hash_ = _parse(expect) if expect else (0, walk.hash)
        if found := verify(walk, expect={seq: hash_}):
            raise CommandError(f"The audit log is broken: {found.reason}.")
        self.stdout.write(f"The audit log is whole. Head: {walk.seq}:{walk.hash}")


def _parse(expect: str) -> tuple[int, str]:
    if not _HEAD.fullmatch(expect):
        raise CommandError(
            "Nothing was verified. Give --expect as SEQ:HASH, the way this command printed it."
        )
    seq, _, hash_ = expect.partition(":")
    return int(seq), hash_
