"""``approval-dashboard accept_clock --as ADMIN``: go on by a clock that was set back."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from dashboard.approvals.services import accept_clock
from dashboard.management.operator import OperatorCommand, admin_named


class Command(OperatorCommand):
    """Accept the present time once. What had run out by the clock before stays over."""

    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take the name of the admin who accepts it."""
        parser.add_argument("--as", dest="admin", metavar="ADMIN", required=True)

    def handle(self, *_: Any, admin: str, **__: Any) -> None:
        """Accept it and say what can no longer be used."""
        person = admin_named(admin)
        self.so_far = "Some approvals may be taken back already. Run it again."
        voided = accept_clock(admin=person)
        if voided is None:
            self.stdout.write("The clock was not set back. Nothing was changed.")
            return
        self.stdout.write(
            "The present time is accepted, and approving goes on. Taken back: "
            f"{voided.approvals} approvals that were not started. Ended: {voided.grants} "
            f"remembered approvals, {voided.pending} requests that were overdue, {voided.tokens} "
            "tokens that were over."
        )
