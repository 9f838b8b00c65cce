from datetime import timedelta

import pytest
from django.utils import timezone

from dashboard.accounts.errors import TooManyAttempts
from dashboard.accounts.models import SignInAttempts
from dashboard.accounts.services import throttle

ALICE, HERE = throttle.account("alice"), throttle.address("10.0.0.7")

pytestmark = pytest.mark.django_db


def attempt(times, *keys):
    for _ in range(times):
        throttle.begin(*keys)


def test_an_account_may_fail_ten_times():
    attempt(10, ALICE)

    with pytest.raises(TooManyAttempts):
        throttle.begin(ALICE)


def test_an_address_may_fail_thirty_times():
    attempt(30, HERE)

    with pytest.raises(TooManyAttempts):
        throttle.begin(HERE)


def test_another_account_is_not_slowed():
    attempt(10, ALICE)

    throttle.begin(throttle.account("bob"))


def test_upper_case_is_the_same_account():
    assert throttle.account("ALICE") == ALICE


def test_the_wait_ends_five_minutes_after_the_first_attempt():
    attempt(11 - 1, ALICE)
    SignInAttempts.objects.update(since=timezone.now() - throttle.WINDOW)

    throttle.begin(ALICE)

    assert SignInAttempts.objects.get(key=ALICE).failures == 1


def test_the_wait_is_told_and_never_too_short():
    attempt(10, ALICE)
    SignInAttempts.objects.update(since=timezone.now() - timedelta(seconds=239))

    with pytest.raises(TooManyAttempts, match=r"Try again in 2 min\.") as refusal:
        throttle.begin(ALICE)

    assert refusal.value.retry_after_s == 61


def test_trying_while_blocked_does_not_make_the_wait_longer():
    attempt(10, ALICE)
    since = SignInAttempts.objects.get(key=ALICE).since
    with pytest.raises(TooManyAttempts):
        throttle.begin(ALICE)

    assert SignInAttempts.objects.get(key=ALICE).since == since


def test_a_success_forgets_the_account_and_its_own_attempt_from_the_address():
    attempt(3, ALICE, HERE)

    throttle.succeeded(ALICE, HERE)

    assert list(SignInAttempts.objects.values_list("key", "failures")) == [(HERE, 2)]


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("10.0.0.7", "address:10.0.0.7"),
        ("::ffff:10.0.0.7", "address:10.0.0.7"),
        ("2001:db8:1:2:aaaa::1", "address:2001:db8:1:2::/64"),
        ("2001:db8:1:2:bbbb::9", "address:2001:db8:1:2::/64"),
        ("not an address", "address:not an address"),
        ("", "address:"),
    ],
)
def test_addresses_of_one_ipv6_site_are_one(text, key):
    assert throttle.address(text) == key


def test_a_key_is_never_longer_than_its_column():
    assert len(throttle.account("x" * 500)) == 200
    assert len(throttle.address("x" * 500)) == 200
