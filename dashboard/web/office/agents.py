"""Admins manage agents and their tokens."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django import forms
from django.conf import settings
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db.models import Count
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from dashboard.accounts import queries, tokens
from dashboard.accounts.errors import NameTaken, Retired
from dashboard.accounts.models import Agent, AgentToken
from dashboard.accounts.services import agents as services
from dashboard.approvals.models import ApprovalRequest
from dashboard.approvals.services import retire_agent, revoke_token
from dashboard.notifications.queries import agents_not_called_back, webhook_of
from dashboard.web.access import action, actor, admins_only
from dashboard.web.forms import ConfirmNameForm, LengthOfTime, messages_of, plain, status_of
from dashboard.web.http import PersonRequest

_SHORTEST_LIFE_S, _LONGEST_LIFE_S = 60, 3650 * 86_400


class AgentForm(forms.Form):
    """A new agent."""

    name = forms.CharField(
        max_length=100,
        help_text="Letters, digits and . _ @ + -",
        widget=plain(),
    )


class TokenForm(forms.Form):
    """How long a new token works."""

    life = LengthOfTime(
        label="Valid for",
        required=False,
        shortest_s=_SHORTEST_LIFE_S,
        longest_s=_LONGEST_LIFE_S,
        help_text="Empty: valid until it is revoked.",
        widget=plain(placeholder="8h, 30 days"),
    )

    def chosen_life(self) -> timedelta | None:
        """Return the chosen life, or None for one without end."""
        seconds = self.cleaned_data["life"]
        return None if seconds is None else timedelta(seconds=seconds)


@dataclass(frozen=True)
class AgentRow:
    """One agent of the table."""

    agent: Agent
    working_tokens: int
    last_used_at: datetime | None
    webhook_is_off: bool


@dataclass(frozen=True)
class TokenRow:
    """One token of an agent's page. ``state`` is "valid", "expired" or "revoked"."""

    token: AgentToken
    state: str
    pending: int


@admins_only
@require_http_methods(["GET", "HEAD", "POST"])
def agents(request: PersonRequest) -> HttpResponse:
    """List the agents, and add one, which whoever adds it owns."""
    form = AgentForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        try:
            new_agent = services.create_agent(
                name=form.cleaned_data["name"], by=actor(request), owner=request.user
            )
        except (NameTaken, ValidationError) as error:
            form.add_error("name", messages_of(error))
        else:
            messages.success(request, f"{new_agent} is added. Now issue a token for it.")
            return redirect("web:agent", new_agent.pk)
    off = agents_not_called_back()
    rows = [_agent_row(agent, webhook_is_off=agent.pk in off) for agent in queries.agents()]
    context = {"rows": rows, "form": form}
    return render(request, "office/agents.html", context, status=status_of(form))


@admins_only
@require_http_methods(["GET", "HEAD"])
def agent(request: PersonRequest, agent_id: int) -> HttpResponse:
    """Show one agent with its tokens."""
    return _agent_page(request, get_object_or_404(queries.agents(), pk=agent_id))


@admins_only
@action("web:agent")
def issue_token(request: PersonRequest, agent_id: int) -> HttpResponse:
    """Issue a token and show it, once."""
    which = get_object_or_404(queries.agents(), pk=agent_id)
    form = TokenForm(request.POST)
    if not form.is_valid():
        return _agent_page(request, which, token_form=form)
    try:
        token, secret = tokens.issue(
            which, by=actor(request), creator=request.user, life=form.chosen_life()
        )
    except Retired as error:
        form.add_error("life", str(error))
        return _agent_page(request, which, token_form=form)
    context = {"agent": which, "token": token, "secret": secret, "url": settings.PUBLIC_URL}
    return render(request, "office/new_token.html", context)


@admins_only
@action("web:agent")
def revoke(request: PersonRequest, agent_id: int, token_id: int) -> HttpResponse:
    """End a token, and close what was asked with it."""
    which = get_object_or_404(Agent, pk=agent_id)
    token = get_object_or_404(AgentToken.objects.select_related("agent"), pk=token_id, agent=which)
    closed = revoke_token(token, by=actor(request))
    messages.success(request, f"The token {token.prefix}… is revoked. {_closed(closed)}")
    return redirect("web:agent", agent_id)


@admins_only
@action("web:agent")
def retire(request: PersonRequest, agent_id: int) -> HttpResponse:
    """Retire an agent, once its name was typed."""
    which = get_object_or_404(queries.agents(), pk=agent_id)
    form = ConfirmNameForm(which.name, request.POST)
    if not form.is_valid():
        return _agent_page(request, which, confirm_form=form)
    closed = retire_agent(which, by=actor(request))
    messages.success(request, f"{which} is deactivated. {_closed(closed)}")
    return redirect("web:agents")


@admins_only
@action("web:agent")
def restore(request: PersonRequest, agent_id: int) -> HttpResponse:
    """Restore a deactivated agent."""
    which = get_object_or_404(Agent, pk=agent_id)
    services.restore(which, by=actor(request))
    messages.success(request, f"{which} is active again, with the tokens that are still valid.")
    return redirect("web:agent", agent_id)


def _closed(count: int) -> str:
    if not count:
        return "Nothing was pending."
    return f"{count} pending request{' was' if count == 1 else 's were'} closed with it."


def _agent_row(agent: Agent, *, webhook_is_off: bool) -> AgentRow:
    now = timezone.now()
    own_tokens = list(agent.tokens.all())
    used = [token.last_used_at for token in own_tokens if token.last_used_at]
    working = sum(_state(token, now) == "valid" for token in own_tokens) if agent.is_active else 0
    return AgentRow(agent, working, max(used, default=None), webhook_is_off)


def _state(token: AgentToken, now: datetime) -> str:
    if token.revoked_at:
        return "revoked"
    return "expired" if token.expires_at and token.expires_at <= now else "valid"


def _agent_page(
    request: PersonRequest,
    agent: Agent,
    *,
    token_form: TokenForm | None = None,
    confirm_form: ConfirmNameForm | None = None,
) -> HttpResponse:
    now, pending = timezone.now(), _pending_by_token(agent)
    rows = [TokenRow(t, _state(t, now), pending.get(t.pk, 0)) for t in agent.tokens.all()]
    token_form = token_form or TokenForm()
    confirm_form = confirm_form or ConfirmNameForm(agent.name)
    context = {
        "agent": agent,
        "webhook": webhook_of(agent.pk),
        "rows": rows,
        "pending": sum(pending.values()),
        "token_form": token_form,
        "confirm_form": confirm_form,
    }
    status = status_of(token_form, confirm_form)
    return render(request, "office/agent.html", context, status=status)


def _pending_by_token(agent: Agent) -> dict[int, int]:
    counts = ApprovalRequest.objects.pending().filter(agent=agent).values("token_id")
    return dict(counts.annotate(pending=Count("pk")).values_list("token_id", "pending"))
