"""End sessions: one person's, and those that are over."""

from __future__ import annotations

from datetime import datetime

from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.models import Session
from django.utils import timezone

from dashboard.accounts.models import SignInLink, User


def end_sessions(person: User, *, but: str = "") -> None:
    """Sign ``person`` out everywhere, except in the session with the key ``but``.

    Reads every open session, for only its content says whose it is. An account that is closed and
    opened again must not find its old sessions still working.
    """
    keys = [
        session.session_key
        for session in Session.objects.filter(expire_date__gt=timezone.now()).iterator()
        if session.session_key != but and session.get_decoded().get(SESSION_KEY) == str(person.pk)
    ]
    Session.objects.filter(session_key__in=keys).delete()


def end_all_sessions() -> None:
    """Sign everybody out, and make every sign-in link useless."""
    Session.objects.all().delete()
    SignInLink.objects.all().delete()


def forget_expired() -> None:
    """Delete sessions and sign-in links that nobody can use any more."""
    forget_over(timezone.now())


def forget_over(moment: datetime) -> None:
    """Delete sessions and sign-in links that were over at ``moment``."""
    Session.objects.filter(expire_date__lte=moment).delete()
    SignInLink.objects.filter(expires_at__lte=moment).delete()
