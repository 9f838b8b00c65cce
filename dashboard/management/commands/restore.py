"""``approval-dashboard restore FILE --as ADMIN``: put a backup in the place of the database."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError
from django.db import DatabaseError, connection

from dashboard.approvals.models import Closing
from dashboard.audit.actions import Action
from dashboard.audit.heads import Head, NoHead, beside, keep_beside, kept_beside
from dashboard.audit.models import AuditEntry
from dashboard.audit.queries import head, lacks
from dashboard.management import serving_here
from dashboard.management.backup import head_of, manage, restored_aside, sessions, swap_in
from dashboard.management.operator import NEW_HEADS, OperatorCommand, has_other_heads
from dashboard.management.preflight import make_data_dir


class Command(OperatorCommand):
    """Prove a backup, void what could be used twice, and put it in the place of the database.

    Everything is on hold afterwards, until an admin has looked through what is as old as the
    backup. The database that was there is kept beside it.
    """

    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take the backup, the admin who answers for it, and a word for what is lost."""
        parser.add_argument("file", type=Path, help="what backup has made")
        parser.add_argument("--as", dest="admin", metavar="ADMIN", required=True)
        parser.add_argument(
            "--older", action="store_true", help="also if decisions are lost, as told without it"
        )

    def handle(self, *_: Any, file: Path, admin: str, older: bool, **__: Any) -> None:
        """Restore it, or change nothing."""
        make_data_dir()
        with serving_here.alone() as is_alone:
            if not is_alone:
                raise CommandError(
                    f"A server or a worker uses {settings.DATA_DIR}. Nothing was done. Stop it "
                    "first, and every other one that uses this database."
                )
            self._check_sessions()
            with restored_aside(file.absolute()) as url:
                manage(url, "migrate", "-v0")
                backed_up = head_of(url)
                if not older and (loss := what_is_lost(backed_up)):
                    raise CommandError(f"{loss} Nothing was done. To go on, add --older.")
                sentence = manage(
                    url, "accept_database", "--as", admin, "--restored", str(backed_up)
                )
                accepted = head_of(url)
                place = swap_in(url)
            keep_beside(accepted)
        sentences = [sentence.strip()]
        if place:
            sentences.append(f"What was there before is kept as {place}.")
        if has_other_heads(lambda kept_head: kept_head.seq > backed_up.seq):
            sentences.append(NEW_HEADS)
        self.stdout.write("\n".join(sentences))

    def _check_sessions(self) -> None:
        if connection.vendor != "postgresql":
            return
        try:
            count = sessions()
        except DatabaseError:  # it is gone, or cannot be used: that is why one restores
            return
        finally:
            connection.close()
        if count:
            raise CommandError(
                f"{count} sessions use the database. Nothing was done. Stop every server and "
                "worker first, and whatever else is connected to it."
            )


def what_is_lost(backed_up: Head) -> str:
    """Say what the database in use has, and the backup has not; empty if nothing."""
    try:
        present = head()
        if present is None:
            return _by_kept_head(backed_up)
        if present.seq == backed_up.seq and present.hash == backed_up.hash:
            return ""
        if lacks(backed_up):
            return (
                "The log of the database does not have the end of the backup's log: they are "
                "of two dashboards, or one was rewritten."
            )
        since = AuditEntry.objects.filter(seq__gt=backed_up.seq)
        since = since.exclude(action=Action.BACKUP_MADE)
        if not since.exists():
            return ""
        decisions = Closing.objects.filter(seq__gt=backed_up.seq).count()
        starts = since.filter(action=Action.OUTCOME_STARTED).count()
        return (
            "The backup is older than the database. With what was recorded since, "
            f"{_counted(since.count(), 'entry', 'entries')} of the log, this would be lost: "
            f"{_counted(decisions, 'decision', 'decisions')}, and that "
            f"{_counted(starts, 'approval was', 'approvals were')} used."
        )
    except DatabaseError:
        return _by_kept_head(backed_up)
    finally:
        connection.close()


def _counted(count: int, one: str, many: str) -> str:
    return f"{count:,} {one if count == 1 else many}"


def _by_kept_head(backed_up: Head) -> str:
    """Say the same by the head in the data folder, where the database cannot be read."""
    try:
        kept_head = kept_beside()
    except (OSError, NoHead) as error:
        return f"Nobody can tell what would be lost: {error}"
    if kept_head == backed_up:
        return ""
    if kept_head is None:
        return (
            f"There is no log of the database to be read, and {beside()} has no head of it, so "
            "nobody can tell how many decisions would be lost."
        )
    return (
        f"There is no log of the database to be read. It had {kept_head.seq:,} entries and the "
        f"backup has {backed_up.seq:,}: what was decided between them would be lost."
    )
