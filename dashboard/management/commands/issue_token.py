"""``approval-dashboard issue_token NAME``: a token for an agent, alone on stdout."""

from __future__ import annotations

from argparse import ArgumentParser
from datetime import timedelta
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError

from dashboard.accounts import tokens
from dashboard.accounts.errors import AccountError
from dashboard.accounts.models import Agent
from dashboard.accounts.services.agents import create_agent
from dashboard.audit.services import OPERATOR
from dashboard.management.operator import OperatorCommand

MOST_DAYS = 36_500


class Command(OperatorCommand):
    """Issue a token for an agent, which is made if there is none of that name."""

    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take the agent's name."""
        parser.add_argument("name", help="the agent's name")
        parser.add_argument("--days", type=int, help="how long the token works; for ever if unset")

    def handle(self, *_: Any, name: str, days: int | None, **__: Any) -> None:
        """Print the token; it cannot be shown again."""
        if days is not None and not 1 <= days <= MOST_DAYS:
            raise CommandError(
                f"Give --days a number from 1 to {MOST_DAYS:,}. No token was issued."
            )
        try:
            agent = Agent.objects.filter(name=name).first()
            agent = agent or create_agent(name=name, by=OPERATOR)
            self.so_far = f"The agent {name} is there, and no token was issued."
            life = timedelta(days=days) if days else None
            secret = tokens.issue(agent, by=OPERATOR, life=life)[1]
        except (AccountError, ValidationError) as error:
            text = " ".join(error.messages) if isinstance(error, ValidationError) else str(error)
            raise CommandError(text) from None
        self.stdout.write(secret)
