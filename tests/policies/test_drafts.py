"""A draft is one admin's, holds nothing, and is not overwritten by another tab."""

from dataclasses import replace

import pytest

from dashboard.audit.models import AuditEntry
from dashboard.audit.services import Actor
from dashboard.policies import queries
from dashboard.policies.errors import DraftMoved, ExamplesFail, NotConfirmed, Outdated
from dashboard.policies.evaluate import EVERYTHING_TO_A_PERSON, Policy, PolicyError, parse_rule
from dashboard.policies.models import PolicyDraft
from dashboard.policies.services import current_revision, publish
from dashboard.policies.services import drafts as services
from dashboard.policies.services.drafts import stamp_of
from tests import make

BY = Actor("user:ada", "session:password")
MODES = EVERYTHING_TO_A_PERSON.modes
EXAMPLE = {"kind": "plan", "content": {"steps": []}}


def rule(name, **more):
    data = {"name": name, "effect": "reject", "when": {"kinds": ["plan"], "agents": [name]}}
    return parse_rule(data | more)


@pytest.fixture
def draft(ada):
    """A draft with the rules a, b and c."""
    policy = Policy(MODES, rules=tuple(map(rule, "abc")))
    return services.replace_draft(ada, policy, stamp="")


def policy_of(person):
    return Policy.from_json(queries.draft_of(person).document)


def names(person):
    return "".join(rule.name for rule in policy_of(person).rules)


def test_a_draft_begins_as_the_policy_in_force(ada):
    draft = services.begin_draft(ada)

    assert (draft.document, draft.based_on) == (current_revision().document, 1)


def test_beginning_again_goes_on_with_the_same_draft(ada, draft):
    assert services.begin_draft(ada) == draft


def test_a_draft_changes_nothing_and_is_not_recorded(ada, draft):
    before = AuditEntry.objects.count()
    services.add_rule(ada, rule("d"), stamp=stamp_of(draft))

    assert queries.policy_in_force() == EVERYTHING_TO_A_PERSON
    assert AuditEntry.objects.count() == before


def test_each_admin_has_a_draft_of_their_own(ada, draft):
    eve = make.person("eve", admin=True)
    services.begin_draft(eve)

    assert (names(ada), names(eve)) == ("abc", "")


def test_a_new_rule_comes_last(ada, draft):
    services.add_rule(ada, rule("d"), stamp=stamp_of(draft))

    assert names(ada) == "abcd"


@pytest.mark.parametrize(
    ("index", "up", "after"),
    [
        (1, True, "bac"),
        (1, False, "acb"),
        (0, False, "bac"),
        (0, True, "abc"),
        (2, False, "abc"),
    ],
)
def test_a_rule_is_moved_by_one_place(ada, draft, index, up, after):
    services.move_rule(ada, index, up=up, stamp=stamp_of(draft))

    assert names(ada) == after


def test_a_rule_is_taken_out(ada, draft):
    services.remove_rule(ada, 1, stamp=stamp_of(draft))

    assert names(ada) == "ac"


def test_a_rule_is_changed_in_its_place(ada, draft):
    services.change_rule(ada, 1, rule("x"), stamp=stamp_of(draft))

    assert names(ada) == "axc"


def test_the_modes_are_changed_without_the_rules(ada, draft):
    services.save_modes(ada, Policy(MODES, owner_may_approve=True), stamp=stamp_of(draft))

    assert names(ada) == "abc"
    assert policy_of(ada).owner_may_approve


def test_two_rules_of_one_name_are_refused(ada, draft):
    with pytest.raises(PolicyError, match="Another rule is called 'b' already"):
        services.add_rule(ada, rule("b"), stamp=stamp_of(draft))

    assert names(ada) == "abc"


@pytest.mark.parametrize("index", [3, 99, -1])
def test_there_is_nothing_to_do_to_a_rule_that_is_not_there(ada, draft, index):
    with pytest.raises(DraftMoved, match="There is no such rule"):
        services.remove_rule(ada, index, stamp=stamp_of(draft))


# --- examples -----------------------------------------------------------------------------------


def test_a_rule_whose_example_fails_is_not_saved(ada, draft):
    with pytest.raises(
        ExamplesFail, match=r"Nothing was saved\. Correct the rule or its examples\.$"
    ):
        services.add_rule(ada, rule("d", not_match=[EXAMPLE | {"agent": "d"}]), stamp="")

    assert names(ada) == "abc"


def test_a_changed_rule_whose_example_fails_is_not_saved(ada, draft):
    with pytest.raises(ExamplesFail, match="example 1 of what it must match does not match"):
        services.change_rule(ada, 0, rule("a", match=[EXAMPLE]), stamp=stamp_of(draft))


def test_a_rule_whose_examples_hold_is_saved_with_them(ada, draft):
    examples = {"match": [EXAMPLE | {"agent": "d"}], "not_match": [EXAMPLE]}
    services.add_rule(ada, rule("d", **examples), stamp=stamp_of(draft))

    assert policy_of(ada).rules[3] == rule("d", **examples)


# --- two tabs -----------------------------------------------------------------------------------


CHANGES = {
    "add": lambda who, stamp: services.add_rule(who, rule("d"), stamp=stamp),
    "change": lambda who, stamp: services.change_rule(who, 0, rule("d"), stamp=stamp),
    "move": lambda who, stamp: services.move_rule(who, 0, up=False, stamp=stamp),
    "remove": lambda who, stamp: services.remove_rule(who, 0, stamp=stamp),
    "modes": lambda who, stamp: services.save_modes(who, Policy(MODES), stamp=stamp),
    "replace": lambda who, stamp: services.replace_draft(who, Policy(MODES), stamp=stamp),
    "discard": lambda who, stamp: services.discard_draft(who, stamp=stamp),
    "publish": lambda who, stamp: services.publish_draft(
        who, stamp=stamp, based_on=1, note="", confirmed="", by=BY
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_tab_that_is_older_than_the_draft_changes_nothing(ada, draft, change):
    old = stamp_of(draft)
    services.move_rule(ada, 0, up=False, stamp=old)

    with pytest.raises(DraftMoved, match=r"Nothing was saved\. Open the draft again"):
        CHANGES[change](ada, old)

    assert names(ada) == "bac"


@pytest.mark.parametrize("change", CHANGES)
def test_a_tab_of_a_draft_that_was_discarded_does_nothing_to_the_next_one(ada, draft, change):
    old = stamp_of(draft)
    services.discard_draft(ada, stamp=old)
    services.begin_draft(ada)

    with pytest.raises(DraftMoved):
        CHANGES[change](ada, old)


@pytest.mark.parametrize("change", [name for name in CHANGES if name != "replace"])
def test_without_a_draft_there_is_nothing_to_change(ada, change):
    with pytest.raises(DraftMoved):
        CHANGES[change](ada, "")


def test_a_page_without_a_draft_does_not_replace_one_that_was_begun_since(ada, draft):
    with pytest.raises(DraftMoved):
        services.replace_draft(ada, Policy(MODES), stamp="")


# --- publishing it ------------------------------------------------------------------------------


def publish_draft(person, draft, **more):
    given = {"based_on": 1, "note": "why", "confirmed": "", **more}
    return services.publish_draft(person, stamp=stamp_of(draft), by=BY, **given)


def test_a_published_draft_is_in_force_and_gone(ada, draft):
    revision = publish_draft(ada, draft)

    assert (revision.number, revision.note) == (2, "why")
    assert queries.policy_in_force().rules == tuple(map(rule, "abc"))
    assert queries.draft_of(ada) is None


def test_a_draft_that_loosens_needs_the_word_and_stays_without_it(ada, draft):
    loose = replace(policy_of(ada), owner_may_approve=True)
    draft = services.save_modes(ada, loose, stamp=stamp_of(draft))

    with pytest.raises(NotConfirmed):
        publish_draft(ada, draft)

    assert queries.draft_of(ada) == draft


def test_a_draft_is_not_published_over_a_revision_that_was_not_shown(ada, draft):
    publish(Policy(MODES, rules=(rule("z"),)), author=ada, note="", by=BY)

    with pytest.raises(Outdated):
        publish_draft(ada, draft)

    assert PolicyDraft.objects.count() == 1


def test_a_draft_that_becomes_a_proposal_is_gone_too(ada, draft, settings):
    settings.POLICY_TWO_PEOPLE = True
    loose = replace(policy_of(ada), owner_may_approve=True)
    draft = services.save_modes(ada, loose, stamp=stamp_of(draft))
    proposal = publish_draft(ada, draft, confirmed="loosen")

    assert list(queries.open_proposals()) == [proposal]
    assert queries.draft_of(ada) is None
