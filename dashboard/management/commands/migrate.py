"""``approval-dashboard migrate``: bring the database up to date."""

from __future__ import annotations

import sys
from typing import Any

from django.conf import settings
from django.core.management.commands.migrate import Command as DjangoMigrate
from django.db import OperationalError

from dashboard.approvals import guards
from dashboard.management.operator import cannot_be_used
from dashboard.management.preflight import CannotStart, make_data_dir


class Command(DjangoMigrate):
    """Migrate as Django does. Where it fails, the guards are on as before."""

    def run_from_argv(self, argv: list[str]) -> None:
        """Make the data folder if need be, and say in a sentence when the database is away."""
        try:
            make_data_dir()
            super().run_from_argv(argv)
        except CannotStart as error:
            sys.exit(f"{error}")
        except OperationalError as error:
            sys.exit(
                f"The migration did not end. {cannot_be_used(error)} Check DATABASE_URL, and run "
                f"`{settings.OPERATOR_COMMAND} migrate` again: it goes on where it ended."
            )

    def handle(self, *args: Any, **options: Any) -> None:
        """Migrate."""
        try:
            super().handle(*args, **options)
        except BaseException:
            guards.put_back()
            raise
