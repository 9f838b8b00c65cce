"""``issue_token NAME`` prints a token alone."""

from datetime import timedelta

import pytest
from django.core.management import CommandError
from django.db import OperationalError
from django.utils import timezone

from dashboard.accounts.models import Agent, AgentToken
from dashboard.accounts.services.agents import retire
from dashboard.accounts.tokens import find
from dashboard.management.commands import issue_token
from tests import make


@pytest.fixture
def refusal(command):
    """Return why no token was issued."""

    def refusal(*arguments, **options):
        with pytest.raises(CommandError) as refused:
            command("issue_token", *arguments, **options)
        assert not AgentToken.objects.exists()
        return str(refused.value)

    return refusal


def test_the_token_stands_alone_on_stdout_and_works(command):
    said = command("issue_token", "beamline")

    token = find(said.removesuffix("\n"))
    assert (token.agent.name, token.agent.owner, token.expires_at) == ("beamline", None, None)


def test_an_agent_that_is_there_gets_another_token(command, alice):
    agent = make.agent("beamline", owner=alice)

    first, second = (find(command("issue_token", "beamline").strip()) for _ in range(2))

    assert first != second
    assert first.agent == second.agent == agent


def test_a_token_can_be_for_some_days(command):
    token = find(command("issue_token", "beamline", days=2).strip())

    left = token.expires_at - timezone.now()
    assert timedelta(hours=47) < left <= timedelta(hours=48)


@pytest.mark.parametrize("days", [0, -1, 10**9])
def test_a_number_of_days_that_makes_no_sense_is_refused(refusal, days):
    assert refusal("beamline", days=days) == (
        "Give --days a number from 1 to 36,500. No token was issued."
    )
    assert not Agent.objects.exists()


def test_a_retired_agent_gets_none(refusal, agent):
    retire(agent, by=make.BY)

    assert refusal("beamline") == "The agent 'beamline' is deactivated. No token was issued."


def test_a_name_that_differs_by_case_only_is_refused(refusal, agent):
    assert refusal("Beamline") == "An agent is called 'Beamline' already. None was added."


def test_a_name_that_no_page_could_show_is_refused(refusal):
    assert refusal("a b") == (
        "Use up to 100 letters, digits and . _ @ + - and begin with a letter or digit."
    )


def test_where_the_database_fails_after_the_agent_was_made_it_says_so(refusal, monkeypatch):
    def fail(*_, **__):
        raise OperationalError("disk I/O error")

    monkeypatch.setattr(issue_token.tokens, "issue", fail)

    said = refusal("beamline")

    assert said.startswith("The agent beamline is there, and no token was issued. The database ")
    assert Agent.objects.filter(name="beamline").exists()
