"""Where two people are needed, one admin proposes what loosens and another publishes it."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.db import connection

from approval_client.wire import parse_json
from dashboard.accounts.errors import NotPermitted
from dashboard.accounts.services import people
from dashboard.accounts.services.signing_in import make_link, signed_in
from dashboard.audit.models import AuditEntry
from dashboard.audit.services import Actor
from dashboard.policies import queries
from dashboard.policies.errors import NotConfirmed, NotOpen, Outdated, SamePerson
from dashboard.policies.evaluate import EVERYTHING_TO_A_PERSON, Policy, parse_rule
from dashboard.policies.models import PolicyProposal, PolicyRevision
from dashboard.policies.services import current_revision, publish
from dashboard.policies.services.proposals import confirm, withdraw
from tests import make

ADA, EVE = Actor("user:ada", "session:password"), Actor("user:eve", "session:password")
MODES = EVERYTHING_TO_A_PERSON.modes
OWNERS = Policy(MODES, owner_may_approve=True)
NO_PLANS = parse_rule({"name": "No plans", "effect": "reject", "when": {"kinds": ["plan"]}})
STRICTER = Policy(MODES, rules=(NO_PLANS,))


@pytest.fixture(autouse=True)
def _two_people(settings):
    settings.POLICY_TWO_PEOPLE = True


@pytest.fixture
def eve(db):
    """Another admin."""
    return make.person("eve", admin=True)


@pytest.fixture
def proposal(ada):
    return propose(ada)


def propose(author, policy=OWNERS):
    return publish(policy, author=author, note="because", by=ADA, confirmed="loosen")


def confirmed(proposal, person, word="loosen"):
    return confirm(proposal, person=person, by=EVE, confirmed=word)


def test_what_loosens_becomes_a_proposal_and_changes_nothing(proposal):
    assert list(queries.open_proposals()) == [proposal]
    assert current_revision().number == 1


def test_proposing_needs_the_word_too(ada):
    with pytest.raises(NotConfirmed):
        publish(OWNERS, author=ada, note="", by=ADA)

    assert not PolicyProposal.objects.exists()


def test_proposing_is_recorded(proposal):
    entry = AuditEntry.objects.latest("seq")

    assert (entry.action, entry.actor) == ("policy.proposed", "user:ada")
    details = parse_json(entry.details)
    assert details["policy"]["owner_may_approve"] is True
    assert (details["note"], details["based_on"]) == ("because", 1)
    assert details["loosened"] == ["Owners may approve requests of their own agents."]


def test_who_was_let_in_anew_does_not_publish(ada, eve, proposal):
    """Or one admin proposes as herself, comes in as another and publishes."""
    signed_in(eve, "password", address="10.0.0.7")
    make_link(eve, by=ADA)

    with pytest.raises(NotPermitted, match=r"ada could sign in as you.*Nothing was published"):
        confirmed(proposal, eve)
    assert current_revision().number == 1


def test_who_is_in_a_session_of_anothers_link_does_not_publish(eve, proposal):
    make_link(eve, by=ADA)

    with pytest.raises(NotPermitted, match=r"that somebody else made.*Nothing was published"):
        confirm(proposal, person=eve, by=Actor("user:eve", "session:link"), confirmed="loosen")
    assert confirmed(proposal, eve).number == 2


def test_who_let_the_author_in_anew_does_not_publish(ada, eve):
    """Or one admin proposes as somebody else and publishes as herself."""
    signed_in(ada, "password", address="10.0.0.7")
    make_link(ada, by=EVE)

    with pytest.raises(NotPermitted, match=r"you gave ada a way in.*Nothing was published"):
        confirmed(propose(ada), eve)
    assert current_revision().number == 1


def test_who_let_the_author_in_after_it_was_proposed_publishes(ada, eve):
    signed_in(ada, "password", address="10.0.0.7")
    proposal = propose(ada)
    make_link(ada, by=EVE)

    assert confirmed(proposal, eve).number == 2


def test_who_invited_the_author_publishes(ada, eve):
    make_link(ada, by=EVE)
    signed_in(ada, "link", address="10.0.0.7")

    assert confirmed(propose(ada), eve).number == 2


def test_what_loosens_nothing_is_published_by_one_person(ada):
    assert publish(STRICTER, author=ada, note="", by=ADA).number == 2


def test_proposing_the_same_twice_gives_one_proposal(ada, proposal):
    assert propose(ada) == proposal
    assert PolicyProposal.objects.count() == 1


def test_a_second_admin_publishes_it(proposal, ada, eve):
    revision = confirmed(proposal, eve)

    assert queries.policy_in_force() == OWNERS
    assert (revision.author, revision.confirmed_by, revision.note) == (ada, eve, "because")
    proposal.refresh_from_db()
    assert (proposal.published, proposal.closed_by) == (revision, eve)


def test_both_names_are_recorded(proposal, eve):
    confirmed(proposal, eve)

    entry = AuditEntry.objects.latest("seq")
    details = parse_json(entry.details)
    assert (entry.action, entry.actor) == ("policy.published", "user:eve")
    assert (details["author"], details["confirmed_by"]) == ("ada", "eve")


def test_nobody_is_both_people(proposal, ada):
    with pytest.raises(SamePerson, match=r"Nothing was published\. Ask another admin"):
        confirmed(proposal, ada)

    assert current_revision().number == 1


def test_the_second_person_types_the_word_too(proposal, eve):
    with pytest.raises(NotConfirmed):
        confirmed(proposal, eve, "")

    assert current_revision().number == 1


def test_the_second_person_is_an_admin(proposal, alice):
    with pytest.raises(NotPermitted):
        confirmed(proposal, alice)


def test_a_proposal_of_somebody_who_is_no_admin_any_more_does_not_count(proposal, ada, eve):
    people.change_roles(ada, roles={}, by=make.BY)

    with pytest.raises(NotPermitted, match="ada, who proposed this, is no longer an admin"):
        confirmed(proposal, eve)


def test_a_proposal_against_an_older_policy_is_not_published(proposal, ada, eve):
    publish(STRICTER, author=ada, note="", by=ADA)

    with pytest.raises(Outdated):
        confirmed(proposal, eve)

    assert queries.policy_in_force() == STRICTER


def test_it_is_published_once(proposal, eve):
    confirmed(proposal, eve)

    with pytest.raises(NotOpen, match="published already"):
        confirmed(proposal, eve)


@pytest.mark.parametrize("who", ["ada", "eve"])
def test_either_withdraws_it(request, proposal, eve, who):
    person = request.getfixturevalue(who)
    withdraw(proposal, person=person, by=Actor(f"user:{who}"))

    assert list(queries.open_proposals()) == []
    entry = AuditEntry.objects.latest("seq")
    assert (entry.action, entry.actor) == ("policy.proposal_withdrawn", f"user:{who}")


def test_a_withdrawn_proposal_is_not_published(proposal, ada, eve):
    withdraw(proposal, person=ada, by=ADA)

    with pytest.raises(NotOpen, match="withdrawn already"):
        confirmed(proposal, eve)


def test_only_an_admin_withdraws(proposal, alice):
    with pytest.raises(NotPermitted):
        withdraw(proposal, person=alice, by=ADA)


@pytest.mark.django_db(transaction=True)
def test_of_two_who_publish_it_at_once_one_does(ada):
    others, proposal = [make.person(name, admin=True) for name in ("eve", "fay")], propose(ada)
    start = Barrier(2)

    def attempt(person):
        start.wait()
        try:
            return confirmed(proposal, person).number
        except (NotOpen, Outdated):
            return None
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        numbers = list(pool.map(attempt, others))

    assert sorted(numbers, key=bool) == [None, 2]
    assert PolicyRevision.objects.count() == 2
