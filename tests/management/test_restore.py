"""What ``restore`` says is lost, by the database in use and by the head in the data folder."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest
from django.core.management import CommandError
from psycopg.conninfo import conninfo_to_dict

from dashboard import settings as configured
from dashboard.approvals.rules import readiness
from dashboard.audit import heads
from dashboard.audit.heads import Head
from dashboard.audit.models import AuditHead
from dashboard.management import backup
from dashboard.management.commands import restore
from dashboard.management.commands.restore import what_is_lost
from tests import make

OTHER = "a" * 64


@pytest.fixture(autouse=True)
def beside(tmp_path, monkeypatch):
    """The file in the data folder that keeps the last head."""
    monkeypatch.setattr(heads, "beside", lambda: tmp_path / "audit_head")
    return tmp_path / "audit_head"


@pytest.fixture(autouse=True)
def connection(monkeypatch):
    """The test's own, which stays open."""
    monkeypatch.setattr(restore.connection, "close", lambda: None)


@pytest.fixture
def backup_has(monkeypatch):
    """Say which entries the backup has."""

    def backup_has(*known):
        monkeypatch.setattr(restore, "has_entry", lambda _, head: head in known)

    backup_has()
    return backup_has


@pytest.fixture
def present(token, ada):
    """The head of the database in use."""
    make.pending(token)
    end = AuditHead.objects.get()
    return Head(end.seq, end.hash)


def test_nothing_is_lost_where_the_backup_ends_where_the_database_does(present, backup_has):
    assert what_is_lost(present, "url") == ""


def test_a_backup_of_another_log_loses_this_one(present, backup_has):
    assert "of two dashboards" in what_is_lost(Head(present.seq + 9, OTHER), "url")


def test_a_newer_backup_of_the_same_log_loses_nothing(present, backup_has):
    backup_has(present)

    assert what_is_lost(Head(present.seq + 9, OTHER), "url") == ""


def test_what_the_data_folder_knows_and_nothing_else_has_is_lost(present, backup_has, beside):
    beside.write_text(f"{present.seq + 9}:{OTHER}\n")

    assert what_is_lost(present, "url") == (
        "The log of the database that was used last is not there to be read. It had "
        f"{present.seq + 9} entries and the backup has {present.seq}: what was decided between "
        "them would be lost."
    )


def test_a_backup_that_has_what_the_data_folder_knows_loses_nothing(present, backup_has, beside):
    beside.write_text(f"{present.seq + 5}:{OTHER}\n")
    backup_has(present, Head(present.seq + 5, OTHER))

    assert what_is_lost(Head(present.seq + 9, OTHER), "url") == ""


def test_a_backup_without_the_entry_that_the_data_folder_knows_is_another(
    present, backup_has, beside
):
    beside.write_text(f"{present.seq + 5}:{OTHER}\n")
    backup_has(present)

    assert "The backup does not have the entry" in what_is_lost(
        Head(present.seq + 9, OTHER), "url"
    )


def test_a_head_that_cannot_be_read_leaves_it_open(present, backup_has, beside):
    beside.write_text("something else")

    assert what_is_lost(present, "url").startswith("Nobody can tell what would be lost")


@pytest.fixture
def linked(tmp_path, monkeypatch):
    """A database whose name is a link to a file in another folder; returns the link."""
    folder, link = tmp_path / "disk", tmp_path / "dashboard.sqlite3"
    folder.mkdir()
    with closing(sqlite3.connect(folder / "base.sqlite3")) as base:
        base.execute("CREATE TABLE present (id)")
    link.symlink_to(folder / "base.sqlite3")
    names = {"NAME": str(link)}
    stand_in = SimpleNamespace(vendor="sqlite", close=lambda: None, settings_dict=names)
    monkeypatch.setattr(backup, "connection", stand_in)
    monkeypatch.setattr(readiness, "connection", stand_in)
    return link


def test_a_database_is_replaced_where_its_link_leads(linked, tmp_path):
    aside = tmp_path / "disk" / "aside.sqlite3"
    aside.write_bytes(b"restored")
    place = backup.swap_in(f"sqlite:///{aside}")

    assert linked.is_symlink()
    assert linked.read_bytes() == b"restored"
    assert place.startswith(str(tmp_path / "disk" / "base.sqlite3.before-"))


def test_what_a_killed_backup_left_long_ago_is_deleted_and_nothing_else(linked, tmp_path):
    left_behind = tmp_path / ".copy.0123abcd.part-journal"
    theirs = [tmp_path / "copy.part", tmp_path / ".copy.4567cdef.part"]  # the latter under way
    for file in (left_behind, *theirs):
        file.write_text("half a page")
    os.utime(left_behind, (0, 0))

    part = backup.copy_beside(tmp_path / "copy")

    with closing(sqlite3.connect(part)) as base:
        assert base.execute("SELECT name FROM sqlite_master").fetchall() == [("present",)]
    assert not left_behind.exists()
    assert [file.read_text() for file in theirs] == ["half a page"] * 2


def without_links(monkeypatch):
    def refused(*_):
        raise PermissionError

    monkeypatch.setattr(Path, "hardlink_to", refused)


@pytest.mark.parametrize("file_system", [lambda _: None, without_links])
def test_of_two_backups_to_one_name_the_first_is_kept(linked, tmp_path, monkeypatch, file_system):
    file_system(monkeypatch)
    file = tmp_path / "copy"
    head = backup.head_beside(file)
    head.write_text("of an earlier copy")
    parts = [backup.copy_beside(file) for _ in range(2)]
    backup.keep(parts[0], file)
    assert not head.exists()
    present = file.stat()
    head.write_text("of the first")

    with pytest.raises(CommandError, match="exists already"):
        backup.keep(parts[1], file)

    assert file.stat().st_ino == present.st_ino
    assert head.read_text() == "of the first"
    assert sorted(path.name for path in tmp_path.glob("*copy*")) == ["copy", "copy.head"]


def test_where_a_backup_cannot_be_written_its_folder_is_the_reason(linked, tmp_path):
    file = tmp_path / "none" / "copy"
    with pytest.raises(CommandError) as refusal:
        backup.copy_beside(file)

    assert str(refusal.value) == (
        f"{file} could not be written (No such file or directory). There is no backup. Name a "
        "file in a folder that this account may write to."
    )


@pytest.mark.parametrize(
    ("name", "kept_name"),
    [
        ("base", "base_before_20260102030405"),
        ("a" * 63, f"{'a' * 41}_before_20260102030405"),
        ("a" + "é" * 31, f"a{'é' * 20}_before_20260102030405"),
        ("é" * 31, f"{'é' * 20}_before_20260102030405"),
    ],
)
def test_a_database_that_was_replaced_has_a_name_that_fits(name, kept_name):
    assert backup.name_before(name, "20260102030405") == kept_name
    assert len(kept_name.encode()) <= 63


def test_the_disk_that_is_looked_at_is_the_one_of_the_file(linked, monkeypatch):
    folders = []

    def disk_usage(folder):
        folders.append(folder)
        return SimpleNamespace(free=0)

    monkeypatch.setattr(readiness.shutil, "disk_usage", disk_usage)

    assert [said[:12] for said in readiness._disk()] == ["The disk of "]
    assert folders == [linked.resolve().parent]


@pytest.mark.parametrize(
    "said",
    [
        "pg_dump: error: aborting because of server version mismatch",
        'ERROR:  unrecognized configuration parameter "transaction_timeout"',
    ],
)
def test_programs_of_another_version_than_the_server_are_named_as_the_reason(said, monkeypatch):
    failure = SimpleNamespace(returncode=1, stderr=f"{said}\n")
    config = {"NAME": "base", "OPTIONS": {}}
    monkeypatch.setattr(backup, "connection", SimpleNamespace(settings_dict=config))
    monkeypatch.setattr(backup.shutil, "which", lambda program: program)
    monkeypatch.setattr(backup.subprocess, "run", lambda *_, **__: failure)

    with pytest.raises(CommandError) as refusal:
        backup._run("pg_restore", "copy")

    assert str(refusal.value) == (
        f"pg_restore failed, so nothing was done. {said}\nIts version is not the server's. "
        "Install PostgreSQL's client programs, of the server's own version."
    )


@pytest.fixture
def postgresql(monkeypatch):
    """Have the database be on PostgreSQL, at an address."""

    def postgresql(address):
        monkeypatch.setattr(configured, "database_url", address)
        config = configured.database(address)
        config["OPTIONS"] = configured.POSTGRESQL_OPTIONS | config.get("OPTIONS", {})
        monkeypatch.setattr(backup, "connection", SimpleNamespace(settings_dict=config))

    return postgresql


def test_postgresqls_programs_go_where_the_address_goes_and_show_no_secret(postgresql):
    postgresql(
        "postgres://ann:pw@/base?host=10.0.0.7&service=gate&sslmode=require&sslpassword=pw2"
    )

    assert conninfo_to_dict(backup._conninfo("base")) == {
        "dbname": "base",
        "user": "ann",
        "host": "10.0.0.7",
        "service": "gate",
        "sslmode": "require",
        "connect_timeout": "10",
    }


def test_what_we_have_statements_do_does_not_end_a_dump(postgresql):
    postgresql("postgres://h/base?sslmode=require")

    assert backup._access() == {"sslmode": "require", "host": "h"}


def test_what_the_address_sets_of_a_connection_is_handed_on(postgresql):
    postgresql("postgres://h/base?options=endpoint%3Dep-1+-c+role%3Dr&connect_timeout=60")

    assert conninfo_to_dict(backup._conninfo("base")) == {
        "dbname": "base",
        "host": "h",
        "options": "endpoint=ep-1 -c role=r",
        "connect_timeout": "60",
    }


def test_what_postgresqls_programs_do_not_take_is_refused_with_a_sentence(monkeypatch, postgresql):
    postgresql("postgres://h/base")
    monkeypatch.setattr(configured, "database_url", "postgres://h/base?assume_role=r")

    with pytest.raises(CommandError, match=r'"assume_role".*Nothing was done'):
        backup._conninfo("base")
