"""``approval-dashboard createsuperuser``: add a person who administers and reviews."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.management.commands.createsuperuser import (
    Command as DjangoCreateSuperuser,
)
from django.core.management.base import CommandError

from dashboard.accounts.errors import NameTaken
from dashboard.management.operator import OperatorCommand


class Command(OperatorCommand, DjangoCreateSuperuser):
    """Ask for a name and a password, as Django does. The audit log says who was added."""

    help = __doc__

    def handle(self, *args: Any, **options: Any) -> None:
        """Add the person, or nobody."""
        try:
            super().handle(*args, **options)
        except NameTaken as error:
            raise CommandError(str(error)) from None
