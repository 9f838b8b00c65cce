import time

import pytest

from dashboard.accounts.models import User
from dashboard.accounts.services.signing_in import make_link
from dashboard.web.office.sign_in import FRESH_S
from tests import make

NEW = {"password": "correct horse battery", "again": "correct horse battery"}
RIGHT = {"present": "a long password", **NEW}


@pytest.fixture
def linked(browser, alice):
    """The browser of alice, who has a password and came by a link."""
    client = browser()
    client.post(f"/sign-in/{make_link(alice, by=make.BY)}")
    return client


def is_new(person):
    return User.objects.get(pk=person.pk).check_password("correct horse battery")


def test_a_person_sees_their_roles(reviewer, read):
    assert "alice reviewer" in read(reviewer.get("/account"), "main")


def test_a_new_password_holds(reviewer, alice):
    reply = reviewer.post("/account", RIGHT)

    assert reply.status_code == 302
    assert is_new(alice)


def test_this_session_stays_and_the_others_end(enter, alice):
    here, elsewhere = enter(alice), enter(alice)
    here.post("/account", RIGHT)

    assert [c.get("/account").status_code for c in (here, elsewhere)] == [200, 302]


def listed(client):
    return [row.is_present for row in client.get("/account/browsers").context["rows"]]


def test_after_a_new_password_this_browser_alone_is_listed(browser, alice):
    here, elsewhere = browser(), browser()
    for client in (here, elsewhere):
        client.post("/sign-in", {"username": "alice", "password": "a long password"})
    here.post("/account", RIGHT)

    assert listed(here) == [True]


def test_a_browser_that_a_command_signed_out_is_not_listed(browser, alice):
    here, elsewhere = browser(), browser()
    elsewhere.post("/sign-in", {"username": "alice", "password": "a long password"})
    alice.set_password("correct horse battery")  # as Django's own changepassword does
    alice.save()
    here.post("/sign-in", {"username": "alice", "password": "correct horse battery"})

    assert listed(here) == [True]


def test_the_change_is_recorded_with_how_the_person_was_known(reviewer, recorded):
    reviewer.post("/account", RIGHT)

    expected = ("user:alice", "session:password", "user:alice")
    assert recorded("person.password_changed") == [expected]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"present": "wrong"}, "That is not your current password. Nothing was changed."),
        ({"present": ""}, "This field is required."),
        ({"again": "correct horse batter"}, "The two passwords differ. Nothing was changed."),
        ({"password": "short", "again": "short"}, "It must contain at least 12 characters."),
        ({"password": "administrator", "again": "administrator"}, "too common"),
    ],
)
def test_a_password_that_will_not_do_changes_nothing(reviewer, alice, read, change, sentence):
    reply = reviewer.post("/account", RIGHT | change)

    assert reply.status_code == 422
    assert sentence in read(reply, "main")
    assert not is_new(alice)


def test_guessing_the_present_password_is_slowed(reviewer, alice):
    for _ in range(10):
        reviewer.post("/account", RIGHT | {"present": "wrong"})
    reply = reviewer.post("/account", RIGHT)

    assert reply.status_code == 429
    assert int(reply["Retry-After"]) > 290
    assert not is_new(alice)


def test_leaving_the_field_out_does_not_leave_the_question_out(reviewer, alice):
    reviewer.post("/account", NEW)

    assert not is_new(alice)


def test_who_has_none_yet_needs_none(browser, db):
    carol = make.person("carol", password=None, reviewer=True)
    client = browser()
    client.post(f"/sign-in/{make_link(carol, by=make.BY)}")
    client.post("/account/password", NEW)

    assert is_new(carol)


def test_who_just_came_by_a_link_may_replace_a_forgotten_one(linked, alice):
    linked.post("/account", NEW)

    assert is_new(alice)


def test_who_came_by_a_link_a_while_ago_may_not(linked, alice):
    session = linked.session
    session["link_at"] = time.time() - FRESH_S
    session.save()
    linked.post("/account", NEW)

    assert not is_new(alice)


def test_a_link_is_good_for_one_new_password(linked, alice):
    linked.post("/account", NEW)
    reply = linked.post("/account", {"password": "another long one", "again": "another long one"})

    assert reply.status_code == 422
    assert is_new(alice)


def test_signing_in_by_password_afterwards_is_no_coming_by_link(linked, alice):
    linked.post("/sign-in", {"username": "alice", "password": "a long password"})
    linked.post("/account", NEW)

    assert not is_new(alice)
