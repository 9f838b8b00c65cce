"""``approval-dashboard restore FILE --as ADMIN``: put a backup in the place of the database."""

from __future__ import annotations

from argparse import ArgumentParser
from contextlib import suppress
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError
from django.db import DatabaseError, connection

from dashboard.approvals.models import Closing
from dashboard.audit.actions import Action
from dashboard.audit.heads import Head, NoHead, beside, kept_beside
from dashboard.audit.models import AuditEntry
from dashboard.audit.queries import head, lacks
from dashboard.management import serving_here
from dashboard.management.backup import (
    has_entry,
    head_of,
    manage,
    restored_aside,
    sessions,
    swap_in,
)
from dashboard.management.operator import (
    NEW_HEADS,
    OperatorCommand,
    has_other_heads,
    keep_head,
)
from dashboard.management.preflight import make_data_dir


class Command(OperatorCommand):
    """Prove a backup, void what could be used twice, and put it in the place of the database.

    Everything is on hold afterwards, until an admin has looked through what is as old as the
    backup. The database that was there is kept beside it.
    """

    help = __doc__
    needs_database = False  # that it is gone may be why one restores

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
                if not older and (loss := what_is_lost(backed_up, url)):
                    raise CommandError(f"{loss} Nothing was done. To go on, add --older.")
                heads = [backed_up, *_last_heads()]
                command = ("accept_database", "--as", admin, "--restored", *map(str, heads))
                sentence = manage(url, *command)
                accepted = head_of(url)
                place = swap_in(url)
            sentences = [sentence.strip()]
            if place:
                sentences.append(f"What was there before is kept as {place}.")
            keep_head(accepted, " ".join(sentences), admin)
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


def _last_heads() -> list[Head]:
    """The last heads that are known: of the database in use, and in the data folder."""
    heads: list[Head] = []
    with suppress(DatabaseError):
        if present := head():
            heads.append(Head(present.seq, present.hash))
    connection.close()
    with suppress(OSError, NoHead):
        if kept_head := kept_beside():
            heads.append(kept_head)
    return heads


def what_is_lost(backed_up: Head, url: str) -> str:
    """Say what the database in use or before it had, and the backup at ``url`` has not.

    Empty if nothing.
    """
    try:
        present, kept_head = head(), kept_beside()
        is_the_last = present is not None and not (kept_head and lacks(kept_head))
        loss = "" if is_the_last else _by_kept_head(backed_up, url)
        return loss or (_since(backed_up, Head(present.seq, present.hash), url) if present else "")
    except DatabaseError:
        return _by_kept_head(backed_up, url)
    except (OSError, NoHead) as error:
        return _nobody_can_tell(error)
    finally:
        connection.close()


def _since(backed_up: Head, present: Head, url: str) -> str:
    """Say what the log of the database in use has after the end of the backup's log."""
    if lacks(backed_up):
        if present.seq < backed_up.seq and has_entry(url, present):
            return ""
        return (
            "The log of the database does not have the end of the backup's log: they are of two "
            "dashboards, or one was rewritten."
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


def _counted(count: int, one: str, many: str) -> str:
    return f"{count:,} {one if count == 1 else many}"


def _by_kept_head(backed_up: Head, url: str) -> str:
    """Say the same by the head in the data folder, where the database is gone or older."""
    try:
        kept_head = kept_beside()
    except (OSError, NoHead) as error:
        return _nobody_can_tell(error)
    if kept_head is None:
        return (
            f"There is no log of the database to be read, and {beside()} has no head of it, so "
            "nobody can tell how many decisions would be lost."
        )
    if kept_head.seq > backed_up.seq:
        return (
            f"The log of the database that was used last is not there to be read. It had "
            f"{kept_head.seq:,} entries and the backup has {backed_up.seq:,}: what was decided "
            "between them would be lost."
        )
    if not has_entry(url, kept_head):
        return (
            f"The backup does not have the entry of the log that {beside()} names: they are of "
            "two dashboards, or one was rewritten."
        )
    return ""


def _nobody_can_tell(error: Exception) -> str:
    return f"Nobody can tell what would be lost: {error}"
