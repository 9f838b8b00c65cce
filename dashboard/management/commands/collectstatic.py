"""``approval-dashboard collectstatic``: collect the pages' files, as ``start`` does too."""

from __future__ import annotations

from pathlib import Path

from django.conf import settings
from django.contrib.staticfiles.management.commands.collectstatic import Command as DjangoCollect

from dashboard.owner import give_all_to_owner


class Command(DjangoCollect):
    """Collect as Django does. The files belong to whoever owns the data folder."""

    def collect(self) -> dict[str, list[str]]:
        """Collect them."""
        try:
            return super().collect()
        finally:
            if Path(settings.STATIC_ROOT).is_dir():
                give_all_to_owner(Path(settings.STATIC_ROOT))
