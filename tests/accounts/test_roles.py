import pytest

from dashboard.accounts import roles
from dashboard.accounts.models import Agent, AgentToken, User

RIGHTS = (roles.may_look, roles.may_decide, roles.may_administer, roles.may_audit)


def rights(**flags):
    person = User(username="p", **flags)
    return tuple(right(person) for right in RIGHTS)


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ({}, (False, False, False, False)),
        ({"is_reviewer": True}, (True, True, False, False)),
        ({"is_admin": True}, (True, False, True, True)),
        ({"is_auditor": True}, (True, False, False, True)),
    ],
)
def test_each_role_gives_its_rights_and_no_other(flags, expected):
    assert rights(**flags) == expected


def test_a_closed_account_has_no_right():
    everything = {"is_reviewer": True, "is_admin": True, "is_auditor": True}

    assert rights(**everything, is_active=False) == (False, False, False, False)


@pytest.mark.parametrize(("owner_may", "expected"), [(False, False), (True, True)])
def test_an_owner_approves_only_if_the_policy_says_so(owner_may, expected):
    owner = User(pk=1, username="o", is_reviewer=True)

    token = AgentToken(agent=Agent(owner=owner))

    assert roles.may_approve_for(owner, token, owner_may_approve=owner_may) is expected


@pytest.mark.parametrize(("owner_may", "expected"), [(False, False), (True, True)])
def test_who_made_a_token_approves_only_if_the_policy_says_so(owner_may, expected):
    maker = User(pk=1, username="m", is_reviewer=True)
    token = AgentToken(agent=Agent(), created_by=maker)

    assert roles.may_approve_for(maker, token, owner_may_approve=owner_may) is expected


def test_an_owner_who_is_no_reviewer_never_approves():
    owner = User(pk=1, username="o", is_admin=True)

    token = AgentToken(agent=Agent(owner=owner))

    assert not roles.may_approve_for(owner, token, owner_may_approve=True)


def test_an_agent_without_owner_is_approved_for_by_any_reviewer():
    token = AgentToken(agent=Agent())

    assert roles.may_approve_for(User(pk=1, is_reviewer=True), token, owner_may_approve=False)
