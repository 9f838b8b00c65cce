"""Where the server finds its pages and keeps its data, in a checkout and outside one."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ASK = "import settings; print(settings.PAGES_DIR, settings.DATA_DIR, sep='\\n')"
COMMAND = "import sys; sys.argv = sys.argv[1:]; import settings; print(settings.OPERATOR_COMMAND)"


@pytest.fixture
def package(tmp_path):
    """Return a folder that holds the settings and nothing else."""
    package = tmp_path / "lib" / "dashboard"
    package.mkdir(parents=True)
    shutil.copy(ROOT / "dashboard" / "settings.py", package)
    return package


@pytest.fixture
def places(package, tmp_path):
    """Asks the settings, laid out like this, for the folders of pages and data."""

    def places(**variables):
        kept = {k: v for k, v in os.environ.items() if k not in {"DASHBOARD_DATA_DIR", "DEBUG"}}
        home = {"HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path / "share")}
        done = subprocess.run(
            [sys.executable, "-c", ASK],
            cwd=package,
            env=kept | home | variables,
            capture_output=True,
            text=True,
            check=True,
        )
        return [str(Path(line).relative_to(tmp_path)) for line in done.stdout.splitlines()]

    return places


def test_an_installed_server_keeps_its_data_where_the_platform_does(places):
    assert places() == ["lib/dashboard/web", "share/approval-dashboard"]


def test_a_manage_py_that_another_package_installed_makes_no_checkout(places, tmp_path):
    (tmp_path / "lib" / "manage.py").touch()

    assert places() == ["lib/dashboard/web", "share/approval-dashboard"]


def test_a_checkout_keeps_its_data_in_itself(places, tmp_path):
    for name in ("manage.py", "pyproject.toml"):
        (tmp_path / "lib" / name).touch()

    assert places() == ["lib", "lib/var"]


def test_the_operator_has_the_last_word_about_the_data_folder(places, tmp_path):
    chosen = {"DASHBOARD_DATA_DIR": str(tmp_path / "mine")}

    assert places(**chosen) == ["lib/dashboard/web", "mine"]


@pytest.mark.parametrize(
    ("checkout", "started_by", "command"),
    [
        ([], "bin/approval-dashboard", "approval-dashboard"),
        ([], "bin/gunicorn", "approval-dashboard"),
        (["manage.py", "pyproject.toml"], "manage.py", "python manage.py"),
        (["manage.py", "pyproject.toml"], "bin/gunicorn", "python manage.py"),
        (["manage.py", "pyproject.toml"], "bin/approval-dashboard", "approval-dashboard"),
    ],
)
def test_messages_name_the_command_that_was_started(package, checkout, started_by, command):
    for name in checkout:
        (package.parent / name).touch()

    said = subprocess.check_output(
        [sys.executable, "-c", COMMAND, started_by], cwd=package, text=True
    )

    assert said.strip() == command


def test_messages_name_the_python_that_is_in_the_checkout(package):
    for name in ("manage.py", "pyproject.toml"):
        (package.parent / name).touch()
    python = package.parent / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.symlink_to(sys.executable)

    said = subprocess.check_output(
        [python, "-c", COMMAND, "manage.py"],
        cwd=package,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        text=True,
    )

    assert said.strip() == ".venv/bin/python manage.py"
