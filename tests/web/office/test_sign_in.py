from urllib.parse import urlencode

import pytest
from django.conf import settings
from django.contrib.sessions.models import Session

from approval_client.wire import Status
from dashboard.accounts.services import people
from dashboard.accounts.services.signing_in import make_link
from dashboard.audit.models import AuditEntry
from tests import make
from tests.web.pages import read as page_of

WRONG = "The name or password is wrong, or the account is deactivated. You are not signed in."
RIGHT = {"username": "alice", "password": "a long password"}


def post(client, **changes):
    return client.post("/sign-in", {**RIGHT, **changes})


def test_who_is_not_signed_in_is_led_to_the_door_and_back(alice, browser):
    client = browser()
    led = client.get("/account")
    back = client.post(led.url, RIGHT | {"next": "/account"})

    assert led.url == "/sign-in?next=/account"
    assert back.url == "/account"


@pytest.mark.parametrize("header", ["HX-Current-URL", "Referer"])
def test_who_pressed_something_is_told_that_nothing_was_recorded(alice, ask, browser, header):
    approval = ask()
    page = f"/approvals/{approval.pk}?part=2"
    led = browser().post(
        f"/approvals/{approval.pk}/decide", headers={header: f"{settings.PUBLIC_URL}{page}"}
    )
    shown = page_of(browser().get(led.url))

    assert led.status_code == 302
    assert shown.one(role="alert").text == (
        "Nothing was recorded You were signed out when you pressed that. Sign in, and press again."
    )
    assert browser().post(led.url, RIGHT | {"next": page}).url == page
    assert shown.one("input", name="next")["value"] == page
    approval.refresh_from_db()
    assert approval.status == Status.PENDING


@pytest.mark.parametrize("came_from", ["https://evil.example/x", "//evil.example", ""])
def test_after_a_press_on_a_page_from_elsewhere_nobody_is_led_there(ask, browser, came_from):
    path = f"/approvals/{ask().pk}/decide"
    led = browser().post(path, headers={"HX-Current-URL": came_from})

    assert led.url == "/sign-in?pressed=1"


def test_the_right_password_leads_to_the_queue(alice, browser):
    reply = post(browser())

    assert (reply.status_code, reply.url) == (302, "/")


def test_how_the_person_came_is_kept_for_the_record(alice, enter):
    assert enter(alice).session["auth"] == "password"


def test_somebody_without_a_role_is_led_to_a_page_that_says_so(browser, db, read):
    make.person("alice")
    client = browser()
    reply = post(client)

    assert reply.url == "/account"
    assert "You have no role yet" in read(client.get("/account"))


@pytest.mark.parametrize(
    "attempt", [{"password": "wrong"}, {"username": "nobody"}, {"username": "Alice"}]
)
def test_every_failure_looks_the_same(alice, browser, read, attempt):
    reply = post(browser(), **attempt)

    assert reply.status_code == 422
    assert WRONG in read(reply)


def test_a_closed_account_looks_the_same(alice, browser, read):
    people.set_active(alice, active=False, by=make.BY)
    reply = post(browser())

    assert reply.status_code == 422
    assert WRONG in read(reply)


@pytest.mark.parametrize("missing", ["username", "password"])
def test_an_incomplete_form_is_no_attempt(alice, browser, missing):
    before = AuditEntry.objects.count()
    reply = post(browser(), **{missing: ""})

    assert reply.status_code == 422
    assert AuditEntry.objects.count() == before


def test_a_password_is_never_sent_back(alice, browser):
    reply = post(browser(), password="wrong horse battery")

    assert b"wrong horse battery" not in reply.content


def test_a_blocked_account_is_told_when_to_try_again(alice, browser, read):
    for _ in range(10):
        post(browser(), password="wrong")
    reply = post(browser())

    assert reply.status_code == 429
    assert 200 < int(reply["Retry-After"]) <= 300  # as many seconds have passed meanwhile
    assert "Too many attempts failed. Nothing was checked" in read(reply)


def test_a_blocked_account_is_not_signed_in(alice, browser):
    for _ in range(10):
        post(browser(), password="wrong")
    client = browser()
    post(client)

    assert client.get("/account").status_code == 302


def test_who_signed_in_here_before_is_not_kept_out_by_who_guesses_elsewhere(alice, browser):
    known = browser()
    post(known)
    known.post("/sign-out")
    stranger = browser()
    for _ in range(11):
        post(stranger, password="wrong")
    assert post(stranger).status_code == 429

    assert post(known).status_code == 302


@pytest.mark.parametrize("forged", ["nonce:alice", "nonce:alice:x:y", ""])
def test_nobody_makes_their_browser_a_known_one(alice, browser, forged):
    stranger = browser()
    stranger.cookies[f"{settings.SESSION_COOKIE_NAME}-browser"] = forged
    for _ in range(11):
        post(stranger, password="wrong")

    assert post(stranger).status_code == 429


def test_a_browser_that_is_known_for_one_person_is_not_for_another(alice, bob, browser):
    bobs = browser()
    post(bobs, username="bob")
    bobs.post("/sign-out")
    for _ in range(11):
        post(bobs, password="wrong")

    assert post(bobs).status_code == 429


def test_neither_record_nor_log_holds_the_password(alice, browser, caplog):
    post(browser(), password="wrong horse battery")
    post(browser(), username="wrong horse battery")
    post(browser())

    kept = repr(list(AuditEntry.objects.values())) + caplog.text
    assert "wrong horse battery" not in kept
    assert "a long password" not in kept


def test_signing_in_gives_a_new_session(alice, enter):
    client = enter(alice)
    before = client.session.session_key
    post(client)

    assert client.session.session_key != before
    assert not Session.objects.filter(session_key=before).exists()


def test_a_session_that_somebody_planted_is_not_taken_over(alice, browser):
    planted = browser().session
    planted["auth"] = "link"
    planted.save()
    client = browser()
    client.cookies[settings.SESSION_COOKIE_NAME] = planted.session_key
    post(client)

    assert client.session.session_key != planted.session_key
    assert client.session["auth"] == "password"


@pytest.mark.parametrize(
    "elsewhere",
    [
        "https://evil.example/",
        "//evil.example/",
        "///evil.example",
        "/\\evil.example",
        "http:/\\evil.example",
        "javascript:alert(1)",
        "\t//evil.example",
        "evil",
        "",
    ],
)
@pytest.mark.parametrize("by", ["form", "address"])
def test_the_way_on_leads_nowhere_else(alice, browser, elsewhere, by):
    query = "?" + urlencode({"next": elsewhere}) if by == "address" else ""
    data = RIGHT | ({"next": elsewhere} if by == "form" else {})
    reply = browser().post("/sign-in" + query, data)

    assert reply.url == "/"


def test_who_is_signed_in_already_goes_on(reviewer):
    assert reviewer.get("/sign-in?next=/policies").url == "/policies"


def test_a_form_from_elsewhere_is_refused(alice, browser, read):
    reply = browser().post("/sign-in", RIGHT, headers={"origin": "http://127.0.0.1:8888"})

    assert reply.status_code == 403
    assert "This form came from another site" in read(reply)


def test_a_form_without_an_origin_is_refused(alice, client):
    assert client.post("/sign-in", RIGHT, headers={"host": "127.0.0.1:8000"}).status_code == 403


def test_a_form_without_the_token_of_its_page_is_refused(alice, browser):
    strict = browser()
    strict.handler.enforce_csrf_checks = True

    assert post(strict).status_code == 403


def test_signing_out_ends_the_session_and_is_recorded(reviewer, recorded):
    old = reviewer.session.session_key
    reviewer.post("/sign-out")

    assert not Session.objects.filter(session_key=old).exists()
    assert recorded("sign_out") == [("user:alice", "session:password", "user:alice")]
    assert reviewer.get("/account").status_code == 302


def test_opening_the_address_of_signing_out_signs_nobody_out(reviewer):
    reviewer.get("/sign-out")

    assert reviewer.get("/account").status_code == 200


def test_a_closed_account_is_out_at_its_next_request(reviewer, alice):
    people.set_active(alice, active=False, by=make.BY)

    assert reviewer.get("/account").url == "/sign-in?next=/account"


def test_an_account_that_is_opened_again_has_to_sign_in_again(reviewer, alice):
    people.set_active(alice, active=False, by=make.BY)
    people.set_active(alice, active=True, by=make.BY)

    assert reviewer.get("/account").status_code == 302


def test_a_session_by_link_says_so_in_the_record(browser, ada, recorded):
    client = browser()
    client.post(f"/sign-in/{make_link(ada, by=make.BY)}")
    client.post("/hold", {"reason": "drill"})

    assert recorded("hold.placed") == [("user:ada", "session:link", "")]
