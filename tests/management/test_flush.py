"""``flush`` empties a test's database and no other."""

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from dashboard.accounts.models import Agent
from dashboard.approvals import guards
from dashboard.management.commands import flush


def test_a_real_database_is_never_emptied(agent, monkeypatch):
    monkeypatch.setitem(connection.settings_dict, "NAME", "approvals")

    with pytest.raises(CommandError, match=r"so nothing was done\. Only a test database can be"):
        call_command("flush", interactive=False)

    assert Agent.objects.count() == 1


def test_outside_of_tests_nothing_is_emptied(agent, monkeypatch):
    monkeypatch.setattr(flush, "_TestState", object())

    with pytest.raises(CommandError, match="so nothing was done"):
        call_command("flush", interactive=False)


@pytest.mark.django_db(transaction=True)
def test_a_tests_database_is_emptied_and_guarded_again(agent):
    call_command("flush", interactive=False, verbosity=0)

    assert Agent.objects.count() == 0
    assert guards.missing() == []
