"""A host is told of every decision, at least once, whatever happens to it or to us."""

import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from django.db import connection, transaction
from django.db.models import F

from approval_client.webhooks import NotGenuine, verify
from approval_client.wire import Status
from dashboard.approvals.models import Closing, Decision
from dashboard.approvals.services import cancel, expire, recall
from dashboard.audit.models import AuditEntry
from dashboard.clock import database_now
from dashboard.notifications import delivering, sending
from dashboard.notifications.models import Delivery, State, Webhook
from dashboard.notifications.sending import Sent
from dashboard.notifications.services import (
    attempts,
    begin,
    forget_deliveries,
    new_secret,
    queue_decided,
    settle,
    switch,
)
from dashboard.notifications.services.attempts import MOST_ATTEMPTS, pause_s
from tests import make
from tests.notifications.host import FOR_THE_EARLIER_ADDRESS, hosted

pytestmark = pytest.mark.django_db
URL = "http://127.0.0.1:9/hook"
TAKEN, REFUSED = Sent(taken=True, said="It answered 200."), Sent(taken=False, said="No.")


def told(host):
    return [json.loads(call.body)["data"]["status"] for call in host.calls]


def test_a_decision_reaches_the_host_and_convinces_the_client(
    host, called_back, deliver, token, alice
):
    secret = called_back(host.url)
    approval = make.approved(token, alice)
    deliver()

    [call] = host.calls
    event = verify(call.headers, call.body, secret)
    assert (event.id, event.status) == (str(approval.pk), Status.APPROVED)
    assert (event.digest, event.decided_at) == (approval.digest, approval.decision.decided_at)


def test_every_end_is_told(host, called_back, deliver, token, alice):
    called_back(host.url)
    rejected, cancelled, overdue = make.pending(token), make.pending(token), make.overdue(token)
    make.decided(rejected, alice, Status.REJECTED, reason="No.")
    cancel(approval_id=cancelled.pk, token=token)
    expire(overdue.pk)
    deliver()

    assert told(host) == ["rejected", "cancelled", "expired"]


def test_an_approval_that_is_taken_back_is_told_as_cancelled(
    host, called_back, deliver, token, alice
):
    secret = called_back(host.url)
    approval = make.approved(token, alice)
    deliver()
    taken_back = recall(
        approval_id=approval.pk, person=alice, auth="session:password", reason="Not now."
    )
    deliver()

    assert told(host) == ["approved", "cancelled"]
    event = verify(host.calls[1].headers, host.calls[1].body, secret)
    assert (event.id, event.status) == (str(approval.pk), Status.CANCELLED)
    assert event.decided_at == taken_back.taken_back_at
    assert json.loads(host.calls[1].body)["data"]["taken_back"] is True


def test_what_is_decided_and_taken_back_before_anybody_looks_is_told_in_order(
    host, called_back, deliver, token, alice
):
    called_back(host.url)
    first, second = make.approved(token, alice), make.approved(token, alice)
    recall(approval_id=first.pk, person=alice, auth="session:password", reason="Not now.")
    make.decided(make.pending(token), alice, Status.REJECTED)
    deliver()

    assert told(host) == ["approved", "approved", "cancelled", "rejected"]
    assert str(second.pk) in host.calls[1].body.decode()


def test_switched_on_after_it_nothing_is_told_of_what_was_taken_back(
    host, called_back, deliver, token, alice
):
    approval = make.approved(token, alice)
    recall(approval_id=approval.pk, person=alice, auth="session:password", reason="Not now.")
    called_back(host.url)
    deliver()

    assert host.calls == []


def test_nothing_of_the_content_or_the_reason_is_sent(host, called_back, deliver, token, alice):
    called_back(host.url)
    approval = make.pending(token, content={"code": "launch()"}, objective="Launch.")
    make.decided(approval, alice, Status.REJECTED, reason="Not today.")
    deliver()

    body = json.loads(host.calls[0].body)
    assert (set(body), body["type"]) == ({"type", "timestamp", "data"}, "approval.rejected")
    assert set(body["data"]) == {"id", "status", "decided_at", "digest"}


def test_what_was_decided_before_is_not_told(host, called_back, deliver, token, alice):
    make.approved(token, alice)
    called_back(host.url)
    deliver()

    assert host.calls == []


def test_another_agents_decisions_are_not_told(host, called_back, deliver, alice):
    called_back(host.url)
    make.approved(make.token(make.agent("stranger")), alice)
    deliver()

    assert host.calls == []


def test_each_decision_is_told_once(host, called_back, deliver, token, alice):
    called_back(host.url)
    make.approved(token, alice)
    deliver()
    deliver()

    assert told(host) == ["approved"]
    assert Delivery.objects.get().state == State.DELIVERED


def test_what_was_decided_before_a_crash_is_told_after_it(
    host, called_back, deliver, token, alice
):
    called_back(host.url)
    make.approved(token, alice)  # and nothing else is written: the server ended here

    assert (Closing.objects.count(), Delivery.objects.count()) == (1, 0)
    deliver()
    assert told(host) == ["approved"]


def test_who_answers_500_is_asked_again_with_the_same_message(
    called_back, deliver, hurry, token, alice
):
    with hosted(500, 200) as host:
        called_back(host.url)
        make.approved(token, alice)
        deliver()
        waits = Delivery.objects.get()
        hurry()
        deliver()

    assert (waits.state, waits.said) == (State.WAITING, "It answered 500.")
    assert waits.due_at > waits.tried_at
    assert len({call.headers["webhook-id"] for call in host.calls}) == 1
    assert Delivery.objects.get().state == State.DELIVERED


def test_it_is_given_up_after_ten_attempts(called_back, deliver, hurry, token, alice):
    with hosted(503) as host:
        called_back(host.url)
        make.approved(token, alice)
        for _ in range(12):
            deliver()
            hurry()

    delivery = Delivery.objects.get()
    assert len(host.calls) == MOST_ATTEMPTS == 10
    assert (delivery.state, delivery.said) == (State.GIVEN_UP, "It answered 503.")


def test_a_host_that_says_it_is_gone_is_called_no_more(called_back, deliver, hurry, token, alice):
    with hosted(410) as host:
        called_back(host.url)
        first, second = (make.decided(make.pending(token), alice) for _ in range(2))
        for _ in range(3):
            deliver()
            hurry()

    assert len(host.calls) == 1
    assert not Webhook.objects.get().is_active
    states = {row.approval_id: (row.state, row.said) for row in Delivery.objects.all()}
    gone = "It answered 410: it is gone for good."
    assert states == {
        first.approval_id: (State.GIVEN_UP, gone),
        second.approval_id: (State.DROPPED, f"{gone} So the webhook was switched off."),
    }
    assert AuditEntry.objects.latest("seq").action == "webhook.switched_off"


@FOR_THE_EARLIER_ADDRESS
def test_what_the_earlier_address_answers_delays_nothing_at_the_new_one(
    called_back, token, alice, outcome
):
    called_back(URL)
    make.approved(token, alice)
    queue_decided()
    attempt = begin(Webhook.objects.get().pk)
    called_back(f"{URL}/new")
    settle(attempt, outcome)

    webhook, delivery = Webhook.objects.get(), Delivery.objects.get()
    assert (webhook.is_active, webhook.rests_until) == (True, None)
    assert delivery.state == State.WAITING
    assert delivery.due_at < database_now() + timedelta(seconds=10)


def test_a_host_that_asks_to_be_left_alone_is(called_back, token, alice):
    called_back(URL)
    make.approved(token, alice)
    queue_decided()
    webhook = Webhook.objects.get()
    settle(begin(webhook.pk), Sent(taken=False, said="503.", retry_after_s=3600.0))
    Delivery.objects.update(due_at=database_now())

    assert begin(webhook.pk) is None


def test_the_pauses_grow_to_six_hours_and_chance_shortens_them():
    pauses = [pause_s(attempt, 0.0) for attempt in range(1, MOST_ATTEMPTS)]

    assert pauses == [5, 20, 80, 320, 1280, 5120, 20480, 21600, 21600]
    assert pause_s(1, 1.0) == 3.75


def test_a_redirect_is_not_followed(called_back, deliver, token, alice):
    with hosted(302) as host:
        called_back(host.url)
        make.approved(token, alice)
        deliver()

    assert Delivery.objects.get().said == (
        "It answered 302. Redirects are not followed: enter the address itself."
    )


def test_a_host_that_is_not_there_is_said_so(called_back, deliver, token, alice):
    called_back("http://127.0.0.1:9/")
    make.approved(token, alice)
    deliver()

    assert Delivery.objects.get().said == "No connection to it could be made."


def test_a_slow_host_is_left_after_a_bounded_time(
    host, called_back, deliver, token, alice, monkeypatch
):
    monkeypatch.setattr(sending, "SEND_WITHIN_S", 0.05)
    host.held.clear()
    called_back(host.url)
    make.approved(token, alice)
    deliver()

    assert Delivery.objects.get().said == "It did not answer within 0.05 s."


def test_a_slow_host_does_not_delay_the_others(host, called_back, deliver, token, alice):
    slow = make.agent("slow")
    with hosted() as other:
        other.held.clear()
        called_back(other.url, slow)
        called_back(host.url)
        make.approved(make.token(slow), alice)
        make.approved(token, alice)
        release_when(other, lambda: host.calls)
        deliver()

    assert told(host) == told(other) == ["approved"]


def release_when(host, happened):
    """Let a host answer once something happened elsewhere, or never."""

    def wait():
        until = time.monotonic() + 5
        while not happened() and time.monotonic() < until:
            time.sleep(0.01)
        if happened():
            host.held.set()

    threading.Thread(target=wait, daemon=True).start()


def test_no_more_hosts_are_called_at_once_than_may_be(
    host, called_back, deliver, alice, monkeypatch
):
    monkeypatch.setattr(delivering, "MOST_AT_ONCE", 2)
    for number in range(3):
        called_back(host.url, of := make.agent(f"agent-{number}"))
        make.approved(make.token(of), alice)
    deliver()
    assert len(host.calls) == 2
    deliver()
    assert len(host.calls) == 3


def test_of_two_workers_one_sends(called_back, host, token, alice):
    called_back(host.url)
    make.approved(token, alice)
    queue_decided()
    webhook = Webhook.objects.get()

    assert [bool(begin(webhook.pk)), bool(begin(webhook.pk))] == [True, False]


def test_of_two_workers_that_look_at_once_one_sends(called_back, host, token, alice, monkeypatch):
    called_back(host.url)
    make.approved(token, alice)
    queue_decided()
    webhook, others = Webhook.objects.get(), []

    def in_between(name):
        monkeypatch.setattr(attempts, "F", F)
        others.append(begin(webhook.pk))
        return F(name)

    monkeypatch.setattr(attempts, "F", in_between)

    assert begin(webhook.pk) is None
    assert [other.number for other in others] == [1]


def test_a_delivery_whose_worker_was_killed_is_begun_again(called_back, host, hurry, token, alice):
    called_back(host.url)
    make.approved(token, alice)
    queue_decided()
    webhook = Webhook.objects.get()
    killed = begin(webhook.pk)
    hurry()
    again = begin(webhook.pk)

    assert (again.headers["webhook-id"], again.number) == (killed.headers["webhook-id"], 2)
    assert settle(killed, TAKEN) is False  # it turned up late, and it is not its own any more
    assert settle(again, TAKEN) is True


def test_whoever_began_it_has_it_for_a_minute(called_back, host, token, alice):
    called_back(host.url)
    make.approved(token, alice)
    queue_decided()
    begin(Webhook.objects.get().pk)

    left = Delivery.objects.get().due_at - database_now()
    assert timedelta(seconds=55) < left <= timedelta(seconds=60)


def test_a_kill_over_the_last_attempt_gives_it_up(called_back, host, hurry, token, alice):
    called_back(host.url)
    make.approved(token, alice)
    queue_decided()
    Delivery.objects.update(attempts=MOST_ATTEMPTS)

    assert begin(Webhook.objects.get().pk) is None
    assert Delivery.objects.get().state == State.GIVEN_UP


def test_switched_off_nothing_is_sent(called_back, host, deliver, token, alice, agent, ada):
    called_back(host.url)
    make.approved(token, alice)
    queue_decided()
    switch(agent_id=agent.pk, on=False, by=ada, auth="")
    make.approved(token, alice)
    deliver()

    assert host.calls == []
    assert Delivery.objects.get().state == State.DROPPED


@pytest.mark.parametrize(
    ("sent", "state"),
    [(TAKEN, State.DELIVERED), (REFUSED, State.DROPPED)],
    ids=["arrived", "failed"],
)
def test_switched_off_an_attempt_that_is_under_way_tells_what_came_of_it(
    called_back, deliver, token, agent, ada, sent, state
):
    called_back("http://127.0.0.1:9/hook")
    make.approved(token, make.person("bob", reviewer=True))
    queue_decided()
    attempt = begin(Webhook.objects.get().pk)
    switch(agent_id=agent.pk, on=False, by=ada, auth="")
    settle(attempt, sent)
    Delivery.objects.update(tried_at=F("tried_at") - 2 * attempts.MINE_FOR)
    deliver()

    assert Delivery.objects.get().state == state


def test_switched_on_again_it_begins_with_what_is_decided_then(
    called_back, host, deliver, token, alice, agent, ada
):
    called_back(host.url)
    switch(agent_id=agent.pk, on=False, by=ada, auth="")
    make.approved(token, alice)
    switch(agent_id=agent.pk, on=True, by=ada, auth="")
    late = make.approved(token, alice)
    deliver()

    assert [json.loads(call.body)["data"]["id"] for call in host.calls] == [str(late.pk)]


def test_switched_on_again_what_is_under_way_tells_what_came_of_it(
    called_back, token, alice, agent, ada
):
    called_back(URL)
    make.approved(token, alice)
    queue_decided()
    attempt = begin(Webhook.objects.get().pk)
    for on in (False, True):
        switch(agent_id=agent.pk, on=on, by=ada, auth="")
    settle(attempt, TAKEN)

    assert Delivery.objects.get().state == State.DELIVERED


def test_for_a_day_both_secrets_are_believed(called_back, host, deliver, token, alice, agent, ada):
    old = called_back(host.url)
    new = new_secret(agent_id=agent.pk, at_once=False, by=ada, auth="")
    make.approved(token, alice)
    deliver()

    [call] = host.calls
    assert verify(call.headers, call.body, old) == verify(call.headers, call.body, new)


@pytest.mark.parametrize("how", ["at once", "a day later"])
def test_then_only_the_new_one_is(called_back, host, deliver, token, alice, agent, ada, how):
    old = called_back(host.url)
    new = new_secret(agent_id=agent.pk, at_once=how == "at once", by=ada, auth="")
    Webhook.objects.filter(earlier_until__isnull=False).update(earlier_until=database_now())
    make.approved(token, alice)
    deliver()

    [call] = host.calls
    assert verify(call.headers, call.body, new).status == Status.APPROVED
    with pytest.raises(NotGenuine):
        verify(call.headers, call.body, old)


def test_the_earlier_secret_goes_on_signing_when_the_secret_key_was_changed_in_between(
    called_back, host, deliver, token, alice, agent, ada, settings
):
    old = called_back(host.url)
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "another key than the one before"
    new = new_secret(agent_id=agent.pk, at_once=False, by=ada, auth="")
    make.approved(token, alice)
    deliver()

    [call] = host.calls
    assert verify(call.headers, call.body, old) == verify(call.headers, call.body, new)


def test_with_another_secret_key_nothing_is_sent(
    called_back, host, deliver, token, alice, settings
):
    called_back(host.url)
    settings.SECRET_KEY = "another key than the one before"
    make.approved(token, alice)
    deliver()

    assert host.calls == []
    assert Delivery.objects.get().said.startswith("Nothing was sent: SECRET_KEY has changed")


def test_a_secret_key_that_is_still_named_goes_on_signing(
    called_back, host, deliver, token, alice, settings
):
    secret = called_back(host.url)
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "another key than the one before"
    make.approved(token, alice)
    deliver()

    assert verify(host.calls[0].headers, host.calls[0].body, secret).status == Status.APPROVED


def test_what_is_a_month_old_is_forgotten_unless_it_waits(called_back, host, token, alice):
    called_back(host.url)
    for _ in range(2):
        make.approved(token, alice)
    queue_decided()
    Delivery.objects.update(made_at=database_now() - timedelta(days=31))
    settle(begin(Webhook.objects.get().pk), TAKEN)

    assert forget_deliveries() == 1
    assert Delivery.objects.get().state == State.WAITING


def test_a_host_that_fails_makes_no_decision_fail(called_back, deliver, token, alice):
    with hosted(500) as host:
        called_back(host.url)
        make.approved(token, alice)
        deliver()
        make.approved(token, alice)
        deliver()

    assert len(host.calls) == 2
    assert list(Decision.objects.values_list("status", flat=True)) == [Status.APPROVED] * 2


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("7", 7.0),
        (" 120 ", 120.0),
        ("86400", 3600.0),
        ("9" * 400, 3600.0),
        ("Fri, 31 Dec 9999 23:59:59 GMT", 3600.0),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0.0),
        ("-5", 0.0),
        ("1.5", 0.0),
        ("soon", 0.0),
        ("\u0663", 0.0),
        ("", 0.0),
        (None, 0.0),
    ],
)
def test_a_host_asks_to_be_left_alone_in_seconds_or_until_a_date(value, seconds):
    assert sending.retry_after_s(value) == seconds


def test_a_date_a_minute_away_is_a_minute():
    until = datetime.now(UTC) + timedelta(minutes=1)

    assert 55 < sending.retry_after_s(format_datetime(until, usegmt=True)) <= 60


@pytest.mark.parametrize(
    ("status", "seconds"), [(429, 30.0), (503, 30.0), (500, 0.0), (302, 0.0), (200, 0.0)]
)
async def test_only_a_host_that_is_busy_is_left_alone_for_as_long_as_it_asks(status, seconds):
    with hosted(status) as host:
        host.more = {"Retry-After": "30"}
        sent = await sending.send(host.url, {}, b"{}")

    assert sent.retry_after_s == seconds


@pytest.mark.engine("postgresql")  # the other one has one writer at a time
@pytest.mark.django_db(transaction=True)
def test_of_two_that_take_the_same_delivery_at_once_one_gets_it(host, called_back, token, alice):
    called_back(host.url)
    make.approved(token, alice)
    queue_decided()
    webhook = Webhook.objects.get().pk

    def take():
        try:
            return begin(webhook)
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            assert begin(webhook)
            other = pool.submit(take)
            wait_until_somebody_waits_for_a_row()
        assert other.result() is None


def wait_until_somebody_waits_for_a_row():
    gives_up_at = time.monotonic() + 10
    with connection.cursor() as cursor:
        while time.monotonic() < gives_up_at:
            cursor.execute("SELECT count(*) FROM pg_locks WHERE NOT granted")
            if cursor.fetchone()[0]:
                return
            time.sleep(0.01)
    raise AssertionError("nobody waits")
