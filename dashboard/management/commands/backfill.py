"""``approval-dashboard backfill``: make what an older version did not keep of its requests."""

from __future__ import annotations

import time
from typing import Any

from dashboard.approvals.services import Backfill, left_to_backfill
from dashboard.management.operator import OperatorCommand

_SAY_EVERY_S = 2.0


class Command(OperatorCommand):
    """Make what an older version did not keep: headlines of requests, grounds of judgements.

    A server does this by itself in the background. Use this to be done sooner. It may run beside
    servers, be stopped at any time and be started again. What is pending comes first.
    """

    help = __doc__

    def handle(self, *_: Any, **__: Any) -> None:
        """Make them all, and say how far it came."""
        total = left_to_backfill()
        if not total:
            self.stdout.write("Nothing is missing. There is nothing to do.")
            return
        self.so_far = "It stopped before the end. Run it again: what was made stays."
        backfill, said_at = Backfill(), time.monotonic()
        while not backfill.is_over:
            backfill.step()
            if time.monotonic() - said_at > _SAY_EVERY_S:
                self.stdout.write(f"{backfill.made:,} of {total:,} rows are made.")
                said_at = time.monotonic()
        self.stdout.write(f"Done. {backfill.made:,} rows were made.")
