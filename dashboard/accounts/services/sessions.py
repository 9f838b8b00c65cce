"""End sessions: one person's, and those that are over."""

from __future__ import annotations

from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.models import Session
from django.utils import timezone

from dashboard.accounts.models import SignInLink, User


def end_sessions(person: User) -> None:
    """Sign ``person`` out everywhere.

    Reads every open session, for only its content says whose it is. An account that is closed and
    opened again must not find its old sessions still working.
    """
    keys = [
        session.session_key
        for session in Session.objects.filter(expire_date__gt=timezone.now()).iterator()
        if session.get_decoded().get(SESSION_KEY) == str(person.pk)
    ]
    Session.objects.filter(session_key__in=keys).delete()


def forget_expired() -> None:
    """Delete sessions and sign-in links that nobody can use any more."""
    now = timezone.now()
    Session.objects.filter(expire_date__lte=now).delete()
    SignInLink.objects.filter(expires_at__lte=now).delete()
