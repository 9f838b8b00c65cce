"""Copies of the database, made beside traffic, proved by their own log, and put back."""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from glob import escape
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, parse_qs, urlsplit, urlunsplit
from uuid import uuid4

from django.conf import settings
from django.core.management.base import CommandError
from django.db import connection

from dashboard import settings as configured
from dashboard.approvals.rules.readiness import database_file
from dashboard.audit.heads import Head
from dashboard.owner import give_to_owner

BUSY_S = 20
LEFT_BEHIND_AFTER_S = 24 * 3600
COPIES_WITHIN_S = 600
_HEAD = re.compile(r"Head: (\S+)")
_BESIDE = ("-journal", "-wal", "-shm")
"""What SQLite keeps beside its file. After a crash it holds what was committed."""
_SECRETS = (
    "password",
    "sslpassword",
    "scram_client_key",
    "scram_server_key",
    "oauth_client_secret",
)
_CLIENTS = "Install PostgreSQL's client programs, of the server's own version."
_OF_ANOTHER_VERSION = ("server version mismatch", "unrecognized configuration parameter")
"""What an older pg_dump says of a newer server, and an older server of a newer one's copy."""
_LONGEST_NAME = 63  # bytes
_MAINTENANCE = "postgres"  # the database that every PostgreSQL server has


def copy_beside(file: Path) -> Path:
    """Copy the database as it is at one moment, for ``file``, which must not be there yet.

    Returns:
        Where it is until it is proved, and then given to ``keep``.

    Raises:
        CommandError: It cannot be copied; nothing is there then.
    """
    if file.exists():
        raise _exists_already(file)
    # A name of its own: another backup to the same file may be under way.
    part = file.with_name(f".{file.name}.{uuid4().hex[:8]}.part")
    _delete_left_behind(file.parent, f".{escape(file.name)}.*.part*")
    try:
        with _private():
            part.touch(exist_ok=False)  # where this fails, the database is not the reason
            if connection.vendor == "sqlite":
                copy_sqlite(Path(connection.settings_dict["NAME"]), part)
            else:
                _dump(part)
        _reach_disk(part)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise CommandError(
            f"{file} could not be written ({error.strerror}). There is no backup. Name a file in "
            "a folder that this account may write to."
        ) from None
    except CommandError:
        part.unlink(missing_ok=True)
        raise
    return part


def keep(part: Path, file: Path) -> None:
    """Give a copy the name that was asked for.

    Raises:
        CommandError: Another backup has it by now. The copy is deleted.
    """
    try:
        _take_name(part, file)
    except FileExistsError:
        part.unlink()
        raise _exists_already(file) from None
    head_beside(file).unlink(missing_ok=True)  # of an earlier copy of that name
    _reach_disk(file.parent)


def _take_name(part: Path, file: Path) -> None:
    try:
        file.hardlink_to(part)
    except FileExistsError:
        raise
    except OSError:  # not every file system has links
        file.touch(exist_ok=False)
        part.replace(file)
    else:
        part.unlink()


def head_beside(file: Path) -> Path:
    """Where the head of a backup is kept."""
    return file.with_name(f"{file.name}.head")


def _exists_already(file: Path) -> CommandError:
    return CommandError(f"{file} exists already. Nothing was done. Name another file.")


def copy_sqlite(source: Path, target: Path) -> None:
    """Copy a database in one step, between two transactions of whoever writes.

    Raises:
        CommandError: It is none, or it is locked for ten minutes.
    """
    gives_up_at = time.monotonic() + COPIES_WITHIN_S

    def go_on(*_: int) -> None:
        if time.monotonic() > gives_up_at:
            raise TimeoutError

    try:
        with (
            closing(sqlite3.connect(source, timeout=BUSY_S)) as origin,
            closing(sqlite3.connect(target)) as duplicate,
        ):
            origin.backup(duplicate, progress=go_on)
            duplicate.execute("PRAGMA journal_mode=DELETE")  # the copy is one file
            [result] = duplicate.execute("PRAGMA integrity_check(1)").fetchone()
    except (sqlite3.DatabaseError, TimeoutError) as error:
        reason = str(error) or "it was locked for ten minutes"
        raise CommandError(
            f"{source} could not be copied to {target.parent}: {reason}. Nothing was done."
        ) from None
    if result != "ok":
        raise CommandError(f"{source} is damaged: {result}. Nothing was done.")


def head_of(url: str) -> Head:
    """Prove a copy by its own log, and return the head of it.

    Raises:
        CommandError: Its log is broken, or its tables say something else.
    """
    output = manage(url, "verify_audit")
    match = _HEAD.search(output)
    head = Head.parse(match[1]) if match else None
    if head is None:
        raise CommandError(f"What was copied could not be verified: {output.strip()}")
    return head


def has_entry(url: str, head: Head) -> bool:
    """Whether the log of a copy, which was proved, has the entry that a head names."""
    try:
        manage(url, "verify_audit", "--expect", str(head))
    except CommandError:
        return False
    return True


def manage(url: str, *command: str) -> str:
    """Run a command of ours on another database; returns what it printed.

    Raises:
        CommandError: It failed, with what it said.
    """
    inherited = {k: v for k, v in os.environ.items() if k != "DATABASE_URL_FILE"}
    environment = inherited | {
        "DATABASE_URL": url,
        "DASHBOARD_DATA_DIR": str(settings.DATA_DIR),
        "AUDIT_HEADS": "",  # these are of the database in use
    }
    process = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-m", "dashboard.management", *command],
        cwd=settings.BASE_DIR,
        env=environment,
        check=False,
        capture_output=True,
        text=True,
    )
    if process.returncode:
        sentence = process.stderr.strip().removeprefix("CommandError: ")
        raise CommandError(f"The copy was not used. {sentence}")
    return process.stdout


# --- a copy to look into, or to put in the place of the database --------------------------------


@contextmanager
def restored_aside(file: Path) -> Iterator[str]:
    """Make a database of a backup, beside the one in use; gives its address, and removes it.

    Raises:
        CommandError: ``file`` is no backup, or there is no right to make a database.
    """
    if not file.is_file():
        raise CommandError(f"There is no file {file}. Nothing was done.")
    if connection.vendor == "sqlite":
        aside = database_file().with_name(f"restoring-{uuid4().hex}.sqlite3")
        _delete_left_behind(aside.parent, "restoring-*.sqlite3*")
        try:
            with _private():
                copy_sqlite(file, aside)
            yield f"sqlite:///{aside}"
        finally:
            for path in (aside, *(Path(f"{aside}{end}") for end in _BESIDE)):
                path.unlink(missing_ok=True)
        return
    name = f"restoring_{int(time.time())}_{uuid4().hex}"
    with _administering() as execute:
        _drop_left_behind(execute)
        execute(f"CREATE DATABASE {name} TEMPLATE template0")
    try:
        _run("pg_restore", "--exit-on-error", "--no-owner", "--dbname", _conninfo(name), str(file))
        yield _address(name)
    finally:
        with _administering() as execute:
            execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")


def _delete_left_behind(folder: Path, pattern: str) -> None:
    """Delete what copies that were killed have left: all that is secret is in it."""
    long_ago = time.time() - LEFT_BEHIND_AFTER_S
    for path in folder.glob(pattern):
        with suppress(FileNotFoundError):
            if path.stat().st_mtime < long_ago:
                path.unlink()


def _drop_left_behind(execute: Any) -> None:
    """Drop such databases of this role. Their names say when they were made."""
    query = (
        "SELECT datname FROM pg_database d WHERE datname ~ '^restoring_[0-9]+_[0-9a-f]+$' "
        "AND pg_get_userbyid(datdba) = current_user "
        "AND NOT EXISTS (SELECT 1 FROM pg_stat_activity a WHERE a.datname = d.datname)"
    )
    long_ago = time.time() - LEFT_BEHIND_AFTER_S
    for [name] in execute(query).fetchall():
        if int(name.split("_")[1]) < long_ago:
            execute(f"DROP DATABASE IF EXISTS {_quoted(name)}")


def swap_in(url: str) -> str:
    """Put a restored database in the place of the one in use.

    Returns:
        Where that is kept; empty if it was gone.
    """
    moment = time.strftime("%Y%m%d%H%M%S", time.gmtime())
    connection.close()
    if connection.vendor == "sqlite":
        aside, used = Path(url.removeprefix("sqlite:///")), database_file()
        place = used.with_name(f"{used.name}.before-{moment}")
        _reach_disk(aside)
        _give_to_owner(aside)
        _keep_under(place, used)
        aside.replace(used)  # one step: whoever is killed leaves the one before, or this one
        _reach_disk(used.parent)
        return str(place) if place.exists() else ""
    connection.close_pool()  # type: ignore[attr-defined]
    used_name = _quoted(connection.settings_dict["NAME"])
    kept_name = _quoted(name_before(connection.settings_dict["NAME"], moment))
    new_name = _quoted(urlsplit(url).path.removeprefix("/"))
    with _administering(in_one_step=True) as execute:
        name = connection.settings_dict["NAME"]
        exists = execute("SELECT 1 FROM pg_database WHERE datname = %s", [name]).fetchone()
        if exists:
            execute(f"ALTER DATABASE {used_name} RENAME TO {kept_name}")
        execute(f"ALTER DATABASE {new_name} RENAME TO {used_name}")
    return f"the database {kept_name}" if exists else ""


def name_before(name: str, moment: str) -> str:
    """The name under which PostgreSQL keeps a database that was replaced at a moment."""
    end = f"_before_{moment}"
    return name.encode()[: _LONGEST_NAME - len(end)].decode(errors="ignore") + end


def _keep_under(place: Path, used: Path) -> None:
    """Give a database of SQLite a second name, under which it stays.

    What a crash left beside it is committed, or undone, before: SQLite finds it by the first name.
    """
    if not used.exists() or not used.stat().st_size:  # it was gone, and looking for it made one
        return
    with suppress(sqlite3.DatabaseError), closing(sqlite3.connect(used, timeout=BUSY_S)) as base:
        base.execute("PRAGMA journal_mode=DELETE")
        base.execute("SELECT count(*) FROM sqlite_master")
    try:
        place.hardlink_to(used)
    except OSError:  # not every file system has them
        shutil.copy2(used, place)
        _reach_disk(place)
    for end in _BESIDE:  # of a file that is damaged, so that SQLite could not end it
        with suppress(FileNotFoundError):
            Path(f"{used}{end}").rename(f"{place}{end}")


def sessions() -> int:
    """How many others use the PostgreSQL database now. No connection may be open yet."""
    os.environ["PGAPPNAME"] = name = f"approval-dashboard restore {os.getpid()}"
    query = (
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND "
        "application_name <> %s AND backend_type = 'client backend'"
    )
    with connection.cursor() as cursor:
        cursor.execute(query, [name])
        return int(cursor.fetchone()[0])


def may_make_databases() -> bool:
    """Whether a copy can be restored beside the database, to be verified."""
    if connection.vendor == "sqlite":
        return True
    query = "SELECT rolcreatedb OR rolsuper FROM pg_roles WHERE rolname = current_user"
    with connection.cursor() as cursor:
        cursor.execute(query)
        return bool(cursor.fetchone()[0])


# --- PostgreSQL's own programs ------------------------------------------------------------------


def _dump(file: Path) -> None:
    name = str(connection.settings_dict["NAME"])
    _run("pg_dump", "--format=custom", "--no-owner", "--file", str(file), _conninfo(name))


def _run(program: str, *arguments: str) -> None:
    if shutil.which(program) is None:
        raise CommandError(f"{program} is not installed here, so nothing was done. {_CLIENTS}")
    password = _access().get("password")
    process = subprocess.run(  # noqa: S603 - arguments of our own
        [program, *arguments],
        env=os.environ | {"PGPASSWORD": password} if password else None,
        check=False,
        capture_output=True,
        text=True,
    )
    if process.returncode:
        sentence = f"{program} failed, so nothing was done. {process.stderr.strip()}"
        if any(sign in process.stderr for sign in _OF_ANOTHER_VERSION):
            sentence += f"\nIts version is not the server's. {_CLIENTS}"
        raise CommandError(sentence)


def _conninfo(name: str) -> str:
    """How PostgreSQL's programs reach a database, without secrets: all see a command's line."""
    public = {option: value for option, value in _access().items() if option not in _SECRETS}
    return _joined({"connect_timeout": "10", **public, "dbname": name})


def _access() -> dict[str, str]:
    """How the server is reached, all that the address of the database says of it.

    What we set ourselves is left out: a dump may take longer than a statement of a page.
    """
    config = connection.settings_dict
    places = {"host": "HOST", "port": "PORT", "user": "USER", "password": "PASSWORD"}
    query = {name: values[0] for name, values in parse_qs(_parts().query).items()}
    return query | {name: str(config[key]) for name, key in places.items() if config.get(key)}


def _joined(parameters: dict[str, str]) -> str:
    import psycopg  # noqa: PLC0415 - not installed where only SQLite is used

    try:
        return psycopg.conninfo.make_conninfo("", **parameters)
    except psycopg.Error as error:
        raise CommandError(
            f"DATABASE_URL says something that PostgreSQL's own programs do not take: "
            f"{str(error).strip()}. Nothing was done."
        ) from None


@contextmanager
def _administering(*, in_one_step: bool = False) -> Iterator[Any]:
    """Give a function that runs a statement about databases, in another one than ours.

    Args:
        in_one_step: All of them happen, or none.
    """
    import psycopg  # noqa: PLC0415 - not installed where only SQLite is used

    address = _joined({**_access(), "dbname": _MAINTENANCE})
    try:
        with psycopg.connect(address, autocommit=not in_one_step) as administrator:
            yield administrator.execute
    except psycopg.Error as error:
        raise CommandError(f"PostgreSQL refused it: {str(error).strip()}") from None


def _address(name: str) -> str:
    return urlunsplit(_parts()._replace(path=f"/{name}"))


def _parts() -> SplitResult:
    return urlsplit(configured.database_url)


def _quoted(name: str) -> str:
    return connection.ops.quote_name(name)


# --- files --------------------------------------------------------------------------------------


@contextmanager
def _private() -> Iterator[None]:
    """Have what is made be for this account alone."""
    mask = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(mask)


def _give_to_owner(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        give_to_owner(descriptor, path.parent)
    finally:
        os.close(descriptor)


def _reach_disk(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
