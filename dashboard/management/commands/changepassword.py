"""``approval-dashboard changepassword USER``: give somebody another password."""

from __future__ import annotations

from getpass import getpass
from typing import Any

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.management.base import CommandError, CommandParser

from dashboard.accounts.models import User
from dashboard.accounts.services.people import set_password
from dashboard.audit.services import OPERATOR
from dashboard.management.operator import OperatorCommand


class Command(OperatorCommand):
    """Ask for a person's new password. Their sessions and links end, and the audit log says so."""

    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the person's name."""
        parser.add_argument("username", help="whose password it is")

    def handle(self, *_: Any, username: str, **__: Any) -> None:
        """Change it, or nothing."""
        person = User.objects.filter(username__iexact=username).first()
        if person is None:
            raise CommandError(f"Nobody is called {username!r}. Nothing was done.")
        try:
            password = getpass("New password: ")
            is_sure = password == getpass("The same again: ")
            password.encode()
        except UnicodeEncodeError:
            raise CommandError("The password is not UTF-8. Nothing was done.") from None
        except (EOFError, KeyboardInterrupt):
            raise CommandError("No password was typed. Nothing was done.") from None
        if not is_sure:
            raise CommandError("These are two passwords. Nothing was done.")
        try:
            validate_password(password, person)
        except ValidationError as error:
            raise CommandError(f"Nothing was done. {' '.join(error.messages)}") from None
        set_password(person, password=password, by=OPERATOR)
        self.stdout.write(f"{username} has a new password, and is signed out everywhere.")
