"""``sign_in_link USER`` prints a link alone."""

import pytest
from allauth.mfa.models import Authenticator
from django.core.management import CommandError

from dashboard.accounts.models import SignInLink
from dashboard.accounts.services import factors
from dashboard.accounts.services.people import set_active
from dashboard.accounts.services.signing_in import peek_link
from tests import make


@pytest.fixture
def refusal(command):
    """Return why no link was made."""

    def refusal(name):
        with pytest.raises(CommandError) as refused:
            command("sign_in_link", name)
        assert not SignInLink.objects.exists()
        return str(refused.value)

    return refusal


def test_the_link_stands_alone_on_stdout_and_works(place, command, alice):
    said = command("sign_in_link", "alice")

    address, secret = said.removesuffix("\n").rsplit("/", 1)
    assert address == "http://127.0.0.1:8000/sign-in"
    assert peek_link(secret, address="127.0.0.1") == alice


def test_an_unknown_name_is_answered_with_those_who_are_there(refusal, alice, bob):
    assert refusal("carol") == (
        "No active person is called 'carol'. No link was made. Active: alice, bob."
    )


def test_somebody_who_was_shut_out_is_not_offered(refusal, alice, bob):
    set_active(bob, active=False, by=make.BY)

    assert refusal("bob") == ("No active person is called 'bob'. No link was made. Active: alice.")


def test_where_there_is_nobody_that_is_said(refusal):
    assert refusal("carol").endswith("No link was made. Active: nobody.")


def test_who_lost_everything_is_let_in_without_a_second_factor(place, command, alice):
    factors.new_recovery_codes(alice, by=make.BY)
    Authenticator.objects.create(user=alice, type="totp", data={})

    command("sign_in_link", "alice", "--remove-second-factor")

    assert not factors.has_factor(alice)
    assert not Authenticator.objects.exists()
