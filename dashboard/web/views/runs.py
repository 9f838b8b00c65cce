"""The story of one run."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from dashboard.accounts.models import Agent
from dashboard.approvals.clock import database_now
from dashboard.web import errors
from dashboard.web.access import for_readers
from dashboard.web.http import PersonRequest
from dashboard.web.presenting.run import tell


@require_safe
@for_readers
def run(request: PersonRequest, agent_name: str) -> HttpResponse:
    """Tell the run that ``?run=`` names, by whatever characters; without it, what had no run."""
    run_id = request.GET.get("run", "")
    if "\x00" in agent_name + run_id:  # no database takes that, so no run has it
        return errors.not_found(request)
    agent = Agent.objects.filter(name=agent_name).first()
    if agent is None:
        return errors.not_found(request)
    story = tell(agent, run_id, request.user, database_now())
    return render(request, "desk/run.html", {"run": story})
