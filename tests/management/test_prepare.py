"""What the first run makes, and later runs find made."""

import fcntl
import os
from threading import Thread

import pytest
from django.conf import settings as django_settings
from django.contrib.staticfiles.finders import get_finder
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from dashboard.accounts.models import Agent, User
from dashboard.accounts.services.signing_in import peek_link, with_link
from dashboard.accounts.tokens import find
from dashboard.management import prepare
from dashboard.management.preflight import CannotStart
from tests import make
from tests.management.running import manage

pytestmark = pytest.mark.django_db


def test_every_step_is_told_before_it_is_done(place):
    assert list(prepare.prepare()) == ["data folder", "database", "pages"]


def test_the_key_is_made_once_and_for_this_account_alone(place):
    list(prepare.prepare())
    first = django_settings.SECRET_KEY

    list(prepare.prepare())

    assert django_settings.SECRET_KEY == first == place.joinpath("secret_key").read_text()
    assert place.joinpath("secret_key").stat().st_mode & 0o777 == 0o600
    assert len(first) >= 50


def test_a_key_that_another_start_made_meanwhile_is_used(place):
    place.mkdir()
    place.joinpath("secret_key").write_text("made-meanwhile-by-another-start-0123456789")

    list(prepare.prepare())

    assert django_settings.SECRET_KEY == "made-meanwhile-by-another-start-0123456789"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_what_root_makes_belongs_to_the_account_that_owns_the_folder(tmp_path):
    folder = tmp_path / "var"
    folder.mkdir()
    os.chown(folder, 65534, 65534)
    for command in (["migrate", "-v0"], ["collectstatic", "-v0", "--noinput"]):
        assert manage(folder, *command).returncode == 0

    owners = {(path.lstat().st_uid, path.lstat().st_gid) for path in folder.rglob("*")}
    assert (folder / "dashboard.sqlite3").is_file()
    assert (folder / "static" / "staticfiles.json").is_file()
    assert owners == {(65534, 65534)}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_what_a_start_by_root_makes_belongs_to_that_account_too(place):
    place.mkdir()
    os.chown(place, 65534, 65534)
    with prepare.alone():
        list(prepare.prepare())
        prepare.remember_address()

    assert {path.lstat().st_uid for path in place.rglob("*")} == {65534}


def test_no_key_is_made_where_one_is_configured(place, settings):
    settings.SECRET_KEY_IS_CONFIGURED = True

    list(prepare.prepare())

    assert not place.joinpath("secret_key").exists()


@pytest.mark.parametrize("kept", ["", "short"])
def test_a_key_file_that_was_emptied_is_refused(place, kept):
    place.mkdir()
    place.joinpath("secret_key").write_text(kept)

    with pytest.raises(CannotStart, match=r"is empty or weak.+ Delete the file: a new one is"):
        list(prepare.prepare())


def test_a_schema_that_is_newer_is_refused(place):
    MigrationRecorder(connection).record_applied("dashboard", "9999_from_the_future")

    with pytest.raises(CannotStart) as refusal:
        list(prepare.prepare())

    assert str(refusal.value) == (
        "Nothing was started. The database was migrated by a newer version of this program "
        "(9999_from_the_future). Run that version, or restore the database from before."
    )


def test_pages_are_collected(place):
    list(prepare.prepare())

    assert place.joinpath("static", "css").is_dir()


def test_a_collected_file_that_is_gone_is_collected_again(place, settings):
    settings.STATICFILES_FINDERS = ["django.contrib.staticfiles.finders.FileSystemFinder"]
    hashed = {"BACKEND": "dashboard.web.staticfiles.HashedStaticFiles"}
    settings.STORAGES = {**settings.STORAGES, "staticfiles": hashed}
    list(prepare.prepare())
    [style] = place.glob("static/css/tokens.*.css")
    style.unlink()

    list(prepare.prepare())

    assert style.is_file()


def test_what_stands_in_the_way_of_approving_is_refused(place, monkeypatch):
    monkeypatch.setattr(prepare, "obstacles", lambda: ["The guards are off."])

    with pytest.raises(CannotStart, match=r"^Nothing was started\.\nThe guards are off\.$"):
        list(prepare.prepare())


def prepares(order):
    with prepare.alone():
        order.append("second")


def test_a_second_start_waits_for_the_first(place):
    order = []
    second = Thread(target=prepares, args=[order])
    with prepare.alone():
        second.start()
        second.join(0.05)
        order.append("first")
    second.join()

    assert order == ["first", "second"]


def test_files_that_are_made_are_for_this_account_alone(place):
    with prepare.alone():
        place.joinpath("made").touch()

    assert place.joinpath("made").stat().st_mode & 0o777 == 0o600


def test_the_place_is_free_again_after_a_failure(place):
    with pytest.raises(CannotStart), prepare.alone():
        raise CannotStart

    with place.joinpath(".preparing").open() as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_the_first_person_administers_and_reviews_and_has_no_password(place):
    link = prepare.first_link()

    person = peek_link(link.rpartition("/")[2], address="127.0.0.1")
    assert link.startswith("http://127.0.0.1:8000/sign-in/")
    assert (person.username, person.is_admin, person.is_reviewer) == ("admin", True, True)
    assert not person.has_usable_password()


def test_the_first_link_is_for_an_admin_who_is_there_already(place, ada):
    link = prepare.first_link()

    assert peek_link(link.rpartition("/")[2], address="127.0.0.1") == ada
    assert User.objects.count() == 1


def test_there_is_a_first_link_until_somebody_signed_in(place):
    link = prepare.first_link()
    person = with_link(link.rpartition("/")[2], address="127.0.0.1")
    User.objects.filter(pk=person.pk).update(last_login=person.created_at)

    assert prepare.first_link() is None


def test_the_first_token_works_and_its_agent_has_no_owner(place):
    token = find(prepare.first_token())

    assert (token.agent.name, token.agent.owner, token.expires_at) == ("agent", None, None)


def test_there_is_no_first_token_where_there_is_an_agent(place):
    make.agent()

    assert prepare.first_token() is None
    assert Agent.objects.count() == 1


def test_links_lead_to_the_address_that_was_served_last(place, settings):
    place.mkdir()
    settings.PUBLIC_URL = "http://127.0.0.1:9000"
    prepare.remember_address()
    settings.PUBLIC_URL = "http://127.0.0.1:8000"

    assert prepare.sign_in_url("secret") == "http://127.0.0.1:9000/sign-in/secret"


def test_links_lead_to_the_configured_address(place, settings):
    place.mkdir()
    prepare.remember_address()
    settings.PUBLIC_URL, settings.PUBLIC_URL_IS_CONFIGURED = "https://a.example", True

    assert prepare.sign_in_url("secret") == "https://a.example/sign-in/secret"


@pytest.fixture
def collecting(place, settings, monkeypatch):
    """Counts how often files are collected, from a folder that is given."""
    folder = place.parent / "pages"
    folder.mkdir()
    folder.joinpath("page.css").write_text("a {}")
    settings.STATICFILES_DIRS, settings.STATIC_ROOT = [folder], place / "static"
    settings.STATICFILES_FINDERS = ["django.contrib.staticfiles.finders.FileSystemFinder"]
    get_finder.cache_clear()
    times = []

    def collect(*_, **__):
        times.append(1)
        place.joinpath("static").mkdir(exist_ok=True)
        place.joinpath("static", "staticfiles.json").write_text(f"{len(times)}")

    monkeypatch.setattr(prepare, "call_command", collect)
    monkeypatch.setattr(prepare, "_migrate", lambda: None)
    yield folder, times
    get_finder.cache_clear()


def test_pages_that_another_process_serves_are_left_alone(collecting):
    _, times = collecting

    for _ in range(2):
        list(prepare.prepare())

    assert len(times) == 1


def test_pages_of_a_data_folder_that_moved_are_left_alone(collecting, place, settings):
    _, times = collecting
    list(prepare.prepare())
    moved = place.rename(place.parent / "moved")
    settings.DATA_DIR, settings.STATIC_ROOT = moved, moved / "static"

    list(prepare.prepare())

    assert len(times) == 1


def test_pages_that_changed_are_collected_again(collecting):
    folder, times = collecting
    list(prepare.prepare())
    folder.joinpath("page.css").write_text("a { color: red }")

    list(prepare.prepare())

    assert len(times) == 2


def test_pages_that_were_deleted_are_collected_again(collecting, place):
    _, times = collecting
    list(prepare.prepare())
    place.joinpath("static", "staticfiles.json").unlink()

    list(prepare.prepare())

    assert len(times) == 2
