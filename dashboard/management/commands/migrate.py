"""``approval-dashboard migrate``: bring the database up to date."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError
from django.core.management.commands.migrate import Command as DjangoMigrate
from django.db import DatabaseError, connection
from django.db.migrations.exceptions import MigrationSchemaMissing

from dashboard.approvals import guards
from dashboard.management.operator import cannot_be_used
from dashboard.management.preflight import CannotStart, make_data_dir


class Command(DjangoMigrate):
    """Migrate as Django does. Where it fails, the guards are on as before."""

    def execute(self, *args: Any, **options: Any) -> str | None:
        """Make the folder of an SQLite file if need be, and say in a sentence what is away.

        What fails once the database answers is a migration's own fault, and not hidden.
        """
        try:
            if Path(connection.settings_dict["NAME"]).parent == settings.DATA_DIR:
                make_data_dir("Nothing was migrated.")
            connection.ensure_connection()
        except CannotStart as error:
            raise CommandError(str(error)) from None
        except DatabaseError as error:
            raise CommandError(
                f"Nothing was migrated. {cannot_be_used(error)} Check DATABASE_URL, and run "
                f"`{settings.OPERATOR_COMMAND} migrate` again."
            ) from None
        try:
            return super().execute(*args, **options)
        except MigrationSchemaMissing as error:
            raise CommandError(
                f"Nothing was migrated. {error}. Let the role of DATABASE_URL make tables there."
            ) from None

    def handle(self, *args: Any, **options: Any) -> None:
        """Migrate."""
        try:
            super().handle(*args, **options)
        except BaseException:
            guards.put_back()
            raise
