"""Hosts that are called back while servers are killed, and while several of them run."""

import json
import re
import signal
import time

import pytest

from approval_client import Client
from approval_client.webhooks import verify
from tests.faults.conftest import IN_CHECKS
from tests.notifications.host import hosted
from tests.serving import CSRF, serve

ALLOWED = {"WEBHOOK_NETWORKS": "127.0.0.0/8"}
# Whoever begins a call has it for MINE_FOR, also after a kill, which is longer than a test waits.
LATER = "UPDATE dashboard_delivery SET due_at = made_at WHERE state = 'waiting'"
MAKE_ADMIN = """
from dashboard.accounts.models import User
from dashboard.audit.services import OPERATOR
from dashboard.accounts.services.people import change_roles

alice = User.objects.get(username="alice")
change_roles(alice, roles={"reviewer": True, "admin": True}, by=OPERATOR)
"""
WITHIN_S = 20


@pytest.fixture
def house(rough_house):
    """A dashboard on which each test asks as another agent, of those that no other file uses."""
    return rough_house


def set_up(house, url, number=0):
    """Have an agent's host called back at an address; returns the secret."""
    done = house.manage("shell", "-v0", "-c", MAKE_ADMIN)
    assert done.returncode == 0, done.stderr
    [(agent,)] = house.rows("SELECT id FROM dashboard_agent WHERE name = ?", f"agent-{number}")
    with house.browser() as browser:
        form = {"url": url, "csrfmiddlewaretoken": CSRF}
        page = browser.post(f"/agents/{agent}/webhook", data=form)
    return re.search(r'id="secret">(whsec_[^<]+)<', page.text)[1]


def until(happened):
    gives_up_at = time.monotonic() + WITHIN_S
    while not happened() and time.monotonic() < gives_up_at:
        time.sleep(0.02)
    return happened()


def decide(house, count, number=0):
    """Have that many requests of an agent approved; returns their ids."""
    ids = []
    with house.agent(number) as agent, house.browser() as browser:
        for _ in range(count):
            approval = house.submit(agent)
            assert house.decide(browser, approval).status_code == 303
            ids.append(approval["id"])
    return ids


def ids_of(host):
    return [json.loads(call.body)["data"]["id"] for call in host.calls]


def test_a_server_that_is_killed_after_a_decision_tells_it_when_it_is_back(house):
    with hosted() as host:
        secret = set_up(house, host.url, 5)
        ids = decide(house, 3, 5)
        house.server.kill()
        change(house, LATER)
        house.start()

        assert until(lambda: set(ids_of(host)) == set(ids))
        assert [verify(c.headers, c.body, secret).id for c in host.calls] == ids_of(host)


def test_a_server_that_is_killed_over_a_call_makes_it_again(house):
    with hosted() as host:
        host.held.clear()
        set_up(house, host.url, 6)
        ids = decide(house, 1, 6)
        assert until(lambda: host.calls)
        house.server.kill()
        host.held.set()
        change(house, LATER)
        house.start()

        assert until(lambda: ids_of(host) == ids * 2)
        assert len({call.headers["webhook-id"] for call in host.calls}) == 1


def change(house, sql):
    """Do something in the database that no service does."""
    with house.database() as connection:
        connection.execute(sql)


def test_two_servers_and_a_worker_send_each_message_once():
    with hosted() as host, serve(processes=2, worker=True, environment=ALLOWED) as house:
        set_up(house, host.url)
        ids = decide(house, 20 if IN_CHECKS else 8)

        assert until(lambda: len(host.calls) >= len(ids))
        assert sorted(ids_of(host)) == sorted(ids)
        assert house.errors() == []


def test_what_was_decided_is_read_on_after_a_kill(house):
    first, second = decide(house, 2, 7)
    client = Client(house.url, house.tokens[7])
    assert [answer.id for answer in client.iter_decided()] == [first, second]
    house.server.kill()
    house.start()

    assert [answer.id for answer in client.iter_decided(first)] == [second]


def test_a_server_that_ends_does_not_wait_for_a_slow_host(house):
    with hosted() as host:
        host.held.clear()
        set_up(house, host.url, 8)
        decide(house, 1, 8)
        assert until(lambda: host.calls)
        house.server.send(signal.SIGTERM)
        code, took_s = house.server.ended()

    assert code == 0
    assert took_s < 5
