"""``approval-dashboard sign_in_link USER``: a way in for somebody who has none."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from dashboard.accounts.models import User
from dashboard.accounts.services.factors import remove_all
from dashboard.accounts.services.signing_in import make_link
from dashboard.audit.services import OPERATOR
from dashboard.management.operator import OperatorCommand
from dashboard.management.prepare import sign_in_url


class Command(OperatorCommand):
    """Print a link that signs one person in, once, within the hour."""

    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take the person's name."""
        parser.add_argument("username", help="who the link signs in")
        parser.add_argument(
            "--remove-second-factor",
            action="store_true",
            help="remove their app, recovery codes and passkeys, where they lost all of them",
        )

    def handle(
        self, *_: Any, username: str, remove_second_factor: bool = False, **__: Any
    ) -> None:
        """Print the link alone on stdout."""
        active = User.objects.filter(is_active=True)
        person = active.filter(username=username).first()
        if person is None:
            names = ", ".join(active.values_list("username", flat=True)) or "nobody"
            raise CommandError(
                f"No active person is called {username!r}. No link was made. Active: {names}."
            )
        if remove_second_factor and remove_all(person, remover=None, by=OPERATOR):
            self.stderr.write(f"The second factor of {person} is removed.")
            self.so_far = "No link was made."
        self.stdout.write(sign_in_url(make_link(person, by=OPERATOR)))
