"""Admins, and nobody else, say where a host is called back; every change is recorded."""

from uuid import uuid4

import pytest

from approval_client.wire import parse_json
from dashboard.accounts.models import User
from dashboard.audit.models import AuditEntry
from dashboard.notifications.errors import (
    AddressRefused,
    ChangeNotAllowed,
    NotSent,
    ReceiverNotFound,
)
from dashboard.notifications.models import Delivery, State, Webhook
from dashboard.notifications.services import (
    new_secret,
    queue_decided,
    send_again,
    set_webhook,
    switch,
)
from tests import make

pytestmark = pytest.mark.django_db
URL = "https://host.example.org/a/secret/path?key=1"


@pytest.fixture
def by(ada):
    return {"by": ada, "auth": "session:password"}


@pytest.fixture
def webhook(agent, by):
    return set_webhook(agent=agent, url=URL, **by)[0]


@pytest.fixture
def delivery(webhook, token, alice):
    """A message that waits."""
    make.approved(token, alice)
    queue_decided()
    return Delivery.objects.get()


def recorded():
    entries = AuditEntry.objects.filter(action__startswith="webhook.").order_by("seq")
    return [(e.actor, e.action, e.subject, parse_json(e.details)) for e in entries]


def test_the_secret_is_shown_once_and_kept_nowhere(agent, by):
    webhook, secret = set_webhook(agent=agent, url=URL, **by)

    assert secret.startswith("whsec_")
    assert [v for v in vars(webhook).values() if secret[6:] in str(v)] == []
    assert set_webhook(agent=agent, url=f"{URL}2", **by)[1] == ""


def test_every_secret_is_another_one(agent, webhook, by):
    shown = {new_secret(agent_id=agent.pk, at_once=False, **by) for _ in range(3)}

    assert len(shown) == 3


def test_the_log_names_the_host_and_not_the_path(webhook):
    details = {"host": "https://host.example.org"}

    assert recorded() == [("user:ada", "webhook.added", "agent:beamline", details)]


def test_every_change_is_recorded_and_what_changes_nothing_is_not(agent, webhook, by):
    set_webhook(agent=agent, url=URL, **by)
    set_webhook(agent=agent, url="https://other.example.org/", **by)
    new_secret(agent_id=agent.pk, at_once=True, **by)
    for on in (True, False, False, True):
        switch(agent_id=agent.pk, on=on, **by)

    assert [action for _, action, _, _ in recorded()] == [
        "webhook.added",
        "webhook.changed",
        "webhook.secret_made",
        "webhook.switched_off",
        "webhook.switched_on",
    ]


def test_an_address_that_is_refused_changes_nothing(agent, webhook, by):
    with pytest.raises(AddressRefused):
        set_webhook(agent=agent, url="https://169.254.169.254/latest", **by)

    assert Webhook.objects.get().url == URL


def test_who_is_no_admin_any_more_changes_nothing(agent, webhook, delivery, by, ada):
    User.objects.filter(pk=ada.pk).update(is_admin=False)
    for change in (
        lambda: set_webhook(agent=agent, url="https://other.example.org/", **by),
        lambda: new_secret(agent_id=agent.pk, at_once=True, **by),
        lambda: switch(agent_id=agent.pk, on=False, **by),
        lambda: send_again(agent_id=agent.pk, delivery_id=delivery.pk, **by),
    ):
        with pytest.raises(ChangeNotAllowed):
            change()

    assert len(recorded()) == 1


def test_an_agent_without_a_webhook_has_nothing_to_switch(agent, by):
    with pytest.raises(ReceiverNotFound):
        switch(agent_id=agent.pk, on=False, **by)


@pytest.mark.parametrize("state", [State.DELIVERED, State.GIVEN_UP, State.DROPPED])
def test_what_is_over_is_sent_again_from_the_first_attempt(agent, delivery, by, state):
    Delivery.objects.update(state=state, attempts=10)
    send_again(agent_id=agent.pk, delivery_id=delivery.pk, **by)

    again = Delivery.objects.get()
    assert (again.state, again.attempts) == (State.WAITING, 0)
    assert recorded()[-1][1] == "webhook.sent_again"


def test_what_waits_is_not_sent_again(agent, delivery, by):
    with pytest.raises(NotSent, match="already waiting to be sent"):
        send_again(agent_id=agent.pk, delivery_id=delivery.pk, **by)


def test_nothing_is_sent_again_while_it_is_off(agent, delivery, by):
    switch(agent_id=agent.pk, on=False, **by)

    with pytest.raises(NotSent, match="Switch it on first"):
        send_again(agent_id=agent.pk, delivery_id=delivery.pk, **by)


def test_a_delivery_of_another_agent_is_not_found(delivery, by):
    other = make.agent("stranger")
    set_webhook(agent=other, url=URL, **by)

    for pk in (delivery.pk, uuid4()):
        with pytest.raises(ReceiverNotFound):
            send_again(agent_id=other.pk, delivery_id=pk, **by)
