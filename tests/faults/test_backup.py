"""Backups are made beside traffic, and a restored one lets nothing happen twice."""

import json
import subprocess
import threading
import time
from pathlib import Path

import httpx2
import pytest

from tests.serving import MANAGE, POSTGRESQL, ROOT, drop_database, serve

HEAD = "Head: "
MAKE_AN_ADMIN = """
from dashboard.audit.services import OPERATOR
from dashboard.accounts.services.people import create_person
create_person(username="root", roles={"admin": True}, by=OPERATOR)
"""


@pytest.fixture(scope="module")
def house():
    """One for all of these, which leave it stopped or running, and with its own database."""
    with serve() as house:
        made = house.manage("shell", "-v0", "-c", MAKE_AN_ADMIN)
        assert made.returncode == 0, made.stderr
        yield house


@pytest.fixture
def running(house):
    house.start()
    return house


@pytest.fixture
def rounds(in_full):
    return 100 if in_full else 5  # on each engine


def backed_up(house, file):
    done = house.manage("backup", str(file))
    assert done.returncode == 0, done.stderr
    assert HEAD in done.stdout
    return done.stdout.partition(HEAD)[2].split()[0]


def traffic(house, number, stops):
    """Ask and answer until told to stop."""
    with house.agent(number) as agent, house.browser() as alice:
        while not stops.is_set():
            approval = house.submit(agent)
            assert house.decide(alice, approval).status_code == 303
            start(agent, approval)


def start(agent, approval):
    body = json.dumps({"state": "started", "digest": approval["digest"]})
    headers = {"Idempotency-Key": f"start-{approval['id']}", "Content-Type": "application/json"}
    path = f"/api/v1/approvals/{approval['id']}/outcome"
    return agent.post(path, content=body, headers=headers)


def test_backups_beside_traffic_all_restore_and_verify(running, tmp_path, rounds, takes_long):
    house, stops, errors = running, threading.Event(), []

    def keep_asking(number):
        try:
            traffic(house, number, stops)
        except Exception as error:  # noqa: BLE001 - told below
            errors.append(error)

    threads = [threading.Thread(target=keep_asking, args=[number]) for number in range(2)]
    for thread in threads:
        thread.start()
    heads = [backed_up(house, tmp_path / f"backup-{number}") for number in range(rounds)]
    stops.set()
    for thread in threads:
        thread.join()

    assert errors == []
    numbers = [int(head.partition(":")[0]) for head in heads]
    assert numbers == sorted(set(numbers))
    assert house.audit_is_whole() is True
    kept = (tmp_path / "backup-0.head").read_text().split()[1]
    assert kept == heads[0]


@pytest.fixture(scope="module")
def before(house, tmp_path_factory):
    """A backup with an approval that was used after it: its file, and what was asked."""
    file = tmp_path_factory.mktemp("backup") / "before"
    house.start()
    with house.agent() as agent, house.browser() as alice:
        approval = house.submit(agent)
        assert house.decide(alice, approval).status_code == 303
        backed_up(house, file)
        assert start(agent, approval).status_code == 200
        pending = house.submit(agent)
    return file, approval, pending


def restored(house, file, *more):
    return house.manage("restore", str(file), "--as", "root", *more)


def test_under_a_running_server_nothing_is_restored(running, before):
    done = restored(running, before[0], "--older")

    assert done.returncode == 1
    assert "Nothing was done. Stop it first" in done.stderr
    assert httpx2.get(f"{running.url}/readyz", trust_env=False).status_code == 200


def test_an_older_backup_is_named_as_old_and_changes_nothing(house, before):
    house.end_servers()
    head = house.rows("SELECT seq FROM dashboard_audithead")
    done = restored(house, before[0])

    assert done.returncode == 1
    assert "The backup is older than the database" in done.stderr
    assert "this would be lost: 0 decisions, and that 1 approval was used." in done.stderr
    assert house.rows("SELECT seq FROM dashboard_audithead") == head


@pytest.mark.parametrize("wrong", ["nothing there", "no backup", "cut"])
def test_what_is_no_whole_backup_is_not_restored(house, before, tmp_path, wrong):
    file = tmp_path / "wrong"
    if wrong != "nothing there":
        whole = before[0].read_bytes()
        file.write_bytes(b"no backup" * 999 if wrong == "no backup" else whole[: len(whole) // 2])
    house.end_servers()
    head = house.rows("SELECT seq, hash FROM dashboard_audithead")
    done = restored(house, file, "--older")

    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert house.rows("SELECT seq, hash FROM dashboard_audithead") == head


def test_a_restore_that_is_killed_leaves_one_or_the_other(house, before, takes_long):
    house.end_servers()
    command = [*MANAGE, "restore", str(before[0]), "--as", "root", "--older"]
    for wait_s in (1.0, 3.0):
        process = subprocess.Popen(command, cwd=ROOT, env=house.environment)
        time.sleep(wait_s)
        process.kill()
        process.wait()
        assert house.audit_is_whole() is True


def test_what_was_used_after_the_backup_is_not_used_again(house, before):
    file, approval, pending = before
    house.end_servers()
    done = restored(house, file, "--older")
    assert done.returncode == 0, done.stderr
    house.start()
    with house.agent() as agent:
        reply = start(agent, approval)
        lost = agent.get(f"/api/v1/approvals/{pending['id']}")
        asked_anew = house.submit(agent)
        assert (reply.status_code, reply.json()["code"]) == (409, "taken_back")
        assert lost.status_code == 404
        assert asked_anew["status"] == "pending"
    with house.browser() as alice:  # whose session was in the backup
        assert alice.get("/").status_code == 302
    assert house.rows("SELECT count(*) FROM dashboard_hold WHERE active") in ([(1,)], [[1]])
    assert house.audit_is_whole() is True
    kept = done.stdout.strip().rpartition(" is kept as ")[2].rstrip(".").split()[-1].strip('"')
    if POSTGRESQL:
        assert house.rows("SELECT count(*) FROM pg_database WHERE datname = ?", kept) == [(1,)]
        house.rows(f'DROP DATABASE "{kept}"')
    else:
        assert Path(kept).is_file()


def test_a_database_that_is_gone_is_restored_once_that_was_said(house, before):
    house.end_servers()
    if POSTGRESQL:
        drop_database(house.environment["DATABASE_URL"])
    else:
        (house.folder / "dashboard.sqlite3").unlink()
    refused = restored(house, before[0])
    done = restored(house, before[0], "--older")

    assert refused.returncode == 1
    assert (
        "The log of the database that was used last is not there to be read. It had"
        in refused.stderr
    )
    assert "is kept as" not in done.stdout
    assert done.returncode == 0, done.stderr
    house.start()
    with house.agent() as agent:
        assert house.submit(agent)["status"] == "pending"
    assert house.audit_is_whole() is True


def test_a_backup_is_not_written_over(house, tmp_path):
    file = tmp_path / "backup"
    file.write_text("mine")
    done = house.manage("backup", str(file))

    assert (done.returncode, file.read_text()) == (1, "mine")
    assert "exists already" in done.stderr


def test_without_a_folder_for_it_there_is_no_backup(house, tmp_path):
    done = house.manage("backup", str(tmp_path / "no" / "folder" / "backup"))

    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.iterdir())


def test_a_backup_that_lacks_nothing_is_restored_without_a_word(house, tmp_path):
    house.start()
    house.end_servers()
    noted = "SELECT count(*) FROM dashboard_auditentry WHERE subject = 'backup'"
    [(before,)] = house.rows(noted)
    backed_up(house, tmp_path / "latest")
    assert house.rows(noted) == [(before + 1,)]
    done = restored(house, tmp_path / "latest")

    assert done.returncode == 0, done.stderr
    assert house.audit_is_whole() is True


NEWER_SCHEMA = """
from django.db.migrations.recorder import MigrationRecorder
MigrationRecorder.Migration.objects.create(app="dashboard", name="9999_newer")
"""
OLD_SCHEMA = NEWER_SCHEMA.replace("create(", "filter(").rstrip() + ".delete()"


def test_a_backup_that_could_not_be_recorded_is_said_to_be_there(house, tmp_path):
    house.manage("shell", "-v0", "-c", NEWER_SCHEMA)
    done = house.manage("backup", str(tmp_path / "backup"))
    house.manage("shell", "-v0", "-c", OLD_SCHEMA)

    assert done.returncode == 1
    assert "was made and verified. The audit log does not say so." in done.stderr
    assert (tmp_path / "backup.head").is_file()


def test_what_only_the_data_folder_knows_of_is_lost_and_recorded(house, tmp_path):
    house.end_servers()
    backed_up(house, tmp_path / "latest")
    later = f"900000:{'a' * 64}"  # of the database that was used before this one
    (house.folder / "audit_head").write_text(f"{later}\n")
    refused = restored(house, tmp_path / "latest")
    done = restored(house, tmp_path / "latest", "--older")

    assert refused.returncode == 1
    assert "It had 900,000 entries and the backup has" in refused.stderr
    assert done.returncode == 0, done.stderr
    query = "SELECT details FROM dashboard_auditentry WHERE action = 'database.accepted'"
    assert later in str(house.rows(f"{query} ORDER BY seq DESC LIMIT 1"))
    assert house.audit_is_whole() is True
