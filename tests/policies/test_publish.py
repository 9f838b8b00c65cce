import json
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.db import DatabaseError, connection, transaction

from approval_client.wire import parse_json
from dashboard.accounts.errors import NotPermitted
from dashboard.accounts.services import people
from dashboard.audit.models import AuditEntry
from dashboard.audit.services import Actor
from dashboard.policies import queries
from dashboard.policies.errors import ExamplesFail, NotConfirmed, Outdated
from dashboard.policies.evaluate import EVERYTHING_TO_A_PERSON, Policy, parse_rule
from dashboard.policies.models import PolicyProposal, PolicyRevision
from dashboard.policies.services import current_revision, publish
from dashboard.policies.signals import policy_published
from tests import make

BY = Actor("user:ada", "session:password")
MODES = EVERYTHING_TO_A_PERSON.modes
GATE_OFF = Policy({"global_mode": "disabled"})
OWNERS = Policy(MODES, owner_may_approve=True)
SAYS_OWNERS = "Owners may approve requests of their own agents."


def rejecting(name="No plans", **more):
    return parse_rule({"name": name, "effect": "reject", "when": {"kinds": ["plan"]}, **more})


def with_rules(*rules):
    return Policy(MODES, rules=rules)


STRICTER = with_rules(rejecting())


def published(policy, author, **more):
    return publish(policy, author=author, note="because", by=BY, **more)


def loosened(policy, author, word="loosen", **more):
    return published(policy, author, confirmed=word, **more)


def test_the_first_revision_asks_a_person_about_everything(db):
    revision = current_revision()

    assert revision.number == 1
    assert Policy.from_json(revision.document) == EVERYTHING_TO_A_PERSON


def test_a_published_policy_is_in_force(ada):
    published(STRICTER, ada)

    assert queries.policy_in_force() == STRICTER
    assert current_revision().number == 2


def test_publishing_is_recorded_whole(ada):
    loosened(OWNERS, ada)

    entry = AuditEntry.objects.latest("seq")
    assert (entry.action, entry.actor, entry.auth) == ("policy.published", *BY)
    assert entry.subject == "policy:2"
    assert parse_json(entry.details) == {
        "note": "because",
        "author": "ada",
        "confirmed_by": None,
        "loosened": [SAYS_OWNERS],
        "policy": json.loads(OWNERS.to_json()),
    }


def test_publishing_what_is_in_force_changes_nothing(ada):
    first = published(STRICTER, ada)
    entries = AuditEntry.objects.count()

    assert published(STRICTER, ada) == first
    assert AuditEntry.objects.count() == entries


# --- what loosens -------------------------------------------------------------------------------


@pytest.mark.parametrize("word", ["", "Loosen", "yes", "disabled"])
def test_what_loosens_needs_the_word(ada, word):
    with pytest.raises(NotConfirmed, match=r"Nothing was published\. Type loosen to conf") as told:
        loosened(OWNERS, ada, word)

    assert told.value.loosened == (SAYS_OWNERS,)
    assert current_revision().number == 1


@pytest.mark.parametrize("word", ["", "loosen"])
def test_switching_the_gate_off_needs_a_word_of_its_own(ada, word):
    with pytest.raises(NotConfirmed, match="Type disabled to confirm"):
        loosened(GATE_OFF, ada, word)


def test_the_word_switches_the_gate_off(ada):
    loosened(GATE_OFF, ada, "disabled")

    assert queries.policy_in_force().asks_nobody


def test_white_space_around_the_word_does_not_matter(ada):
    assert loosened(OWNERS, ada, " loosen ").number == 2


def test_a_revision_keeps_what_it_loosened(ada):
    assert json.loads(loosened(OWNERS, ada).loosened) == [SAYS_OWNERS]
    assert json.loads(published(EVERYTHING_TO_A_PERSON, ada).loosened) == []


def test_taking_a_rejecting_rule_out_loosens(ada):
    published(STRICTER, ada)

    with pytest.raises(NotConfirmed, match="Some requests that rule 'No plans' rejected"):
        published(EVERYTHING_TO_A_PERSON, ada)


def test_what_is_stricter_needs_no_word(ada):
    loosened(OWNERS, ada)

    assert published(EVERYTHING_TO_A_PERSON, ada).number == 3


# --- examples -----------------------------------------------------------------------------------


def test_a_failing_example_publishes_nothing_and_says_which_and_why(ada):
    example = {"kind": "memory", "content": {"operation": "save", "user_id": "u", "content": "c"}}
    policy = with_rules(rejecting(match=[example]))

    with pytest.raises(ExamplesFail) as refused:
        published(policy, ada)

    says = "Rule 'No plans': example 1 of what it must match does not match. "
    assert str(refused.value).startswith(says)
    assert str(refused.value).endswith("Nothing was published. Correct the rule or its examples.")
    assert not PolicyRevision.objects.filter(number=2).exists()


def test_an_example_that_must_not_match_and_does_is_refused_too(ada):
    example = {"kind": "plan", "content": {"steps": []}}

    with pytest.raises(ExamplesFail, match="example 1 of what it must not match does match"):
        published(with_rules(rejecting(not_match=[example])), ada)


def test_examples_that_hold_are_published_with_the_policy(ada):
    example = {"kind": "plan", "content": {"steps": []}}
    policy = with_rules(rejecting(match=[example]))
    published(policy, ada)

    assert len(queries.policy_in_force().rules[0].match) == 1


# --- two at once, and who -----------------------------------------------------------------------


def test_a_page_older_than_the_policy_cannot_undo_it(ada):
    published(STRICTER, ada, based_on=1)

    with pytest.raises(Outdated, match=r"^Revision 2 was published since .* Nothing was publ"):
        loosened(GATE_OFF, ada, "disabled", based_on=1)

    assert current_revision().number == 2


def test_a_page_as_new_as_the_policy_can_change_it(ada):
    assert published(STRICTER, ada, based_on=1).number == 2


def test_only_an_admin_publishes(alice):
    with pytest.raises(NotPermitted, match=r"Nothing was published\.$"):
        published(STRICTER, alice)


def test_who_lost_the_right_meanwhile_does_not_publish(ada):
    make.person("carol", admin=True)
    people.change_roles(ada, roles={}, by=make.BY)

    with pytest.raises(NotPermitted):
        published(STRICTER, ada)


@pytest.mark.parametrize(
    "change", [{"document": "{}"}, {"note": "x"}, {"loosened": "[]"}, {"confirmed_by_id": 1}]
)
def test_a_revision_never_changes(db, change):
    current_revision()

    with pytest.raises(DatabaseError), transaction.atomic():
        PolicyRevision.objects.update(**change)


def test_an_old_revision_is_published_again_as_a_new_one(ada):
    published(STRICTER, ada)
    again = loosened(Policy.from_json(PolicyRevision.objects.get(pk=1).document), ada)

    assert (again.number, again.document) == (3, PolicyRevision.objects.get(pk=1).document)


def test_whoever_listens_hears_the_number(ada, django_capture_on_commit_callbacks):
    heard = []
    policy_published.connect(hear := lambda **kwargs: heard.append(kwargs["number"]))
    with django_capture_on_commit_callbacks(execute=True):
        published(STRICTER, ada)

    assert hear
    assert heard == [2]


def test_revisions_are_read_newest_first(ada):
    published(STRICTER, ada)

    assert [revision.number for revision in queries.revisions()] == [2, 1]


def test_one_person_publishes_what_loosens_unless_two_are_needed(ada, settings):
    assert settings.POLICY_TWO_PEOPLE is False
    loosened(OWNERS, ada)

    assert not PolicyProposal.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_of_two_who_publish_at_once_the_later_sees_the_first(ada):
    current_revision()
    start = Barrier(2)

    def attempt(policy):
        start.wait()
        try:
            return published(policy, ada, based_on=1).number
        except Outdated:
            return None
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        numbers = list(pool.map(attempt, [STRICTER, with_rules(rejecting("Another"))]))

    assert sorted(numbers, key=bool) == [None, 2]
