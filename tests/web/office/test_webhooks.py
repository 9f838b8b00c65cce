from datetime import timedelta

import pytest
from django.utils.html import strip_tags

from dashboard.clock import database_now
from dashboard.notifications.models import Delivery, State, Webhook
from dashboard.notifications.services import queue_decided
from dashboard.web.drawing import moments
from tests import make
from tests.web.pages import value_of

URL = "https://host.example.org/hook"
BY_ADA = ("user:ada", "session:password")


@pytest.fixture
def path(agent):
    return f"/agents/{agent.pk}/webhook"


@pytest.fixture
def secret(admin, path, read):
    """The secret of a webhook that was set up in the page."""
    return read(admin.post(path, {"url": URL}), "secret")


@pytest.fixture
def delivery(secret, token, alice):
    """A message that was given up."""
    make.approved(token, alice)
    queue_decided()
    given_up = {"state": State.GIVEN_UP, "attempts": 10, "said": "It answered 503."}
    Delivery.objects.update(tried_at=database_now(), **given_up)
    return Delivery.objects.get()


def test_the_agents_page_leads_to_it(admin, agent, path, read):
    page = admin.get(f"/agents/{agent.pk}")

    assert "No host is notified of decisions. Set up a webhook" in read(page, "main")
    assert f'href="{path}"' in page.content.decode()


def test_setting_it_up_shows_the_secret(secret, recorded):
    assert secret.startswith("whsec_")
    assert recorded("webhook.added") == [(*BY_ADA, "agent:beamline")]


def test_the_secret_is_shown_once(admin, secret, agent, path):
    for page in (path, f"/agents/{agent.pk}", "/audit"):
        assert secret not in admin.get(page).content.decode()


@pytest.mark.parametrize("url", ["", "http://host.example.org/", "https://10.0.0.1/"])
def test_an_address_that_will_not_do_sets_up_nothing(admin, path, url):
    assert admin.post(path, {"url": url}).status_code == 422
    assert Webhook.objects.count() == 0


def test_why_an_address_will_not_do_is_said(admin, path, read):
    reply = admin.post(path, {"url": "https://10.0.0.1/"})

    assert "10.0.0.1 is not on the public internet." in read(reply, "main")
    assert "Nothing was changed." in read(reply, "main")


def test_another_address_is_saved_and_shows_no_secret(admin, secret, path):
    shown = value_of(admin.get(path), "shown")
    reply = admin.post(path, {"url": "https://other.example.org/", "shown": shown})

    assert (reply.status_code, reply.url) == (302, path)
    assert Webhook.objects.get().url == "https://other.example.org/"


def test_an_address_that_was_changed_meanwhile_stays(admin, secret, path):
    shown = value_of(admin.get(path), "shown")
    admin.post(path, {"url": "https://other.example.org/", "shown": shown})
    reply = admin.post(path, {"url": URL, "shown": shown}, follow=True)

    assert Webhook.objects.get().url == "https://other.example.org/"
    assert "changed in the meantime. Nothing was saved" in reply.content.decode()


@pytest.mark.parametrize(
    ("form", "overlaps"), [({}, True), ({"at_once": "on"}, False)], ids=["a day", "at once"]
)
def test_a_new_secret_is_another_one(admin, secret, path, read, form, overlaps):
    page = admin.post(f"{path}/secret", form)

    assert read(page, "secret") not in {secret, ""}
    assert ("The previous secret also signs for one more day." in read(page, "main")) is overlaps
    assert (Webhook.objects.get().earlier_until is not None) is overlaps


def test_it_is_switched_off_and_on(admin, secret, path, read):
    admin.post(f"{path}/switch", {"on": "no"})
    off = Webhook.objects.get().is_active
    page = admin.post(f"{path}/switch", {"on": "yes"}, follow=True)

    assert (off, Webhook.objects.get().is_active) == (False, True)
    assert "The webhook is on. It notifies of decisions from now on." in read(page)


def test_the_list_of_agents_names_webhooks_that_are_off(admin, secret, read):
    assert "webhook off" not in read(admin.get("/agents"), "main")
    Webhook.objects.update(is_active=False)

    assert "webhook off" in read(admin.get("/agents"), "main")


def test_a_delivery_says_what_came_of_it(admin, delivery, path, read):
    page = read(admin.get(path), "main")

    assert f"{str(delivery.approval_id)[:8]} approved given up 10" in page
    assert "It answered 503. Send again" in page


def test_what_was_given_up_is_sent_again(admin, delivery, path, read, recorded):
    page = admin.post(f"{path}/deliveries/{delivery.pk}/again", follow=True)

    assert "It is sent again within two seconds." in read(page)
    assert Delivery.objects.get().state == State.WAITING
    assert recorded("webhook.sent_again") == [(*BY_ADA, "agent:beamline")]


def test_while_the_host_asks_to_be_left_alone_it_is_said_when_it_is_sent(
    admin, delivery, path, read
):
    until = database_now() + timedelta(minutes=50)
    Webhook.objects.update(rests_until=until)
    reply = admin.post(f"{path}/deliveries/{delivery.pk}/again", follow=True)

    page, clock = read(reply), strip_tags(moments.clock(until))
    assert moments.clock(until) in reply.content.decode()
    assert f"The host asked to be left alone until {clock} . It is sent again" in page
    assert "within two seconds" not in page
    assert f"Next attempt {until:%Y-%m-%d %H:%M:%S} UTC" in page


def test_what_waits_is_not_sent_twice(admin, delivery, path, read):
    Delivery.objects.update(state=State.WAITING)
    page = admin.post(f"{path}/deliveries/{delivery.pk}/again", follow=True)

    assert "This message is already waiting to be sent. Nothing was changed." in read(page)


@pytest.mark.parametrize("action", ["secret", "switch"])
def test_what_is_not_set_up_is_not_found(admin, path, action):
    assert admin.post(f"{path}/{action}").status_code == 404


@pytest.mark.parametrize("who", ["reviewer", "auditor"])
def test_it_is_for_admins(request, who, path):
    browser = request.getfixturevalue(who)

    assert [browser.get(path).status_code, browser.post(path, {"url": URL}).status_code] == [
        403
    ] * 2
    assert Webhook.objects.count() == 0


@pytest.mark.parametrize("count", [1, 30])
def test_the_page_costs_as_many_queries_for_any_number(
    admin, secret, token, alice, path, count, django_assert_num_queries
):
    for _ in range(count):
        make.approved(token, alice)
    queue_decided()

    with django_assert_num_queries(8):
        assert admin.get(path).status_code == 200
