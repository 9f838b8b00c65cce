"""``check`` says what keeps a server from approving, and what to do."""

from pathlib import Path

import pytest
from django.core.management import CommandError

from dashboard.management.commands import check as command_check
from tests import make


@pytest.fixture
def served(monkeypatch):
    """The files of the pages are there, as after a start."""
    monkeypatch.setattr("dashboard.pages.missing", list)


def test_where_nothing_is_wrong_that_is_said(command, db, served, token):
    assert command("check") == "A server would start and may approve.\n"


def test_a_hold_is_said(command, db, served, hold_placed):
    said = command("check")

    assert said == "A server would start. An admin has put everything on hold.\n"


@pytest.fixture
def hold_placed(ada):
    from dashboard.approvals.services import place_hold  # noqa: PLC0415 - needs the registry

    return place_hold(by=ada, auth="session:password")


def test_a_wrong_setting_and_what_stands_in_the_way_are_said_together(
    command, token, served, settings
):
    settings.ALLOWED_HOSTS = ["*"]
    make.clock_set_back(hours=1)

    with pytest.raises(CommandError) as refusal:
        command("check")
    first, second = str(refusal.value).splitlines()
    assert first.startswith("ALLOWED_HOSTS=* lets any site")
    assert second.startswith("The clock was set back")


def test_where_start_would_refuse_the_folder_or_its_key_that_is_said(
    command, db, served, token, settings, tmp_path
):
    settings.SECRET_KEY_IS_CONFIGURED = False
    settings.MADE_KEY_FILE = tmp_path / "secret_key"
    settings.MADE_KEY_FILE.write_text("a" * 60)
    settings.DATA_DIR = settings.MADE_KEY_FILE / "data"

    with pytest.raises(CommandError) as refusal:
        command("check")
    first, second = str(refusal.value).splitlines()
    assert first.startswith(f"The data folder {settings.DATA_DIR} cannot be written to.")
    assert second.startswith(f"The key in {settings.MADE_KEY_FILE} is empty or weak")


def test_a_folder_that_is_a_link_to_nothing_is_said(
    command, db, served, token, settings, tmp_path
):
    settings.DATA_DIR = tmp_path / "link"
    settings.DATA_DIR.symlink_to(tmp_path / "gone")

    with pytest.raises(CommandError, match="cannot be written to"):
        command("check")


def test_before_the_first_start_no_database_is_made(command, monkeypatch, db):
    monkeypatch.setattr(command_check, "absent_file", lambda: Path("dashboard.sqlite3"))

    assert command("check").startswith("The settings are right. There is no database yet")


def test_with_arguments_it_is_djangos_own(command, db):
    assert "System check identified" in command("check", "--tag", "models")
