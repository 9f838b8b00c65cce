"""With ``POLICY_TWO_PEOPLE=1`` what asks less waits for a second admin, on a page of its own."""

import re

import pytest

from dashboard.accounts.models import User
from dashboard.accounts.services.signing_in import make_link, signed_in
from dashboard.audit.services import Actor
from dashboard.policies.evaluate import EVERYTHING_TO_A_PERSON
from dashboard.policies.models import PolicyProposal
from dashboard.policies.services import current_revision
from tests import make
from tests.web.office.drafting import NO_PLANS, begin, filled, in_force, publish, save_modes


@pytest.fixture(autouse=True)
def _two_people(settings):
    settings.POLICY_TWO_PEOPLE = True


@pytest.fixture
def eve(enter, db):
    """The browser of another admin."""
    return enter(make.person("eve", admin=True))


@pytest.fixture
def path(admin):
    """The page of what ada proposed."""
    begin(admin)
    save_modes(admin, owner_may_approve="yes")
    publish(admin, confirm="loosen", note="Fewer waits")
    return f"/policies/proposals/{PolicyProposal.objects.get().pk}"


def confirm(client, path, word="loosen"):
    return client.post(f"{path}/confirm", {"confirm": word})


def test_the_draft_says_that_two_people_are_needed(admin, read):
    begin(admin)
    save_modes(admin, owner_may_approve="yes")

    said = read(admin.get("/policies/draft"), "publish")
    assert "Two admins are needed" in said
    assert said.endswith("Propose")


def test_what_asks_less_is_proposed_and_changes_nothing(admin, path, read):
    page = read(admin.get("/policies"), "main")

    assert "ada proposes a looser policy" in page
    assert "Owners may approve requests of their own agents." in page
    assert in_force() == EVERYTHING_TO_A_PERSON


def test_what_asks_more_is_published_by_one_person(admin):
    make.in_force(owner_may_approve=True)
    begin(admin)
    save_modes(admin)
    publish(admin)

    assert in_force() == EVERYTHING_TO_A_PERSON


def test_going_back_to_what_asks_less_is_proposed_too(admin):
    make.in_force(NO_PLANS)
    again = "/policies/revisions/1/again"
    form = filled(admin.get("/policies/revisions/1"), again)

    admin.post(again, {**form, "confirm": "loosen"})

    assert current_revision().number == 2
    assert PolicyProposal.objects.get().closed_at is None


def test_everybody_with_a_role_reads_a_proposal_and_only_admins_act(reviewer, path, read):
    page = read(reviewer.get(path), "main")

    assert "Fewer waits" in page
    assert "Owners may approve: no → yes" in page
    assert "Withdraw" not in page
    assert confirm(reviewer, path).status_code == 403


@pytest.mark.parametrize("page", ["bench", "backtest"])
def test_the_second_person_can_try_it_first(eve, path, read, page):
    link = f"/policies/{page}?policy=proposal-{path.rpartition('/')[2]}"
    assert link in eve.get(path).content.decode()

    assert "Proposed by ada" in read(eve.get(link), "main")
    chosen = r'<option value="proposal-\d+"\s+selected>'
    assert re.search(chosen, eve.get(link).content.decode())


def test_what_is_proposed_is_tried_as_it_is(reviewer, path):
    proposal = f"proposal-{path.rpartition('/')[2]}"

    reply = reviewer.get(f"/policies/backtest?policy={proposal}&days=1")

    assert reply.context["form"].cleaned_data["policy"].policy.owner_may_approve


def test_another_admin_publishes_it_and_both_names_stand_there(eve, path, read):
    reply = confirm(eve, path)

    assert reply.url == "/policies"
    assert in_force().owner_may_approve
    assert "published by ada, confirmed by eve" in read(eve.get("/policies"), "main")
    assert "published as revision 2" in read(eve.get(path), "main")


def test_who_proposed_it_does_not_publish_it(admin, path, read):
    assert "Another admin must publish it" in read(admin.get(path), "main")

    reply = confirm(admin, path)

    assert reply.status_code == 409
    assert "This is your own proposal, and two people are needed." in read(reply, "main")
    assert current_revision().number == 1


def test_who_is_not_the_second_person_reads_why_in_place_of_the_button(ada, eve, path, read):
    person = User.objects.get(username="eve")
    signed_in(person, "password", address="10.0.0.7")
    make_link(person, by=Actor("user:ada", "session:password"))

    page = read(eve.get(path), "main")

    assert "ada could sign in as you in the last 30 days" in page
    assert "Publish as a new revision" not in page


@pytest.mark.parametrize("word", ["", "yes", "disabled"])
def test_the_second_person_types_the_word_too(eve, path, read, word):
    reply = confirm(eve, path, word)

    assert reply.status_code == 422
    assert "Type loosen to confirm" in read(reply, "main")
    assert current_revision().number == 1


def test_after_another_revision_it_can_only_be_withdrawn(eve, path, read):
    make.in_force(NO_PLANS)

    assert "it can only be withdrawn" in read(eve.get("/policies"), "main")
    assert confirm(eve, path).status_code == 409
    assert current_revision().number == 2


@pytest.mark.parametrize("who", ["admin", "eve"])
def test_any_admin_withdraws_it(request, path, who, read):
    client = request.getfixturevalue(who)

    client.post(f"{path}/withdraw")

    assert "withdrawn" in read(client.get(path), "main")
    assert "proposes a looser policy" not in read(client.get("/policies"), "main")
    assert current_revision().number == 1


def test_what_was_withdrawn_is_not_published(admin, eve, path, read):
    admin.post(f"{path}/withdraw")

    confirm(eve, path)

    assert "This proposal was withdrawn already." in read(eve.get(path))
    assert current_revision().number == 1


def test_what_was_published_is_not_withdrawn(admin, eve, path, read):
    confirm(eve, path)

    reply = admin.post(f"{path}/withdraw", follow=True)

    assert "This proposal was published already." in read(reply)
    assert in_force().owner_may_approve


def test_a_proposal_that_does_not_exist_is_not_found(admin):
    assert admin.get("/policies/proposals/7").status_code == 404
