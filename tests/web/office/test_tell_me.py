"""Reviewers say where they are told, and prove that the address is theirs."""

from datetime import timedelta

import pytest
from django.db.models import F

from dashboard.clock import database_now
from dashboard.notifications.models import Channel, Choice, Message, NoticeEvent, State
from dashboard.notifications.secrets import code_of

ALICE = {"kind": "email", "address": "alice@example.org", "choice": "assigned"}


@pytest.fixture(autouse=True)
def _mail_is_set_up(settings):
    backend = "django.core.mail.backends.locmem.EmailBackend"
    settings.MAILERS = {"default": {"BACKEND": backend, "OPTIONS": {}}}


@pytest.fixture
def channel(reviewer):
    """Alice's address, not confirmed."""
    assert reviewer.post("/account/told", ALICE).status_code == 302
    return Channel.objects.get()


@pytest.fixture
def confirmed(reviewer, channel):
    """Alice's address, confirmed in the page."""
    reviewer.post(f"/account/told/{channel.pk}/code", {"code": code_of(channel)})
    channel.refresh_from_db()
    return channel


def test_the_account_leads_to_it(reviewer):
    assert 'href="/account/told"' in reviewer.get("/account").content.decode()


def test_without_mail_or_chat_it_says_what_to_do(reviewer, read, settings, monkeypatch):
    settings.MAILERS = {}
    monkeypatch.setattr("dashboard.web.office.tell_me.is_offered", lambda _: False)

    said = read(reviewer.get("/account/told"), "main")
    assert "No mail or chat is set up here" in said


def test_signed_webhooks_are_not_offered(reviewer):
    assert 'value="webhook"' not in reviewer.get("/account/told").content.decode()


def test_a_new_address_waits_for_its_code(reviewer, channel, read):
    said = read(reviewer.get("/account/told"), "main")

    assert "alice@example.org not confirmed" in said
    assert "Sending the code" in said
    assert Message.objects.get().event == NoticeEvent.CODE


@pytest.mark.parametrize(
    ("state", "said"),
    [
        (State.DELIVERED, "A code was sent just now . It is valid until"),
        (State.GIVEN_UP, "The code was not sent. The mail server answered 554."),
    ],
)
def test_what_came_of_the_code_is_said(reviewer, channel, read, state, said):
    Message.objects.update(
        state=state, attempts=1, said="The mail server answered 554.", tried_at=database_now()
    )
    assert said in read(reviewer.get("/account/told"), "main")


@pytest.mark.parametrize(
    "over", [{"code_made_at": F("code_made_at") - timedelta(hours=2)}, {"code_tries": 5}]
)
def test_a_code_that_is_over_is_said_to_be(reviewer, channel, read, over):
    Message.objects.update(state=State.DELIVERED, attempts=1, tried_at=database_now())
    Channel.objects.update(**over)

    assert "It is no longer valid: send a new one." in read(reviewer.get("/account/told"), "main")


def test_what_was_said_is_not_used_up_by_a_part_that_is_fetched_again(reviewer, confirmed, read):
    reviewer.get("/account/told", headers={"HX-Request": "true"})

    assert "You are told there from now on." in read(reviewer.get("/account/told"))


def test_the_code_confirms_it(reviewer, confirmed, read, recorded):
    said = read(reviewer.get("/account/told"), "main")

    assert confirmed.confirmed_at is not None
    assert "alice@example.org on" in said
    alice = ("user:alice", "session:password", "user:alice")
    assert recorded("person.channel_confirmed") == [alice]


def test_once_it_is_confirmed_nothing_is_said_of_the_code(reviewer, confirmed, read):
    Message.objects.update(state=State.DELIVERED, attempts=1, tried_at=database_now())

    assert "was sent" not in read(reviewer.get("/account/told"), "main")


def test_a_wrong_code_is_said(reviewer, channel, read):
    reply = reviewer.post(f"/account/told/{channel.pk}/code", {"code": "1"}, follow=True)

    assert "This is not the code. Nothing was changed." in read(reply)
    channel.refresh_from_db()
    assert channel.confirmed_at is None


def test_a_form_that_was_cut_off_is_said(reviewer, channel, read):
    reply = reviewer.post(f"/account/told/{channel.pk}/code", {}, follow=True)

    assert "Nothing was changed." in read(reply)


def test_another_code_is_sent_after_a_minute(reviewer, channel, read):
    early = reviewer.post(f"/account/told/{channel.pk}/again", follow=True)
    assert "less than a minute ago" in read(early)
    Channel.objects.update(code_made_at=database_now() - timedelta(minutes=2))
    later = reviewer.post(f"/account/told/{channel.pk}/again", follow=True)
    assert "Another code is on its way." in read(later)


def test_the_choice_is_changed(reviewer, confirmed):
    reviewer.post(f"/account/told/{confirmed.pk}/choice", {"choice": "all"})

    confirmed.refresh_from_db()
    assert confirmed.choice == Choice.ALL


def test_a_test_is_on_its_way(reviewer, confirmed, read):
    reply = reviewer.post(f"/account/told/{confirmed.pk}/test", follow=True)

    assert "A test message is on its way." in read(reply)
    assert Message.objects.filter(event=NoticeEvent.TEST, state=State.WAITING).count() == 1


def test_it_is_paused_and_goes_on(reviewer, confirmed, read):
    paused = reviewer.post(f"/account/told/{confirmed.pk}/switch", {"on": "no"}, follow=True)
    assert "alice@example.org paused" in read(paused, "main")
    went_on = reviewer.post(f"/account/told/{confirmed.pk}/switch", {"on": "yes"}, follow=True)
    assert "alice@example.org on" in read(went_on, "main")


def test_it_is_removed_and_can_be_kept_for_a_day(reviewer, confirmed, read):
    reviewer.post(f"/account/told/{confirmed.pk}/remove")

    said = read(reviewer.get("/account/told"), "main")
    assert "it is told of what happens to your account" in said
    assert "Keep it" in said
    reviewer.post(f"/account/told/{confirmed.pk}/switch", {"on": "yes"})
    assert Channel.objects.get().is_active


@pytest.fixture
def former(reviewer, confirmed, alice):
    """Alice, who had an address confirmed and is no reviewer any more."""
    type(alice).objects.filter(pk=alice.pk).update(is_reviewer=False, is_auditor=True)
    return reviewer


def test_who_does_not_decide_is_told_of_their_account_alone(former, confirmed, read):
    said = read(former.get("/account/told"), "main")

    assert "of what happens to your account" in said
    assert "of requests" not in said
    assert "alice@example.org" in said
    assert "Tell me of" not in said
    former.post(f"/account/told/{confirmed.pk}/remove")
    assert Channel.objects.get().removed_at is not None


def test_who_does_not_decide_adds_an_address(former):
    former.post("/account/told", {name: ALICE[name] for name in ("kind", "address")})

    assert Channel.objects.get().choice == Choice.ASSIGNED


def test_an_address_that_will_not_do_is_said_and_kept_in_the_form(reviewer, read):
    reply = reviewer.post("/account/told", {**ALICE, "address": "alice at home"})

    assert reply.status_code == 422
    assert "This is not an e-mail address." in read(reply, "main")
    assert 'value="alice at home"' in reply.content.decode()


def test_what_failed_is_said(reviewer, confirmed, read):
    reviewer.post(f"/account/told/{confirmed.pk}/test")
    Message.objects.filter(event=NoticeEvent.TEST).update(
        state=State.GIVEN_UP, said="No.", attempts=1
    )
    Channel.objects.update(failures=5)

    said = read(reviewer.get("/account/told"), "main")
    assert "alice@example.org fails" in said
    assert "The last 5 attempts failed: No." in said


def test_the_address_of_another_person_is_not_found(reviewer, enter, bob, channel):
    other = enter(bob)

    for verb in ("code", "again", "choice", "test", "switch", "remove"):
        given = {"code": "1", "choice": "all", "on": "no"}
        assert other.post(f"/account/told/{channel.pk}/{verb}", given).status_code == 404
    assert "alice@example.org" not in other.get("/account/told").content.decode()


def test_the_log_says_it_without_the_address(admin, confirmed, read):
    said = read(admin.get("/audit"), "main")

    assert "alice confirmed an address where they are told: a…@example.org" in said
    assert "alice@example.org" not in said
