"""Who gave somebody a way in, and so whether two people are two.

An admin can come in as somebody else: by a sign-in link, by linking them to a single sign-on of
their own, or by the first of these once their second factor is gone. Where two people are needed,
such an account is nobody's for a month.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db.models import QuerySet

from dashboard.accounts.models import User
from dashboard.audit.actions import Action
from dashboard.audit.models import AuditEntry
from dashboard.audit.names import user_name
from dashboard.audit.services import OPERATOR, Actor
from dashboard.clock import database_now

LATELY = timedelta(days=30)

_WAYS = (
    Action.SIGN_IN_LINK_MADE,
    Action.PERSON_LINKED,
    Action.FACTOR_REMOVED,
    Action.PASSKEY_REMOVED,
)


def came_by_link(by: Actor) -> bool:
    """Whether a session began with a sign-in link."""
    return by.auth.removeprefix("session:").partition("+")[0] == "link"


def was_let_in_anew(person: User) -> bool:
    """Whether somebody else gave a way in, lately, to a person who had one before.

    Whoever is invited is let in by others too, and is nobody else yet. The operator has a way in
    to everything.
    """
    return _anew(user_name(person.username), _lately()).exists()


def givers(person: User, before: AuditEntry) -> set[str]:
    """Return who gave a person a way in, in the month before an entry, as the log names them.

    Also who gave those a way in anew before they gave one: whoever comes in as another admin acts
    as that admin. What came after is left out. It is of those who act then: see ``why_not_own``.
    """
    return _givers(_by_others(user_name(person.username), before.at - LATELY), before)


def givers_anew(person: User, before: AuditEntry) -> set[str]:
    """Return the same, of what was done after the person had been here: not who invited them."""
    return _givers(_anew(user_name(person.username), before.at - LATELY), before)


def why_not_own(person: User, by: Actor) -> str:
    """Say why whoever acts may be somebody else who came in as this person; empty if not.

    Args:
        person: Who acts.
        by: They, and how they signed in.
    """
    name = user_name(person.username)
    giver = _anew(name, _lately()).values_list("actor", flat=True).last()
    if giver:
        return (
            f"{_who(giver)} could sign in as you in the last 30 days, by a sign-in link, single "
            "sign-on or the removal of your second factor. So you are no second person here. Ask "
            "an admin for whom nobody did that. If there is none, whoever runs the server can add "
            "an admin: approval-dashboard createsuperuser."
        )
    if came_by_link(by) and _by_others(name, _lately()).exists():
        return (
            "You came in by a sign-in link that somebody else made, and two people are needed. "
            "Choose a password in your account and sign in with it, or ask another admin."
        )
    return ""


def _givers(ways: QuerySet[AuditEntry], before: AuditEntry) -> set[str]:
    entries = list(ways.filter(seq__lt=before.seq))
    for entry in entries:  # grows meanwhile
        earlier = _anew(entry.actor, entry.at - LATELY).filter(seq__lt=entry.seq)
        entries += [way for way in earlier if way not in entries]
    return {entry.actor for entry in entries}


def _who(giver: str) -> str:
    return giver.removeprefix("user:")


def _lately() -> datetime:
    return database_now() - LATELY


def _anew(name: str, since: datetime) -> QuerySet[AuditEntry]:
    """What others did, since a moment, to let somebody in who had been here already."""
    sign_ins = AuditEntry.objects.filter(subject=name, action=Action.SIGNED_IN)
    seq = sign_ins.order_by("seq").values_list("seq", flat=True).first()
    ways = _by_others(name, since)
    return ways.none() if seq is None else ways.filter(seq__gt=seq)


def _by_others(name: str, since: datetime) -> QuerySet[AuditEntry]:
    ways = AuditEntry.objects.filter(subject=name, action__in=_WAYS, at__gt=since)
    return ways.exclude(actor__in=(name, OPERATOR.name))
