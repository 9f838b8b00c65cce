"""The revision that holds, and how another one is written."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from django.db import connection, transaction
from django.db.models import QuerySet
from django.utils import timezone

from approval_client.wire import parse_json
from dashboard.accounts.models import User
from dashboard.audit.actions import Action
from dashboard.audit.services import Actor, AuditEvent, record
from dashboard.policies.evaluate import EVERYTHING_TO_A_PERSON, Policy
from dashboard.policies.models import PolicyRevision
from dashboard.policies.signals import policy_published
from dashboard.statements import rows

_JUDGING = 3_735_928_560
"""Names the lock of judging among PostgreSQL's advisory locks of this database."""


@dataclass(frozen=True, kw_only=True)
class Publication:
    """What makes a revision, beyond its policy."""

    note: str
    author: User
    loosened: Sequence[str] = ()
    confirmed_by: User | None = None


def current_revision() -> PolicyRevision:
    """Return the revision that holds; the first is made on demand and asks a person about all.

    A row of a migration would be gone after a flush, and a gate without a policy must not exist.
    """
    newest = _newest.first() or _first()
    return copy(published_revision(newest.number, newest.published_at))


def _first() -> PolicyRevision:
    revision, _ = PolicyRevision.objects.get_or_create(
        number=1,
        defaults={
            "document": EVERYTHING_TO_A_PERSON.to_json(),
            "note": "Everything goes to a person.",
            "published_at": timezone.now(),
        },
    )
    return revision


@rows()
def _newest() -> QuerySet[PolicyRevision]:
    return PolicyRevision.objects.only("number", "published_at").order_by("-number")[:1]


@lru_cache(maxsize=8)
def published_revision(number: int, published_at: datetime) -> PolicyRevision:
    """Return a revision that exists, read once: guards in the database keep it as it is.

    Its moment is asked for too, because a number comes again in a database that was made anew.
    Threads share the row, so nothing may be set on it.
    """
    return PolicyRevision.objects.get(number=number, published_at=published_at)


def locked_present() -> PolicyRevision:
    """Return the revision that holds, and let nobody else publish until the transaction ends.

    Of two who publish at once the second waits here, then reads what the first published.
    """
    current_revision()
    # Not its key: who judges by revision 1 refers to it, and is waited for in add_revision.
    PolicyRevision.objects.select_for_update(no_key=True).get(pk=1)
    return current_revision()


def lock_for_judging() -> None:
    """Keep the policy and the hold as they are until the transaction ends; many may at once.

    Call it before reading either, after locking agent and request, and before locking a grant or
    the head of the log. Then what is recorded before a publication or a hold was judged before
    it, and what is recorded after it was judged after it.
    """
    _lock("pg_advisory_xact_lock_shared")


def lock_for_change() -> None:
    """Wait until nobody judges, and let nobody judge until the transaction ends.

    Call it before the policy or the hold is changed, and lock nothing after it but the head of
    the log.
    """
    _lock("pg_advisory_xact_lock")


def _lock(function: str) -> None:
    # An advisory lock: with a shared lock of a row, new readers keep overtaking the writer that
    # waits, and under load a hold waited for seconds. SQLite has one writer at a time anyway.
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT {function}(%s)", [_JUDGING])


def add_revision(
    present: PolicyRevision, policy: Policy, publication: Publication, *, by: Actor
) -> PolicyRevision:
    """Write ``policy`` as the revision after ``present``, record it, and tell after the commit."""
    lock_for_change()
    revision = PolicyRevision.objects.create(
        number=present.number + 1,
        document=policy.to_json(),
        note=publication.note,
        author=publication.author,
        confirmed_by=publication.confirmed_by,
        loosened=json.dumps(list(publication.loosened)),
        published_at=timezone.now(),
    )
    second = publication.confirmed_by
    details = {
        "policy": parse_json(revision.document),
        "note": revision.note,
        "author": publication.author.username,
        "loosened": list(publication.loosened),
        "confirmed_by": second.username if second else None,
    }
    record(by, AuditEvent(Action.POLICY_PUBLISHED, f"policy:{revision.number}", details=details))
    transaction.on_commit(_teller(revision.number), robust=True)
    return revision


def _teller(number: int) -> Callable[[], None]:
    def tell() -> None:
        policy_published.send_robust(PolicyRevision, number=number)

    return tell
