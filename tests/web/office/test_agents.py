from datetime import timedelta

import pytest
from django.utils import timezone

from approval_client.wire import Status
from dashboard.accounts import tokens
from dashboard.accounts.models import Agent, AgentToken
from dashboard.accounts.services import agents
from tests import make

BY_ADA = ("user:ada", "session:password")


@pytest.fixture
def path(agent):
    return f"/agents/{agent.pk}"


def test_the_table_shows_owner_tokens_and_use(admin, alice, read):
    make.secret(make.agent("robot", owner=alice))

    assert "robot alice 1 never active" in read(admin.get("/agents"), "main")


def test_whoever_adds_an_agent_owns_it(admin, ada, recorded):
    reply = admin.post("/agents", {"name": "robot"})

    robot = Agent.objects.get(name="robot")
    assert (robot.owner, reply.url) == (ada, f"/agents/{robot.pk}")
    assert recorded("agent.added") == [(*BY_ADA, "agent:robot")]


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("beamline", "An agent is called 'beamline' already. None was added."),
        ("ro\u200bbot", "Use up to 100 letters, digits and . _ @ + -"),
        ("", "This field is required."),
    ],
)
def test_a_name_that_will_not_do_adds_none(admin, agent, read, name, sentence):
    reply = admin.post("/agents", {"name": name})

    assert reply.status_code == 422
    assert sentence in read(reply, "main")
    assert Agent.objects.count() == 1


def test_a_token_is_shown_as_the_agents_environment(admin, agent, path, read):
    shown = read(admin.post(f"{path}/tokens"), "environment")

    url, _, secret = shown.partition("export DASHBOARD_TOKEN=")
    assert url.strip() == "export DASHBOARD_URL=http://127.0.0.1:8000"
    assert tokens.find(secret).agent == agent


def test_a_token_is_shown_once(admin, path, read):
    secret = read(admin.post(f"{path}/tokens"), "environment").partition("TOKEN=")[2]

    for page in ("/agents", path, "/audit"):
        assert secret not in admin.get(page).content.decode()


def test_issuing_is_recorded_and_remembers_who(admin, ada, path, recorded):
    admin.post(f"{path}/tokens")

    assert recorded("token.issued") == [(*BY_ADA, "agent:beamline")]
    assert AgentToken.objects.get().created_by == ada


def test_a_token_is_valid_as_long_as_chosen(admin, path):
    admin.post(f"{path}/tokens", {"life": "3 days"})

    left = AgentToken.objects.get().expires_at - timezone.now()
    assert timedelta(days=3, minutes=-1) < left <= timedelta(days=3)


@pytest.mark.parametrize("life", ["0s", "3", "-1 day", "3651 days", "1e9", "x", "9" * 500])
def test_a_life_that_will_not_do_issues_nothing(admin, path, life):
    assert admin.post(f"{path}/tokens", {"life": life}).status_code == 422
    assert not AgentToken.objects.exists()


def test_a_retired_agent_gets_no_token(admin, agent, path):
    agents.retire(agent, by=make.BY)

    assert admin.post(f"{path}/tokens").status_code == 422
    assert not AgentToken.objects.exists()


def test_revoking_closes_what_was_asked_with_the_token(admin, path, token, read):
    approval = make.pending(token)
    reply = admin.post(f"{path}/tokens/{token.pk}/revoke", follow=True)

    approval.refresh_from_db()
    assert approval.status == Status.CANCELLED
    assert "is revoked. 1 pending request was closed with it." in read(reply)


def test_the_page_says_what_revoking_will_close(admin, path, token, read):
    make.pending(token)
    make.pending(token)

    assert "Revoke, close 2 pending" in read(admin.get(path), "main")


def test_revoking_is_recorded(admin, path, token, recorded):
    admin.post(f"{path}/tokens/{token.pk}/revoke")

    assert recorded("token.revoked") == [(*BY_ADA, "agent:beamline")]


def test_a_token_is_revoked_on_its_own_agents_page_only(admin, token):
    other = make.agent("other")
    reply = admin.post(f"/agents/{other.pk}/tokens/{token.pk}/revoke")

    assert reply.status_code == 404
    assert AgentToken.objects.get(pk=token.pk).revoked_at is None


def test_retiring_asks_for_the_name(admin, agent, path, read):
    reply = admin.post(f"{path}/retire", {"name": "other"})

    assert reply.status_code == 422
    assert "This is not 'beamline'. Nothing was changed." in read(reply, "main")
    assert Agent.objects.get(pk=agent.pk).is_active


def test_retiring_by_name_closes_what_was_asked(admin, path, token, recorded, read):
    approval = make.pending(token)
    reply = admin.post(f"{path}/retire", {"name": "beamline"}, follow=True)

    approval.refresh_from_db()
    assert approval.status == Status.CANCELLED
    assert recorded("agent.retired") == [(*BY_ADA, "agent:beamline")]
    assert "beamline is deactivated. 1 pending request was closed with it." in read(reply)


def test_restoring(admin, agent, path, recorded):
    agents.retire(agent, by=make.BY)
    admin.post(f"{path}/restore")

    assert Agent.objects.get(pk=agent.pk).is_active
    assert recorded("agent.restored") == [(*BY_ADA, "agent:beamline")]


@pytest.mark.parametrize("path", ["/agents/999", "/agents/99999999999999999999999"])
def test_an_agent_that_does_not_exist_is_not_found(admin, path):
    assert admin.get(path).status_code == 404


@pytest.mark.parametrize("verb", ["tokens", "tokens/1/revoke", "retire", "restore"])
def test_the_address_of_a_form_leads_back_to_its_page(admin, path, verb):
    assert admin.get(f"{path}/{verb}").url == path


def test_thirty_agents_cost_as_many_queries_as_one(admin, token, cost):
    before = cost(admin, "/agents")
    for number in range(30):
        make.secret(make.agent(f"a{number}"))

    assert cost(admin, "/agents") == before


def test_thirty_tokens_cost_as_many_queries_as_one(admin, agent, token, path, cost):
    before = cost(admin, path)
    for _ in range(30):
        make.pending(make.token(agent))

    assert cost(admin, path) == before
