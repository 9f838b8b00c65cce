"""How much needs the reader, for a page that may tell them of it. No word of what it is."""

from __future__ import annotations

from django.db.models import Max, Min
from django.http import HttpResponse, JsonResponse
from django.views.decorators.http import require_safe

from dashboard.approvals.clock import database_now
from dashboard.approvals.models import ApprovalRequest
from dashboard.approvals.rules.queue import personal_queue as for_me
from dashboard.web.actors import PersonRequest
from dashboard.web.views.reading import for_readers


@require_safe
@for_readers
def mine(request: PersonRequest) -> HttpResponse:
    """Say how many requests need the reader, when the newest came and the first one ends."""
    due = for_me(request.user, database_now()).due
    ends = ApprovalRequest.objects.filter(pk__in=due).aggregate(
        newest=Max("submitted_at"), soonest=Min("expires_at")
    )
    return JsonResponse({"mine": len(due), **ends})
