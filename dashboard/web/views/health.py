"""For machines that watch this machine."""

from __future__ import annotations

from django.contrib.auth.decorators import login_not_required
from django.db import DatabaseError
from django.http import HttpRequest, JsonResponse

from dashboard.approvals import queries
from dashboard.approvals.readiness import obstacles


@login_not_required
def alive(request: HttpRequest) -> JsonResponse:
    """Say that the process runs; nothing about what it may do."""
    del request
    return JsonResponse({"status": "ok"})


@login_not_required
def ready(request: HttpRequest) -> JsonResponse:
    """Say whether this server may approve, and if not why.

    A hold is a decision of the admins and no fault of the server: it is told, with status 200,
    so that a load balancer keeps the page reachable from which it is lifted.
    """
    del request
    why = obstacles()
    held = not why and _is_held()
    reasons = [*why, *(["An admin has put everything on hold."] if held else [])]
    body = {"ready": not why, "may_approve": not reasons, "why": reasons}
    return JsonResponse(body, status=503 if why else 200)


def _is_held() -> bool:
    try:
        return queries.active_hold() is not None
    except DatabaseError:
        return True
