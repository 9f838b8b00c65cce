"""Signing in by single sign-on. What the provider says wrongly lets nobody in."""

import time
from contextlib import contextmanager, suppress
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import httpx2
import pytest
from allauth.socialaccount.models import SocialAccount
from django.contrib.sessions.models import Session
from django.utils import timezone

from dashboard.accounts import sessions
from dashboard.accounts.errors import NotRecognised, ProviderUnreachable
from dashboard.accounts.models import BrowserSession, UnknownIdentity, User
from dashboard.accounts.provider import metadata, statements, transport
from dashboard.accounts.services import browsers, identity, mapping, throttle
from dashboard.accounts.services.people import change_roles, set_active
from dashboard.accounts.services.signing_in import make_link
from dashboard.audit.models import AuditEntry
from dashboard.audit.services import OPERATOR
from tests import make
from tests.provider import ANOTHER_KEY
from tests.web.office.conftest import path_back
from tests.web.pages import read as page_of

PRESENT = {"present": "a long password"}


def name_of(client):
    user = client.get("/account").context
    return user and user["user"].username


def problem_of(answer):
    return page_of(answer).one(role="alert").text


@pytest.fixture
def links_alice(reviewer, comes_back):
    """Has alice link her account, in her browser."""

    def link(**form):
        comes_back(reviewer, "/account/provider")
        return reviewer.post("/account/provider/link", form or PRESENT)

    return link


@pytest.fixture
def reviewers(db):
    """People of the provider's group beamline are reviewers here."""
    mapping.add_mapping(claim="beamline", role="reviewer", by=OPERATOR)


# --- in and out ----------------------------------------------------------------------------------


def test_somebody_new_is_let_in_without_a_role(browser, provider, comes_back):
    client = browser()

    came = comes_back(client)

    assert came.url == "/account"
    assert name_of(client) == "alice"
    assert not User.objects.get(username="alice").is_reviewer


def test_the_groups_of_the_provider_give_roles(browser, provider, comes_back, reviewers):
    provider.person["groups"] = ["beamline", "staff"]
    client = browser()

    assert comes_back(client).url == "/"
    assert User.objects.get(username="alice").is_reviewer


def test_how_somebody_came_in_stands_in_the_log(browser, provider, comes_back, recorded):
    comes_back(browser())

    assert recorded("sign_in.succeeded") == [("user:alice", "sso", "user:alice")]
    assert recorded("person.linked") == [("provider", "oidc", "user:alice")]


def test_the_same_person_comes_back_under_another_name(browser, provider, comes_back):
    comes_back(browser())
    provider.person["preferred_username"] = "alice.smith"
    client = browser()

    comes_back(client)

    assert name_of(client) == "alice"


def test_people_are_led_back_to_the_page_that_they_wanted(
    browser, provider, comes_back, reviewers
):
    provider.person["groups"] = ["beamline"]

    assert comes_back(browser(), "/sign-in/provider?next=/history").url == "/history"


@pytest.mark.parametrize(
    "page", ["https://evil.example/", "//evil.example", "javascript:alert(1)"]
)
def test_nobody_is_led_to_somebody_elses_page(browser, provider, comes_back, page):
    assert comes_back(browser(), f"/sign-in/provider?next={page}").url == "/account"


def test_who_leads_there_cannot_say_what_is_asked_for(browser, provider):
    led = browser().get("/sign-in/provider?scope=admin&auth_params=prompt%3Dnone&process=connect")

    asked = httpx2.URL(led.url).params
    assert sorted(asked["scope"].split()) == ["email", "openid", "profile"]
    assert "prompt" not in asked


def test_signing_out_offers_to_sign_out_there_too(browser, provider, comes_back):
    provider.metadata["end_session_endpoint"] = f"{provider.issuer}/end"
    client = browser()
    comes_back(client)

    left = client.post("/sign-out")
    assert page_of(client.get(left.url)).one("a", href="/sign-in/provider/leave")
    led = client.get("/sign-in/provider/leave")

    assert led.url.startswith(
        f"{provider.issuer}/end?client_id=approvals&post_logout_redirect_uri="
    )


def test_the_session_before_does_not_live_on(alice, reviewer, provider, comes_back):
    before = reviewer.session.session_key
    provider.person = {"sub": "bob-1", "preferred_username": "bob"}

    comes_back(reviewer)

    assert name_of(reviewer) == "bob"
    assert not Session.objects.filter(session_key=before).exists()


# --- what is refused -----------------------------------------------------------------------------

HOUR_S = 3600
NOW_S = int(time.time())
WRONG_TOKENS = {
    "another issuer": ({"iss": "https://evil.example"}, "another issuer"),
    "another client": ({"aud": "other"}, "another client"),
    "another client, among two": (
        {"aud": ["approvals", "other"], "azp": "other"},
        "another client",
    ),
    "for another party": ({"azp": "other"}, "another client"),
    "two clients and no party": ({"aud": ["approvals", "other"]}, "another client"),
    "no audience": ({"aud": None}, "part of it is missing"),
    "nobody": ({"sub": None}, "part of it is missing"),
    "an empty name": ({"sub": ""}, "whom it is about"),
    "a name that is no text": ({"sub": 7}, "cannot be read"),
    "a name too long": ({"sub": "x" * 192}, "whom it is about"),
    "expired": ({"exp": NOW_S - HOUR_S}, "expired"),
    "no end": ({"exp": None}, "part of it is missing"),
    "from the future": ({"iat": NOW_S + HOUR_S}, "not valid yet"),
    "not before later": ({"nbf": NOW_S + HOUR_S}, "not valid yet"),
    "another sign-in": ({"nonce": "x"}, "another sign-in"),
    "no sign-in": ({"nonce": None}, "another sign-in"),
    "groups that are no list": ({"groups": {"a": 1}}, "no list of names"),
    "too many groups": ({"groups": [str(n) for n in range(1001)]}, "names 1001 groups"),
    "groups elsewhere": ({"_claim_names": {"groups": "src1"}}, "was left out"),
    "larger than a token": ({"more": "x" * 70_000}, "larger than 64 KiB"),
}


@pytest.mark.parametrize("wrong", WRONG_TOKENS)
def test_a_token_that_says_something_wrong_lets_nobody_in(browser, provider, comes_back, wrong):
    provider.wrong, words = WRONG_TOKENS[wrong]
    client = browser()

    came = comes_back(client)

    assert words in problem_of(came)
    assert name_of(client) is None
    assert not User.objects.exists()
    assert [entry.action for entry in AuditEntry.objects.all()] == ["sign_in.failed"]


@pytest.mark.parametrize(
    ("algorithm", "key"), [("RS256", ANOTHER_KEY), ("HS256", "x" * 64), ("none", None)]
)
def test_a_token_that_somebody_else_signed_lets_nobody_in(
    browser, provider, comes_back, algorithm, key
):
    provider.algorithm, provider.key = algorithm, key
    client = browser()

    comes_back(client)

    assert name_of(client) is None


def test_a_key_that_the_provider_does_not_have_lets_nobody_in(browser, provider, comes_back):
    provider.key_id = "key-2"
    client = browser()

    assert "a key that the provider does not have" in problem_of(comes_back(client))


def test_the_only_key_need_not_be_named(browser, provider, comes_back):
    provider.key_id = ""
    client = browser()

    comes_back(client)

    assert name_of(client) == "alice"


def test_of_several_keys_one_is_named(browser, provider, comes_back):
    provider.key_id, provider.has_another_key = "", True
    client = browser()

    comes_back(client)

    assert name_of(client) is None


def test_a_provider_that_has_a_new_key_is_asked_for_it(browser, provider, comes_back, monkeypatch):
    comes_back(browser())
    provider.key_id = provider.published_key_id = "key-2"
    monkeypatch.setattr(metadata, "ASKED_AGAIN_AFTER_S", 0)
    client = browser()

    comes_back(client)

    assert name_of(client) == "alice"


def test_a_provider_of_another_name_lets_nobody_in(browser, provider):
    provider.metadata["issuer"] = "https://evil.example"

    answer = browser().get("/sign-in/provider")

    assert "says that it is another issuer" in problem_of(answer)


def test_a_door_without_encryption_is_not_used(browser, provider):
    provider.metadata["token_endpoint"] = "http://id.example.org/token"

    assert "no https address" in problem_of(browser().get("/sign-in/provider"))


def test_a_callback_that_is_opened_twice_lets_nobody_in_the_second_time(browser, provider):
    client = browser()
    back = path_back(client.get("/sign-in/provider").url)
    client.get(back)
    client.post("/sign-out")

    assert "was finished already" in problem_of(client.get(back))


def test_a_callback_in_another_browser_lets_nobody_in(browser, provider):
    back = path_back(browser().get("/sign-in/provider").url)
    other = browser()

    assert "in another browser" in problem_of(other.get(back))
    assert name_of(other) is None


@pytest.mark.parametrize(
    "query", ["", "?code=x", "?state=x", "?error=server_error", "?code=x&state=y"]
)
def test_a_callback_that_nobody_began_lets_nobody_in(browser, provider, query):
    client = browser()

    answer = client.get(f"/sign-in/provider/callback{query}")

    assert answer.status_code == 422
    assert name_of(client) is None


def test_a_code_that_is_wrong_lets_nobody_in(browser, provider):
    client = browser()
    back = path_back(client.get("/sign-in/provider").url)
    provider.codes.clear()

    assert "did not complete the sign-in" in problem_of(client.get(back))


def test_who_cancels_there_is_told_so(browser, provider):
    client = browser()
    state = httpx2.URL(client.get("/sign-in/provider").url).params["state"]

    answer = client.get(f"/sign-in/provider/callback?error=access_denied&state={state}")

    assert "You did not sign in at the provider." in problem_of(answer)


ODD_ANSWERS = {
    "a number": b"5",
    "a text": b'"access_token"',
    "a list": b'["access_token"]',
    "nothing": b" ",
    "no JSON": b"<html>",
    "an odd end": b'{"access_token": "x", "expires_in": "soon", "id_token": "x"}',
    "a huge end": b'{"access_token": "x", "expires_in": 99999999999999, "id_token": "x"}',
    "a number as a token": b'{"access_token": "x", "refresh_token": 5, "id_token": 5}',
    "deeply nested": b"[" * 100_000,
}


@pytest.mark.parametrize("answer", ODD_ANSWERS)
def test_an_answer_that_cannot_be_read_lets_nobody_in(browser, provider, comes_back, answer):
    provider.token_answer = ODD_ANSWERS[answer]
    client = browser()

    came = comes_back(client)

    assert came.status_code == 422
    assert name_of(client) is None


@pytest.mark.parametrize(
    "claims",
    [
        {"preferred_username": "a\x00b"},
        {"preferred_username": "a\ud800b"},
        {"sub": "a\x00b"},
        {"sub": "a\ud800b"},
        {"nonce": "a\ud800b"},
        {"groups": ["a\x00b", "a\ud800b"]},
        {"email": "a\x00b", "preferred_username": "а"},
        {"auth_time": 10**400},
        {"auth_time": "soon"},
        {"amr": "pwd"},
        {"amr": [1, None, "x" * 100]},
    ],
)
def test_an_odd_claim_is_no_error_of_ours(browser, provider, comes_back, claims):
    provider.wrong = claims

    assert comes_back(browser()).status_code in {302, 422}


@pytest.mark.parametrize(
    "odd",
    [
        {"token_endpoint": "https://[bad"},
        {"token_endpoint_auth_methods_supported": 5},
        {"jwks_uri": 7},
        {"issuer": None},
    ],
)
def test_what_is_published_oddly_is_told(browser, provider, odd):
    provider.metadata |= odd

    assert browser().get("/sign-in/provider").status_code in {422, 503}


def test_the_secret_is_shown_as_the_provider_wants_it(browser, provider, comes_back):
    comes_back(browser())
    provider.metadata["token_endpoint_auth_methods_supported"] = ["client_secret_post"]
    metadata.forget()
    comes_back(browser())

    assert provider.proofs == ["basic", "post"]


def test_an_answer_that_drips_is_not_waited_for(monkeypatch):
    monkeypatch.setattr(transport, "LONGEST_S", 0.3)
    began_s = time.monotonic()

    with dripping() as url, pytest.raises(ProviderUnreachable):
        transport.get_json(url)

    assert time.monotonic() - began_s < 5  # of the minute that it would drip


@contextmanager
def dripping():
    """A server whose answer comes byte by byte, for a minute."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            with suppress(OSError):
                for _ in range(600):
                    self.wfile.write(b" ")
                    time.sleep(0.1)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/"
    finally:
        server.shutdown()
        server.server_close()


def test_a_provider_that_is_down_is_told(browser, provider):
    provider.is_down = True

    answer = browser().get("/sign-in/provider")

    assert answer.status_code == 503
    assert "answered 503" in problem_of(answer)


def test_a_provider_that_is_slow_is_not_waited_for(browser, provider, monkeypatch):
    monkeypatch.setattr("dashboard.accounts.provider.transport.TIMEOUT_S", 0.2)
    provider.waits_s = 1

    assert browser().get("/sign-in/provider").status_code == 503


def test_somebody_whose_account_is_deactivated_is_not_let_in(browser, provider, comes_back):
    comes_back(browser())
    set_active(User.objects.get(username="alice"), active=False, by=OPERATOR)
    client = browser()

    assert "deactivated" in problem_of(comes_back(client))


def test_without_groups_nobody_is_let_in_where_groups_give_roles(
    browser, provider, comes_back, reviewers
):
    client = browser()

    assert "said nothing about your groups" in problem_of(comes_back(client))


def test_groups_that_the_token_leaves_out_are_asked_for(browser, provider, comes_back, reviewers):
    provider.person["groups"] = ["beamline"]
    provider.wrong = {"groups": None}

    comes_back(browser())

    assert User.objects.get(username="alice").is_reviewer


def test_a_name_that_somebody_has_opens_nothing(alice, browser, provider, comes_back):
    client = browser()

    came = comes_back(client)

    assert "Somebody here is called alice already." in problem_of(came)
    assert name_of(client) is None
    assert UnknownIdentity.objects.get().subject == "alice-1"


def test_an_address_joins_nobody(browser, provider, comes_back):
    provider.person |= {"email": "alice@example.org"}
    comes_back(browser())
    provider.person = {"sub": "eve-1", "preferred_username": "eve", "email": "alice@example.org"}
    client = browser()

    comes_back(client)

    assert name_of(client) == "eve"


def test_a_name_that_cannot_be_one_here_is_refused(browser, provider, comes_back):
    provider.person["preferred_username"] = "аlice"  # its first letter is Cyrillic

    assert "cannot be a name here" in problem_of(comes_back(browser()))


def test_guesses_at_the_callback_are_counted(browser, provider):
    client = browser()
    for _ in range(throttle.LIMITS["provider"]):
        client.get("/sign-in/provider/callback?code=x&state=y")
    before = AuditEntry.objects.count()

    assert client.get("/sign-in/provider/callback?code=x&state=y").status_code == 429
    assert client.get("/sign-in/provider").status_code == 429
    assert AuditEntry.objects.count() == before


def test_whoever_begins_and_does_not_come_back_leaves_a_session_of_minutes(browser, provider):
    client = browser()
    client.get("/sign-in/provider")

    assert client.session.get_expiry_age() <= 600


@pytest.mark.parametrize(
    "path", ["/sign-in/provider", "/sign-in/provider/callback", "/sign-in/provider/leave"]
)
def test_without_a_provider_its_pages_say_so(browser, path):
    answer = browser().get(path)

    assert "Single sign-on is not set up here." in problem_of(answer)
    assert not AuditEntry.objects.exists()


# --- a person who was here before ----------------------------------------------------------------


def test_who_shows_both_sign_ins_links_them(
    alice, reviewer, browser, provider, comes_back, recorded
):
    provider.person["auth_time"] = int(time.time())

    asked = comes_back(reviewer, "/account/provider")
    shown = page_of(reviewer.get(asked.url))
    reviewer.post("/account/provider/link", PRESENT)
    client = browser()
    comes_back(client)

    assert "that account signs in here as alice from now on" in shown.text
    assert name_of(client) == "alice"
    assert recorded("person.linked") == [("user:alice", "session:password", "user:alice")]


def test_nothing_is_linked_before_it_is_confirmed(alice, reviewer, browser, provider, comes_back):
    provider.person["auth_time"] = int(time.time())

    comes_back(reviewer, "/account/provider")

    assert "Somebody here is called alice already." in problem_of(comes_back(browser()))


def test_to_link_people_sign_in_there_anew(alice, reviewer, provider, comes_back):
    led = reviewer.get("/account/provider")
    assert httpx2.URL(led.url).params["prompt"] == "login"
    provider.person["auth_time"] = int(time.time()) - HOUR_S

    came = comes_back(reviewer, "/account/provider")

    assert came.url == "/account"
    assert "You signed in there some time ago" in page_of(reviewer.get("/account")).text


def test_what_somebody_signs_in_with_is_not_linked_to_another(
    alice, browser, provider, comes_back, links_alice
):
    provider.person = {"sub": "bob-1", "preferred_username": "bob", "auth_time": int(time.time())}
    comes_back(browser())

    answer = links_alice()

    assert "Somebody signs in with this account" in page_of(answer).text


@pytest.mark.parametrize("form", [{"present": "wrong"}, {"present": ""}])
def test_without_the_password_nothing_is_linked(alice, provider, links_alice, form):
    assert links_alice(**form).status_code == 422
    assert not SocialAccount.objects.exists()


def test_what_was_shown_there_long_ago_is_not_linked(alice, reviewer, provider, comes_back):
    comes_back(reviewer, "/account/provider")
    session = reviewer.session
    session["linking"] = {**session["linking"], "at_s": time.time() - HOUR_S}
    session.save()

    assert reviewer.post("/account/provider/link", PRESENT).url == "/account"
    assert not SocialAccount.objects.exists()


def test_who_is_linked_links_no_second_account(alice, browser, provider, links_alice, comes_back):
    links_alice()
    provider.person = {"sub": "spare-1", "preferred_username": "spare"}
    statement = statements.Statement("spare-1")

    with pytest.raises(NotRecognised, match="already, with another account"):
        identity.link(alice, statement, by=OPERATOR)


def test_what_began_before_the_link_ends(alice, enter, provider, links_alice):
    other, link = enter(alice), make_link(alice, by=OPERATOR)

    links_alice()

    assert name_of(other) is None
    assert other.get(f"/sign-in/{link}").status_code == 410


def test_a_password_does_not_come_back_to_life_without_the_provider(
    alice, browser, provider, links_alice, settings
):
    links_alice()
    settings.OIDC_ISSUER = ""

    answer = browser().post("/sign-in", {"username": "alice", "password": "a long password"})

    assert answer.status_code == 422


def test_a_session_by_password_only_reads_once_passwords_are_off(
    alice, reviewer, provider, settings, ask
):
    settings.PASSWORD_SIGN_IN = False

    led = reviewer.post(f"/approvals/{ask().pk}/decide", {"verdict": "approve"})

    assert "You may no longer sign in with a password." in problem_of(reviewer.get(led.url))


# --- while somebody is signed in -----------------------------------------------------------------


def due(provider_session="", **changes):
    BrowserSession.objects.update(check_due_at=timezone.now(), **changes)


def test_a_role_that_is_taken_there_is_taken_here(browser, provider, comes_back, reviewers):
    provider.person["groups"] = ["beamline"]
    comes_back(browser())
    provider.person["groups"] = []
    due()

    browsers.check_due()

    assert not User.objects.get(username="alice").is_reviewer


def test_a_role_that_the_table_does_not_name_stays(browser, provider, comes_back, reviewers):
    provider.person["groups"] = ["beamline"]
    comes_back(browser())
    User.objects.update(is_auditor=True)
    due()

    browsers.check_due()

    assert User.objects.get(username="alice").is_auditor


def test_even_the_last_admin_is_none_when_the_provider_says_so(browser, provider, comes_back):
    mapping.add_mapping(claim="admins", role="admin", by=OPERATOR)
    provider.person["groups"] = ["admins"]
    comes_back(browser())
    provider.person["groups"] = []
    due()

    browsers.check_due()

    assert not User.objects.filter(is_admin=True).exists()


def test_a_role_that_an_admin_takes_meanwhile_stays_taken(browser, provider, comes_back):
    comes_back(browser())
    person = User.objects.get(username="alice")
    User.objects.update(is_reviewer=True)
    read_before = User.objects.get(username="alice")
    change_roles(person, roles={}, by=OPERATOR)

    identity.follow(read_before, statements.Statement("alice-1", groups=frozenset()))

    assert not User.objects.get(username="alice").is_reviewer


def test_a_new_token_is_kept_before_the_answer_is_judged(browser, provider, comes_back):
    comes_back(browser())
    provider.wrong = {"iss": "https://evil.example"}
    due()
    browsers.check_due()
    provider.wrong = {}
    due()

    browsers.check_due()

    assert timezone.now() - BrowserSession.objects.get().checked_at < timedelta(minutes=1)


def test_one_person_is_not_asked_about_twice_at_once(browser, provider, comes_back):
    comes_back(browser())
    due()
    row = BrowserSession.objects.get()

    assert browsers._is_ours(row)
    assert not browsers._is_ours(row)


def test_who_is_shut_out_there_has_no_link_left(browser, provider, comes_back):
    comes_back(browser())
    link = make_link(User.objects.get(username="alice"), by=OPERATOR)
    provider.forgets_sessions = True
    due()

    browsers.check_due()

    assert browser().get(f"/sign-in/{link}").status_code == 410


def test_who_is_no_longer_known_there_is_signed_out(browser, provider, comes_back, recorded):
    client = browser()
    comes_back(client)
    provider.forgets_sessions = True
    due()

    browsers.check_due()

    assert name_of(client) is None
    assert recorded("session.ended") == [("provider", "oidc", "user:alice")]


def test_nobody_is_asked_about_who_signed_out_here(browser, provider, comes_back):
    client = browser()
    comes_back(client)
    due()
    client.session.flush()
    provider.asked.clear()

    browsers.check_due()

    assert provider.asked == []
    assert not BrowserSession.objects.exists()


def test_a_refresh_without_a_token_asks_for_the_groups(browser, provider, comes_back, reviewers):
    provider.person["groups"] = ["beamline"]
    comes_back(browser())
    provider.person["groups"] = []
    provider.refreshes_without_id_token = True
    due()

    browsers.check_due()

    assert not User.objects.get(username="alice").is_reviewer


def test_a_refresh_about_somebody_else_is_not_believed(browser, provider, comes_back, reviewers):
    provider.person["groups"] = ["beamline"]
    comes_back(browser())
    provider.person = {"sub": "eve-1", "groups": ["beamline"]}
    due(checked_at=timezone.now() - timedelta(hours=2))

    browsers.check_due()

    row = BrowserSession.objects.get()
    assert timezone.now() - row.checked_at > timedelta(hours=1)


def test_while_the_provider_is_down_for_an_hour_people_read_and_do_not_decide(
    browser, provider, comes_back, reviewers, ask
):
    provider.person["groups"] = ["beamline"]
    client = browser()
    comes_back(client)
    approval = ask()
    provider.is_down = True
    due(checked_at=timezone.now() - timedelta(minutes=61))
    browsers.check_due()

    seen = client.get(f"/approvals/{approval.pk}")
    pressed = client.post(f"/approvals/{approval.pk}/decide", {"verdict": "approve"})
    shown = client.get(pressed.url)

    assert seen.status_code == 200
    assert pressed.url == "/sign-in/again?pressed=1&next=%2F"
    assert "could not be asked about you for an hour" in problem_of(shown)
    approval.refresh_from_db()
    assert approval.status == "pending"


def test_who_signs_in_again_goes_on(browser, provider, comes_back, reviewers):
    provider.person["groups"] = ["beamline"]
    client = browser()
    comes_back(client)
    BrowserSession.objects.update(checked_at=timezone.now() - timedelta(minutes=61))
    assert client.get("/sign-in/again").status_code == 200

    comes_back(client, "/sign-in/provider?next=/history")

    assert client.get("/sign-in/again?next=/history").url == "/history"


def test_without_a_token_to_ask_with_they_sign_in_again_after_an_hour(
    browser, provider, comes_back
):
    provider.gives_refresh_tokens = False
    client = browser()
    comes_back(client)

    assert BrowserSession.objects.get().check_due_at is None
    assert "/sign-in" not in client.post("/account/browsers/end").url


def test_the_token_to_ask_with_is_not_kept_in_clear(browser, provider, comes_back):
    client = browser()
    comes_back(client)

    (token,) = provider.refresh_tokens
    assert token.encode() not in bytes(BrowserSession.objects.get().refresh_token)
    assert "at_provider" not in client.session


def test_where_the_provider_is_replaced_its_people_only_read(
    browser, provider, comes_back, settings
):
    client = browser()
    comes_back(client)
    settings.OIDC_ISSUER = "https://another.example"

    assert "/sign-in/again" in client.post("/account/browsers/end").url


# --- logout by the provider (back-channel) -------------------------------------------------------


def told_by_provider(browser, token):
    return browser().post(
        "/sign-in/provider/signed-out", {"logout_token": token}, headers={"origin": ""}
    )


def test_who_signs_out_there_is_signed_out_here(browser, provider, comes_back):
    client = browser()
    comes_back(client)

    assert told_by_provider(browser, provider.logout_token()).status_code == 200
    assert name_of(client) is None


def test_one_session_of_the_provider_ends_one_of_ours(browser, provider, comes_back):
    first, second = browser(), browser()
    provider.person["sid"] = "one"
    comes_back(first)
    provider.person["sid"] = "two"
    comes_back(second)

    told_by_provider(browser, provider.logout_token(sid="one"))

    assert (name_of(first), name_of(second)) == (None, "alice")


def test_a_session_that_had_no_name_there_ends_with_its_person(browser, provider, comes_back):
    client = browser()
    comes_back(client)

    told_by_provider(browser, provider.logout_token(sid="one"))

    assert name_of(client) is None


@pytest.mark.parametrize("sid", ["x" * 300, "with\x00NUL"])
def test_an_odd_name_of_a_session_ends_it(browser, provider, comes_back, sid):
    provider.person["sid"] = sid
    client = browser()
    comes_back(client)

    told_by_provider(browser, provider.logout_token(sub=None, sid=sid))

    assert name_of(client) is None


def test_wrong_logouts_are_counted_and_lock_out_nobody(browser, provider, comes_back):
    for _ in range(throttle.LIMITS["logout"]):
        told_by_provider(browser, "x")
    client = browser()

    assert told_by_provider(browser, provider.logout_token()).status_code == 429
    assert comes_back(client).url == "/account"


def test_an_old_logout_does_not_end_what_began_after_it(browser, provider, comes_back):
    token = provider.logout_token(iat=int(time.time()) - 120)
    client = browser()
    comes_back(client)

    told_by_provider(browser, token)

    assert name_of(client) == "alice"


WRONG_LOGOUTS = {
    "a time that is none": {"iat": "soon"},
    "a time as a list": {"iat": [1]},
    "another issuer": {"iss": "https://evil.example"},
    "another client": {"aud": "other"},
    "too old": {"iat": NOW_S - HOUR_S},
    "a token of a sign-in": {"nonce": "x"},
    "no event": {"events": None},
    "another event": {"events": {"x": {}}},
    "nobody": {"sub": None},
}


@pytest.mark.parametrize("wrong", WRONG_LOGOUTS)
def test_a_logout_that_says_something_wrong_ends_nothing(browser, provider, comes_back, wrong):
    client = browser()
    comes_back(client)

    answer = told_by_provider(browser, provider.logout_token(**WRONG_LOGOUTS[wrong]))

    assert answer.status_code == 400
    assert name_of(client) == "alice"


def test_a_token_of_a_sign_in_is_no_logout(browser, provider, comes_back):
    client = browser()
    comes_back(client)

    assert told_by_provider(browser, provider.id_token()).status_code == 400
    assert name_of(client) == "alice"


def test_a_clock_that_is_a_minute_off_is_no_trouble(browser, provider, comes_back):
    provider.wrong = {"iat": NOW_S + statements.LEEWAY_S - 10}
    client = browser()

    comes_back(client)

    assert name_of(client) == "alice"


# --- passwords switched off ----------------------------------------------------------------------


@pytest.fixture
def no_passwords(provider, settings):
    settings.PASSWORD_SIGN_IN, settings.KEPT_ADMIN = False, "ada"


def test_a_password_lets_nobody_in_but_the_kept_admin(alice, ada, browser, no_passwords):
    client = browser()
    refused = client.post("/sign-in", {"username": "alice", "password": "a long password"})
    came = browser().post("/sign-in", {"username": "ada", "password": "a long password"})

    assert "signs in by single sign-on" in page_of(refused).text
    assert came.status_code == 302


def test_the_sign_in_page_leads_to_the_provider_first(browser, no_passwords):
    page = page_of(browser().get("/sign-in?next=/history"))

    assert (
        page.one("a", href="/sign-in/provider?next=%2Fhistory").text == "Sign in with Example ID"
    )
    assert page.one("summary").text == "Example ID does not answer?"


def test_a_newcomer_has_no_provider_and_a_password(browser):
    page = page_of(browser().get("/sign-in"))

    assert not list(page.all("a", href="/sign-in/provider"))
    assert page.one("input", name="password")


# --- browsers ------------------------------------------------------------------------------------


@pytest.fixture
def signs_in(browser):
    """Signs alice in with her password, in a new browser."""

    def enter(agent="Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0"):
        client = browser()
        form = {"username": "alice", "password": "a long password"}
        client.post("/sign-in", form, headers={"user-agent": agent})
        return client

    return enter


def test_people_see_where_they_are_signed_in(alice, signs_in):
    client = signs_in()
    signs_in("Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) Safari/605.1")

    titles = [title.text for title in page_of(client.get("/account/browsers")).all("h2")]

    assert titles == ["Safari on an iPhone", "Firefox on Linux this browser"]


def test_one_browser_is_signed_out(alice, signs_in, recorded):
    client, other = signs_in(), signs_in()
    row = BrowserSession.objects.get(session_key=other.session.session_key)

    client.post(f"/account/browsers/{row.pk}/end")

    assert (name_of(client), name_of(other)) == ("alice", None)
    assert recorded("session.ended") == [("user:alice", "session:password", "user:alice")]


def test_nobody_ends_somebody_elses(alice, signs_in, admin):
    client = signs_in()
    row = BrowserSession.objects.get(session_key=client.session.session_key)

    admin.post(f"/account/browsers/{row.pk}/end")

    assert name_of(client) == "alice"


def test_all_others_are_signed_out_at_once(alice, signs_in, enter):
    client, other, of_an_earlier_release = signs_in(), signs_in(), enter(alice)

    client.post("/account/browsers/end")

    assert name_of(client) == "alice"
    assert name_of(other) is None
    assert name_of(of_an_earlier_release) is None


def test_a_remembered_browser_goes_on_reading_and_asks_before_it_decides(
    alice, signs_in, ask, monkeypatch
):
    client = signs_in()
    client.post("/account/browsers/remember", {"present": "a long password"})
    approval = ask()
    session = client.session
    session["lapses_s"] = int(time.time()) - 1
    session.save()

    assert client.get(f"/approvals/{approval.pk}").status_code == 200
    pressed = client.post(f"/approvals/{approval.pk}/decide", {"verdict": "approve"})
    assert "This browser is remembered for reading." in problem_of(client.get(pressed.url))
    assert session.get_expiry_age() > 29 * 24 * 3600


def test_a_remembered_browser_of_who_has_no_password_chooses_none(browser, settings):
    settings.SECOND_FACTOR = "everyone"
    hanna = make.person("hanna", password=None, reviewer=True)
    client = browser()
    client.post(f"/sign-in/{make_link(hanna, by=OPERATOR)}")
    client.post("/account/browsers/remember")
    session = client.session
    session["lapses_s"] = session["link_at"] = int(time.time()) - HOUR_S
    session["is_remembered"] = True
    session.save()
    form = {"password": "a new one of hers 7", "again": "a new one of hers 7"}

    for path in ("/account", "/account/password", "/account/second-factor"):
        assert "/sign-in/again" in client.post(path, form).url
    hanna.refresh_from_db()
    assert not hanna.has_usable_password()


def test_a_browser_of_who_cannot_be_asked_about_is_not_remembered(browser, provider, comes_back):
    provider.gives_refresh_tokens = False
    client = browser()
    comes_back(client)

    client.post("/account/browsers/remember")

    assert "This browser is not remembered" in page_of(client.get("/account/browsers")).text
    assert client.session.get_expiry_age() < 24 * HOUR_S


@pytest.mark.parametrize("form", [{}, {"present": ""}, {"present": "not hers"}])
def test_a_session_alone_does_not_make_itself_last(alice, signs_in, form):
    client = signs_in()

    reply = client.post("/account/browsers/remember", form)

    assert reply.status_code in {403, 422}
    assert client.session.get_expiry_age() < 24 * HOUR_S
    assert not BrowserSession.objects.filter(is_remembered=True).exists()


def test_that_a_browser_stays_signed_in_is_recorded_once(alice, signs_in):
    client = signs_in()
    for _ in range(2):
        client.post("/account/browsers/remember", {"present": "a long password"})

    assert AuditEntry.objects.filter(action="session.remembered").count() == 1


def test_reading_does_not_renew_what_a_remembered_browser_may_do(alice, signs_in):
    client = signs_in()
    client.post("/account/browsers/remember", {"present": "a long password"})
    session = client.session
    later = time.time() + 9 * HOUR_S

    sessions.use(session, later)

    assert sessions.has_lapsed(session, later)


def test_what_was_done_with_is_forgotten(alice, signs_in):
    signs_in()
    Session.objects.all().delete()

    browsers.forget_gone(timezone.now())

    assert not BrowserSession.objects.exists()


def test_names_are_made_for_a_person_once(browser, provider, comes_back):
    comes_back(browser())
    comes_back(browser())

    assert User.objects.count() == 1
    assert make.person("bob").username == "bob"
