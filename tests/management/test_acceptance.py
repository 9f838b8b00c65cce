"""``accept_clock --as ADMIN`` and ``accept_database --as ADMIN``."""

import errno
from types import SimpleNamespace
from unittest.mock import patch

import pytest
from django.conf import settings
from django.core.management import CommandError

from approval_client.wire import parse_json
from dashboard.approvals.queries.hold import active_hold, database_doubt, doubt_database
from dashboard.approvals.rules.readiness import obstacles
from dashboard.approvals.signals import hold_changed
from dashboard.audit import heads
from dashboard.audit.actions import Action
from dashboard.audit.heads import Head
from dashboard.audit.models import AuditEntry
from dashboard.management import background, operator
from dashboard.management.background import keep_the_last_head
from dashboard.management.operator import NEW_HEADS
from tests import make


@pytest.fixture
def beside(tmp_path, monkeypatch):
    """The file in the data folder that keeps the last head."""
    monkeypatch.setattr(heads, "beside", lambda: tmp_path / "audit_head")
    return tmp_path / "audit_head"


def test_a_clock_that_is_right_is_left_alone(command, ada):
    assert command("accept_clock", "--as", "ada") == (
        "The clock was not set back. Nothing was changed.\n"
    )


def test_the_present_time_is_accepted(command, ada, token):
    make.clock_set_back(hours=1)

    assert command("accept_clock", "--as", "ada").startswith("The present time is accepted")
    assert obstacles() == []


@pytest.mark.parametrize("name", ["accept_clock", "accept_database"])
def test_whoever_accepts_is_an_admin(command, name, ada, alice, beside):
    make.clock_set_back(hours=1)
    beside.write_text(f"900:{'a' * 64}\n")
    with pytest.raises(CommandError, match=r"No active admin is called 'alice'.*Admins: ada"):
        command(name, "--as", "alice")


def test_a_database_that_has_what_was_kept_is_left_alone(command, ada, beside):
    assert command("accept_database", "--as", "ada") == (
        "The database has all that was kept of it. Nothing was changed.\n"
    )


def test_an_older_database_is_accepted_and_on_hold(command, ada, token, beside):
    beside.write_text(f"900:{'a' * 64}\n")
    said = command("accept_database", "--as", "ada")

    assert said.startswith("The database is accepted, and everything is on hold")
    assert obstacles() == []
    assert active_hold() is not None


def test_a_kept_head_that_cannot_be_read_is_not_guessed(command, ada, beside):
    beside.write_text("something else")
    with pytest.raises(CommandError, match=r"Nothing was done\. The file .* has no head"):
        command("accept_database", "--as", "ada")


@pytest.fixture
def keep(monkeypatch):
    """Keep the last head as the background does, once."""

    def keep():
        works = []

        async def repeat(work, _):
            works.append(work)

        monkeypatch.setattr(background, "_repeat", repeat)
        with pytest.raises(StopIteration):
            keep_the_last_head().send(None)
        works[0]()

    yield keep
    doubt_database("")


def test_the_last_head_is_kept(keep, beside, token):
    keep()
    first = heads.kept_beside()
    make.pending(token)
    keep()

    assert heads.kept_beside().seq > first.seq
    assert obstacles() == []


def test_what_was_kept_of_a_later_log_is_not_overwritten(keep, beside, token):
    beside.write_text(f"900:{'a' * 64}\n")
    keep()

    assert heads.kept_beside().seq == 900
    assert "lacks the entry 900" in database_doubt()


def test_open_pages_are_told_once(keep, beside, token):
    news = []
    hold_changed.connect(lambda **_: news.append(database_doubt()), weak=False, dispatch_uid="t")
    try:
        beside.write_text(f"900:{'a' * 64}\n")
        keep()
        keep()
        beside.unlink()
        keep()
    finally:
        hold_changed.disconnect(dispatch_uid="t")

    assert [bool(doubt) for doubt in news] == [True, False]


def test_once_the_log_has_what_was_kept_there_is_no_doubt(keep, beside, token):
    beside.write_text(f"900:{'a' * 64}\n")
    keep()
    beside.unlink()
    keep()

    assert database_doubt() == ""


def test_heads_of_what_was_given_up_need_a_new_file(
    command, ada, token, beside, settings, tmp_path
):
    """No line takes back another: whoever can add lines could take back what proves a rewrite."""
    make.pending(token)
    kept = Head(*AuditEntry.objects.values_list("seq", "hash").last())
    file = tmp_path / "heads"
    for head in (kept, Head(900, "a" * 64)):
        heads.keep_in_file(file, head)
    before = file.read_text()
    beside.write_text(f"900:{'a' * 64}\n")
    settings.AUDIT_HEADS = str(file)

    assert NEW_HEADS in command("accept_database", "--as", "ada")
    assert file.read_text() == before
    with pytest.raises(CommandError, match="broken"):
        command("verify_audit")


def test_heads_that_the_database_has_need_none(command, ada, token, beside, settings, tmp_path):
    make.pending(token)
    kept = Head(*AuditEntry.objects.values_list("seq", "hash").last())
    heads.keep_in_file(tmp_path / "heads", kept)
    beside.write_text(f"900:{'a' * 64}\n")
    settings.AUDIT_HEADS = str(tmp_path / "heads")

    assert NEW_HEADS not in command("accept_database", "--as", "ada")


def test_what_is_no_head_of_a_backup_accepts_nothing(command, ada):
    with pytest.raises(CommandError, match=r"Nothing was done\. This is not a head of the log: x"):
        command("accept_database", "--as", "ada", "--restored", "x")

    assert active_hold() is None


def test_an_end_that_cannot_be_kept_is_told_with_what_was_done(command, ada, token, beside):
    beside.write_text(f"900:{'a' * 64}\n")

    def full(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    with (
        patch.object(operator, "keep_beside", full),
        pytest.raises(CommandError) as refusal,
    ):
        command("accept_database", "--as", "ada")

    assert str(refusal.value) == (
        "The database is accepted. But the end of its log could not be kept in "
        f"{settings.DATA_DIR} (No space left on device), and nothing is approved without. Make "
        f"room there or make it writable, and run `{settings.OPERATOR_COMMAND} accept_database "
        "--as ada`."
    )
    assert active_hold() is not None


@pytest.mark.parametrize(
    "name", ["issue_token", "sign_in_link", "backup", "verify_audit", "backfill", "export_policy"]
)
def test_a_database_that_is_not_there_is_named_and_not_made(command, name, tmp_path, monkeypatch):
    absent = tmp_path / "dashboard.sqlite3"
    stand_in = SimpleNamespace(vendor="sqlite", settings_dict={"NAME": str(absent)})
    monkeypatch.setattr(operator, "connection", stand_in)
    arguments = {
        "issue_token": ["bot"],
        "sign_in_link": ["ada"],
        "backup": [str(tmp_path / "copy")],
    }
    with pytest.raises(CommandError, match=f"There is no database {absent}. Set DASHBOARD_DATA"):
        command(name, *arguments.get(name, []))

    assert [*tmp_path.iterdir()] == []


def test_of_contradicting_heads_the_latest_that_is_missing_is_recorded(command, ada, token):
    make.pending(token)
    present = str(Head(*AuditEntry.objects.values_list("seq", "hash").last()))
    of_the_database, of_the_folder = f"900:{'a' * 64}", f"870:{'b' * 64}"
    command(
        "accept_database", "--as", "ada", "--restored", present, of_the_database, of_the_folder
    )

    accepted = AuditEntry.objects.get(action=Action.DATABASE_ACCEPTED)
    assert parse_json(accepted.details) == {"kept": of_the_database, "restored": present}
    assert active_hold() is not None


def test_a_backup_that_has_every_head_is_accepted_all_the_same(command, ada, token):
    make.pending(token)
    present = str(Head(*AuditEntry.objects.values_list("seq", "hash").last()))
    command("accept_database", "--as", "ada", "--restored", present, present)

    accepted = AuditEntry.objects.get(action=Action.DATABASE_ACCEPTED)
    assert parse_json(accepted.details) == {"restored": present}
