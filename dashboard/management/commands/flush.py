"""``flush`` for test databases only: a real one is never emptied."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from django.core.management.commands.flush import Command as DjangoFlush
from django.db import connections
from django.test.utils import _TestState

from dashboard.approvals import guards


class Command(DjangoFlush):
    """Empty a test database: take the guards off, flush, put them on again."""

    def handle(self, **options: Any) -> None:
        """Refuse any database but a test's."""
        if not _is_a_tests(connections[options["database"]].settings_dict):
            raise CommandError(
                "This would delete every request and decision, so nothing was done. Only a test "
                "database can be emptied."
            )
        guards.remove()
        try:
            super().handle(**options)
        finally:
            guards.install()


def _is_a_tests(database: dict[str, Any]) -> bool:
    name = Path(database["NAME"]).name
    under_test = hasattr(_TestState, "saved_data")  # what setup_test_environment() leaves
    return under_test and (
        name.startswith("test_") or database["NAME"] == database["TEST"]["NAME"]
    )
