"""An agent reads who its token says that it is, and whether anybody can answer it."""

from datetime import UTC, datetime, timedelta

import pytest

from dashboard.accounts.models import AgentToken
from dashboard.approvals.models import ApprovalRequest
from dashboard.approvals.services import place_hold
from tests import make


def looked(api):
    response = api.get("/agent")
    assert response.status_code == 200
    return response.json()


def test_it_says_who_asks_and_stores_nothing(api, alice):
    told = looked(api)

    assert abs(datetime.now(UTC) - datetime.fromisoformat(told.pop("now"))) < timedelta(minutes=1)
    assert told == {
        "agent": "beamline",
        "token_expires_at": None,
        "policy_revision": 1,
        "on_hold": False,
        "has_approvers": True,
    }
    assert ApprovalRequest.objects.count() == 0


def test_the_end_of_the_token_is_told(api):
    ends_at = datetime.now(UTC).replace(microsecond=0) + timedelta(days=1)
    AgentToken.objects.update(expires_at=ends_at)

    assert datetime.fromisoformat(looked(api)["token_expires_at"]) == ends_at


def test_a_hold_is_told(api):
    place_hold(by=make.person("root", admin=True), auth="password", reason="A leak.")

    assert looked(api)["on_hold"] is True


def test_without_reviewers_nobody_may_approve(api):
    make.person("root", admin=True)

    assert looked(api)["has_approvers"] is False


@pytest.mark.parametrize("may", [True, False])
def test_the_owner_counts_where_the_policy_takes_the_owner(api, agent, alice, may):
    make.in_force(owner_may_approve=may)
    make.own(agent, alice)

    assert looked(api)["has_approvers"] is may


def test_a_reviewer_who_was_deactivated_does_not_count(api, alice):
    alice.is_active = False
    alice.save()

    assert looked(api)["has_approvers"] is False


@pytest.mark.parametrize(("path", "status"), [("/agent?x=1", 422), ("/agent/", 404)])
def test_what_is_misspelt_is_refused(api, path, status):
    assert api.get(path).status_code == status


def test_a_revoked_token_is_told_nothing(api):
    AgentToken.objects.update(revoked_at=datetime.now(UTC))

    response = api.get("/agent")

    assert (response.status_code, "beamline" in response.text) == (401, False)
