from datetime import timedelta

import pytest
from django.utils import timezone

from dashboard.accounts.models import SignInLink
from dashboard.accounts.services.signing_in import make_link
from tests import make

DEAD = "This link was used, has expired or never existed. Nobody was signed in with it"


@pytest.fixture
def carol(db):
    """A reviewer who never had a password."""
    return make.person("carol", password=None, reviewer=True)


@pytest.fixture
def path(carol):
    return f"/sign-in/{make_link(carol, by=make.BY)}"


def test_opening_a_link_says_whom_it_signs_in(browser, path, read):
    assert "Sign in as carol" in read(browser().get(path), "main")


def test_opening_a_link_uses_nothing_up(browser, path):
    client = browser()
    client.get(path)

    assert client.get("/account").status_code == 302
    assert browser().get(path).status_code == 200


def test_pressing_the_button_signs_in(browser, path):
    client = browser()
    client.post(path)

    assert client.get("/account").status_code == 200
    assert client.session["auth"] == "link"


def test_who_has_no_password_is_asked_to_choose_one(browser, path):
    assert browser().post(path).url == "/account/password"


def test_who_has_a_password_goes_on(browser, alice):
    assert browser().post(f"/sign-in/{make_link(alice, by=make.BY)}").url == "/"


def test_choosing_a_password_can_wait(browser, path, read):
    client = browser()
    page = client.get(client.post(path).url)

    assert b'href="/">Not now</a>' in page.content


@pytest.mark.parametrize("method", ["get", "post"])
def test_a_used_link_opens_nothing(browser, path, read, method):
    browser().post(path)
    client = browser()
    reply = getattr(client, method)(path)

    assert reply.status_code == 410
    assert DEAD in read(reply)
    assert client.get("/account").status_code == 302


@pytest.mark.parametrize("method", ["get", "post"])
def test_an_expired_link_opens_nothing(browser, path, read, method):
    SignInLink.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    reply = getattr(browser(), method)(path)

    assert reply.status_code == 410
    assert DEAD in read(reply)


@pytest.mark.parametrize("secret", ["x", "%00", "%F0%9F%98%80", "%FF", "x" * 2000])
def test_a_link_that_never_was_opens_nothing(browser, db, secret):
    assert browser().post(f"/sign-in/{secret}").status_code == 410


def test_wrong_links_are_slowed(browser, db):
    for _ in range(30):
        browser().get("/sign-in/wrong")
    reply = browser().get("/sign-in/wrong")

    assert reply.status_code == 429
    assert int(reply["Retry-After"]) > 290


@pytest.mark.parametrize("method", ["get", "post"])
def test_the_address_with_the_secret_is_told_to_nobody(browser, path, method):
    reply = getattr(browser(), method)(path)

    assert reply["Referrer-Policy"] == "strict-origin"
    assert reply["Cache-Control"] == "no-store"


def test_a_link_pressed_by_somebody_signed_in_changes_who_they_are(reviewer, path):
    before = reviewer.session.session_key
    reviewer.post(path)

    assert reviewer.session.session_key != before
    assert b"carol" in reviewer.get("/account").content


def test_a_form_from_elsewhere_uses_nothing_up(browser, path):
    assert browser().post(path, headers={"origin": "null"}).status_code == 403
    assert browser().get(path).status_code == 200


def test_who_is_signed_in_already_is_told_so_and_led_to_the_queue(admin, path, browser, read):
    browser().post(path)

    reply = admin.get(path)

    assert "you are signed in already, as ada. Go to the queue" in read(reply)
