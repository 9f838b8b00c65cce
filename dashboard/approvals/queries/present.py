"""Reads of what every page says of the whole dashboard."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from django.db.models import QuerySet, Subquery, Value
from django.db.models.functions import Coalesce

from dashboard.audit.models import AuditHead
from dashboard.audit.queries import last_ended
from dashboard.clock import Now, is_behind, now_in
from dashboard.policies.models import PolicyRevision
from dashboard.policies.services import current_revision, published_revision
from dashboard.statements import rows


class Present(NamedTuple):
    """What every page says of the whole dashboard.

    Attributes:
        document: The policy in force.
        log_problem: What the last verification of the log found wrong; empty if nothing.
        clock_behind: Until when the clock is behind the log, if it was set back.
    """

    document: str
    log_problem: str
    clock_behind: datetime | None


@rows()
def _present() -> QuerySet[PolicyRevision]:
    # One statement, as the policy alone needs: this is read for each page.
    newest = PolicyRevision.objects.only("number", "published_at").order_by("-number")
    problem = Subquery(last_ended().values("problem"))
    latest_at = Subquery(AuditHead.objects.filter(pk=1).values("latest_at"))
    problem_in_words = Coalesce(problem, Value(""))
    return newest.annotate(log_problem=problem_in_words, latest_at=latest_at, now=Now())[:1]


def read_present() -> Present:
    """Read what every page says of the whole dashboard."""
    newest = _present.first()
    if newest is None:
        current_revision()  # makes the first
        [newest] = _present()
    revision = published_revision(newest.number, newest.published_at)
    columns = vars(newest)
    latest_at = columns["latest_at"]
    clock_behind = latest_at if is_behind(now_in(newest), latest_at) else None
    return Present(revision.document, columns["log_problem"], clock_behind)


def log_problem() -> str:
    """Return what the last verification of the log found wrong; empty if nothing."""
    return last_ended().values_list("problem", flat=True).first() or ""
