"""``approval-dashboard backup FILE``: copy the database beside traffic, and prove the copy."""

from __future__ import annotations

from argparse import ArgumentParser
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from django.db import transaction

from dashboard.audit.actions import Action
from dashboard.audit.queries import BACKUP
from dashboard.audit.services import OPERATOR, AuditEvent, record
from dashboard.management.backup import (
    copy_beside,
    head_beside,
    head_of,
    keep,
    may_make_databases,
    restored_aside,
)
from dashboard.management.operator import OperatorCommand


class Command(OperatorCommand):
    """Copy the database as it is at one moment, prove the copy by its log, and print its head.

    Servers may run meanwhile. The secret key is not in the copy: keep it elsewhere.
    """

    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take the file to make."""
        parser.add_argument("file", type=Path, help="the file to make; it must not exist")

    def handle(self, *_: Any, file: Path, **__: Any) -> None:
        """Make it, or leave no file of that name."""
        file = file.absolute()
        part = copy_beside(file)
        if not may_make_databases():
            keep(part, file)
            self.stderr.write(
                f"{file} was made, and was not verified: this role may not make a database to "
                "restore it in. Restore it elsewhere and run verify_audit there."
            )
            return
        try:
            with restored_aside(part) as url:
                head = head_of(url)
        except CommandError:
            part.rename(file.with_name(f"{file.name}.wrong"))
            raise
        keep(part, file)
        self.so_far = f"{file} was made and verified. The audit log does not say so."
        moment = datetime.now(UTC).isoformat(timespec="seconds")
        beside = head_beside(file)
        try:
            beside.write_text(f"{moment} {head}\n", encoding="ascii")
        except OSError as error:
            raise CommandError(f"{self.so_far} {beside} cannot be written: {error}") from None
        with transaction.atomic():
            details = {"head": str(head)}
            record(OPERATOR, AuditEvent(Action.BACKUP_MADE, subject=BACKUP, details=details))
        self.stdout.write(
            f"{file} was made and verified. Head: {head} (also in {beside.name}). The secret key "
            "is not in it."
        )
