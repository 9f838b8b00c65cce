"""The queue: what waits, and what was decided lately."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from dashboard.approvals.clock import database_now
from dashboard.web.access import for_readers
from dashboard.web.http import PersonRequest
from dashboard.web.presenting import filters
from dashboard.web.presenting import listing as presenting
from dashboard.web.presenting.listing import Listing


@require_safe
@for_readers
def queue(request: PersonRequest) -> HttpResponse:
    """Show the list, and beside it what to do next."""
    return render(request, "desk/queue.html", {"listing": listing(request)})


@require_safe
@for_readers
def queue_list(request: PersonRequest) -> HttpResponse:
    """Show the list alone, for open pages that heard of a change."""
    return render(request, "desk/_news.html", {"listing": listing(request)})


def listing(request: PersonRequest) -> Listing:
    """Return the list that the address of ``request`` asks for."""
    return presenting.listing(filters.read(request.GET), request.user, database_now())
