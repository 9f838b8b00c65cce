"""What the operator's commands have in common."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError, connection

from dashboard.accounts.models import User
from dashboard.accounts.queries import admins
from dashboard.audit.heads import Head, keep_beside, kept_heads

NEW_HEADS = (
    "The file of AUDIT_HEADS has heads of what was given up, and every verification would miss "
    "them. Before you start a server, set AUDIT_HEADS to a new file. Keep the old one: it is the "
    "proof of what was there."
)


class OperatorCommand(BaseCommand):
    """Says in a sentence what is wrong with the database, and exits with status 1."""

    # Django's are about our code, which the tests have checked; settings are checked on loading.
    requires_system_checks: list[str] = []

    needs_database = True
    """Whether there must be one already."""

    so_far = "Nothing was done."
    """What to say was done if the database fails now. Set it before a step is committed."""

    def execute(self, *args: Any, **options: Any) -> str | None:
        """Run the command."""
        if self.needs_database and (absent := absent_file()):
            raise CommandError(
                f"Nothing was done. There is no database {absent}. Set DASHBOARD_DATA_DIR or "
                f"DATABASE_URL as for the server, or run `{settings.OPERATOR_COMMAND} start` or "
                f"`{settings.OPERATOR_COMMAND} migrate` once."
            )
        try:
            return super().execute(*args, **options)
        except DatabaseError as error:
            raise CommandError(
                f"{self.so_far} {cannot_be_used(error)} Check DATABASE_URL, and run "
                f"`{settings.OPERATOR_COMMAND} start` or `{settings.OPERATOR_COMMAND} migrate` "
                "once."
            ) from None


def absent_file() -> Path | None:
    """The file of SQLite that is not there. Whoever connects to it makes an empty one."""
    file = Path(connection.settings_dict["NAME"])
    if connection.vendor != "sqlite":
        return None
    try:
        file.stat()
    except (FileNotFoundError, NotADirectoryError):
        return file
    except OSError:  # connecting says what is wrong
        pass
    return None


def has_other_heads(is_other: Callable[[Head], bool]) -> bool:
    """Whether the file of AUDIT_HEADS has heads of another database, or cannot be read."""
    try:
        return any(
            is_other(Head(seq, hash_)) for seq, hashes in kept_heads().items() for hash_ in hashes
        )
    except (OSError, ValueError):
        return True


def keep_head(head: Head, so_far: str, admin: str) -> None:
    """Keep the head of a database that was accepted in the data folder.

    Args:
        head: What is kept.
        so_far: What was done before, in full sentences.
        admin: The name of the admin who accepted it.

    Raises:
        CommandError: It cannot be written there, so the one of before would be missed.
    """
    try:
        keep_beside(head)
    except OSError as error:
        raise CommandError(
            f"{so_far} But the end of its log could not be kept in {settings.DATA_DIR} "
            f"({error.strerror}), and nothing is approved without. Make room there or make it "
            f"writable, and run `{settings.OPERATOR_COMMAND} accept_database --as {admin}`."
        ) from None


def admin_named(name: str) -> User:
    """Return the admin of that name, who answers for what the command does.

    Raises:
        CommandError: No active admin has it.
    """
    person = admins().filter(username=name).first()
    if person is None:
        names = ", ".join(admins().values_list("username", flat=True)) or "nobody"
        raise CommandError(
            f"No active admin is called {name!r}. Nothing was done. Admins: {names}."
        )
    return person


def cannot_be_used(error: DatabaseError) -> str:
    """Return the sentence that says so, with the first line of what the database said."""
    first_line = str(error).strip().partition("\n")[0].rstrip(".") or type(error).__name__
    return f"The database cannot be used: {first_line}."
