"""Who is signed in, as Django keeps it, and for how long.

Each request of a browser asks for the session and the person, so both are prepared statements.
A session ends ``SESSION_IDLE_S`` after a person used it last, and ``SESSION_LONGEST_S`` after they
signed in. Where the browser is remembered it goes on for reading, ``REMEMBERED_FOR_S`` in all.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.conf import settings
from django.contrib.auth.backends import ModelBackend
from django.contrib.sessions.backends import db
from django.contrib.sessions.backends.base import SessionBase
from django.contrib.sessions.models import Session
from django.db.models import QuerySet
from django.utils import timezone

from dashboard.accounts.models import User
from dashboard.statements import rows

WRITTEN_EVERY_S = 300
"""How often at most it is written that a session is used, in seconds."""

REMEMBERED_FOR_S = 30 * 24 * 3600

# In the session: when, in seconds since 1970.
_BEGAN, _USED, _LAPSES = "began_s", "used_s", "lapses_s"
_REMEMBERED = "is_remembered"
_AT_PROVIDER = "is_at_provider"  # whether the provider of single sign-on vouches for it


def begin(session: SessionBase, now_s: float, *, at_provider: bool = False) -> None:
    """Note that somebody has just signed in, at ``now_s`` seconds since 1970."""
    session[_BEGAN] = session[_USED] = int(now_s)
    session[_AT_PROVIDER] = at_provider
    _last_until_unused(session, now_s)


def use(session: SessionBase, now_s: float) -> bool:
    """Note that the person used the session, every few minutes at most; return whether it was.

    A session that does not say when it began, as of earlier releases, ends when it was going to.
    """
    used_s = session.get(_USED)
    if used_s is None or 0 <= now_s - used_s < WRITTEN_EVERY_S or has_lapsed(session, now_s):
        return False
    session[_USED] = int(now_s)
    _last_until_unused(session, now_s)
    return True


def remember(session: SessionBase, now_s: float) -> None:
    """Have the session go on for reading when it would end."""
    session.setdefault(_BEGAN, int(now_s))  # of an earlier release, it does not say when it began
    session[_REMEMBERED] = True
    _last_until_unused(session, now_s)


def has_lapsed(session: SessionBase, now_s: float) -> bool:
    """Whether the session goes on for reading only, at ``now_s`` seconds since 1970."""
    return bool(session.get(_REMEMBERED)) and now_s >= session.get(_LAPSES, 0)


def is_at_provider(session: SessionBase) -> bool:
    """Whether its person came by single sign-on, so that the provider is asked about them."""
    return bool(session.get(_AT_PROVIDER))


def _last_until_unused(session: SessionBase, now_s: float) -> None:
    left_s = session[_BEGAN] + settings.SESSION_LONGEST_S - now_s
    left_s = max(1, int(min(settings.SESSION_IDLE_S, left_s)))
    session[_LAPSES] = int(now_s) + left_s
    if session.get(_REMEMBERED):
        left_s = max(1, int(session[_BEGAN] + REMEMBERED_FOR_S - now_s))
    session.set_expiry(left_s)


class SessionStore(db.SessionStore):
    """Sessions in the database, as Django keeps them."""

    def _get_session_from_db(self) -> Session | None:
        row = _session.first(self.session_key or "", timezone.now())
        if row is None:
            self._session_key = None  # as Django's: what is kept next has a new key
        return row


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
