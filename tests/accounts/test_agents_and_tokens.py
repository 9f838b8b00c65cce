import json
from datetime import timedelta

import pytest
from django.core.exceptions import ValidationError
from django.utils import timezone

from dashboard.accounts import tokens
from dashboard.accounts.errors import NameTaken, Retired
from dashboard.accounts.models import AgentToken
from dashboard.accounts.services import agents
from dashboard.audit.models import AuditEntry
from tests import make


def newest():
    entry = AuditEntry.objects.latest("seq")
    return entry.action, entry.actor, entry.subject


def count(action):
    return AuditEntry.objects.filter(action=action).count()


def test_adding_an_agent_is_recorded_with_its_owner(alice):
    make.agent("beamline", owner=alice)

    assert newest() == ("agent.added", "operator", "agent:beamline")
    assert AuditEntry.objects.latest("seq").details == '{"owner":"alice"}'


def test_an_agents_name_is_taken_in_upper_and_lower_case(agent):
    with pytest.raises(NameTaken, match=r"already\. None was added\.$"):
        make.agent("BeamLine")


@pytest.mark.parametrize("name", ["", "a b", "a\u200bb", "a\u202eb", "<b>", "a\0", "x" * 101])
def test_an_agents_name_holds_nothing_that_could_hide(db, name):
    with pytest.raises(ValidationError):
        make.agent(name)


def test_a_token_is_found_by_its_secret(agent):
    token, secret = tokens.issue(agent, by=make.BY)

    assert tokens.find(secret) == token


@pytest.mark.parametrize("secret", ["", "dash_", "dash_wrong", "wrong"])
def test_a_wrong_secret_finds_nothing(token, secret):
    assert tokens.find(secret) is None


def test_the_secret_is_stored_nowhere(agent):
    secret = make.secret(agent)

    stored = [*AgentToken.objects.values(), *AuditEntry.objects.values()]
    assert secret not in repr(stored)


def test_issuing_is_recorded_with_the_beginning_of_the_token(agent):
    token, _ = tokens.issue(agent, by=make.BY)

    assert newest() == ("token.issued", "operator", "agent:beamline")
    details = json.loads(AuditEntry.objects.latest("seq").details)
    assert (details["expires_at"], details["token"]) == (None, token.prefix)


def test_a_token_expires(agent):
    _, secret = tokens.issue(agent, by=make.BY, life=timedelta(days=1))
    AgentToken.objects.update(expires_at=timezone.now())

    assert tokens.find(secret) is None


def test_no_life_at_all_is_not_a_life_without_end(agent):
    _, secret = tokens.issue(agent, by=make.BY, life=timedelta(0))

    assert tokens.find(secret) is None


def test_a_retired_agent_gets_no_token(agent):
    agents.retire(agent, by=make.BY)

    with pytest.raises(Retired, match=r"is deactivated\. No token was issued\."):
        tokens.issue(agent, by=make.BY)


def test_a_retired_agents_tokens_stop_working(agent):
    secret = make.secret(agent)
    agents.retire(agent, by=make.BY)

    assert tokens.find(secret) is None


def test_a_restored_agents_tokens_work_again(agent):
    token, secret = tokens.issue(agent, by=make.BY)
    agents.retire(agent, by=make.BY)
    agents.restore(agent, by=make.BY)

    assert tokens.find(secret) == token


def test_a_revoked_token_stops_working(agent):
    token, secret = tokens.issue(agent, by=make.BY)
    tokens.revoke(token, by=make.BY)

    assert tokens.find(secret) is None


def test_doing_it_twice_is_recorded_once(agent, token):
    for _ in range(2):
        tokens.revoke(token, by=make.BY)
        agents.retire(agent, by=make.BY)
    for _ in range(2):
        agents.restore(agent, by=make.BY)

    assert [count(a) for a in ("token.revoked", "agent.retired", "agent.restored")] == [1, 1, 1]


def test_use_is_remembered(token):
    at = timezone.now()
    tokens.note_use({token.pk: at})

    assert AgentToken.objects.get(pk=token.pk).last_used_at == at
