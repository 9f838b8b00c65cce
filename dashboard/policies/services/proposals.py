"""Where two people are needed: one admin proposes what loosens, another publishes it."""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone

from approval_client.wire import parse_json
from dashboard.accounts import roles
from dashboard.accounts.errors import NotPermitted
from dashboard.accounts.models import User
from dashboard.accounts.services import ways_in
from dashboard.audit.actions import Action
from dashboard.audit.models import AuditEntry
from dashboard.audit.names import user_name
from dashboard.audit.services import Actor, AuditEvent, record
from dashboard.policies.errors import NotOpen, Outdated, SamePerson
from dashboard.policies.evaluate import Policy
from dashboard.policies.models import PolicyProposal, PolicyRevision
from dashboard.policies.services.checking import check_admin, check_confirmed, check_examples
from dashboard.policies.services.revisions import Publication, add_revision, locked_present


def propose(
    present: PolicyRevision,
    policy: Policy,
    publication: Publication,
    *,
    by: Actor,
) -> PolicyProposal:
    """Keep a loosening policy for a second admin; who proposes the same again gets the first one.

    Runs inside the transaction of ``publish``.
    """
    same = PolicyProposal.objects.filter(
        author=publication.author,
        document=policy.to_json(),
        based_on=present.number,
        closed_at=None,
    ).first()
    if same:
        return same
    proposal = PolicyProposal.objects.create(
        document=policy.to_json(),
        note=publication.note,
        author=publication.author,
        based_on=present.number,
        proposed_at=timezone.now(),
    )
    details = {
        "policy": parse_json(proposal.document),
        "note": proposal.note,
        "loosened": list(publication.loosened),
        "based_on": present.number,
        "author": publication.author.username,
    }
    record(by, AuditEvent(Action.POLICY_PROPOSED, _subject(proposal), details=details))
    return proposal


def confirm(
    proposal: PolicyProposal, *, person: User, by: Actor, confirmed: str = ""
) -> PolicyRevision:
    """Publish what another admin proposed.

    Raises:
        ExamplesFail: A rule does not do what its examples say.
        NotOpen: It was published or withdrawn already.
        Outdated: Another revision was published since it was proposed.
        SamePerson: It is one's own proposal.
        NotConfirmed: ``confirmed`` is not the word.
        NotPermitted: One of the two is not an admin, or may be somebody else who came in as them.
    """
    policy = Policy.from_json(proposal.document)
    check_examples(policy.rules, not_done="Nothing was published")
    with transaction.atomic():
        check_admin(person)
        present = locked_present()
        open_one = _locked(proposal)
        _check_two_people(open_one, person, by)
        if open_one.based_on != present.number:
            raise Outdated(present)
        publication = Publication(
            author=open_one.author,
            note=open_one.note,
            loosened=check_confirmed(present, policy, confirmed),
            confirmed_by=person,
        )
        revision = add_revision(present, policy, publication, by=by)
        _close(open_one, person, published=revision)
        return revision


@transaction.atomic
def withdraw(proposal: PolicyProposal, *, person: User, by: Actor) -> None:
    """Close a proposal without publishing it; any admin may.

    Raises:
        NotOpen: It was published or withdrawn already.
        NotPermitted: They are not an admin.
    """
    check_admin(person)
    open_one = _locked(proposal)
    _close(open_one, person)
    details = {"note": open_one.note, "author": open_one.author.username}
    record(by, AuditEvent(Action.POLICY_PROPOSAL_WITHDRAWN, _subject(open_one), details=details))


def _locked(proposal: PolicyProposal) -> PolicyProposal:
    locked = PolicyProposal.objects.select_for_update().get(pk=proposal.pk)
    if locked.closed_at:
        outcome = "published" if locked.published_id else "withdrawn"
        raise NotOpen(f"This proposal was {outcome} already. Nothing was changed by you.")
    return locked


def why_not_second(proposal: PolicyProposal, person: User, by: Actor) -> str:
    """Say why an admin is not the second person for another's proposal; empty if they are."""
    author = proposal.author
    if not roles.may_administer(author):
        return (
            f"{author.username}, who proposed this, is no longer an admin. Propose it again "
            "yourself and ask another admin."
        )
    entries = AuditEntry.objects.filter(subject=_subject(proposal), action=Action.POLICY_PROPOSED)
    entry = entries.last()
    if entry is None:
        return "The log does not say when this was proposed. Withdraw it, and propose it anew."
    if user_name(person.username) in ways_in.givers_anew(author, entry):
        return (
            f"In the month before this was proposed you gave {author.username} a way in, or gave "
            "one to an admin who did: a sign-in link, single sign-on or the removal of a second "
            "factor. Ask another admin to read it and publish it."
        )
    return ways_in.why_not_own(person, by)


def _check_two_people(proposal: PolicyProposal, second: User, by: Actor) -> None:
    if proposal.author_id == second.pk:
        raise SamePerson(
            "This is your own proposal, and two people are needed. Nothing was published. Ask "
            "another admin to read it and publish it."
        )
    if reason := why_not_second(proposal, second, by):
        raise NotPermitted(f"{reason} Nothing was published.")


def _close(
    proposal: PolicyProposal, person: User, published: PolicyRevision | None = None
) -> None:
    proposal.closed_by, proposal.closed_at = person, timezone.now()
    proposal.published = published
    proposal.save(update_fields=["closed_by", "closed_at", "published"])


def _subject(proposal: PolicyProposal) -> str:
    return f"policy_proposal:{proposal.pk}"
