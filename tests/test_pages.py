"""A server that lacks a template or a static file says so, and is not ready."""

import shutil

import pytest
from django.core.management import call_command

from dashboard import pages
from dashboard.approvals.rules.readiness import obstacles


@pytest.fixture
def installed(tmp_path, settings):
    """The pages' files in a folder of their own, collected as ``start`` does it."""
    for name in ("templates", "static"):
        shutil.copytree(settings.PAGES_DIR / name, tmp_path / name)
    settings.PAGES_DIR = tmp_path
    settings.STATICFILES_DIRS = [tmp_path / "static"]
    settings.STATICFILES_FINDERS = ["django.contrib.staticfiles.finders.FileSystemFinder"]
    settings.STATIC_ROOT = tmp_path / "collected"
    settings.STORAGES = {
        **settings.STORAGES,
        "staticfiles": {"BACKEND": "dashboard.web.staticfiles.HashedStaticFiles"},
    }
    call_command("collectstatic", verbosity=0, interactive=False)
    return tmp_path


def files(folder):
    found = [path for name in ("templates", "static") for path in (folder / name).rglob("*")]
    return sorted(str(path.relative_to(folder)) for path in found if path.is_file())


def test_every_template_and_static_file_is_named_somewhere_so_a_missing_one_is_missed(settings):
    assert pages.named() == files(settings.PAGES_DIR)


@pytest.mark.django_db
def test_with_all_files_nothing_stands_in_the_way(installed):
    assert [*pages.missing()] == []
    assert obstacles() == []


@pytest.mark.django_db
@pytest.mark.parametrize(
    "name", ["templates/desk/queue.html", "templates/base.html", "static/css/tokens.css"]
)
def test_without_a_file_the_server_is_not_ready_and_says_which(installed, client, name):
    (installed / name).unlink()

    answer = client.get("/readyz")

    assert answer.status_code == 503
    assert answer.json() == {
        "ready": False,
        "may_approve": False,
        "why": [f"The program lacks the file {name}: install it again."],
    }


def test_an_installation_without_any_page_says_how_much_is_missing(installed):
    shutil.rmtree(installed / "templates")

    [why] = pages.missing()

    assert why.startswith("The program lacks ")
    assert why.endswith(" files (templates/base.html, …): install it again.")


@pytest.mark.django_db
def test_without_a_collected_copy_the_server_is_not_ready(installed, client):
    [gone] = installed.glob("collected/css/tokens.*.css")
    gone.unlink()

    answer = client.get("/readyz")

    lacks = f"The data folder lacks the file css/{gone.name} that browsers fetch"
    assert answer.status_code == 503
    assert answer.json()["why"] == [f"{lacks}: start the server again."]
