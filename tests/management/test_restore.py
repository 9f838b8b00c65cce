"""What ``restore`` says is lost, by the database in use and by the head in the data folder."""

import pytest

from dashboard.audit import heads
from dashboard.audit.heads import Head
from dashboard.audit.models import AuditHead
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
