"""``approval-dashboard accept_database --as ADMIN``: go on with an older or another database."""

from __future__ import annotations

from argparse import SUPPRESS, ArgumentParser
from collections.abc import Sequence
from typing import Any

from django.core.management.base import CommandError

from dashboard.approvals.services import accept_database
from dashboard.audit.heads import Head, NoHead, kept_beside
from dashboard.audit.queries import head, lacks
from dashboard.management.operator import (
    NEW_HEADS,
    OperatorCommand,
    admin_named,
    has_other_heads,
    keep_head,
)


class Command(OperatorCommand):
    """Accept a database whose log lacks what was kept of it. Everything is put on hold."""

    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take the name of the admin who accepts it."""
        parser.add_argument("--as", dest="admin", metavar="ADMIN", required=True)
        # What restore calls: the head of the backup, and then the last ones that are known.
        parser.add_argument("--restored", metavar="SEQ:HASH", nargs="+", help=SUPPRESS)

    def handle(self, *_: Any, admin: str, restored: Sequence[str] = (), **__: Any) -> None:
        """Accept it and say what can no longer be used."""
        if restored:
            backed_up, *heads = map(_head, restored)
            self._accept(max(filter(lacks, heads), default=None), admin, backed_up)
            return
        try:
            kept_head = kept_beside()
        except (OSError, NoHead) as error:
            raise CommandError(f"Nothing was done. {error}") from None
        if kept_head is None or not lacks(kept_head):
            self.stdout.write("The database has all that was kept of it. Nothing was changed.")
            return
        self._accept(kept_head, admin)
        if present := head():
            keep_head(Head(present.seq, present.hash), "The database is accepted.", admin)
        if has_other_heads(lacks):
            self.stdout.write(NEW_HEADS)

    def _accept(self, kept_head: Head | None, admin: str, backed_up: Head | None = None) -> None:
        person = admin_named(admin)
        self.so_far = "Everything may be on hold already. Run it again."
        voided = accept_database(kept_head, admin=person, restored=backed_up)
        self.stdout.write(
            "The database is accepted, and everything is on hold until an admin lifts it. "
            f"Taken back: {voided.approvals} approvals that were not started. Ended: "
            f"{voided.grants} remembered approvals, {voided.pending} requests. Everybody is "
            "signed out; the command sign_in_link makes a link for who has no password. Look "
            "through agents, tokens, people and the policy before the hold is lifted: they are as "
            "old as the database."
        )


def _head(text: str) -> Head:
    head = Head.parse(text)
    if head is None:
        raise CommandError(f"Nothing was done. This is not a head of the log: {text}")
    return head
