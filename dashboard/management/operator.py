"""What the operator's commands have in common."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError


class OperatorCommand(BaseCommand):
    """Says in a sentence what is wrong with the database, and exits with status 1."""

    def execute(self, *args: Any, **options: Any) -> str | None:
        """Run the command."""
        try:
            return super().execute(*args, **options)
        except DatabaseError as error:
            raise CommandError(
                f"Nothing was done. {cannot_be_used(error)} Check DATABASE_URL, and run "
                f"`{settings.OPERATOR_COMMAND} start` or `{settings.OPERATOR_COMMAND} migrate` "
                "once."
            ) from None


def cannot_be_used(error: DatabaseError) -> str:
    """Return the sentence that says so, with the first line of what the database said."""
    first_line = str(error).strip().partition("\n")[0].rstrip(".") or type(error).__name__
    return f"The database cannot be used: {first_line}."
