"""Reads of what every page says of the whole dashboard."""

from __future__ import annotations

from typing import NamedTuple

from django.db.models import QuerySet, Subquery, Value
from django.db.models.functions import Coalesce

from dashboard.audit.queries import last_ended
from dashboard.policies.models import PolicyRevision
from dashboard.policies.services import current_revision, published_revision
from dashboard.statements import rows


class Present(NamedTuple):
    """What every page says of the whole dashboard.

    Attributes:
        document: The policy in force.
        log_problem: What the last verification of the log found wrong; empty if nothing.
    """

    document: str
    log_problem: str


@rows()
def _present() -> QuerySet[PolicyRevision]:
    # One statement, as the policy alone needs: this is read for each page.
    newest = PolicyRevision.objects.only("number", "published_at").order_by("-number")
    problem = Subquery(last_ended().values("problem"))
    return newest.annotate(log_problem=Coalesce(problem, Value("")))[:1]


def read_present() -> Present:
    """Read what every page says of the whole dashboard."""
    newest = _present.first()
    if newest is None:
        return Present(current_revision().document, log_problem())
    revision = published_revision(newest.number, newest.published_at)
    return Present(revision.document, vars(newest)["log_problem"])


def log_problem() -> str:
    """Return what the last verification of the log found wrong; empty if nothing."""
    return last_ended().values_list("problem", flat=True).first() or ""
