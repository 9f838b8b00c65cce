"""Who is signed in, as Django keeps it.

Each request of a browser asks for the session and the person, so both are prepared statements.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.contrib.auth.backends import ModelBackend
from django.contrib.sessions.backends import db
from django.contrib.sessions.models import Session
from django.db.models import QuerySet
from django.utils import timezone

from dashboard.accounts.models import User
from dashboard.statements import rows


class SessionStore(db.SessionStore):
    """Sessions in the database, as Django keeps them."""

    def _get_session_from_db(self) -> Session | None:
        found = _session.first(self.session_key or "", timezone.now())
        if found is None:
            self._session_key = None  # as Django's: what is kept next has a new key
        return found


class People(ModelBackend):
    """People who sign in with their password, as Django knows them."""

    def get_user(self, user_id: Any) -> User | None:
        """Return the person of a session, or None if they may not sign in any more."""
        person = _person.first(int(user_id))
        return person if person and self.user_can_authenticate(person) else None


@rows(Session.session_key, Session.expire_date)
def _session(key: str, now: datetime) -> QuerySet[Session]:
    return Session.objects.filter(session_key=key, expire_date__gt=now)


@rows(User.id)
def _person(person_id: int) -> QuerySet[User]:
    return User.objects.filter(pk=person_id)
