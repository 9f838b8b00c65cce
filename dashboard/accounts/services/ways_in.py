"""Who gave somebody a way in, and so whether two people are two.

An admin can come in as somebody else: by a sign-in link, by linking them to a single sign-on of
their own, or by the first of these once their second factor is gone. Where two people are needed,
such an account is nobody's for a month.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db.models import Min, QuerySet

from dashboard.accounts.errors import NotPermitted
from dashboard.accounts.models import User
from dashboard.audit.actions import Action
from dashboard.audit.models import AuditEntry
from dashboard.audit.names import user_name
from dashboard.audit.services import Actor
from dashboard.clock import database_now

LATELY = timedelta(days=30)

_WAYS = (
    Action.SIGN_IN_LINK_MADE,
    Action.PERSON_LINKED,
    Action.FACTOR_REMOVED,
    Action.PASSKEY_REMOVED,
)
_OPERATOR = "operator"


def came_by_link(by: Actor) -> bool:
    """Whether a session began with a sign-in link."""
    return by.auth.removeprefix("session:").partition("+")[0] == "link"


def was_let_in_anew(person: User) -> bool:
    """Whether somebody else gave a way in, lately, to a person who had one before.

    Whoever is invited is let in by others too, and is nobody else yet. The operator has a way in
    to everything.
    """
    name = user_name(person.username)
    return _anew(name, database_now()).exists()


def givers(person: User, before: datetime) -> set[str]:
    """Return who gave a person a way in, in the month before a moment, as the log names them.

    Also who gave those a way in anew: whoever comes in as another admin acts as that admin.
    """
    return _givers(_by_others(user_name(person.username), before))


def givers_anew(person: User, before: datetime) -> set[str]:
    """Return the same, of what was done after the person had been here: not who invited them."""
    return _givers(_anew(user_name(person.username), before))


def check_own(person: User, by: Actor, *, not_done: str) -> None:
    """Refuse whoever may be somebody else who came in as this person.

    Args:
        person: Who acts.
        by: They, and how they signed in.
        not_done: What is not done then, such as ``"Nothing was published"``.

    Raises:
        NotPermitted: Somebody else gave them a way in lately, or made the link of this session.
    """
    name, now = user_name(person.username), database_now()
    giver = _anew(name, now).values_list("actor", flat=True).last()
    if giver:
        raise NotPermitted(
            f"In the last 30 days {_who(giver)} gave you a way in: a sign-in link, single sign-on "
            f"or the removal of a second factor. {not_done}, for two people are needed. Ask "
            "another admin, to whom nobody gave one."
        )
    if came_by_link(by) and _by_others(name, now).exists():
        raise NotPermitted(
            f"You came in by a sign-in link that somebody else made. {not_done}, for two people "
            "are needed. Choose a password in your account and sign in with it, or ask another "
            "admin."
        )


def _givers(entries: QuerySet[AuditEntry]) -> set[str]:
    names, ways = set[str](), [entries]
    for ways_in in ways:  # grows meanwhile
        for giver, at in ways_in.values_list("actor").annotate(Min("at")).order_by():
            if giver not in names:
                names.add(giver)
                ways.append(_anew(giver, at))
    return names


def _who(giver: str) -> str:
    return giver.removeprefix("user:")


def _anew(name: str, before: datetime) -> QuerySet[AuditEntry]:
    """What others did, in the month before, to let somebody in who had been here already."""
    sign_ins = AuditEntry.objects.filter(subject=name, action=Action.SIGNED_IN)
    seq = sign_ins.order_by("seq").values_list("seq", flat=True).first()
    ways = _by_others(name, before)
    return ways.none() if seq is None else ways.filter(seq__gt=seq)


def _by_others(name: str, before: datetime) -> QuerySet[AuditEntry]:
    ways = AuditEntry.objects.filter(subject=name, action__in=_WAYS, at__gt=before - LATELY)
    return ways.exclude(actor__in=(name, _OPERATOR))
