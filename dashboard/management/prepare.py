"""Everything that the first run makes, and later runs find made."""

from __future__ import annotations

import fcntl
import hashlib
import logging
import os
import secrets
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import django
from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from dashboard.accounts import tokens
from dashboard.accounts.models import Agent, User
from dashboard.accounts.queries import admins, nobody_ever_signed_in
from dashboard.accounts.services.agents import create_agent
from dashboard.accounts.services.people import create_first_person
from dashboard.accounts.services.signing_in import make_link
from dashboard.approvals import guards
from dashboard.approvals.rules.readiness import newer_migrations, obstacles
from dashboard.audit.services import OPERATOR
from dashboard.cookies import cookie_names
from dashboard.management.preflight import CannotStart, key_file_doubt, make_data_dir
from dashboard.owner import open_for_owner
from dashboard.pages import uncollected

log = logging.getLogger(__name__)

FIRST_PERSON, FIRST_AGENT = "admin", "agent"
CONNECT_WITHIN_S = 5
_LOCK = 3_735_928_559  # any number that nobody else locks in this database


@contextmanager
def alone() -> Iterator[None]:
    """Have a second start on the same data wait, and make files for this account alone."""
    with open_for_owner(make_data_dir() / ".preparing") as file, ExitStack() as ends:
        fcntl.flock(file, fcntl.LOCK_EX)
        if connection.vendor == "postgresql":  # which other machines may be preparing too
            ends.enter_context(_database_session()).execute(f"SELECT pg_advisory_lock({_LOCK})")
        mask = os.umask(0o077)
        try:
            yield
        finally:
            os.umask(mask)


def prepare() -> Iterator[str]:
    """Make what is missing, telling each step before it is done.

    Raises:
        CannotStart: The folder, the database or its schema is not fit to serve from.
    """
    yield "data folder"
    _keep_secret_key(make_data_dir())
    yield "database"
    _reach_database()
    _migrate()
    yield "pages"
    _collect_static()
    if problems := obstacles():
        raise CannotStart("\n".join(["Nothing was started.", *problems]))


def first_person() -> User | None:
    """Return the first person, whom this makes, until somebody has signed in."""
    if not nobody_ever_signed_in():
        return None
    person = User.objects.filter(is_admin=True, is_active=True).first()
    return person or create_first_person(username=FIRST_PERSON)


def first_link() -> str | None:
    """Return a sign-in link for the first person, until somebody has signed in."""
    person = first_person()
    return sign_in_url(make_link(person, by=OPERATOR)) if person else None


def who_signs_in() -> str:
    """Return the name of an admin, for the command that makes a sign-in link."""
    return next(iter(admins().values_list("username", flat=True)), "NAME")


def first_token() -> str | None:
    """Return a token for the first agent, once; later ones are made in the pages."""
    if Agent.objects.exists():
        return None
    agent = create_agent(name=FIRST_AGENT, by=OPERATOR)
    return tokens.issue(agent, by=OPERATOR)[1]


def remember_address() -> None:
    """Keep the address that people use, for commands that print links to it."""
    with open_for_owner(_address_file(), os.O_TRUNC) as file:
        file.write(settings.PUBLIC_URL)


def sign_in_url(secret: str) -> str:
    """Return the address of the page behind a sign-in link."""
    return f"{_address()}/sign-in/{secret}"


def _address() -> str:
    if not settings.PUBLIC_URL_IS_CONFIGURED and _address_file().exists():
        return _address_file().read_text(encoding="utf-8")
    return str(settings.PUBLIC_URL)


def _address_file() -> Path:
    return Path(settings.DATA_DIR) / "address"


def _keep_secret_key(folder: Path) -> None:
    if settings.SECRET_KEY_IS_CONFIGURED:
        return
    key_file = folder / settings.MADE_KEY_FILE.name
    if not key_file.exists():
        new = key_file.with_suffix(".new")
        with open_for_owner(new, os.O_TRUNC) as file:
            file.write(secrets.token_urlsafe(48))
        new.rename(key_file)
    if doubt := key_file_doubt(key_file):
        raise CannotStart(f"Nothing was started. {doubt}")
    settings.SECRET_KEY = key = key_file.read_text(encoding="utf-8").strip()
    names = cookie_names(key, https=settings.SESSION_COOKIE_SECURE)
    settings.SESSION_COOKIE_NAME, settings.CSRF_COOKIE_NAME = names


def _reach_database() -> None:
    if connection.vendor == "postgresql":
        with _database_session():
            pass


@contextmanager
def _database_session() -> Iterator[Any]:
    # Not through the pool, which tries for seconds and then only says that it did; and without
    # its limits on time, which are for requests.
    database: Any = connection
    options = {**database.get_connection_params(), "connect_timeout": CONNECT_WITHIN_S}
    with database.wrap_database_errors:
        session = database.Database.connect(**options, autocommit=True)
    with session:
        session.execute("SET lock_timeout = 0; SET statement_timeout = 0")
        yield session


def _migrate() -> None:
    if newer := newer_migrations():
        raise CannotStart(
            f"Nothing was started. The database was migrated by a newer version of this program "
            f"({newer[-1]}). Run that version, or restore the database from before."
        )
    executor = MigrationExecutor(connection)
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    differing = [] if plan else guards.differing()
    if differing:
        log.warning("Guards that were not as this version has them are put on anew: %s", differing)
    if plan or differing or guards.are_off():
        call_command("migrate", verbosity=0, interactive=False)


def _collect_static() -> None:
    """Collect the pages' files, unless just these were: another process may serve them now."""
    collected = make_data_dir() / ".collected"
    is_current = collected.exists() and collected.read_text(encoding="utf-8") == _static_files()
    if not is_current or uncollected():
        call_command("collectstatic", verbosity=0, interactive=False)
        with open_for_owner(collected, os.O_TRUNC) as file:
            file.write(_static_files())


def _static_files() -> str:
    """Name the files to collect, each as it is now, and the list of those that were collected."""
    collected, manifest = Path(settings.STATIC_ROOT), "staticfiles.json"
    # Without the data folder's own name: it is the same folder wherever it is moved or mounted.
    paths_by_name = {manifest: collected / manifest} if (collected / manifest).exists() else {}
    for finder in get_finders():
        paths = (Path(storage.path(name)) for name, storage in finder.list([]))
        paths_by_name |= {str(path): path for path in paths}
    states = ((name, path.stat()) for name, path in paths_by_name.items())
    listing = "\n".join(f"{name} {state.st_size} {state.st_mtime_ns}" for name, state in states)
    return hashlib.sha256(f"{django.__version__}\n{listing}".encode()).hexdigest()
