"""Make and retire agents."""

from __future__ import annotations

from django.db import IntegrityError, transaction

from dashboard.accounts.errors import NameTaken
from dashboard.accounts.models import Agent, User
from dashboard.audit.actions import Action
from dashboard.audit.names import agent_name
from dashboard.audit.services import Actor, AuditEvent, record


@transaction.atomic
def create_agent(*, name: str, by: Actor, owner: User | None = None) -> Agent:
    """Make an agent. Who makes one in the pages owns it; commands make agents without owner.

    Raises:
        NameTaken: There is an agent of that name, upper and lower case not told apart.
        ValidationError: The name holds characters that names may not hold.
    """
    agent = Agent(name=name, owner=owner)
    agent.clean_fields(exclude=["owner"])
    if Agent.objects.filter(name__iexact=name).exists():
        raise _taken(name)
    try:
        with transaction.atomic():
            agent.save(force_insert=True)
    except IntegrityError as error:
        raise _taken(name) from error
    details = {"owner": owner.username if owner else None}
    record(by, AuditEvent(Action.AGENT_ADDED, _subject(agent), details=details))
    return agent


@transaction.atomic
def retire(agent: Agent, *, by: Actor) -> None:
    """Shut an agent out. Call ``approvals.services.retire_agent``, which also closes its asks."""
    if Agent.objects.filter(pk=agent.pk, is_active=True).update(is_active=False):
        record(by, AuditEvent(Action.AGENT_DEACTIVATED, _subject(agent)))


@transaction.atomic
def restore(agent: Agent, *, by: Actor) -> None:
    """Let a deactivated agent ask again with the tokens that it still has."""
    if Agent.objects.filter(pk=agent.pk, is_active=False).update(is_active=True):
        record(by, AuditEvent(Action.AGENT_REACTIVATED, _subject(agent)))


def _subject(agent: Agent) -> str:
    return agent_name(agent.name)


def _taken(name: str) -> NameTaken:
    return NameTaken(f"An agent is called {name!r} already. None was added.")
