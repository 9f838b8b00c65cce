"""Reads about people and agents, for pages."""

from __future__ import annotations

from collections.abc import Iterable

from django.db.models import Prefetch, QuerySet
from django.utils import timezone

from dashboard.accounts.models import Agent, AgentToken, Group, User
from dashboard.accounts.tokens import works


def people() -> QuerySet[User]:
    """Everybody, by name."""
    return User.objects.order_by("username")


def groups() -> QuerySet[Group]:
    """Every group with its members, by name."""
    return Group.objects.prefetch_related("members").order_by("name")


def groups_of(person: User) -> frozenset[str]:
    """The names of the groups that a person is in."""
    return frozenset(person.groups.values_list("name", flat=True))


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
    rows = AgentToken.objects.select_related("agent").filter(pk__in=list(ids))
    now = timezone.now()
    return {token.pk for token in rows if works(token, now)}


def nobody_ever_signed_in() -> bool:
    """Whether the dashboard still waits for its first person."""
    return not User.objects.filter(last_login__isnull=False).exists()


def reviewers() -> QuerySet[User]:
    """Everybody who may decide, by name."""
    return User.objects.filter(is_active=True, is_reviewer=True).order_by("username")
