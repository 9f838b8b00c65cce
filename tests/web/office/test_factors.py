"""The second factor: who adds one is asked for it, and a code counts once."""

import re
import time

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value
from allauth.socialaccount.models import SocialAccount

from dashboard.accounts.models import BrowserSession
from dashboard.accounts.provider.metadata import provider_id
from dashboard.accounts.services import factors, throttle
from dashboard.accounts.services.people import set_active, set_password
from dashboard.accounts.services.signing_in import make_link
from dashboard.audit.services import OPERATOR
from tests import make
from tests.web.pages import read as page_of

PASSWORD = "a long password"
PAGE = "/account/second-factor"
NOW_S = 1_800_000_000
HERE = {"address": "10.0.0.7"}


@pytest.fixture(autouse=True)
def clock(monkeypatch):
    """A clock that stands still until a test moves it."""
    moment = [NOW_S]
    monkeypatch.setattr(factors, "_now_s", lambda: moment[0])
    return moment


def code_of(secret, later=0):
    return format_hotp_value(hotp_value(secret, NOW_S // factors.PERIOD_S + later))


@pytest.fixture
def app(alice):
    """Alice's app: (secret, recovery codes). Its first code was used to add it."""
    secret = factors.new_secret()
    return secret, factors.add_app(alice, secret, code_of(secret), by=OPERATOR)


@pytest.fixture
def first_proof(browser):
    """A browser in which alice's password was right."""

    def show(path="/sign-in", **form):
        client = browser()
        led = client.post(path, {"username": "alice", "password": PASSWORD, **form})
        assert led.url == "/sign-in/second"
        return client

    return show


def name_of(client):
    context = client.get("/account").context
    return context and context["user"].username


# --- adding --------------------------------------------------------------------------------------


def secret_on(page):
    return re.search(r"Or type the secret: ((?:[A-Z2-7]{4} ?){8})", page.text)[1].replace(" ", "")


def test_an_app_is_added_and_recovery_codes_are_shown_once(alice, reviewer, recorded):
    secret = secret_on(page_of(reviewer.get(PAGE)))

    shown = page_of(reviewer.post(PAGE, {"code": code_of(secret), "present": PASSWORD}))

    assert len(list(shown.one("ol").all("li"))) == 10
    assert factors.factors_of(alice) == (True, 10)
    assert recorded("factor.added") == [("user:alice", "session:password", "user:alice")]
    assert "10 recovery codes are left." in page_of(reviewer.get(PAGE)).text


@pytest.mark.parametrize(
    "form",
    [
        {"code": "000000", "present": PASSWORD},
        {"code": "right", "present": "a wrong password"},
        {"code": "right"},
        {"code": "", "present": PASSWORD},
    ],
)
def test_what_is_wrong_adds_nothing(alice, reviewer, form):
    secret = secret_on(page_of(reviewer.get(PAGE)))
    form = {**form, "code": code_of(secret)} if form["code"] == "right" else form

    assert reviewer.post(PAGE, form).status_code == 422
    assert not Authenticator.objects.exists()


def test_a_code_without_a_page_before_adds_nothing(alice, reviewer):
    assert reviewer.post(PAGE, {"code": "123456", "present": PASSWORD}).status_code == 422


def test_the_secret_is_not_kept_in_clear(alice, app):
    secret, codes = app
    kept = str(list(Authenticator.objects.values_list("data", flat=True)))

    assert secret not in kept
    assert not any(code in kept for code in codes)


def test_with_another_key_of_the_server_no_code_counts(alice, app, settings):
    secret, codes = app
    settings.SECRET_KEY = "another key of the server, as long as the one before it was"

    for code in (code_of(secret, later=1), codes[0]):
        with pytest.raises(factors.NotPermitted):
            factors.confirm(alice, code, **HERE)


# --- signing in ----------------------------------------------------------------------------------


def test_a_code_signs_in_and_stands_in_the_log(app, first_proof, recorded):
    client = first_proof(next="/history")

    led = client.post("/sign-in/second", {"code": code_of(app[0], later=1)})

    assert led.url == "/history"
    assert recorded("sign_in.succeeded") == [("user:alice", "password+totp", "user:alice")]
    assert client.session["auth"] == "password+totp"


def test_the_first_proof_alone_opens_nothing(app, first_proof):
    client = first_proof()

    assert name_of(client) is None
    assert client.get("/").url.startswith("/sign-in")


def test_a_recovery_code_signs_in_once(app, first_proof):
    code = app[1][3]
    first, second = first_proof(), first_proof()

    assert first.post("/sign-in/second", {"code": code}).status_code == 302
    assert second.post("/sign-in/second", {"code": code}).status_code == 422
    assert (name_of(first), name_of(second)) == ("alice", None)


def test_a_code_of_the_app_counts_once(app, first_proof):
    code = code_of(app[0], later=1)
    first, second = first_proof(), first_proof()
    first.post("/sign-in/second", {"code": code})

    assert second.post("/sign-in/second", {"code": code}).status_code == 422


def test_the_code_that_added_the_app_does_not_sign_in(app, first_proof):
    assert first_proof().post("/sign-in/second", {"code": code_of(app[0])}).status_code == 422


@pytest.mark.parametrize(("later", "counts"), [(1, True), (2, False), (-1, False)])
def test_how_far_a_clock_may_be_off(alice, app, later, counts):
    """A code before the last one that counted never does."""
    code = code_of(app[0], later=later)

    if counts:
        assert factors.confirm(alice, code, **HERE) == "totp"
    else:
        with pytest.raises(factors.NotPermitted):
            factors.confirm(alice, code, **HERE)


@pytest.mark.parametrize("code", ["", "0", "abcdef", "12345", "1234567", "００００００", "x" * 40])
def test_what_is_no_code_is_refused(app, first_proof, code):
    assert first_proof().post("/sign-in/second", {"code": code}).status_code == 422


def test_a_code_may_have_blanks(app, first_proof):
    code = code_of(app[0], later=1)
    client = first_proof()

    client.post("/sign-in/second", {"code": f" {code[:3]} {code[3:]} "})

    assert name_of(client) == "alice"


def test_wrong_codes_are_counted(app, first_proof, recorded):
    client = first_proof()
    for _ in range(throttle.LIMITS["factor"]):
        client.post("/sign-in/second", {"code": "000000"})

    answer = first_proof().post("/sign-in/second", {"code": code_of(app[0], later=1)})

    assert answer.status_code == 429
    assert recorded("sign_in.failed")[0] == ("anonymous", "second_factor", "user:alice")


def test_a_link_is_followed_by_a_code_too(alice, app, browser):
    client = browser()

    led = client.post(f"/sign-in/{make_link(alice, by=OPERATOR)}")
    client.post(led.url, {"code": code_of(app[0], later=1)})

    assert led.url == "/sign-in/second"
    assert client.session["auth"] == "link+totp"


def test_without_a_first_proof_the_page_leads_back(browser):
    assert browser().get("/sign-in/second").url == "/sign-in"


def deactivate(alice):
    set_active(alice, active=False, by=OPERATOR)


def change_password(alice):
    set_password(alice, password="another long password", by=OPERATOR)


def link_elsewhere(alice):
    SocialAccount.objects.create(user=alice, provider=provider_id(), uid="1")


@pytest.mark.parametrize("change", [deactivate, change_password, link_elsewhere])
def test_who_was_changed_after_the_first_proof_is_not_let_in_by_the_second(
    alice, app, first_proof, recorded, change
):
    client = first_proof()
    change(alice)

    reply = client.post("/sign-in/second", {"code": code_of(app[0], later=1)})

    assert reply.status_code == 422
    assert "since you began to sign in. You are not signed in." in page_of(reply).text
    assert recorded("sign_in.succeeded") == []
    assert recorded("sign_in.failed") == [("anonymous", "password+totp", "user:alice")]
    assert not BrowserSession.objects.exists()


def test_who_was_deactivated_during_the_sign_in_has_no_session_once_active_again(
    alice, app, first_proof
):
    client = first_proof()
    deactivate(alice)
    client.post("/sign-in/second", {"code": code_of(app[0], later=1)})
    set_active(alice, active=True, by=OPERATOR)

    assert name_of(client) is None
    assert client.get("/sign-in/second").url == "/sign-in"


def test_a_link_is_not_followed_by_a_code_once_the_password_is_another(alice, app, browser):
    client = browser()
    client.post(f"/sign-in/{make_link(alice, by=OPERATOR)}")
    change_password(alice)

    assert client.post("/sign-in/second", {"code": code_of(app[0], later=1)}).status_code == 422
    assert name_of(client) is None


def test_the_first_proof_of_one_person_is_not_that_of_another(alice, app, browser, first_proof):
    make.person("bob", reviewer=True)
    client = first_proof()
    client.post("/sign-in", {"username": "bob", "password": PASSWORD})

    client.post("/sign-in/second", {"code": code_of(app[0], later=1)})

    assert name_of(client) == "bob"
    assert client.session["auth"] == "password"


def test_a_first_proof_does_not_last(app, first_proof):
    client = first_proof()
    session = client.session
    session["account_login"]["initiated_at"] = time.time() - 3600
    session.save()

    assert client.get("/sign-in/second").url == "/sign-in"


def test_who_comes_by_single_sign_on_is_not_asked(
    alice, app, reviewer, browser, provider, comes_back
):
    comes_back(reviewer, "/account/provider")
    reviewer.post("/account/provider/link", {"present": PASSWORD})
    client = browser()

    comes_back(client)

    assert name_of(client) == "alice"


# --- what is demanded ----------------------------------------------------------------------------


def pressed(client, approval):
    return client.post(f"/approvals/{approval.pk}/decide", {"verdict": "approve"})


def test_where_it_is_demanded_nobody_decides_without_one(alice, reviewer, ask, settings):
    settings.SECOND_FACTOR = "everyone"
    approval = ask()

    led = pressed(reviewer, approval)

    assert reviewer.get(f"/approvals/{approval.pk}").status_code == 200
    assert led.url == f"{PAGE}?pressed=1&next=%2F"
    assert "Nothing was recorded" in page_of(reviewer.get(led.url)).one(role="alert").text
    approval.refresh_from_db()
    assert approval.status == "pending"


def test_who_adds_one_decides_at_once(alice, reviewer, ask, settings):
    settings.SECOND_FACTOR = "everyone"
    secret = secret_on(page_of(reviewer.get(PAGE)))
    reviewer.post(PAGE, {"code": code_of(secret), "present": PASSWORD})

    assert PAGE not in pressed(reviewer, ask()).get("Location", "")


def test_of_admins_it_can_be_demanded_alone(alice, reviewer, admin, ask, settings):
    settings.SECOND_FACTOR = "admins"

    assert admin.post("/people", {"username": "new"}).url.startswith(PAGE)
    assert PAGE not in pressed(reviewer, ask()).get("Location", "")


def test_of_the_kept_admin_it_is_always_demanded(ada, admin, settings):
    settings.KEPT_ADMIN = "ADA"

    assert admin.post("/people", {"username": "new"}).url.startswith(PAGE)


def test_admins_are_reminded(admin, reviewer):
    assert "an admin should have one" in page_of(admin.get("/account")).text
    assert "an admin should have one" not in page_of(reviewer.get("/account")).text


def test_who_has_one_and_signed_in_without_it_is_told_to_sign_in_with_it(
    alice, app, reviewer, settings
):
    settings.SECOND_FACTOR = "everyone"

    assert "You signed in without your second factor." in page_of(reviewer.get(PAGE)).text


# --- removing ------------------------------------------------------------------------------------


def test_it_is_removed_with_a_code(alice, app, reviewer, recorded):
    reviewer.post(f"{PAGE}/remove", {"code": code_of(app[0], later=1)})

    assert not factors.has_factor(alice)
    assert recorded("factor.removed") == [("user:alice", "session:password", "user:alice")]


def test_who_removes_a_demanded_one_reads_only(alice, app, first_proof, ask, settings):
    settings.SECOND_FACTOR = "everyone"
    client = first_proof()
    client.post("/sign-in/second", {"code": app[1][0]})

    client.post(f"{PAGE}/remove", {"code": app[1][1]})

    assert pressed(client, ask()).url.startswith(PAGE)


@pytest.mark.parametrize("path", ["remove", "codes"])
def test_other_browsers_are_signed_out_when_it_is_removed_or_has_new_codes(app, first_proof, path):
    """Whoever has the lost phone, or the lost codes, may be signed in by it."""
    own, other = first_proof(), first_proof()
    own.post("/sign-in/second", {"code": app[1][0]})
    other.post("/sign-in/second", {"code": code_of(app[0], later=1)})

    page = page_of(own.post(f"{PAGE}/{path}", {"code": app[1][1]}, follow=True))

    assert "Your other browsers are signed out." in page.text
    assert name_of(other) is None
    assert name_of(own) == "alice"


def test_one_that_was_shown_no_longer_counts_once_the_person_has_none(
    alice, app, first_proof, ask, settings
):
    settings.SECOND_FACTOR = "everyone"
    client = first_proof()
    client.post("/sign-in/second", {"code": app[1][0]})
    factors.remove_app(alice, by=OPERATOR)

    assert pressed(client, ask()).url.startswith(PAGE)


def test_admins_remove_their_own_with_a_code_alone(ada, admin):
    secret = factors.new_secret()
    factors.add_app(ada, secret, code_of(secret), by=OPERATOR)

    admin.post(f"/people/{ada.pk}/factor")

    assert factors.has_factor(ada)


@pytest.mark.parametrize("code", ["", "000000"])
@pytest.mark.parametrize("path", ["remove", "codes"])
def test_without_a_code_nothing_changes(alice, app, reviewer, path, code):
    reviewer.post(f"{PAGE}/{path}", {"code": code})

    assert factors.factors_of(alice) == (True, 10)


def test_a_wrong_code_of_who_is_signed_in_is_recorded_as_theirs(alice, app, reviewer, recorded):
    reviewer.post(f"{PAGE}/remove", {"code": "000000"})

    assert recorded("factor.not_confirmed") == [("user:alice", "session:password", "user:alice")]
    assert "Nothing was changed." in page_of(reviewer.get(PAGE)).text
    assert not recorded("sign_in.failed")


def test_new_recovery_codes_replace_the_old(alice, app, reviewer):
    shown = page_of(reviewer.post(f"{PAGE}/codes", {"code": app[1][0]}))

    new = [item.text for item in shown.one("ol").all("li")]
    assert len(new) == 10
    assert not set(new) & set(app[1])


def test_an_admin_removes_that_of_who_lost_it(alice, app, admin, recorded):
    assert "Remove the second factor" in page_of(admin.get(f"/people/{alice.pk}")).text

    admin.post(f"/people/{alice.pk}/factor")

    assert not factors.has_factor(alice)
    assert recorded("factor.removed") == [("user:ada", "session:password", "user:alice")]


def test_a_second_app_is_not_added_over_the_first(alice, app):
    secret = factors.new_secret()

    with pytest.raises(factors.NotPermitted):
        factors.add_app(alice, secret, code_of(secret), by=OPERATOR)
