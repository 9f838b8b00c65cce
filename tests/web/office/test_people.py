import re

import pytest

from dashboard.accounts.models import SignInLink, User
from dashboard.accounts.services import people
from dashboard.accounts.services.signing_in import make_link
from tests import make
from tests.web.pages import value_of

BY_ADA = ("user:ada", "session:password")


@pytest.fixture
def path(alice):
    return f"/people/{alice.pk}"


def invite(client, username="carol", roles=("reviewer",)):
    return client.post("/people", {"username": username, "roles": list(roles)})


def roles_of(person):
    person = User.objects.get(pk=person.pk)
    return [role for role in people.ROLES if getattr(person, f"is_{role}")]


def test_the_table_shows_everybody(admin, alice, read):
    assert "alice reviewer active never" in read(admin.get("/people"), "main")


def test_an_invited_person_has_the_chosen_roles_and_no_password(admin):
    invite(admin, roles=["reviewer", "auditor"])

    carol = User.objects.get(username="carol")
    assert roles_of(carol) == ["reviewer", "auditor"]
    assert not carol.has_usable_password()


def test_the_link_that_is_shown_signs_them_in(admin, browser, read):
    link = read(invite(admin), "link")
    client = browser()
    client.post(re.sub(r"^http://127\.0\.0\.1:8000", "", link))

    assert client.get("/account").status_code == 200


def test_the_link_is_shown_once(admin, read):
    link = read(invite(admin), "link")
    carol = User.objects.get(username="carol")

    for path in ("/people", f"/people/{carol.pk}", "/audit"):
        assert link.rsplit("/", 1)[1] not in admin.get(path).content.decode()


def test_inviting_is_recorded_with_the_admin_and_how_they_were_known(admin, recorded):
    invite(admin)

    assert recorded("person.added")[-1] == (*BY_ADA, "user:carol")
    assert recorded("sign_in_link.made") == [(*BY_ADA, "user:carol")]


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("ada", "Somebody is called 'ada' already. Nobody was added."),
        ("ADA", "Somebody is called 'ADA' already. Nobody was added."),
        ("car\u200bol", "Use up to 100 letters, digits and . _ @ + -"),
        ("\u202ecarol", "Use up to 100 letters, digits and . _ @ + -"),
        ("", "This field is required."),
        ("a\0b", "Null characters are not allowed."),
    ],
)
def test_a_name_that_will_not_do_adds_nobody_and_loses_nothing(admin, read, name, sentence):
    before = User.objects.count()
    reply = invite(admin, name, roles=["auditor"])

    assert reply.status_code == 422
    assert sentence in read(reply, "main")
    assert re.search(r'value="auditor"[^>]* checked', reply.content.decode())
    assert User.objects.count() == before


def test_a_role_that_does_not_exist_adds_nobody(admin):
    assert invite(admin, roles=["superuser"]).status_code == 422


def test_roles_are_replaced(admin, alice, path, recorded):
    admin.post(f"{path}/roles", {"roles": ["admin", "auditor"], "shown": "reviewer"})

    assert roles_of(alice) == ["admin", "auditor"]
    assert recorded("person.roles_changed") == [(*BY_ADA, "user:alice")]


def test_a_form_that_is_sent_twice_is_saved(admin, alice, path):
    form = {"roles": ["admin"], "shown": "reviewer"}
    replies = [admin.post(f"{path}/roles", form, follow=True) for _ in range(2)]

    assert roles_of(alice) == ["admin"]
    assert not any("in the meantime" in reply.content.decode() for reply in replies)


def test_a_role_that_was_taken_meanwhile_does_not_come_back(admin, alice, path):
    shown = value_of(admin.get(path), "shown")
    people.change_roles(alice, roles={}, by=make.BY)
    roles = {"roles": ["reviewer", "auditor"], "shown": shown}
    reply = admin.post(f"{path}/roles", roles, follow=True)

    assert roles_of(alice) == []
    assert "were changed in the meantime. Nothing was saved" in reply.content.decode()


def test_the_last_admin_cannot_step_down(admin, ada, read):
    reply = admin.post(f"/people/{ada.pk}/roles", {"roles": ["reviewer"], "shown": "admin"})

    assert reply.status_code == 422
    assert "ada is the only admin left. Nothing was changed" in read(reply, "main")
    assert roles_of(ada) == ["admin"]


def test_shutting_out_asks_for_the_name(admin, alice, path, read):
    reply = admin.post(f"{path}/deactivate", {"name": "bob"})

    assert reply.status_code == 422
    assert "This is not 'alice'. Nothing was changed." in read(reply, "main")
    assert User.objects.get(pk=alice.pk).is_active


def test_shutting_out_by_name(admin, alice, path, recorded):
    admin.post(f"{path}/deactivate", {"name": "alice"})

    assert not User.objects.get(pk=alice.pk).is_active
    assert recorded("person.deactivated") == [(*BY_ADA, "user:alice")]


def test_the_last_admin_cannot_be_shut_out(admin, ada, read):
    reply = admin.post(f"/people/{ada.pk}/deactivate", {"name": "ada"})

    assert reply.status_code == 422
    assert "ada is the only admin left" in read(reply, "main")


def test_letting_in_again(admin, alice, path, recorded):
    people.set_active(alice, active=False, by=make.BY)
    admin.post(f"{path}/reactivate")

    assert User.objects.get(pk=alice.pk).is_active
    assert recorded("person.reactivated") == [(*BY_ADA, "user:alice")]


def test_a_closed_account_gets_no_link(admin, alice, path, read):
    people.set_active(alice, active=False, by=make.BY)
    reply = admin.post(f"{path}/link", follow=True)

    assert "This person is deactivated, so no link was made." in read(reply)
    assert not SignInLink.objects.exists()


def test_a_new_link_is_shown(admin, path, read):
    link = read(admin.post(f"{path}/link"), "link")

    assert link.startswith("http://127.0.0.1:8000/sign-in/")


@pytest.mark.parametrize("path", ["/people/999", "/people/99999999999999999999999"])
def test_somebody_who_does_not_exist_is_not_found(admin, path):
    assert admin.get(path).status_code == 404


@pytest.mark.parametrize("verb", ["roles", "link", "deactivate", "reactivate"])
def test_the_address_of_a_form_leads_back_to_its_page(admin, path, verb):
    assert admin.get(f"{path}/{verb}").url == path


def test_a_demoted_admin_cannot_act_from_a_page_that_is_still_open(admin, ada, alice, path):
    admin.get(path)
    make.person("carol", admin=True)
    people.change_roles(ada, roles={"reviewer": True}, by=make.BY)
    reply = admin.post(f"{path}/roles", {"roles": ["admin"]})

    assert reply.status_code == 403
    assert roles_of(alice) == ["reviewer"]


def test_thirty_people_cost_as_many_queries_as_one(admin, cost):
    before = cost(admin, "/people")
    for number in range(30):
        make.person(f"p{number}", reviewer=True)

    assert cost(admin, "/people") == before


def test_where_links_are_switched_off_admins_make_none(admin, path, read, settings, recorded):
    settings.SIGN_IN_LINKS = False

    reply = admin.post(f"{path}/link", follow=True)

    assert "Sign-in links are switched off here. No link was made." in read(reply)
    assert not recorded("sign_in_link.made")


def test_where_links_are_switched_off_people_are_added_without_one(admin, read, settings):
    settings.SIGN_IN_LINKS = False

    reply = invite(admin)

    assert User.objects.filter(username="carol").exists()
    assert reply.url == f"/people/{User.objects.get(username='carol').pk}"


def test_where_links_are_switched_off_the_operator_still_makes_one(alice, settings):
    settings.SIGN_IN_LINKS = False

    assert make_link(alice, by=make.BY)
