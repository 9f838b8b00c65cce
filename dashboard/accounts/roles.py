"""Who may do what. Doors ask here and hold no rule of their own."""

from __future__ import annotations

from dashboard.accounts.models import AgentToken, User


def may_look(person: User) -> bool:
    """Any role may read requests, decisions and the state of the gate."""
    return person.is_active and (person.is_reviewer or person.is_admin or person.is_auditor)


def may_decide(person: User) -> bool:
    """Only reviewers decide; to be an admin is not enough."""
    return person.is_active and person.is_reviewer


def may_approve_for(person: User, token: AgentToken, *, owner_may_approve: bool) -> bool:
    """Nobody approves what they may have asked, unless the policy allows it.

    That is the agent's owner, and whoever made the token that it asked with.
    """
    asked_by = {token.agent.owner_id, token.created_by_id}
    return may_decide(person) and (owner_may_approve or person.pk not in asked_by)


def may_administer(person: User) -> bool:
    """Admins manage people, agents, policies and the hold."""
    return person.is_active and person.is_admin


def may_audit(person: User) -> bool:
    """Auditors and admins read the audit log."""
    return person.is_active and (person.is_auditor or person.is_admin)
