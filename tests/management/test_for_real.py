"""``manage.py`` as a newcomer runs it: real processes, a fresh folder, a real network."""

import os
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from contextlib import closing

import httpx2
import pytest

from tests.management.running import MANAGE, manage, running


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "var"


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    """A folder that a first run has prepared, and what that run said to the end."""
    folder = tmp_path_factory.mktemp("house") / "var"
    with running(folder) as run:
        run.health = httpx2.get(f"{run.url}/healthz").json()
        run.served_at = run.url
    run.status = run.stop()
    return folder, run


@pytest.fixture(scope="module")
def second(house, tmp_path_factory):
    """A second run, from another folder, in which somebody signs in; Ctrl-C ends it."""
    with running(house[0], cwd=tmp_path_factory.mktemp("elsewhere")) as run:
        run.sheet = httpx2.get(f"{run.url}/static/css/tokens.css", timeout=30)
        sign_in(run)
        run.status = run.stop(signal.SIGINT)
    return run


def test_a_first_run_serves(house):
    _, run = house

    assert run.health == {"status": "ok"}
    assert run.link.startswith(f"{run.served_at}/sign-in/")
    assert run.token.startswith("dash_")


def test_it_ends_on_sigterm_without_a_fault(house):
    _, run = house

    assert run.status == 0
    assert "Traceback" not in run.said


def test_what_a_first_run_makes_is_for_this_account_alone(house):
    folder, _ = house
    modes = {path.name: path.stat().st_mode & 0o777 for path in folder.iterdir()}

    assert folder.stat().st_mode & 0o777 == 0o700
    assert modes["secret_key"] == modes["dashboard.sqlite3"] == 0o600
    assert folder.joinpath("static").is_dir()


def test_from_another_folder_it_finds_everything_and_tells_another_link(house, second):
    assert second.sheet.status_code in {200, 404}
    assert second.link
    assert second.link != house[1].link
    assert second.token is None


def test_ctrl_c_ends_it_without_a_traceback(second):
    assert second.status == 0
    assert "Traceback" not in second.said


def test_ctrl_c_before_it_serves_is_no_traceback_either(house):
    with running(house[0], until="The dashboard is at") as run:
        status = run.stop(signal.SIGINT)

    assert status in {0, 130}
    assert "Traceback" not in run.said


def sign_in(run):
    with httpx2.Client(headers={"Origin": run.url}, timeout=30) as browser:
        page = browser.get(run.link)
        form = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page.text)[1]
        answer = browser.post(run.link, data={"csrfmiddlewaretoken": form})
    assert answer.status_code == 302, answer.text


def test_two_starts_at_once_on_a_fresh_folder_both_serve_and_one_tells_the_token(folder):
    with running(folder) as first, running(folder) as second:
        answers = [httpx2.get(f"{run.url}/readyz").json() for run in (first, second)]

    assert [answer["may_approve"] for answer in answers] == [True, True]
    assert [bool(first.token), bool(second.token)].count(True) == 1


def test_it_serves_on_a_socket_that_was_handed_over_and_tells_no_link_once_one_was_used(
    house, second
):
    with socket.create_server(("127.0.0.1", 0)) as given:
        number = given.fileno()
        with running(house[0], "--fd", str(number), pass_fds=[number]) as run:
            assert httpx2.get(f"{run.url}/healthz").is_success

            assert run.url == f"http://127.0.0.1:{given.getsockname()[1]}"
            assert run.link is None


def test_a_taken_port_ends_a_start_at_once_with_status_1(folder):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = manage(folder, "start", "--port", str(taken.getsockname()[1]))

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("CommandError: Nothing was started. Port ")
    assert not folder.exists()


REFUSED = {
    "an empty key, any host and a path": (
        {"SECRET_KEY": "", "ALLOWED_HOSTS": "*", "PUBLIC_URL": "https://a.example/x"},
        [
            "SECRET_KEY is missing or weak",
            "ALLOWED_HOSTS=* lets any site",
            "PUBLIC_URL is 'https://a.example/x'",
        ],
    ),
    "a database that is not there": (
        {"DATABASE_URL": "postgres://nobody@127.0.0.1:1/none"},
        ["The database cannot be used: connection failed"],
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_is_said_without_a_traceback(folder, name):
    variables, reasons = REFUSED[name]

    done = manage(folder, "start", "--port", "0", **variables)

    assert done.returncode == 1
    assert "Nothing was started." in done.stderr
    assert [reason for reason in reasons if reason not in done.stderr] == []
    assert "Traceback" not in done.stderr


def test_without_the_server_extra_it_says_what_to_install(folder):
    command = [sys.executable, "-S", MANAGE, "start"]

    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert done.returncode == 1
    assert done.stderr == (
        "Django is not installed for this Python, so nothing was started. Install the server "
        "with: pip install -c constraints.txt -e ./client -e .\n"
    )


def test_verify_audit_exits_with_0_for_a_whole_log_and_with_1_for_a_cut_one(house, folder):
    shutil.copytree(house[0], folder)
    whole = manage(folder, "verify_audit")
    cut_the_tail(folder / "dashboard.sqlite3")
    head = whole.stdout.split()[-1]

    cut = manage(folder, "verify_audit", "--expect", head)

    assert [done.returncode for done in (whole, cut)] == [0, 1]
    assert "The audit log is broken: the log " in cut.stderr


def cut_the_tail(file):
    last = "(SELECT max(seq) FROM dashboard_auditentry)"
    with closing(sqlite3.connect(file)) as database, database:
        database.execute("DROP TRIGGER guard_auditentry_no_delete")
        database.execute(f"DELETE FROM dashboard_auditentry WHERE seq = {last}")


def test_migrate_makes_the_folder_and_the_database_for_this_account_alone(tmp_path):
    folder = tmp_path / "new"
    done = manage(folder, "migrate", "-v0")

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    modes = [path.stat().st_mode & 0o777 for path in (folder, folder / "dashboard.sqlite3")]
    assert modes == [0o700, 0o600]


def test_migrate_says_in_a_sentence_that_the_database_is_away(tmp_path):
    (tmp_path / "dashboard.sqlite3").mkdir()
    done = manage(tmp_path, "migrate")

    assert done.returncode == 1
    said = "CommandError: Nothing was migrated. The database cannot be used: unable"
    assert done.stderr.startswith(said)
    assert "Traceback" not in done.stderr


def test_what_a_migration_itself_gets_wrong_is_not_hidden(tmp_path):
    with closing(sqlite3.connect(tmp_path / "dashboard.sqlite3")) as database:
        database.execute("CREATE TABLE dashboard_agent (id)")
    done = manage(tmp_path, "migrate")

    assert done.returncode == 1
    assert "Traceback" in done.stderr
    assert "dashboard_agent" in done.stderr


def test_a_token_stands_alone_on_stdout(house):
    done = manage(house[0], "issue_token", "beamline")

    assert re.fullmatch(r"dash_\S{43}\n", done.stdout)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_link_leads_to_where_the_server_was_started(house):
    done = manage(house[0], "sign_in_link", "admin")

    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/sign-in/\S{43}\n", done.stdout)


def test_a_demo_asks_at_once_and_leaves_nothing_pending(folder):
    statuses = "SELECT DISTINCT status FROM dashboard_approvalrequest"
    with running(folder, "--demo") as run:
        until_pending(folder, 6)
        run.stop()

    with closing(sqlite3.connect(folder / "dashboard.sqlite3")) as database:
        assert database.execute(statuses).fetchall() == [("cancelled",)]


def until_pending(folder, wanted):
    query = "SELECT count(*) FROM dashboard_approvalrequest WHERE status = 'pending'"
    gives_up_at = time.monotonic() + 30
    with closing(sqlite3.connect(folder / "dashboard.sqlite3")) as database:
        while database.execute(query).fetchone()[0] < wanted:
            assert time.monotonic() < gives_up_at
            time.sleep(0.05)


def test_a_worker_ends_on_sigterm(house):
    environment = os.environ | {"DASHBOARD_DATA_DIR": str(house[0]), "PYTHONUNBUFFERED": "1"}
    environment.pop("DATABASE_URL", None)
    command = [sys.executable, MANAGE, "run_worker"]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as worker:
        assert worker.stdout.readline() == "The worker runs. Stop it with Ctrl-C.\n"
        time.sleep(0.05)
        worker.terminate()

        assert worker.wait(timeout=10) == 0


@pytest.mark.parametrize("command", ["issue_token", "sign_in_link", "backup"])
def test_an_argument_that_is_not_utf_8_is_refused(tmp_path, command):
    done = manage(tmp_path, command, b"b\xfccher")

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("Nothing was done. An argument is not UTF-8.")


def test_on_an_address_of_ipv6_clients_have_the_address_that_is_theirs(folder, monkeypatch):
    monkeypatch.setenv("METRICS_NETWORKS", "::1/128")
    with running(folder, "--host", "::1") as run:
        statuses = [httpx2.get(f"{run.url}/metrics").status_code for _ in range(3)]

    assert statuses == [200] * 3
