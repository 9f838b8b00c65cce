"""What every page shows: whether approvals are on hold, and what this person may do."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest

from dashboard.accounts import roles
from dashboard.accounts.models import User
from dashboard.approvals import queries
from dashboard.policies.evaluate import Policy
from dashboard.policies.services import current_revision


def hold_state(request: HttpRequest) -> dict[str, Any]:
    """Give templates the hold, whether the policy asks nobody, and what this person may do."""
    person = getattr(request, "user", None)
    if not isinstance(person, User):
        return {}
    policy = Policy.from_json(current_revision().document)
    return {
        "hold": queries.active_hold(),
        "asks_nobody": policy.asks_nobody,
        "may_look": roles.may_look(person),
        "may_decide": roles.may_decide(person),
        "may_administer": roles.may_administer(person),
        "may_audit": roles.may_audit(person),
    }
