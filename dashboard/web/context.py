"""What every page shows: a hold, a log that does not hold, and what this person may do."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any

from django.conf import settings
from django.http import HttpRequest

from dashboard.accounts import roles
from dashboard.accounts.models import User
from dashboard.approvals.queries.hold import active_hold, database_doubt
from dashboard.approvals.queries.present import read_present
from dashboard.notifications.queries import failing_channels, nobody_is_told
from dashboard.policies.evaluate import Policy


@lru_cache(8)
def _asks_nobody(document: str) -> bool:
    return Policy.from_json(document).asks_nobody


def hold_state(request: HttpRequest) -> dict[str, Any]:
    """Give templates what is wrong with the whole dashboard, and what this person may do."""
    person = getattr(request, "user", None)
    if not isinstance(person, User):
        return {}
    present = cache(read_present)
    return {
        # Called by the pages that show them; a part of a page often does not.
        "hold": cache(active_hold),
        "asks_nobody": lambda: _asks_nobody(present().document),
        "log_problem": lambda: present().log_problem,
        "clock_behind": lambda: present().clock_behind,
        "database_doubt": database_doubt,
        "operator_command": settings.OPERATOR_COMMAND,
        "failing_channels": failing_channels,
        "nobody_is_told": nobody_is_told,
        "may_look": roles.may_look(person),
        "may_decide": roles.may_decide(person),
        "may_administer": roles.may_administer(person),
        "may_audit": roles.may_audit(person),
    }
