"""Whether the people behind open pages may still look."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from django.contrib.sessions.models import Session
from django.utils import timezone
from django.utils.crypto import constant_time_compare

from dashboard.accounts import roles
from dashboard.accounts.models import User


class Visitor(NamedTuple):
    """Who opened a page: the person, their session, and the password they had then."""

    person_id: int
    session_key: str
    password_hash: str


def still_welcome(visitors: Iterable[Visitor]) -> set[Visitor]:
    """Those who are still signed in, with the same password and a role, in two queries."""
    visitors = set(visitors)
    keys = [visitor.session_key for visitor in visitors]
    sessions = Session.objects.filter(session_key__in=keys, expire_date__gt=timezone.now())
    signed_in = set(sessions.values_list("session_key", flat=True))
    people = User.objects.in_bulk([visitor.person_id for visitor in visitors])
    return {
        visitor
        for visitor in visitors
        if visitor.session_key in signed_in and _is_same(people.get(visitor.person_id), visitor)
    }


def _is_same(person: User | None, visitor: Visitor) -> bool:
    return (
        person is not None
        and roles.may_look(person)
        and constant_time_compare(person.get_session_auth_hash(), visitor.password_hash)
    )
