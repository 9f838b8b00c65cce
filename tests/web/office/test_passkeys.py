"""The pages of passkeys: adding, removing, confirming, and signing in with one."""

import html
import json
import re

import pytest
from django.db import connection

from dashboard.accounts.models import Passkey
from dashboard.accounts.services import factors, passkeys, throttle
from dashboard.accounts.services.signing_in import make_link
from dashboard.approvals.guards import remove as take_guards_off
from dashboard.approvals.services.proof import compare
from dashboard.audit.services import Actor
from tests import make
from tests.authenticator import Device
from tests.web.pages import read as page_of

PASSWORD = "a long password"
PAGE = "/account/passkeys"


@pytest.fixture(autouse=True)
def _named(settings):
    """A dashboard with a name, which keys are made for."""
    settings.PUBLIC_URL = "http://localhost:8000"


@pytest.fixture
def at(settings):
    return {"origin": "http://localhost:8000", "host": "localhost"}


def options_on(reply):
    [text] = re.findall(r'data-options="([^"]*)"', reply.content.decode())[:1]
    return json.loads(html.unescape(text))


def make_options_on(reply):
    found = re.findall(r'data-passkey="create"\s+data-options="([^"]*)"', reply.content.decode())
    return json.loads(html.unescape(found[0]))


@pytest.fixture
def add(at):
    """Add a passkey on the page, as a browser does."""

    def add_key(client, device, **form):
        made = device.make(make_options_on(client.get(PAGE)), **at)
        form = {"name": "Phone", "present": PASSWORD, "made": made, **form}
        return client.post(PAGE, form)

    return add_key


def test_one_is_added_and_recovery_codes_are_shown_once(alice, reviewer, add, recorded):
    shown = add(reviewer, Device())

    assert len(list(page_of(shown).one("ol").all("li"))) == 10
    assert "signs approvals from" in page_of(reviewer.get(PAGE)).text
    assert recorded("passkey.added") == [("user:alice", "session:password", "user:alice")]
    assert reviewer.session["auth"] == "password+passkey"


def test_another_brings_no_other_codes(alice, reviewer, add):
    add(reviewer, Device())

    assert add(reviewer, Device(b"another name of another key"), name="Key").url == PAGE
    assert factors.factors_of(alice).codes_left == 10


def test_how_somebody_signed_in_names_each_kind_once(reviewer, add):
    """It stands in each entry of the log, which has room for no list of keys."""
    for number in range(3):
        add(reviewer, Device(f"the name of key number {number}".encode()))

    assert reviewer.session["auth"] == "password+passkey"


@pytest.mark.parametrize(
    "form",
    [
        {"present": "a wrong password"},
        {"present": ""},
        {"name": ""},
        {"name": "Ph\u202eone"},
        {"name": "x" * 101},
        {"made": ""},
        {"made": "{}"},
        {"made": "x" * 20_000},
    ],
    ids=str,
)
def test_what_is_wrong_adds_none(reviewer, add, form):
    assert add(reviewer, Device(), **form).status_code == 422
    assert not Passkey.objects.exists()


def test_a_key_that_answers_another_page_is_not_added(reviewer, enter, add, at, bob):
    """Of another session."""
    made = Device().make(make_options_on(enter(bob).get(PAGE)), **at)

    assert add(reviewer, Device(), made=made).status_code == 422


def test_where_browsers_make_none_the_page_says_what_to_do(alice, enter, settings):
    settings.PUBLIC_URL = "http://127.0.0.1:8000"
    page = page_of(enter(alice).get(PAGE))

    assert "http://localhost:8000" in page.text
    assert not list(page.all("form", action=PAGE))


# --- signing in ----------------------------------------------------------------------------------


@pytest.fixture
def asked(alice, reviewer, browser, add):
    """Alice's device, and a browser that asks for it after her password."""
    device = Device()
    add(reviewer, device)
    client = browser()
    assert (
        client.post("/sign-in", {"username": "alice", "password": PASSWORD}).url
        == "/sign-in/second"
    )
    return device, client


def test_it_signs_in(asked, at, recorded):
    device, client = asked

    signed = device.sign(options_on(client.get("/sign-in/second")), **at)
    client.post("/sign-in/second", {"signed": signed})

    assert client.session["auth"] == "password+passkey"
    assert ("user:alice", "password+passkey", "user:alice") in recorded("sign_in.succeeded")


def test_what_was_signed_for_another_browser_does_not(asked, browser, at):
    device, client = asked
    other = browser()
    other.post("/sign-in", {"username": "alice", "password": PASSWORD})
    signed = device.sign(options_on(other.get("/sign-in/second")), **at)

    refused = client.post("/sign-in/second", {"signed": signed})

    assert refused.status_code == 422
    assert "Something else was signed" in page_of(refused).one(role="alert").text
    assert "auth" not in client.session


def test_failures_are_counted(asked, recorded):
    _, client = asked
    for _ in range(throttle.LIMITS["factor"]):
        assert client.post("/sign-in/second", {"signed": "{}"}).status_code == 422

    assert client.post("/sign-in/second", {"signed": "{}"}).status_code == 429
    assert len(recorded("sign_in.failed")) == throttle.LIMITS["factor"]


def test_a_recovery_code_takes_its_place(alice, reviewer, browser, add):
    codes = [li.text for li in page_of(add(reviewer, Device())).one("ol").all("li")]
    client = browser()
    client.post("/sign-in", {"username": "alice", "password": PASSWORD})

    client.post("/sign-in/second", {"code": codes[0]})

    assert client.session["auth"] == "password+recovery_codes"


# --- removing ------------------------------------------------------------------------------------


def sign_options_on(reply):
    found = re.findall(r'data-passkey="get" data-options="([^"]*)"', reply.content.decode())
    return json.loads(html.unescape(found[0]))


def test_it_is_removed_by_signing(alice, reviewer, add, at, settings):
    settings.SECOND_FACTOR = "everyone"
    device = Device()
    add(reviewer, device)
    key = Passkey.objects.get()

    signed = device.sign(sign_options_on(reviewer.get(PAGE)), **at)
    reviewer.post(f"{PAGE}/{key.pk}/remove", {"signed": signed})

    assert not passkeys.passkeys_of(alice)
    assert reviewer.session["auth"] == "password"  # nobody keeps the rights of one that is gone


@pytest.mark.parametrize("form", [{}, {"signed": "{}"}, {"code": "000000"}], ids=str)
def test_without_a_second_factor_none_is_removed(alice, reviewer, add, form):
    add(reviewer, Device())
    key = Passkey.objects.get()

    reviewer.post(f"{PAGE}/{key.pk}/remove", form)

    assert passkeys.passkeys_of(alice) == [key]
    assert "Nothing was changed." in page_of(reviewer.get(PAGE)).text


def test_nobody_removes_somebody_elses_in_their_own_account(alice, reviewer, add, enter, bob):
    add(reviewer, Device())

    assert enter(bob).post(f"{PAGE}/{Passkey.objects.get().pk}/remove").status_code == 404


def test_who_has_one_shows_it_before_they_add_another(alice, reviewer, enter, add, at):
    """Or whoever has a session and the password adds their own, and removes hers with it."""
    device = Device()
    add(reviewer, device)
    other = enter(alice)
    assert 'data-passkey="create"' not in other.get(PAGE).content.decode()

    options = sign_options_on(other.get(PAGE))
    other.post("/account/second-factor/show", {"signed": device.sign(options, **at)})

    assert other.session["auth"] == "password+passkey"
    assert add(other, Device(b"another name of another key"), name="Key").url == PAGE


def test_what_was_not_shown_adds_nothing(alice, reviewer, enter, add, at):
    add(reviewer, Device())
    other = enter(alice)
    made = Device(b"another name of another key").make({"challenge": "AAAA"}, **at)

    refused = other.post(PAGE, {"name": "x", "present": PASSWORD, "made": made})

    assert refused.status_code == 422
    assert "did not show it in this session" in page_of(refused).text
    assert Passkey.objects.count() == 1


def test_removing_one_signs_other_browsers_out(alice, reviewer, enter, add, at):
    device = Device()
    add(reviewer, device)
    other = enter(alice)

    signed = device.sign(sign_options_on(reviewer.get(PAGE)), **at)
    reviewer.post(f"{PAGE}/{Passkey.objects.get().pk}/remove", {"signed": signed})

    assert other.get(PAGE).status_code == 302
    assert reviewer.get(PAGE).status_code == 200


def test_a_new_one_is_said_at_each_sign_in_for_a_day(alice, reviewer, browser, add, at):
    device = Device()
    add(reviewer, device)
    client = browser()
    client.post("/sign-in", {"username": "alice", "password": PASSWORD})
    signed = device.sign(options_on(client.get("/sign-in/second")), **at)
    client.post("/sign-in/second", {"signed": signed})

    assert "The passkey Phone was added to your account" in page_of(client.get("/account")).text


def test_a_challenge_is_too_old_after_a_while(asked, at, monkeypatch):
    device, client = asked
    options = options_on(client.get("/sign-in/second"))
    monkeypatch.setattr("dashboard.web.office.factors.CHALLENGE_S", 0)

    refused = client.post("/sign-in/second", {"signed": device.sign(options, **at)})

    assert refused.status_code == 422


# --- by admins -----------------------------------------------------------------------------------


def test_an_admin_confirms_it_and_it_counts_at_once(alice, reviewer, admin, add, recorded):
    add(reviewer, Device())
    page = f"/people/{alice.pk}"

    admin.post(f"{page}/passkeys/{Passkey.objects.get().pk}/confirm")

    assert "signs approvals Added" in page_of(admin.get(page)).text
    assert recorded("passkey.confirmed") == [("user:ada", "session:password", "user:alice")]


def test_an_admin_with_a_second_factor_shows_it_to_confirm(alice, ada, reviewer, admin, add, at):
    add(reviewer, Device())
    own = Device(b"the name of the key of an admin")
    add(admin, own)
    key, page = Passkey.objects.get(person=alice), f"/people/{alice.pk}"

    admin.post(f"{page}/passkeys/{key.pk}/confirm")
    assert not hasattr(Passkey.objects.get(pk=key.pk), "confirmation")
    signed = own.sign(sign_options_on(admin.get(page)), **at)
    admin.post(f"{page}/passkeys/{key.pk}/confirm", {"signed": signed})

    assert Passkey.objects.get(pk=key.pk).confirmation.confirmed_by == ada


def test_an_admin_does_not_confirm_their_own(ada, admin, add):
    add(admin, Device())

    admin.post(f"/people/{ada.pk}/passkeys/{Passkey.objects.get().pk}/confirm")

    assert "Another admin has to confirm" in page_of(admin.get(f"/people/{ada.pk}")).text
    assert not hasattr(Passkey.objects.get(), "confirmation")


def test_an_admin_who_let_its_person_in_reads_why_they_do_not_confirm(alice, reviewer, admin, add):
    make_link(alice, by=Actor("user:ada", "session:password"))
    add(reviewer, Device())

    page = admin.get(f"/people/{alice.pk}")

    assert "you gave alice a way in" in page_of(page).text
    assert "Confirm Phone" not in page.content.decode()


def test_an_admin_removes_it(alice, reviewer, admin, add, recorded):
    add(reviewer, Device())

    admin.post(f"/people/{alice.pk}/passkeys/{Passkey.objects.get().pk}/remove")

    assert not factors.has_factor(alice)
    assert recorded("passkey.removed") == [("user:ada", "session:password", "user:alice")]


def test_a_second_factor_that_is_reset_takes_the_passkeys_along(alice, reviewer, admin, add):
    add(reviewer, Device())

    admin.post(f"/people/{alice.pk}/factor")

    assert not factors.has_factor(alice)


# --- kept ----------------------------------------------------------------------------------------


FORGED = {
    "another key": "UPDATE dashboard_passkey SET public_key = 'x'",
    "an earlier day": "UPDATE dashboard_passkey SET added_at = '2020-01-01 00:00:00+00:00'",
    "no need of an admin": "UPDATE dashboard_passkey SET needs_confirmation = NOT "
    "needs_confirmation",
    "a confirmation": "INSERT INTO dashboard_passkeyconfirmation (passkey_id, confirmed_by_id, "
    "confirmed_at) SELECT id, person_id, added_at FROM dashboard_passkey WHERE name = 'Phone'",
    "an earlier confirmation": "UPDATE dashboard_passkeyconfirmation SET confirmed_at = "
    "'2020-01-01 00:00:00+00:00'",
    "no removal": "DELETE FROM dashboard_passkeyremoval",
    "none at all": "DELETE FROM dashboard_passkey WHERE name = 'Phone'",
}


def said():
    """What the tables and the log say differently, in words."""
    return " ".join(each.said for _, several in compare() for each in several)


@pytest.mark.parametrize("statement", FORGED.values(), ids=FORGED)
@pytest.mark.django_db(transaction=True)
def test_what_is_forged_in_the_database_is_found(alice, reviewer, add, statement):
    add(reviewer, Device())
    add(reviewer, Device(b"another name of another key"), name="Second")
    third = Device(b"a third name of a third key, which goes")
    add(reviewer, third, name="Third")
    root = make.person("root", admin=True)
    second = Passkey.objects.get(name="Second")
    passkeys.confirm(second, admin=root, by=Actor.of_user("root", "x"))
    passkeys.remove(
        Passkey.objects.get(name="Third"), remover=alice, by=Actor.of_user("alice", "x")
    )
    assert not said()
    take_guards_off()
    with connection.cursor() as cursor:
        cursor.execute(statement)

    assert "passkeys are not those in the log" in said()
