"""The admins' page of single sign-on, and what it changes."""

import pytest
from django.utils import timezone

from dashboard.accounts.models import GroupMapping, UnknownIdentity, User
from dashboard.accounts.provider.metadata import provider_id
from dashboard.accounts.services import mapping
from dashboard.audit.services import OPERATOR
from tests import make
from tests.web.pages import read as page_of

PAGE = "/single-sign-on"


@pytest.fixture
def unknown(provider):
    """Eve is known at the provider, and was not let in."""
    return UnknownIdentity.objects.create(
        provider=provider_id(),
        subject="eve-1",
        username="eve",
        address="eve@example.org",
        reason="Somebody here is called eve already.",
        last_at=timezone.now(),
    )


def said(client, path=PAGE):
    return page_of(client.get(path)).text


def test_a_role_is_mapped(admin, recorded):
    admin.post(PAGE, {"claim": "beamline", "gives": "role:reviewer"})

    assert "beamline the role reviewer" in said(admin)
    assert recorded("group_mapping.added") == [("user:ada", "session:password", "")]


def test_a_group_is_mapped_and_people_are_put_into_it(admin, provider, browser, comes_back):
    group = make.group("operators")
    admin.post(PAGE, {"claim": "shift", "gives": f"group:{group.pk}"})
    provider.person["groups"] = ["shift"]

    comes_back(browser())

    assert [person.username for person in group.members.all()] == ["alice"]


def test_who_leaves_the_group_there_leaves_it_here(admin, provider, browser, comes_back):
    group = make.group("operators", make.person("bob"))
    mapping.add_mapping(claim="shift", group=group, by=OPERATOR)
    provider.person["groups"] = ["shift"]
    comes_back(browser())
    provider.person["groups"] = ["other"]

    comes_back(browser())

    assert [person.username for person in group.members.all()] == ["bob"]


@pytest.mark.parametrize(
    "form",
    [
        {"claim": "", "gives": "role:reviewer"},
        {"claim": "x" * 201, "gives": "role:reviewer"},
        {"claim": "beamline", "gives": "role:root"},
        {"claim": "beamline", "gives": "group:999"},
        {"claim": "beamline"},
    ],
)
def test_what_cannot_be_meant_is_refused(admin, form):
    answer = admin.post(PAGE, form)

    assert answer.status_code == 422
    assert not GroupMapping.objects.exists()


def test_the_same_is_not_mapped_twice(admin):
    for _ in range(2):
        answer = admin.post(PAGE, {"claim": "beamline", "gives": "role:reviewer"})

    assert "gives that already" in page_of(answer).text
    assert GroupMapping.objects.count() == 1


def test_a_mapping_is_removed(admin, recorded):
    mapping.add_mapping(claim="beamline", role="reviewer", by=OPERATOR)

    admin.post(f"{PAGE}/groups/{GroupMapping.objects.get().pk}/remove")

    assert not GroupMapping.objects.exists()
    assert recorded("group_mapping.removed") == [("user:ada", "session:password", "")]


def test_an_admin_says_who_somebody_is(admin, alice, unknown, provider, browser, comes_back):
    assert "eve@example.org" in said(admin)

    admin.post(f"{PAGE}/unknown/{unknown.pk}/link", {"username": "alice"})
    provider.person = {"sub": "eve-1", "preferred_username": "eve"}
    client = browser()
    comes_back(client)

    assert client.get("/account").context["user"] == alice
    assert not UnknownIdentity.objects.exists()


@pytest.mark.parametrize("name", ["", "nobody", "a\0b", "x" * 200])
def test_who_is_not_here_is_not_linked(admin, unknown, name):
    admin.post(f"{PAGE}/unknown/{unknown.pk}/link", {"username": name})

    assert "Nothing was linked." in said(admin)
    assert UnknownIdentity.objects.exists()


def test_somebody_of_another_provider_is_not_linked(admin, alice, unknown, settings):
    settings.OIDC_ISSUER = "https://another.example"

    admin.post(f"{PAGE}/unknown/{unknown.pk}/link", {"username": "alice"})

    assert "The provider was changed since." in said(admin)


def test_somebody_is_taken_off_the_list(admin, unknown):
    admin.post(f"{PAGE}/unknown/{unknown.pk}/forget")

    assert not UnknownIdentity.objects.exists()


def test_who_is_unlinked_is_signed_out_and_has_no_way_in(admin, provider, browser, comes_back):
    client = browser()
    comes_back(client)
    person = User.objects.get(username="alice")
    assert "by single sign-on and not with a password" in said(admin, f"/people/{person.pk}")

    admin.post(f"/people/{person.pk}/unlink")

    assert client.get("/account").status_code == 302
    assert "already" in page_of(comes_back(browser())).text


def test_who_is_linked_has_no_password(alice, reviewer, browser, provider, comes_back):
    comes_back(reviewer, "/account/provider")
    led = reviewer.post("/account/provider/link", {"present": "a long password"})
    assert "Linked. From now on you sign in with Example ID." in said(reviewer, led.url)
    comes_back(reviewer)

    form = {"username": "alice", "password": "a long password"}
    assert browser().post("/sign-in", form).status_code == 422
    assert "You sign in with Example ID." in said(reviewer, "/account")
    assert not list(page_of(reviewer.get("/account")).all("input", type="password"))


def test_nobody_new_gets_the_name_of_the_kept_admin(browser, provider, comes_back, settings):
    settings.KEPT_ADMIN = "Alice"
    client = browser()

    comes_back(client)

    assert not User.objects.exists()


def test_who_came_by_single_sign_on_chooses_no_password(browser, provider, comes_back):
    client = browser()
    comes_back(client)

    client.post("/account", {"password": "another long one", "again": "another long one"})

    assert not User.objects.get(username="alice").has_usable_password()


def test_a_changed_password_leaves_this_browser_on_the_list(alice, browser):
    client = browser()
    client.post("/sign-in", {"username": "alice", "password": "a long password"})
    words = {
        "present": "a long password",
        "password": "another long one 9",
        "again": "another long one 9",
    }

    client.post("/account", words)

    assert "this browser" in said(client, "/account/browsers")


def test_the_page_says_what_the_provider_is_told(admin, settings):
    text = said(admin)

    assert f"{settings.PUBLIC_URL}/sign-in/provider/callback" in text
    assert "It is not set up" in text
