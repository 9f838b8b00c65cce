"""``approval-dashboard check``: what keeps a server from starting or approving, and what to do."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser
from django.core.management.commands.check import Command as DjangoCheck

from dashboard.accounts.errors import AccountError
from dashboard.accounts.models import User
from dashboard.accounts.provider.metadata import metadata
from dashboard.approvals.queries.hold import active_hold
from dashboard.approvals.rules.readiness import obstacles
from dashboard.management.operator import absent_file
from dashboard.management.preflight import (
    folder_doubt,
    key_file_doubt,
    misspelled,
    wrong_settings,
)

_OF_DJANGO = ("args", "tags", "list_tags", "deploy", "databases")
"""Whoever gives one of these wants Django's own command."""


class Command(DjangoCheck):
    """Look at the settings, the database and the audit log, and change nothing."""

    help = __doc__ or ""

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the address that ``start`` would serve on, beside Django's own arguments."""
        super().add_arguments(parser)
        parser.add_argument("--host", default="127.0.0.1", help="address that start serves on")
        parser.add_argument("--insecure-http", action="store_true", help="as start has it")

    def handle(self, *app_labels: Any, **options: Any) -> None:
        """Say what is wrong and exit with status 1, or say that nothing is."""
        # Without a list, Django from 6.1 on would connect to the database, and so make one.
        databases = options.get("databases") or []
        if app_labels or any(options.get(name) for name in _OF_DJANGO):
            super().handle(*app_labels, **options | {"databases": databases})
            return
        self.check(databases=databases)
        for doubt in misspelled(os.environ):
            self.stderr.write(doubt)
        reasons = wrong_settings(options["host"], insecure_http=options["insecure_http"])
        reasons += filter(None, [folder_doubt(), _key_doubt()])
        is_new = absent_file() is not None
        for doubt in _doubts_of_signing_in(is_new=is_new):
            self.stderr.write(doubt)
        if not is_new:
            reasons += obstacles()
        if reasons:
            raise CommandError("\n".join(reasons))
        if is_new:
            self.stdout.write("The settings are right. There is no database yet: start makes it.")
        elif active_hold():
            self.stdout.write("A server would start. An admin has put everything on hold.")
        else:
            self.stdout.write("A server would start and may approve.")


def _doubts_of_signing_in(*, is_new: bool) -> Iterator[str]:
    if not settings.OIDC_ISSUER:
        return
    try:
        metadata()
    except AccountError as error:
        yield f"Nobody can sign in by single sign-on: {error}"
    name = settings.KEPT_ADMIN
    if not name and not settings.PASSWORD_SIGN_IN:
        yield (
            "PASSWORD_SIGN_IN is 0 and KEPT_ADMIN is not set: while the provider is down, people "
            "come in by sign-in links of this command line alone."
        )
    if name and not is_new and not _may_come_in(name):
        yield f"KEPT_ADMIN is {name!r}, and no active admin with a password is called so."


def _may_come_in(name: str) -> bool:
    admin = User.objects.filter(username__iexact=name, is_active=True, is_admin=True).first()
    return admin is not None and admin.has_usable_password()


def _key_doubt() -> str:
    return "" if settings.SECRET_KEY_IS_CONFIGURED else key_file_doubt(settings.MADE_KEY_FILE)
