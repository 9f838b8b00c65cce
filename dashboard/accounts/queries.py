"""Reads about people and agents, for pages."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db.models import Prefetch, QuerySet, Value
from django.utils import timezone

from dashboard.accounts.models import Agent, AgentToken, Group, User
from dashboard.accounts.tokens import works
from dashboard.statements import Many, rows


def people() -> QuerySet[User]:
    """Everybody, by name."""
    return User.objects.order_by("username")


def admins() -> QuerySet[User]:
    """Everybody who can give roles, by name."""
    return people().filter(is_admin=True, is_active=True)


def groups() -> QuerySet[Group]:
    """Every group with its members, by name."""
    return Group.objects.prefetch_related("members").order_by("name")


def groups_of(person: User) -> frozenset[str]:
    """The names of the groups that a person is in."""
    return frozenset(_groups_of(person.pk))


@rows(User.id)
def _groups_of(person_id: int) -> QuerySet[Group, str]:
    return Group.objects.filter(members=person_id).order_by().values_list("name", flat=True)


def names_of_agents_and_groups() -> tuple[list[str], list[str]]:
    """Return the names of all agents and those of all groups, in order."""
    rows = sorted(_names())
    agents = [name for number, name in rows if number == _AGENT]
    return agents, [name for number, name in rows if number == _GROUP]


_AGENT, _GROUP = 1, 2


@rows()
def _names() -> QuerySet[Any, tuple[int, str]]:
    agents = Agent.objects.order_by().annotate(of=Value(_AGENT)).values_list("of", "name")
    groups = Group.objects.order_by().annotate(of=Value(_GROUP)).values_list("of", "name")
    both: QuerySet[Any, tuple[int, str]] = agents.union(groups, all=True)
    return both


def agents() -> QuerySet[Agent]:
    """Every agent with its owner and tokens, by name."""
    tokens = AgentToken.objects.order_by("-created_at")
    return (
        Agent.objects.select_related("owner")
        .prefetch_related(Prefetch("tokens", queryset=tokens))
        .order_by("name")
    )


def tokens_that_work(ids: Iterable[int]) -> set[int]:
    """Which of these tokens still open the API, in one query."""
    now = timezone.now()
    return {token.pk for token in _tokens(ids) if works(token, now)}


@rows(Many(AgentToken.id))
def _tokens(ids: Iterable[int]) -> QuerySet[AgentToken]:
    return AgentToken.objects.select_related("agent").filter(pk__among=ids)


def nobody_ever_signed_in() -> bool:
    """Whether the dashboard still waits for its first person."""
    return not User.objects.filter(last_login__isnull=False).exists()


@rows()
def names_of_reviewers() -> QuerySet[User, str]:
    """The names of those who may decide, in order."""
    return reviewers().values_list("username", flat=True)


def reviewers() -> QuerySet[User]:
    """Everybody who may decide, by name."""
    return User.objects.filter(is_active=True, is_reviewer=True).order_by("username")
