"""Whatever keeps a server from approving, ``/readyz`` says so in time, and takes it back."""

import shutil
import time
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import httpx2
import pytest

from tests.faults.proxy import Proxy
from tests.serving import DATABASE_URL, POSTGRESQL, serve

WITHIN_S = 2.5  # two seconds, and a busy machine
WELL_WITHIN_S = 25.0  # what waits for SQLite's lock gives up after twenty


@pytest.fixture(scope="module")
def house():
    with serve() as house:
        yield house
        assert house.audit_is_whole() is True


def asked(house):
    """Ask how it is; returns statuses of ``/healthz`` and ``/readyz``, reasons and seconds."""
    began = time.monotonic()
    ready = httpx2.get(f"{house.url}/readyz", timeout=20, trust_env=False)
    took_s = time.monotonic() - began
    alive = httpx2.get(f"{house.url}/healthz", timeout=20, trust_env=False)
    return alive.status_code, ready.status_code, " ".join(ready.json()["why"]), took_s


def is_found(house, fault, words):
    """See that a fault is told while it lasts, and that all is well by itself after it."""
    assert asked(house)[:2] == (200, 200)
    with fault:
        alive, ready, why, took_s = asked(house)
    assert (alive, ready) == (200, 503)
    assert words in why
    assert took_s < WITHIN_S
    gives_up_at = time.monotonic() + WELL_WITHIN_S
    while asked(house)[1] != 200:
        assert time.monotonic() < gives_up_at, asked(house)
        time.sleep(0.1)


@contextmanager
def locked(house, *statements):
    with house.database() as connection:
        for statement in statements:
            connection.execute(statement)
        yield
        connection.execute("ROLLBACK")


@contextmanager
def replaced(file, *, by_a_copy):
    away = file.with_suffix(".away")
    file.rename(away)
    if by_a_copy:
        shutil.copy(away, file)
    yield
    away.replace(file)


@contextmanager
def clock_set_back(house):
    [[latest_at]] = house.rows("SELECT latest_at FROM dashboard_audithead")
    to_come = datetime.now(UTC) + timedelta(hours=1)
    move = "UPDATE dashboard_audithead SET latest_at = ?"
    house.rows(move, to_come if POSTGRESQL else to_come.strftime("%Y-%m-%d %H:%M:%S.%f"))
    yield
    house.rows(move, latest_at)


@contextmanager
def older_database(house):
    """Have a head be kept in the data folder that the log does not have."""
    file = house.folder / "audit_head"
    gives_up_at = time.monotonic() + WELL_WITHIN_S
    while not file.exists():  # until the server has kept one
        assert time.monotonic() < gives_up_at
        time.sleep(0.1)
    [[seq]] = house.rows("SELECT seq FROM dashboard_audithead")
    before = file.read_text()
    lost = f"{seq + 100}:{'a' * 64}\n"
    file.write_text(lost)
    time.sleep(1.5)  # the server keeps heads each second, and must not keep one now
    if file.read_text() != lost:  # it was about to, with an entry that was just written
        file.write_text(lost)
        time.sleep(1.5)
    assert file.read_text() == lost
    yield
    file.write_text(before)


@contextmanager
def guard_off(house):
    table = "dashboard_approvalrequest"
    if POSTGRESQL:
        house.rows(f"ALTER TABLE {table} DISABLE TRIGGER guard_request_final")
        yield
        house.rows(f"ALTER TABLE {table} ENABLE TRIGGER guard_request_final")
        return
    [[made]] = house.rows("SELECT sql FROM sqlite_master WHERE name = 'guard_request_final'")
    house.rows("DROP TRIGGER guard_request_final")
    yield
    house.rows(made)


def started(agent, approval):
    """Report that what was approved begins; returns the answer."""
    report = {"state": "started", "digest": approval["digest"]}
    key = {"Idempotency-Key": f"start-{approval['id']}"}
    return agent.post(f"/api/v1/approvals/{approval['id']}/outcome", json=report, headers=key)


def test_a_clock_that_was_set_back(house):
    is_found(house, clock_set_back(house), "The clock was set back")


def test_a_log_behind_the_head_that_was_kept(house):
    is_found(house, older_database(house), "restored from an older backup")


def test_a_guard_that_is_off(house):
    is_found(house, guard_off(house), "The database lacks 1 guard (request_final)")


@pytest.mark.engine("sqlite")
def test_a_file_that_somebody_has_locked(house):
    is_found(house, locked(house, "BEGIN EXCLUSIVE"), "did not answer within 2 s")


@pytest.mark.engine("sqlite")
@pytest.mark.parametrize("by_a_copy", [True, False])
def test_a_file_that_was_replaced_or_removed(house, by_a_copy):
    file = house.folder / "dashboard.sqlite3"
    is_found(house, replaced(file, by_a_copy=by_a_copy), "was replaced or removed")


@pytest.mark.parametrize("fault", [older_database, guard_off])
def test_nothing_is_approved_or_started_in_a_database_that_is_in_doubt(house, fault):
    with house.agent() as agent, house.browser() as alice:
        approval, approved = house.submit(agent), house.submit(agent)
        form = house.form(alice, approval)
        house.decide(alice, approved)
        with fault(house):
            time.sleep(2.5)  # the server looks each second
            page = house.decide(alice, approval, form=form)
            start = started(agent, approved)
            assert agent.get(f"/api/v1/approvals/{approval['id']}").json()["status"] == "pending"
            assert "not as this server knew it" in alice.get(f"{house.url}/").text
        time.sleep(2.5)
        assert page.status_code == 409
        assert (start.status_code, start.json()["code"]) == (409, "database_in_doubt")
        assert house.decide(alice, approval).status_code == 303
        assert started(agent, approved).status_code == 200


@pytest.mark.engine("sqlite")
def test_nothing_is_decided_in_a_file_that_was_replaced(house):
    with house.agent() as agent, house.browser() as alice:
        approval = house.submit(agent)
        form = house.form(alice, approval)
        with replaced(house.folder / "dashboard.sqlite3", by_a_copy=True):
            assert house.decide(alice, approval, form=form).status_code == 503
        assert house.decide(alice, approval, form=form).status_code == 303


@pytest.mark.engine("postgresql")
@pytest.mark.parametrize("mode", ["ACCESS EXCLUSIVE", "SHARE"])
def test_a_table_that_somebody_has_locked(house, mode):
    lock = locked(house, "BEGIN", f"LOCK TABLE dashboard_decision IN {mode} MODE")
    is_found(house, lock, "Nothing can be recorded: canceling statement due to lock timeout")


@pytest.mark.engine("postgresql")
def test_a_head_that_somebody_has_locked(house):
    lock = locked(house, "BEGIN", "SELECT * FROM dashboard_audithead FOR UPDATE")
    is_found(house, lock, "Nothing can be recorded: canceling statement due to lock timeout")


@pytest.mark.engine("postgresql")
def test_a_database_that_is_frozen(house):
    with Proxy(DATABASE_URL) as proxy:
        house.server.kill()
        before = house.server.environment["DATABASE_URL"]
        through = proxy.url.rpartition("/")[0]
        house.server.environment["DATABASE_URL"] = f"{through}/{before.rpartition('/')[2]}"
        house.start()
        is_found(house, frozen(proxy), "did not answer within 2 s")
        house.server.kill()
        house.server.environment["DATABASE_URL"] = before
        house.start()


@contextmanager
def frozen(proxy):
    proxy.freeze()
    yield
    proxy.thaw()
