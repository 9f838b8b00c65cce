"""Passwords that the operator sets are as good as those that people set, and are recorded."""

import pytest
from django.core.management import CommandError

from dashboard.accounts.errors import LinkNotValid
from dashboard.accounts.models import User
from dashboard.accounts.services.signing_in import make_link, peek_link
from dashboard.audit.models import AuditEntry
from dashboard.management.commands import changepassword
from tests import make

GOOD = "correct horse battery"


@pytest.fixture
def typed(monkeypatch):
    """Have these passwords typed."""

    def typed(*passwords):
        rest = iter(passwords)
        monkeypatch.setattr(changepassword, "getpass", lambda _: next(rest))

    return typed


@pytest.fixture
def added(monkeypatch, command):
    """Add somebody with a password, without being asked for anything."""

    def added(name, password):
        monkeypatch.setenv("DJANGO_SUPERUSER_PASSWORD", password)
        command("createsuperuser", "--noinput", "--username", name)

    return added


def newest():
    entry = AuditEntry.objects.latest("seq")
    return entry.action, entry.actor, entry.auth, entry.subject


def test_another_password_is_recorded_and_ends_links(command, alice, typed):
    link = make_link(alice, by=make.BY)
    typed(GOOD, GOOD)
    command("changepassword", "alice")

    assert newest() == ("person.password_changed", "operator", "command", "user:alice")
    assert User.objects.get(username="alice").check_password(GOOD)
    with pytest.raises(LinkNotValid):
        peek_link(link, address="127.0.0.1")


@pytest.mark.parametrize(
    ("name", "passwords", "reason"),
    [
        ("alice", ("short", "short"), r"Nothing was done\. .* at least 12"),
        ("alice", (GOOD, f"{GOOD}!"), r"two passwords\. Nothing was done"),
        ("nobody", (GOOD, GOOD), r"Nobody is called 'nobody'\. Nothing was done"),
    ],
)
def test_a_password_that_may_not_be_used_changes_nothing(
    command, alice, typed, name, passwords, reason
):
    before, hashed = newest(), alice.password
    typed(*passwords)
    with pytest.raises(CommandError, match=reason):
        command("changepassword", name)

    assert newest() == before
    assert User.objects.get(username="alice").password == hashed


def test_whoever_is_added_by_a_command_is_recorded(added):
    added("olga", GOOD)

    assert newest() == ("person.added", "operator", "command", "user:olga")


@pytest.mark.parametrize(("name", "password"), [("olga", "short"), ("olga", ""), ("ALICE", GOOD)])
def test_nobody_is_added_with_a_weak_password_or_a_name_that_is_taken(
    added, alice, name, password
):
    with pytest.raises(CommandError):
        added(name, password)

    assert list(User.objects.values_list("username", flat=True)) == ["alice"]


def test_a_name_is_found_in_other_letters(command, alice, typed):
    typed(GOOD, GOOD)
    command("changepassword", "Alice")

    assert User.objects.get(username="alice").check_password(GOOD)


def test_a_password_that_is_not_utf8_is_refused_with_a_sentence(command, alice, typed):
    typed("\udcfc" * 20, "\udcfc" * 20)
    with pytest.raises(CommandError, match=r"not UTF-8\. Nothing was done"):
        command("changepassword", "alice")
