"""The policy in force, drafts, publishing, and what was published before."""

import pytest

from dashboard.policies.evaluate import EVERYTHING_TO_A_PERSON, Policy
from dashboard.policies.models import PolicyDraft
from dashboard.policies.services import current_revision
from dashboard.policies.services import publish as publish_policy
from tests import make
from tests.web.office.drafting import (
    MODES,
    NO_PLANS,
    begin,
    change_rule,
    filled,
    in_force,
    new_rule,
    publish,
    save_modes,
    stamp,
)

OWNERS = Policy(EVERYTHING_TO_A_PERSON.modes, owner_may_approve=True)
BANNER = "The gate is off."


def loosened(client, word, **more):
    """A draft that switches the gate off or asks less, published with a word."""
    begin(client)
    save_modes(client, **more)
    return publish(client, confirm=word)


# --- reading it ---------------------------------------------------------------------------------


def test_the_policy_is_read_in_plain_sentences(reviewer, read):
    page = read(reviewer.get("/policies"), "main")

    assert "Code A person is always asked." in page
    assert "revision 1" in page


def test_a_rule_is_read_in_a_sentence_with_what_the_agent_is_told(reviewer, read):
    make.in_force(NO_PLANS | {"reason": "Ask for one step."})

    page = read(reviewer.get("/policies"), "main")
    assert "No plans rejects Plans: rejected." in page
    assert "The agent is told: “Ask for one step.”" in page


def test_only_admins_are_offered_to_change_it(admin, reviewer, auditor, read):
    said = ["Change the policy" in read(c.get("/policies")) for c in (admin, reviewer, auditor)]

    assert said == [True, False, False]


def test_what_is_probably_not_meant_is_said(reviewer, read):
    make.in_force(NO_PLANS, {"name": "Plans", "effect": "approve", "when": {"kinds": ["plan"]}})

    page = read(reviewer.get("/policies"), "main")
    assert "It makes no difference: rule 'No plans' rejects all of it before." in page
    assert "It approves everything of its kind, whatever it does." in page


def test_requests_that_a_new_time_limit_would_end_are_told_before_it_is_published(
    admin, token, read
):
    make.silent(make.pending(token))
    make.pending(token)
    begin(admin)
    new_rule(admin, name="Soon", effect="review", time_limit="30s")

    said = read(admin.get("/policies/draft"), "main")

    assert "One request waits for longer than 30 seconds." in said
    assert "expire at once when it is published" in said


def test_a_time_limit_that_is_in_force_already_is_told_of_nobody(admin, token, read):
    make.in_force({"name": "Soon", "effect": "review", "demands": {"time_limit_s": 30}})
    make.silent(make.pending(token))
    begin(admin)
    change_rule(admin, 0, name="Later")

    assert "may expire" not in read(admin.get("/policies/draft"), "main")


def test_a_signature_that_nobody_can_give_is_told_with_the_policy(reviewer, read):
    make.in_force({"name": "Signed", "effect": "review", "demands": {"proof": "passkey"}})

    assert "nobody who may approve has a passkey" in read(reviewer.get("/policies"), "main")


# --- drafts -------------------------------------------------------------------------------------


@pytest.mark.parametrize("who", ["reviewer", "auditor"])
@pytest.mark.parametrize(
    "what", ["begin", "from", "starter", "import", "modes", "rules/new", "publish", "discard"]
)
def test_only_admins_draft_and_publish(request, who, what):
    reply = request.getfixturevalue(who).post(f"/policies/draft/{what}", {"revision": "1"})

    assert reply.status_code == 403
    assert not PolicyDraft.objects.exists()


def test_without_a_draft_the_page_offers_to_begin_one(admin, read):
    assert "You have no draft" in read(admin.get("/policies/draft"), "main")


def test_a_draft_says_what_it_would_change(admin, read):
    begin(admin)
    save_modes(admin, memory="off", global_mode="selective")

    said = read(admin.get("/policies/draft"), "publish")
    assert "Asking about memory: on → off" in said
    assert "This loosens the policy" in said


def test_a_draft_holds_nothing(admin):
    begin(admin)
    save_modes(admin, global_mode="disabled")

    assert in_force() == EVERYTHING_TO_A_PERSON


@pytest.mark.parametrize("left_out", MODES)
def test_a_form_that_arrives_incomplete_changes_nothing(admin, left_out):
    begin(admin)
    before = stamp(admin)
    sent = {name: value for name, value in MODES.items() if name != left_out}

    reply = admin.post("/policies/draft/modes", {**sent, "stamp": before})

    assert reply.status_code == 422
    assert stamp(admin) == before


@pytest.mark.parametrize(
    "wrong", [{"global_mode": "off"}, {"python": "True"}, {"python_mode": "never"}]
)
def test_a_choice_that_does_not_exist_changes_nothing(admin, wrong):
    begin(admin)
    before = stamp(admin)

    assert save_modes(admin, **wrong).status_code == 422
    assert stamp(admin) == before


def test_an_older_tab_changes_nothing_and_sees_the_draft_as_it_is(admin, read):
    begin(admin)
    old = stamp(admin)
    save_modes(admin, owner_may_approve="yes")

    reply = admin.post("/policies/draft/modes", {**MODES, "stamp": old})

    assert reply.status_code == 409
    assert "The draft was changed, published or discarded" in read(reply, "main")
    assert "Owners may approve: no → yes" in read(reply, "publish")


def test_a_discarded_draft_is_gone_and_the_policy_the_same(admin):
    begin(admin)
    admin.post("/policies/draft/discard", {"stamp": stamp(admin)})

    assert not PolicyDraft.objects.exists()
    assert current_revision().number == 1


# --- publishing ---------------------------------------------------------------------------------


def test_a_published_draft_is_in_force(admin):
    begin(admin)
    save_modes(admin, global_mode="selective", python_mode="epics_writes", owner_may_approve="yes")
    publish(admin, confirm="loosen")

    config = in_force().config
    assert (config.global_mode, config.python_execution.mode.value) == (
        "selective",
        "epics_writes",
    )
    assert in_force().owner_may_approve


def test_publishing_is_recorded_with_author_and_note(admin, ada, recorded):
    begin(admin)
    new_rule(admin, name="No plans", effect="reject", kinds=["plan"])
    publish(admin, note="drill")

    revision = current_revision()
    assert (revision.author, revision.note) == (ada, "drill")
    assert recorded("policy.published") == [("user:ada", "session:password", "policy:2")]


@pytest.mark.parametrize("typed", ["", "Disabled", "disable", "loosen", "yes"])
def test_switching_the_gate_off_needs_the_word(admin, read, typed):
    reply = loosened(admin, typed, global_mode="disabled")

    assert reply.status_code == 422
    assert "Type disabled to confirm that this is what you want" in read(reply, "publish")
    assert not in_force().asks_nobody


@pytest.mark.parametrize("typed", ["", "Loosen", "disabled"])
def test_what_asks_less_needs_the_word_and_keeps_what_was_typed(admin, typed):
    begin(admin)
    save_modes(admin, owner_may_approve="yes")

    reply = publish(admin, confirm=typed, note="kept")

    assert reply.status_code == 422
    assert filled(reply, "/policies/draft/publish")["note"] == ["kept"]
    assert current_revision().number == 1


def test_while_the_gate_is_off_every_page_says_so_in_red(admin, reviewer, read):
    assert BANNER not in read(reviewer.get("/"), "gate")
    loosened(admin, "disabled", global_mode="disabled")

    for path in ("/", "/policies", "/account", "/policies/bench"):
        assert BANNER in read(reviewer.get(path), "gate")
    assert "Nobody is asked. Every request is approved." in read(reviewer.get("/policies"))


def test_a_gate_that_is_off_is_switched_on_without_a_word(admin, read):
    loosened(admin, "disabled", global_mode="disabled")
    loosened(admin, "", global_mode="all_capabilities")

    assert not in_force().asks_nobody
    assert BANNER not in read(admin.get("/"), "gate")


def test_a_page_older_than_the_policy_undoes_nothing_and_says_what_would_change(admin, ada, read):
    begin(admin)
    new_rule(admin, name="No plans", effect="reject", kinds=["plan"])
    shown = filled(admin.get("/policies/draft"), "/policies/draft/publish")
    publish_policy(OWNERS, author=ada, note="", by=make.BY, confirmed="loosen")

    reply = admin.post("/policies/draft/publish", {**shown, "note": "kept"})

    assert reply.status_code == 409
    said = read(reply, "publish")
    assert "Revision 2 was published since this page was shown." in said
    assert "Owners may approve: yes → no" in said
    assert filled(reply, "/policies/draft/publish")["note"] == ["kept"]
    assert in_force() == OWNERS


def test_after_reading_it_can_be_published(admin, ada):
    begin(admin)
    new_rule(admin, name="No plans", effect="reject", kinds=["plan"])
    publish_policy(OWNERS, author=ada, note="", by=make.BY, confirmed="loosen")

    publish(admin)

    assert current_revision().number == 3


def test_publishing_what_is_in_force_says_so(admin, read):
    begin(admin)
    form = {"stamp": stamp(admin), "based_on": "1", "note": ""}

    reply = admin.post("/policies/draft/publish", form, follow=True)

    assert "This policy is already in force. Nothing was published." in read(reply)
    assert current_revision().number == 1


UNREADABLE = {
    "publish": {"based_on": "1"},
    "modes": MODES,
    "starter": {"starter": "everything", "how": "add"},
    "rules/0/move": {"to": "up"},
    "rules/0/remove": {},
}


@pytest.mark.parametrize("what", UNREADABLE)
def test_a_draft_of_another_program_is_refused_as_its_page_says(admin, read, what):
    begin(admin)
    PolicyDraft.objects.update(document='{"version": 99}')

    reply = admin.post(
        f"/policies/draft/{what}", {**UNREADABLE[what], "stamp": stamp(admin)}, follow=True
    )

    assert reply.status_code == 409
    assert "This version of the program cannot read the draft" in read(reply, "main")
    assert current_revision().number == 1
