"""Every revision stays, with who, when, why and what it changed; any is published again."""

import json

import pytest

from dashboard.policies.evaluate import EVERYTHING_TO_A_PERSON, Policy
from dashboard.policies.formats.policy_yaml import from_yaml
from dashboard.policies.models import PolicyRevision
from dashboard.policies.services import current_revision
from dashboard.policies.services import publish as publish_policy
from tests import make
from tests.web.office.drafting import (
    NO_PLANS,
    begin,
    filled,
    in_force,
    new_rule,
    publish,
    save_modes,
    stamp,
)

AGAIN = "/policies/revisions/1/again"


def again(client, **changes):
    """Publish revision 1 once more, as its page shows it."""
    form = filled(client.get("/policies/revisions/1"), AGAIN)
    return client.post(AGAIN, {**form, **changes})


def rejecting(client, note=""):
    begin(client)
    new_rule(client, name="No plans", effect="reject", kinds=["plan"])
    publish(client, note=note)


def test_the_history_says_what_changed_why_and_whether_it_loosens(admin, read):
    begin(admin)
    save_modes(admin, memory="off", global_mode="selective")
    publish(admin, confirm="loosen", note="harmless")

    said = read(admin.get("/policies"), "history")
    assert (
        "2 loosens Global mode: all_capabilities → selective Asking about memory: on → off" in said
    )
    assert "Why: harmless" in said
    assert "by ada" in said


def test_a_note_cannot_hide_anything(admin):
    rejecting(admin, note="fine\u202e<b>")

    page = admin.get("/policies").content.decode()
    assert "\u202e" not in page
    assert "&lt;b&gt;" in page


def test_a_revision_shows_its_rules_its_changes_and_itself_as_yaml(admin, reviewer, read):
    rejecting(admin, note="drill")

    page = read(reviewer.get("/policies/revisions/2"), "main")
    assert "Rule 'No plans' was added as number 1." in page
    assert "Why: drill" in page
    assert "rules: - name: No plans" in page


def test_a_revision_that_does_not_exist_is_not_found(reviewer):
    assert reviewer.get("/policies/revisions/2").status_code == 404
    assert reviewer.get("/policies/revisions/2/yaml").status_code == 404


def test_an_exported_revision_is_read_back_as_the_same_policy(admin, reviewer):
    rejecting(admin)

    reply = reviewer.get("/policies/revisions/2/yaml")

    assert reply["Content-Type"] == "application/yaml; charset=utf-8"
    assert 'filename="policy-2.yaml"' in reply["Content-Disposition"]
    assert from_yaml(reply.content.decode()).policy == in_force()


def test_an_old_revision_is_published_again_as_a_new_one(admin, ada):
    publish_policy(
        Policy(EVERYTHING_TO_A_PERSON.modes, owner_may_approve=True),
        author=ada,
        note="",
        by=make.BY,
        confirmed="loosen",
    )

    reply = again(admin, note="back")

    assert reply.url == "/policies"
    assert (current_revision().number, current_revision().note) == (3, "back")
    assert in_force() == EVERYTHING_TO_A_PERSON


def test_going_back_to_what_asks_less_needs_the_word(admin, read):
    rejecting(admin)

    reply = again(admin)

    assert reply.status_code == 422
    assert "no longer rejected." in read(reply, "again")
    assert current_revision().number == 2


def test_with_the_word_it_goes_back_and_is_marked(admin):
    rejecting(admin)

    again(admin, confirm="loosen")

    assert in_force() == EVERYTHING_TO_A_PERSON
    assert json.loads(current_revision().loosened) != []


def test_going_back_from_a_page_that_is_too_old_undoes_nothing(admin, ada, read):
    make.in_force(NO_PLANS)
    form = filled(admin.get("/policies/revisions/1"), AGAIN)
    make.in_force(NO_PLANS | {"reason": "No."})

    reply = admin.post(AGAIN, {**form, "confirm": "loosen"})

    assert reply.status_code == 409
    assert "Revision 3 was published since this page was shown." in read(reply, "again")
    assert current_revision().number == 3


def test_the_revision_in_force_cannot_be_published_again(admin, read):
    assert "Publish again" not in read(admin.get("/policies/revisions/1"), "main")


@pytest.mark.parametrize("who", ["reviewer", "auditor"])
def test_only_admins_go_back(request, who):
    client = request.getfixturevalue(who)
    make.in_force(NO_PLANS)

    assert client.post(AGAIN, {"based_on": "2", "confirm": "loosen"}).status_code == 403
    assert current_revision().number == 2


def test_an_old_revision_becomes_a_draft(admin, read):
    make.in_force(NO_PLANS)
    make.in_force()

    reply = admin.post(
        "/policies/draft/from", {"revision": "2", "stamp": stamp(admin)}, follow=True
    )

    assert "The draft is what revision 2 said." in read(reply)
    assert "No plans" in read(reply, "rules")


def test_a_draft_from_an_old_revision_names_it_and_what_it_would_undo(admin, read):
    make.in_force(NO_PLANS)
    make.in_force()
    admin.post("/policies/draft/from", {"revision": "1", "stamp": stamp(admin)})

    page = read(admin.get("/policies/draft"), "main")

    assert "Started from revision 1" in page
    assert "Publishing this draft undoes what changed after revision 1" in page


@pytest.mark.parametrize("number", ["", "9", "x", "-1", "\u00b2"])
def test_a_draft_is_not_made_from_what_does_not_exist(admin, number):
    assert admin.post("/policies/draft/from", {"revision": number}).status_code == 404


def test_a_revision_of_another_program_is_shown_as_unreadable(admin, read):
    first = current_revision()
    unreadable = {"number": 2, "document": '{"version": 99}'}
    PolicyRevision.objects.create(**unreadable, published_at=first.published_at)
    make.in_force(NO_PLANS)

    page = read(admin.get("/policies/revisions/2"), "main")
    assert "This version of the program cannot read this revision" in page
    assert admin.get("/policies/revisions/2/yaml").url == "/policies/revisions/2"


def test_a_long_history_is_turned_page_by_page(admin, read):
    for _ in range(21):
        make.in_force()

    first, second = (read(admin.get(f"/policies{q}"), "history") for q in ("", "?before=3"))
    assert "Older" in first
    assert "The first policy." not in first
    assert "The first policy." in second


@pytest.mark.parametrize("before", ["0", "1"])
def test_before_the_first_revision_there_is_none(admin, read, before):
    page = read(admin.get(f"/policies?before={before}"), "history")

    assert "No earlier revisions." in page


def test_a_long_history_costs_as_many_queries_as_a_short_one(admin, cost):
    make.in_force(NO_PLANS)
    before = cost(admin, "/policies")
    for _ in range(10):
        make.in_force()

    assert cost(admin, "/policies") == before
