"""Publish policies."""

from __future__ import annotations

from django.conf import settings
from django.db import transaction

from dashboard.accounts.models import User
from dashboard.audit.services import Actor
from dashboard.policies.errors import Outdated
from dashboard.policies.evaluate import Policy
from dashboard.policies.models import PolicyProposal, PolicyRevision
from dashboard.policies.services.checking import check_admin, check_confirmed, check_examples
from dashboard.policies.services.proposals import propose
from dashboard.policies.services.revisions import Publication, add_revision, locked_present


def publish(
    policy: Policy,
    *,
    author: User,
    note: str,
    by: Actor,
    based_on: int | None = None,
    confirmed: str = "",
) -> PolicyRevision | PolicyProposal:
    """Make ``policy`` the one that holds from now on. What is pending stays as strict as it was.

    Publishing what holds already changes nothing and returns the present revision. Where two
    people are needed, a policy that loosens anything becomes a proposal and nothing else.

    Args:
        based_on: The number of the revision that the author had before their eyes, if any.
        confirmed: What they typed to confirm that it loosens something.

    Raises:
        ExamplesFail: A rule does not do what its examples say.
        Outdated: Another revision was published since.
        NotConfirmed: It loosens something, and ``confirmed`` is not the word for that.
        NotPermitted: The author is not an admin.
    """
    check_examples(policy.rules, not_done="Nothing was published")  # may take long: no lock yet
    with transaction.atomic():
        check_admin(author)
        present = locked_present()
        if present.document == policy.to_json():
            return present
        if based_on not in (None, present.number):
            raise Outdated(present)
        loosened = check_confirmed(present, policy, confirmed)
        publication = Publication(author=author, note=note, loosened=loosened)
        if loosened and settings.POLICY_TWO_PEOPLE:
            return propose(present, policy, publication, by=by)
        return add_revision(present, policy, publication, by=by)
