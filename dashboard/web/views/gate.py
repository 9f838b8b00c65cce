"""The state of the gate, for open pages that heard of a change."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe


@require_safe
def gate(request: HttpRequest) -> HttpResponse:
    """Show the banner, or the empty place where it would be."""
    return render(request, "desk/_gate.html")
