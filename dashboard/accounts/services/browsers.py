"""Browsers in which people are signed in: noted, listed, ended, and asked about at the provider.

A row is only about a session. Whether somebody is signed in says Django's session, and a row whose
session is gone is not shown and is deleted with it.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import NamedTuple

from allauth.socialaccount.models import SocialAccount
from django.conf import settings
from django.contrib.auth import HASH_SESSION_KEY
from django.contrib.sessions.models import Session
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from dashboard.accounts.errors import ProviderRefused, ProviderUnreachable
from dashboard.accounts.models import BrowserSession, User
from dashboard.accounts.provider.metadata import provider_id
from dashboard.accounts.provider.statements import LEEWAY_S, Logout, Statement
from dashboard.accounts.provider.tokens import NoLongerKnown, read_refresh, refresh, seal, unseal
from dashboard.accounts.services import identity
from dashboard.accounts.services.sessions import end_sessions
from dashboard.accounts.services.signing_in import close_links
from dashboard.audit.actions import Action
from dashboard.audit.names import user_name
from dashboard.audit.services import Actor, AuditEvent, record

UNASKED_LONGEST = timedelta(hours=1)
"""How long the provider may be out of reach before its people may only read."""
ASKED_AGAIN_AFTER = timedelta(minutes=2)
"""Longer than asking about one person takes: two would use one token twice."""
ROUND_S = 20
BATCH = 200

log = logging.getLogger(__name__)


class Entry(NamedTuple):
    """How somebody came in: by which proofs, from which address, with which browser."""

    method: str
    address: str
    browser: str


class AtProvider(NamedTuple):
    """What the provider said when they came in, and what to ask it with later."""

    statement: Statement
    refresh_token: str


@transaction.atomic
def note(
    person: User, session_key: str, entry: Entry, *, at_provider: AtProvider | None = None
) -> None:
    """Note that somebody signed in."""
    now = timezone.now()
    row = BrowserSession(
        person=person,
        session_key=session_key,
        method=entry.method[:100],
        address=entry.address[:100],
        browser=entry.browser[:300],
        began_at=now,
        used_at=now,
    )
    if at_provider:
        row.provider, row.subject = provider_id(), at_provider.statement.subject
        row.provider_session = at_provider.statement.session
        row.refresh_token = seal(at_provider.refresh_token)
        row.checked_at = now
        row.check_due_at = now + _check_every() if row.refresh_token else None
    row.save(force_insert=True)


def note_use(session_key: str) -> None:
    """Note that a browser was used just now."""
    BrowserSession.objects.filter(session_key=session_key).update(used_at=timezone.now())


def note_end(session_key: str) -> None:
    """Note that somebody signed out."""
    BrowserSession.objects.filter(session_key=session_key).delete()


def note_new_key(before: str, after: str) -> None:
    """Note that a session goes on under another key."""
    BrowserSession.objects.filter(session_key=before).update(session_key=after)


@transaction.atomic
def note_remembered(session_key: str, *, by: Actor) -> bool:
    """Note that a browser stays signed in for reading; false where it may not.

    Of single sign-on only where the provider can be asked later whether the person is still there.
    """
    rows = BrowserSession.objects.filter(session_key=session_key)
    rows = rows.exclude(~Q(provider=""), refresh_token=None).select_related("person")
    row = rows.select_for_update(of=("self",)).first()
    if row is None:
        return False
    if not row.is_remembered:
        BrowserSession.objects.filter(pk=row.pk).update(is_remembered=True)
        record(by, AuditEvent(Action.SESSION_REMEMBERED, user_name(row.person.username)))
    return True


def open_sessions(person: User) -> list[BrowserSession]:
    """Return the browsers in which a person is signed in, the one used last first.

    Not those whose sessions began with another password, as a command may have set one.
    """
    rows = {row.session_key: row for row in BrowserSession.objects.filter(person=person)}
    hashes = [person.get_session_auth_hash(), *person.get_session_auth_fallback_hash()]
    open_keys = {
        session.session_key
        for session in Session.objects.filter(session_key__in=rows, expire_date__gt=timezone.now())
        if session.get_decoded().get(HASH_SESSION_KEY) in hashes
    }
    return [row for key, row in rows.items() if key in open_keys]


@transaction.atomic
def end(person: User, session_id: int, *, by: Actor) -> bool:
    """End one of a person's sessions; false if it had ended."""
    row = BrowserSession.objects.filter(person=person, pk=session_id).first()
    return row is not None and bool(_end([row], by, "person"))


@transaction.atomic
def end_others(person: User, session_key: str, *, by: Actor) -> int:
    """End all of a person's sessions but the one with this key; return how many were noted."""
    rows = BrowserSession.objects.filter(person=person).exclude(session_key=session_key)
    events = _close(list(rows), "person")
    end_sessions(person, but=session_key)  # those that began before they were noted here
    if events:
        record(by, *events)
    return len(events)


@transaction.atomic
def end_at_provider(logout: Logout) -> int:
    """End what the provider says is over: what began before it said so, or about then.

    A session that began later stays, whoever repeats what was said.
    """
    said_at = datetime.fromtimestamp(logout.at_s, tz=timezone.get_default_timezone())
    about_then = said_at + timedelta(seconds=LEEWAY_S)  # the two clocks differ
    rows = BrowserSession.objects.filter(provider=provider_id(), began_at__lte=about_then)
    if logout.subject:
        rows = rows.filter(subject=logout.subject)
    if logout.session:  # a session that was not named when it began is perhaps this one
        names = [logout.session, ""] if logout.subject else [logout.session]
        rows = rows.filter(provider_session__in=names)
    return _end(list(rows), identity.PROVIDER, "provider")


@transaction.atomic
def unlink(person: User, *, by: Actor) -> None:
    """Have a person no longer sign in by single sign-on, and end the sessions that came by it."""
    deleted, _ = SocialAccount.objects.filter(user=person).delete()
    rows = BrowserSession.objects.filter(person=person).exclude(provider="")
    events = _close(list(rows), "unlinked")
    if deleted:
        events.insert(0, AuditEvent(Action.PERSON_UNLINKED, user_name(person.username)))
    if events:
        record(by, *events)


def why_not_act(session_key: str) -> str:
    """Say why somebody of single sign-on may only read, or nothing if they may act."""
    row = BrowserSession.objects.filter(session_key=session_key).first()
    if row is None or row.provider != provider_id():
        return "The provider of this sign-in was changed. Sign in again."
    if row.checked_at is None or timezone.now() - row.checked_at > UNASKED_LONGEST:
        return (
            "Your provider could not be asked about you for an hour, so you may read and not "
            "decide. Sign in again."
        )
    return ""


def check_due() -> int:
    """Ask the provider about those whose turn it is; return about how many.

    Each is asked about by one process: whoever moves its time first. Once the provider does not
    answer, the others wait for the next time.
    """
    ends_s = time.monotonic() + ROUND_S
    now = timezone.now()
    rows = BrowserSession.objects.filter(check_due_at__lte=now).select_related("person")
    count = 0
    for row in rows.order_by("check_due_at")[:BATCH]:
        if time.monotonic() > ends_s:
            break
        if not _is_ours(row):
            continue
        count += 1
        try:
            _check(row)
        except ProviderUnreachable as error:
            log.warning("People could not be asked about at single sign-on: %s", error)
            break
        except ProviderRefused as error:
            log.warning("What single sign-on says of %s: %s", row.person, error)
    return count


def _is_ours(row: BrowserSession) -> bool:
    same = BrowserSession.objects.filter(pk=row.pk, check_due_at=row.check_due_at)
    return bool(same.update(check_due_at=timezone.now() + ASKED_AGAIN_AFTER))


def _check(row: BrowserSession) -> None:
    same = BrowserSession.objects.filter(pk=row.pk)
    if not _open([row.session_key]):
        same.delete()  # it ended here, and nobody is asked about any more
        return
    token = unseal(row.refresh_token)
    if not token or row.provider != provider_id():
        same.update(check_due_at=None)  # they may read, and sign in again to decide
        return
    try:
        reply = refresh(token)
    except NoLongerKnown:
        _end_gone(row)
        return
    # Before anything else is asked: the old token may not work twice.
    same.update(refresh_token=seal(str(reply.get("refresh_token") or token)))
    identity.follow(row.person, read_refresh(reply))
    now = timezone.now()
    same.update(checked_at=now, check_due_at=now + _check_every())


@transaction.atomic
def _end_gone(row: BrowserSession) -> None:
    """End a session that the provider took back, and ask about the person's others at once."""
    close_links(row.person)
    rows = BrowserSession.objects.filter(person=row.person).exclude(pk=row.pk)
    rows.exclude(check_due_at=None).update(check_due_at=timezone.now())
    _end([row], identity.PROVIDER, "provider")


def _end(rows: list[BrowserSession], by: Actor, reason: str) -> int:
    events = _close(rows, reason)
    if events:
        record(by, *events)
    return len(events)


def _close(rows: list[BrowserSession], reason: str) -> list[AuditEvent]:
    """Delete sessions, and return what to record, at the end of the transaction."""
    keys = set(_open(row.session_key for row in rows))
    Session.objects.filter(session_key__in=keys).delete()
    BrowserSession.objects.filter(pk__in=[row.pk for row in rows]).delete()
    return [
        AuditEvent(
            Action.SESSION_ENDED,
            user_name(row.person.username),
            details={"because": reason, "address": row.address},
        )
        for row in rows
        if row.session_key in keys
    ]


def _open(keys: Iterable[str]) -> QuerySet[Session, str]:
    sessions = Session.objects.filter(session_key__in=list(keys), expire_date__gt=timezone.now())
    return sessions.values_list("session_key", flat=True)


def forget_gone(moment: datetime) -> None:
    """Delete the rows of sessions that are no longer there."""
    open_keys = Session.objects.filter(expire_date__gt=moment).values("session_key")
    BrowserSession.objects.exclude(session_key__in=open_keys).delete()


def _check_every() -> timedelta:
    return timedelta(seconds=settings.OIDC_CHECK_S)
