"""What the operator's commands have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError

from dashboard.accounts.models import User
from dashboard.accounts.queries import admins
from dashboard.audit.heads import Head, kept_heads

NEW_HEADS = (
    "The file of AUDIT_HEADS has heads of what was given up, and every verification would miss "
    "them. Before you start a server, set AUDIT_HEADS to a new file. Keep the old one: it is the "
    "proof of what was there."
)


class OperatorCommand(BaseCommand):
    """Says in a sentence what is wrong with the database, and exits with status 1."""

    # Django's are about our code, which the tests have checked; settings are checked on loading.
    requires_system_checks: list[str] = []

    so_far = "Nothing was done."
    """What to say was done if the database fails now. Set it before a step is committed."""

    def execute(self, *args: Any, **options: Any) -> str | None:
        """Run the command."""
        try:
            return super().execute(*args, **options)
        except DatabaseError as error:
            raise CommandError(
                f"{self.so_far} {cannot_be_used(error)} Check DATABASE_URL, and run "
                f"`{settings.OPERATOR_COMMAND} start` or `{settings.OPERATOR_COMMAND} migrate` "
                "once."
            ) from None


def has_other_heads(is_other: Callable[[Head], bool]) -> bool:
    """Whether the file of AUDIT_HEADS has heads of another database, or cannot be read."""
    try:
        return any(
            is_other(Head(seq, hash_)) for seq, hashes in kept_heads().items() for hash_ in hashes
        )
    except (OSError, ValueError):
        return True


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
