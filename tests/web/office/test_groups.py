"""Groups are made on People: a name, some reviewers, and which rules ask for them."""

import pytest

from dashboard.accounts.models import Group
from tests import make
from tests.web.pages import value_of

BY_ADA = ("user:ada", "session:password")
ASKS = {"name": "By operators", "effect": "review", "demands": {"groups": ["operators"]}}


@pytest.fixture
def operators(alice):
    """A group of one."""
    return make.group("operators", alice)


@pytest.fixture
def path(operators):
    return f"/people/groups/{operators.pk}"


def add(client, name):
    return client.post("/people/groups", {"name": name})


def members(client, path, *people, shown=None):
    if shown is None:
        shown = value_of(client.get(path), "shown")
    ticked = {"members": [str(person.pk) for person in people], "shown": shown, "end": "1"}
    return client.post(f"{path}/members", ticked, follow=True)


def who_is_in(group):
    return sorted(person.username for person in Group.objects.get(pk=group.pk).members.all())


def test_people_shows_every_group_with_who_is_in_it(admin, operators, read):
    make.group("nobody-yet")

    page = read(admin.get("/people"), "groups")
    assert "operators 1 alice" in page
    assert "nobody-yet 0 nobody yet" in page


def test_a_new_group_asks_at_once_who_is_in_it(admin, recorded):
    reply = add(admin, "managers")

    group = Group.objects.get()
    assert (group.name, reply.url) == ("managers", f"/people/groups/{group.pk}")
    assert recorded("group.added") == [(*BY_ADA, "group:managers")]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("Operators", "A group is called 'Operators' already."),
        ("", "This field is required."),
        ("two words", "begin with a letter or digit"),
        ("\u202eevil", "begin with a letter or digit"),
        ("x" * 101, "at most 100 characters"),
    ],
)
def test_a_name_that_cannot_be_is_refused_and_kept(admin, operators, read, name, said):
    reply = add(admin, name)

    assert reply.status_code == 422
    assert said in read(reply, "groups")
    assert Group.objects.count() == 1


def test_who_is_ticked_is_in_it_and_nobody_else(admin, operators, path, bob, recorded):
    members(admin, path, bob)

    assert who_is_in(operators) == ["bob"]
    assert recorded("group.members_changed")[-1] == (*BY_ADA, "group:operators")


def test_a_form_that_is_sent_twice_is_saved(admin, operators, path, bob):
    shown = value_of(admin.get(path), "shown")
    replies = [members(admin, path, bob, shown=shown) for _ in range(2)]

    assert who_is_in(operators) == ["bob"]
    assert not any("in the meantime" in reply.content.decode() for reply in replies)


def test_whoever_was_taken_out_meanwhile_does_not_come_back(admin, operators, path, alice, bob):
    shown = value_of(admin.get(path), "shown")
    members(admin, path)
    reply = members(admin, path, alice, bob, shown=shown)

    assert who_is_in(operators) == []
    assert "were changed in the meantime. Nothing was saved" in reply.content.decode()


def test_everybody_can_be_taken_out(admin, operators, path):
    members(admin, path)

    assert who_is_in(operators) == []


def test_a_form_that_was_cut_off_empties_no_group(admin, operators, path):
    assert admin.post(f"{path}/members", {}).status_code == 422
    assert who_is_in(operators) == ["alice"]


def test_nobody_who_does_not_exist_gets_in(admin, operators, path):
    reply = admin.post(f"{path}/members", {"members": ["999"], "end": "1"})

    assert reply.status_code == 422
    assert who_is_in(operators) == ["alice"]


def test_whose_vote_would_not_count_is_said(admin, path, ada, read):
    page = read(admin.get(path), "main")

    assert "ada (not a reviewer: does not count)" in page
    assert "alice (no reviewer" not in page


def test_a_group_that_the_policy_asks_for_says_by_which_rule(admin, path, read):
    make.in_force(ASKS)

    page = read(admin.get(path), "main")
    assert "“By operators” counts the votes of its current members" in page
    assert "Change the policy first." in page


def test_deleting_needs_the_name(admin, operators, path):
    assert admin.post(f"{path}/delete", {"name": "operator"}).status_code == 422
    assert Group.objects.exists()


def test_a_deleted_group_is_gone_and_its_members_keep_their_roles(admin, path, alice, recorded):
    admin.post(f"{path}/delete", {"name": "operators"})

    alice.refresh_from_db()
    assert not Group.objects.exists()
    assert alice.is_reviewer
    assert recorded("group.deleted") == [(*BY_ADA, "group:operators")]


@pytest.mark.parametrize("who", ["reviewer", "auditor"])
@pytest.mark.parametrize("what", ["", "/members", "/delete"])
def test_only_admins_change_groups(request, operators, path, who, what):
    client = request.getfixturevalue(who)

    assert client.post(path + what, {"name": "operators"}).status_code in {403, 405}
    assert who_is_in(operators) == ["alice"]


def test_many_groups_cost_as_many_queries_as_one(admin, operators, alice, cost):
    before = cost(admin, "/people")
    for number in range(30):
        make.group(f"group-{number}", alice)

    assert cost(admin, "/people") == before
