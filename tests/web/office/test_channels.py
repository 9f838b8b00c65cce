"""Admins add a channel, try it, and see what became of each message."""

from datetime import timedelta

import pytest

from dashboard.clock import database_now
from dashboard.notifications.errors import ChangeNotAllowed
from dashboard.notifications.models import HOUSE_EVENTS, Channel, Message, NoticeEvent, State
from dashboard.notifications.services import channels, queue_notices
from tests import make
from tests.web.pages import value_of

URL = "https://hooks.example.org/T0/SECRET"
BY_ADA = ("user:ada", "session:password")
ALL = {"events": list(HOUSE_EVENTS), "least": ""}


@pytest.fixture(autouse=True)
def _mail_is_set_up(settings):
    backend = "django.core.mail.backends.locmem.EmailBackend"
    settings.MAILERS = {"default": {"BACKEND": backend, "OPTIONS": {}}}


@pytest.fixture
def mail(admin):
    """A channel by mail, added in the page."""
    given = {"name": "On call", "address": "oncall@example.org", **ALL}
    reply = admin.post("/channels/new/email", given)
    assert reply.status_code == 302
    return Channel.objects.get(name="On call")


@pytest.fixture
def webhook(admin, read):
    """A signed webhook, added in the page; ``shown`` is its secret."""
    reply = admin.post("/channels/new/webhook", {"name": "Ops", "address": URL, **ALL})
    channel = Channel.objects.get(name="Ops")
    channel.shown = read(reply, "secret")
    return channel


def test_without_a_channel_the_page_says_what_that_means(admin, read):
    said = read(admin.get("/channels"), "main")

    assert "No channel yet" in said
    assert "Only people with an open page notice a request." in said


def test_each_kind_can_be_added_from_the_list(admin):
    page = admin.get("/channels").content.decode()

    assert 'href="/channels/new/email"' in page
    assert 'href="/channels/new/webhook"' in page


def test_a_kind_that_is_not_set_up_says_what_to_do(admin, read, settings):
    settings.MAILERS = {}

    for path in ("/channels", "/channels/new/email"):
        assert "An operator has to set EMAIL_URL" in read(admin.get(path), "main")


def test_a_kind_that_is_not_there_is_not_found(admin):
    assert admin.get("/channels/new/pigeon").status_code == 404


def test_an_added_channel_is_listed_and_recorded(admin, mail, read, recorded):
    assert "On call E-mail oncall@example.org on" in read(admin.get("/channels"), "main")
    assert recorded("channel.added") == [(*BY_ADA, "channel:On call")]


def test_the_secret_of_a_webhook_is_shown_once(admin, webhook):
    assert webhook.shown.startswith("whsec_")
    for path in ("/channels", f"/channels/{webhook.pk}", "/audit"):
        assert webhook.shown not in admin.get(path).content.decode()


def test_of_an_address_that_is_a_secret_only_the_host_is_shown(admin, webhook):
    for path in ("/channels", f"/channels/{webhook.pk}", "/audit"):
        page = admin.get(path).content.decode()
        assert "SECRET" not in page
        assert "https://hooks.example.org" in page


@pytest.mark.parametrize(
    ("kind", "changes", "said"),
    [
        ("email", {"address": ""}, "Enter one, such as name@example.org"),
        ("email", {"address": "on call"}, "This is not an e-mail address."),
        ("webhook", {"address": "https://10.0.0.1/"}, "10.0.0.1 is not on the public internet."),
        ("webhook", {"address": "http://a.example/"}, "Plain http is allowed for this machine"),
        ("email", {"name": ""}, "This field is required."),
        ("email", {"events": []}, "This field is required."),
        ("email", {"events": ["approval.approved"]}, "Select a valid choice."),
        ("email", {"least": "grave"}, "Select a valid choice."),
    ],
)
def test_what_is_wrong_is_said_at_its_field_and_nothing_is_added(admin, read, kind, changes, said):
    given = {"name": "On call", "address": "oncall@example.org", **ALL, **changes}
    reply = admin.post(f"/channels/new/{kind}", given)

    assert reply.status_code == 422
    assert said in read(reply, "main")
    assert Channel.objects.count() == 0


def test_a_name_that_is_taken_is_said(admin, mail, read):
    given = {"name": "On call", "address": "b@example.org", **ALL}
    reply = admin.post("/channels/new/email", given)

    assert "There is a channel called On call already. Nothing was changed." in read(reply)


@pytest.mark.parametrize("path", ["new/email", "{pk}"])
def test_so_is_a_name_that_somebody_else_takes_at_the_same_time(
    admin, mail, read, monkeypatch, path
):
    monkeypatch.setattr(channels, "_is_taken", lambda *_: False)
    other = Channel.objects.create(
        kind="email",
        name="Night",
        address="c@example.org",
        events="[]",
        groups="[]",
        after=0,
        changed_at=database_now(),
    )
    wish = {"name": "On call", "address": "b@example.org", **ALL}
    wish["shown"] = other.changed_at.isoformat()
    reply = admin.post(f"/channels/{path.format(pk=other.pk)}", wish)

    assert "There is a channel called On call already. Nothing was changed." in read(reply)
    assert Channel.objects.filter(name="On call").count() == 1


def test_who_is_no_admin_any_more_is_told_so_and_changes_nothing(admin, mail, read, monkeypatch):
    def lose_role(*_):
        raise ChangeNotAllowed

    monkeypatch.setattr(channels, "_check", lose_role)
    for path in ("new/email", "{pk}", "{pk}/switch", "{pk}/test", "{pk}/remove", "{pk}/secret"):
        given = {"name": "On call", "address": "b@example.org", **ALL}
        reply = admin.post(f"/channels/{path.format(pk=mail.pk)}", given)
        assert (path, reply.status_code) == (path, 403)
        assert "This page is for admins. Nothing was done." in read(reply)

    assert Channel.objects.get() == mail


def test_an_address_that_is_left_empty_is_kept(admin, webhook):
    shown = value_of(admin.get(f"/channels/{webhook.pk}"), "shown")
    given = {"name": "Operations", "address": "", **ALL, "least": "high", "shown": shown}
    assert admin.post(f"/channels/{webhook.pk}", given).status_code == 302

    webhook.refresh_from_db()
    assert (webhook.name, webhook.address, webhook.least) == ("Operations", URL, "high")


def test_what_another_admin_changed_meanwhile_is_not_overwritten(admin, mail):
    shown = value_of(admin.get(f"/channels/{mail.pk}"), "shown")
    wish = {"name": "On call", "address": "new@example.org", **ALL, "shown": shown}
    admin.post(f"/channels/{mail.pk}", wish)
    wish["address"] = "old@example.org"
    reply = admin.post(f"/channels/{mail.pk}", wish, follow=True)

    assert Channel.objects.get(name="On call").address == "new@example.org"
    assert "changed in the meantime. Nothing was saved" in reply.content.decode()


def test_groups_can_be_chosen(admin, mail, alice):
    make.group("laser", alice)
    shown = value_of(admin.get(f"/channels/{mail.pk}"), "shown")
    given = {"name": "On call", "address": "", **ALL, "groups": ["laser"], "shown": shown}
    admin.post(f"/channels/{mail.pk}", given)

    assert Channel.objects.get(name="On call").groups == '["laser"]'


def test_a_test_is_on_its_way_and_the_page_asks_what_came_of_it(admin, mail, read, recorded):
    reply = admin.post(f"/channels/{mail.pk}/test", follow=True)

    assert "Sending a test message" in read(reply, "main")
    assert f'hx-get="/channels/{mail.pk}/messages"' in reply.content.decode()
    assert recorded("channel.tried") == [(*BY_ADA, "channel:On call")]


@pytest.mark.parametrize(
    ("state", "said"),
    [
        (State.DELIVERED, "The test message was sent"),
        (State.GIVEN_UP, "The test message was not sent. The mail server answered 554."),
    ],
)
def test_what_came_of_a_test_is_said_and_nothing_is_asked_any_more(admin, mail, read, state, said):
    admin.post(f"/channels/{mail.pk}/test")
    told = {"said": "The mail server answered 554.", "tried_at": database_now()}
    Message.objects.update(state=state, attempts=1, **told)
    reply = admin.get(f"/channels/{mail.pk}/messages")

    assert said in read(reply)
    assert "hx-get" not in reply.content.decode()


def test_a_second_test_beside_the_first_is_not_sent(admin, mail, read):
    admin.post(f"/channels/{mail.pk}/test")
    reply = admin.post(f"/channels/{mail.pk}/test", follow=True)

    assert "A test message is on its way already." in read(reply)
    assert Message.objects.count() == 1


def test_the_page_lists_what_became_of_each_message(admin, mail, token, read):
    approval = make.pending(token)
    queue_notices()
    said = {"said": "The mail server took it.", "state": State.DELIVERED}
    Message.objects.filter(event=NoticeEvent.ASKS).update(
        tried_at=database_now(), attempts=1, **said
    )
    reply = admin.get(f"/channels/{mail.pk}")

    assert "A request waits for approval Code of beamline delivered 1" in read(reply, "messages")
    assert "The mail server took it." in read(reply, "messages")
    assert f'href="/approvals/{approval.pk}"' in reply.content.decode()


def test_what_is_told_later_is_not_listed_yet(admin, mail, token, read):
    make.pending(token)
    queue_notices()

    said = read(admin.get(f"/channels/{mail.pk}"), "messages")
    assert EVENT_OF_THE_LAST_MINUTE not in said


EVENT_OF_THE_LAST_MINUTE = "Its last minute begins"


def test_the_page_of_a_channel_costs_the_same_for_many_messages(admin, mail, token, cost):
    for _ in range(3):
        make.pending(token)
    queue_notices()
    few = cost(admin, f"/channels/{mail.pk}")
    for _ in range(10):
        make.pending(token)
    queue_notices()

    assert cost(admin, f"/channels/{mail.pk}") == few


def test_a_channel_is_paused_and_goes_on(admin, mail, read):
    paused = admin.post(f"/channels/{mail.pk}/switch", {"on": "no"}, follow=True)
    assert "paused" in read(paused, "main")
    went_on = admin.post(f"/channels/{mail.pk}/switch", {"on": "yes"}, follow=True)
    assert "The channel is on." in read(went_on)


def test_a_channel_is_removed_when_its_name_was_typed(admin, mail, recorded):
    assert admin.post(f"/channels/{mail.pk}/remove", {"name": "Ops"}).status_code == 422
    assert admin.post(f"/channels/{mail.pk}/remove", {"name": "On call"}).status_code == 302

    assert Channel.objects.count() == 0
    assert recorded("channel.removed") == [(*BY_ADA, "channel:On call")]


def test_a_new_secret_is_shown(admin, webhook, read):
    reply = admin.post(f"/channels/{webhook.pk}/secret", {"at_once": "on"})

    assert read(reply, "secret").startswith("whsec_")
    assert read(reply, "secret") != webhook.shown


def test_what_has_no_secret_says_so(admin, mail, read):
    reply = admin.post(f"/channels/{mail.pk}/secret", follow=True)

    assert "Channels of this kind have no secret. Nothing was changed." in read(reply)


def test_a_channel_that_fails_five_times_is_said_in_the_header_of_each_page(admin, mail, read):
    Channel.objects.update(failures=5)

    for path in ("/", "/agents", "/channels"):
        assert "On call fails" in read(admin.get(path))
    said = read(admin.get(f"/channels/{mail.pk}"), "main")
    assert "The last 5 attempts failed" in said


def test_a_channel_whose_receiver_is_gone_is_said_to_fail_until_an_admin_does_something(
    admin, mail, read
):
    Channel.objects.update(is_active=False, changed_by=None)

    assert "On call fails" in read(admin.get("/"))
    assert "oncall@example.org switched off" in read(admin.get("/channels"), "main")
    assert "It answered that it is gone for good" in read(
        admin.get(f"/channels/{mail.pk}"), "main"
    )
    admin.post(f"/channels/{mail.pk}/switch", {"on": "yes"})
    assert "On call fails" not in read(admin.get("/"))


def test_a_channel_whose_kind_sends_nothing_is_said_to_fail(admin, mail, read, settings):
    settings.MAILERS = {}

    assert "On call fails" in read(admin.get("/"))
    assert "oncall@example.org fails" in read(admin.get("/channels"), "main")
    assert "Nobody gets a mail or a chat message." in read(admin.get("/"))


def test_a_channel_of_a_kind_that_is_not_known_can_be_removed(admin, mail, read):
    Channel.objects.update(kind="pigeon")

    assert "On call Unknown unknown fails" in read(admin.get("/channels"), "main")
    assert "does not know this kind" in read(admin.get(f"/channels/{mail.pk}"), "main")
    admin.post(f"/channels/{mail.pk}/remove", {"name": "On call"})
    assert Channel.objects.count() == 0


def test_who_asked_to_be_left_alone_is_said(admin, mail, read):
    Channel.objects.update(rests_until=database_now() + timedelta(minutes=9))

    said = read(admin.get(f"/channels/{mail.pk}"), "main")
    assert "It asked to be left alone until" in said


def test_while_it_asks_to_be_left_alone_nothing_is_tried_before(admin, mail, token, read):
    make.pending(token)
    queue_notices()
    until = database_now() + timedelta(minutes=50)
    Message.objects.update(attempts=1, tried_at=database_now(), said="It answered 503.")
    Channel.objects.update(rests_until=until)
    said = read(admin.get(f"/channels/{mail.pk}"), "main")

    assert f"Next attempt {until:%Y-%m-%d %H:%M:%S} UTC" in said


def test_what_failed_four_times_or_is_paused_is_not_said(admin, mail, read):
    Channel.objects.update(failures=4)
    assert "On call fails" not in read(admin.get("/"))
    Channel.objects.update(failures=9, is_active=False)
    assert "On call fails" not in read(admin.get("/"))


def test_an_admin_sees_in_the_queue_that_nobody_is_told(admin, read):
    assert "Nobody gets a mail or a chat message." in read(admin.get("/"))


def test_once_somebody_is_told_the_queue_says_nothing(admin, mail, read):
    assert "Nobody is told" not in read(admin.get("/"))


def test_reviewers_are_not_bothered_with_it(reviewer, mail, read):
    Channel.objects.update(failures=9)

    said = read(reviewer.get("/"))
    assert "On call fails" not in said
    assert "Nobody is told" not in said


def test_the_log_tells_what_was_done(admin, mail, read):
    admin.post(f"/channels/{mail.pk}/test")
    said = read(admin.get("/audit"), "main")

    assert "ada added the channel On call : o…@example.org" in said
    assert "ada sent a test message to the channel On call" in said
