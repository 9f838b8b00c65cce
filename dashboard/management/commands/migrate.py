"""``approval-dashboard migrate``: bring the database up to date."""

from __future__ import annotations

from typing import Any

from django.core.management.commands.migrate import Command as DjangoMigrate

from dashboard.approvals import guards


class Command(DjangoMigrate):
    """Migrate as Django does. Where it fails, the guards are on as before."""

    def handle(self, *args: Any, **options: Any) -> None:
        """Migrate."""
        try:
            super().handle(*args, **options)
        except BaseException:
            guards.put_back()
            raise
