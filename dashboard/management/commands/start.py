"""``approval-dashboard start``: from nothing to a served dashboard."""

from __future__ import annotations

import os
from argparse import ArgumentParser
from contextlib import AbstractContextManager, ExitStack, nullcontext
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError
from django.utils.module_loading import import_string

from dashboard.accounts.errors import AccountError
from dashboard.management import prepare
from dashboard.management.demonstrating import demo_agent, demo_channel, issue_demo_token
from dashboard.management.files import Fits, few_fit, make_room
from dashboard.management.listening import address, adopt, listen
from dashboard.management.operator import cannot_be_used
from dashboard.management.preflight import (
    CannotStart,
    check_settings,
    is_loopback,
    misspelled,
)
from dashboard.management.serving_here import in_use

if TYPE_CHECKING:
    from dashboard.management.serving import DrainingServer

INTERRUPTED = 130  # what shells report for Ctrl-C


class Command(BaseCommand):
    """Prepare everything on the first run, say where it is, and serve until stopped."""

    help = __doc__
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take the address to serve on."""
        parser.add_argument("--host", default="127.0.0.1", help="address to serve on")
        parser.add_argument("--port", type=int, default=8000, help="port to serve on")
        parser.add_argument("--fd", type=int, help="serve on this open socket instead")
        parser.add_argument("--demo", action="store_true", help="also run an agent that asks")
        parser.add_argument(
            "--unattended",
            action="store_true",
            help="print no sign-in link and no token, for they would stay in a service's log",
        )
        parser.add_argument(
            "--insecure-http",
            action="store_true",
            help="serve plain http to other machines, where anybody on the way can read along",
        )

    def handle(self, *_: Any, **options: Any) -> None:
        """Check, prepare, say, serve."""
        try:
            self._run(**options)
        except KeyboardInterrupt:  # while serving, Ctrl-C drains and ends in the ordinary way
            stopped = "Stopped before anything was served. Start again to go on."
            raise CommandError(stopped, returncode=INTERRUPTED) from None

    def _run(self, **options: Any) -> None:
        with ExitStack() as ends:
            try:
                fits = make_room(settings.WAITS_PER_PROCESS)
                fileno, company = self._get_ready(ends, **options)
            except (CannotStart, AccountError, DatabaseError, OSError) as error:
                raise CommandError(_why_not(error)) from None
            ends.enter_context(company)
            server = self._serve(fileno, fits, is_shared=options["fd"] is not None)
        if server.gave_up:
            server.leave_now()

    def _get_ready(
        self,
        ends: ExitStack,
        *,
        host: str,
        port: int,
        fd: int | None,
        insecure_http: bool,
        demo: bool,
        unattended: bool,
        **_: Any,
    ) -> tuple[int, AbstractContextManager[None]]:
        for doubt in misspelled(os.environ):
            self.stderr.write(doubt)
        with listen(host, port) if fd is None else adopt(fd) as listener:
            opened, port = address(listener)
            host = host if fd is None else opened
            check_settings(host=host, insecure_http=insecure_http)
            if not settings.PUBLIC_URL_IS_CONFIGURED:
                self._name_address(host, port)
            # Before the database is opened, or a restore could swap it.
            ends.enter_context(in_use())
            with prepare.alone():
                self._prepare()
                self._introduce(unattended=unattended)
                company = self._company(insecure_http=insecure_http) if demo else nullcontext()
            return listener.detach(), company

    def _name_address(self, host: str, port: int) -> None:
        name = f"[{host}]" if ":" in host else host
        settings.PUBLIC_URL = f"http://{name}:{port}"
        if not is_loopback(host):
            settings.ALLOWED_HOSTS.append(name)

    def _prepare(self) -> None:
        for step in prepare.prepare():
            self._say(f"  preparing the {step} …")
        prepare.remember_address()
        self._say(f"\nThe dashboard is at {settings.PUBLIC_URL}")

    def _introduce(self, *, unattended: bool) -> None:
        if unattended:
            prepare.first_person()
        link = None if unattended else prepare.first_link()
        if link:
            self._say(f"Sign in for the first time (works once, within the hour):\n  {link}")
        else:
            self._say(
                "Sign in there with your name and password, or with a link, which works once:\n"
                f"  {settings.OPERATOR_COMMAND} sign_in_link {prepare.who_signs_in()}"
            )
        if token := None if unattended else prepare.first_token():
            self._say(
                "For an agent, shown this once:\n"
                f"  export DASHBOARD_URL={settings.PUBLIC_URL}\n  export DASHBOARD_TOKEN={token}"
            )
        else:
            self._say(
                "For a token for an agent:\n"
                f"  {settings.OPERATOR_COMMAND} issue_token {prepare.FIRST_AGENT}"
            )

    def _company(self, *, insecure_http: bool) -> AbstractContextManager[None]:
        token, secret = issue_demo_token()
        self._say("A demo agent asks for things; answer them in the browser.")
        if folder := demo_channel():
            self._say(f"What people would be told by mail is written to files in {folder}")
        return demo_agent(token, secret, insecure_http=insecure_http)

    def _serve(self, fileno: int, fits: Fits, *, is_shared: bool) -> DrainingServer:
        # Twisted chooses its event loop when it is first imported, so not before it is needed.
        from dashboard.management.background import (  # noqa: PLC0415
            EVERYTHING,
            load_the_inspectors,
        )
        from dashboard.management.serving import DrainingServer  # noqa: PLC0415

        if fits.waits < settings.WAITS_PER_PROCESS:
            self._say(few_fit(fits, settings.WAITS_PER_PROCESS))
            settings.WAITS_PER_PROCESS = fits.waits
        self._say("Stop it with Ctrl-C.\n")
        application = import_string(settings.ASGI_APPLICATION)
        work = (load_the_inspectors, *EVERYTHING)
        server = DrainingServer(
            application,
            fileno=fileno,
            is_shared=is_shared,
            connections=fits.connections,
            background=work,
        )
        server.run()
        return server

    def _say(self, text: str) -> None:
        self.stdout.write(text)
        self.stdout.flush()


def _why_not(error: Exception) -> str:
    if isinstance(error, CannotStart):
        return str(error)
    if isinstance(error, DatabaseError):
        return f"Nothing was started. {cannot_be_used(error)} Check DATABASE_URL."
    return f"Nothing was started. {error}"
