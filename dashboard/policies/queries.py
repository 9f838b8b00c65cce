"""Reads of the policy, for pages."""

from __future__ import annotations

import json

from django.db.models import QuerySet

from dashboard.accounts.models import User
from dashboard.policies.evaluate import Policy
from dashboard.policies.models import PolicyDraft, PolicyProposal, PolicyRevision
from dashboard.policies.services import current_revision


def revisions() -> QuerySet[PolicyRevision]:
    """Every revision with who made it, the newest first."""
    return PolicyRevision.objects.select_related("author", "confirmed_by").order_by("-number")


def loosened(revision: PolicyRevision) -> list[str]:
    """Return the sentences that say what a revision asks less about than the one before it."""
    return [str(sentence) for sentence in json.loads(revision.loosened)]


def open_proposals() -> QuerySet[PolicyProposal]:
    """Every policy that waits for a second admin, the newest first."""
    waiting = PolicyProposal.objects.filter(closed_at=None)
    return waiting.select_related("author").order_by("-proposed_at")


def draft_of(person: User) -> PolicyDraft | None:
    """Return what a person is working on, if anything."""
    return PolicyDraft.objects.filter(author=person).first()


def policy_in_force() -> Policy:
    """Return the policy that holds."""
    return Policy.from_json(current_revision().document)
