"""Hosts that are called back while servers are killed, and while several of them run."""

import json
import signal
import time

from approval_client import Client
from approval_client.webhooks import verify
from tests.notifications.conftest import hosted
from tests.serving import serve

ALLOWED = {"WEBHOOK_NETWORKS": "127.0.0.0/8"}
SET_UP = """
from dashboard.accounts.models import Agent, User
from dashboard.notifications.services import set_webhook
ada = User.objects.get(username="alice")
ada.is_admin = True
ada.save()
agent = Agent.objects.get(name="agent-0")
print("SECRET", set_webhook(agent=agent, url={url!r}, by=ada, auth="command")[1])
"""
LATER = "UPDATE dashboard_delivery SET due_at = made_at WHERE state = 'waiting'"
WITHIN_S = 20


def set_up(house, url):
    done = house.manage("shell", "-v0", "-c", SET_UP.format(url=url))
    assert done.returncode == 0, done.stderr
    return done.stdout.split()[-1]


def until(happened):
    gives_up_at = time.monotonic() + WITHIN_S
    while not happened() and time.monotonic() < gives_up_at:
        time.sleep(0.02)
    return happened()


def decide(house, count):
    """Have that many requests approved; returns their ids."""
    ids = []
    with house.agent(0) as agent, house.browser() as browser:
        for _ in range(count):
            approval = house.submit(agent)
            assert house.decide(browser, approval).status_code == 303
            ids.append(approval["id"])
    return ids


def ids_of(host):
    return [json.loads(call.body)["data"]["id"] for call in host.calls]


def test_a_server_that_is_killed_after_a_decision_tells_it_when_it_is_back():
    with hosted() as host, serve(environment=ALLOWED) as house:
        secret = set_up(house, host.url)
        ids = decide(house, 3)
        house.server.kill()
        house.start()

        assert until(lambda: set(ids_of(host)) == set(ids))
        assert [verify(c.headers, c.body, secret).id for c in host.calls] == ids_of(host)
        assert house.audit_is_whole() is True


def test_a_server_that_is_killed_over_a_call_makes_it_again():
    with hosted() as host, serve(environment=ALLOWED) as house:
        host.held.clear()
        set_up(house, host.url)
        ids = decide(house, 1)
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
        ids = decide(house, 20)

        assert until(lambda: len(host.calls) >= len(ids))
        assert sorted(ids_of(host)) == sorted(ids)
        assert house.errors() == []


def test_a_server_that_ends_does_not_wait_for_a_slow_host():
    with hosted() as host, serve(environment=ALLOWED) as house:
        host.held.clear()
        set_up(house, host.url)
        decide(house, 1)
        assert until(lambda: host.calls)
        house.server.send(signal.SIGTERM)
        code, took_s = house.server.ended()

    assert code == 0
    assert took_s < 5


def test_what_was_decided_is_read_on_after_a_kill():
    with serve() as house:
        first, second = decide(house, 2)
        client = Client(house.url, house.tokens[0])
        assert [answer.id for answer in client.iter_decided()] == [first, second]
        house.server.kill()
        house.start()

        assert [answer.id for answer in client.iter_decided(first)] == [second]
