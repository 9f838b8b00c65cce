import pytest

from dashboard.accounts.errors import NotPermitted, TooManyAttempts
from dashboard.accounts.models import SignInAttempts, User
from dashboard.accounts.services import people, signing_in
from dashboard.audit.models import AuditEntry
from dashboard.audit.services import Actor
from tests import make

BY = Actor("user:alice", "session:password")


RIGHT = "a long password"


def sign_in(name="alice", password=RIGHT, address="10.0.0.7"):
    return signing_in.with_password(username=name, password=password, address=address)


def fail(times, name="alice", address="10.0.0.7"):
    for _ in range(times):
        with pytest.raises(NotPermitted):
            sign_in(name, "wrong", address)


def newest():
    entry = AuditEntry.objects.latest("seq")
    return entry.action, entry.actor, entry.auth, entry.subject, entry.details


def test_the_right_password_signs_in(alice):
    assert sign_in() == alice


def test_signing_in_is_recorded(alice):
    signing_in.signed_in(sign_in(), "password", address="10.0.0.7")

    details = '{"address":"10.0.0.7"}'
    assert newest() == ("sign_in.succeeded", "user:alice", "password", "user:alice", details)


def test_a_failure_is_recorded_for_the_account_that_it_was_about(alice):
    fail(1)

    details = '{"address":"10.0.0.7"}'
    assert newest() == ("sign_in.failed", "anonymous", "password", "user:alice", details)


def test_what_was_typed_is_not_recorded_if_nobody_is_called_that(alice):
    fail(1, name="a long password")

    assert newest()[3:] == ("", '{"address":"10.0.0.7"}')


@pytest.mark.parametrize("name", ["alice", "nobody", "closed", "linked"])
def test_every_refusal_sounds_the_same(alice, ada, name):
    make.person("linked", password=None, reviewer=True)
    people.set_active(make.person("closed", reviewer=True), active=False, by=make.BY)
    password = "a long password" if name != "alice" else "wrong"

    with pytest.raises(NotPermitted, match=r"^The name or password is wrong, or the account"):
        sign_in(name, password)


def test_a_blocked_account_is_refused_even_with_the_right_password(alice):
    fail(10)

    with pytest.raises(TooManyAttempts):
        sign_in()


def test_a_blocked_account_answers_alike_whether_it_exists_or_not(alice):
    fail(10, name="alice")
    fail(10, name="nobody")
    said = []
    for name in ("alice", "nobody"):
        with pytest.raises(TooManyAttempts) as refusal:
            sign_in(name)
        said.append(str(refusal.value))

    assert said[0] == said[1]


def test_a_blocked_account_is_blocked_from_every_address(alice):
    fail(10)

    with pytest.raises(TooManyAttempts):
        sign_in(address="10.0.0.8")


def test_a_blocked_address_is_blocked_for_every_account(alice):
    for name in ("a", "b", "c"):
        fail(10, name=name)

    with pytest.raises(TooManyAttempts):
        sign_in()


def test_what_was_not_checked_is_not_recorded(alice):
    fail(10)
    before = AuditEntry.objects.count()
    with pytest.raises(TooManyAttempts):
        sign_in()

    assert AuditEntry.objects.count() == before


def test_a_success_forgets_the_failures_of_the_account(alice):
    fail(9)
    sign_in()

    assert not SignInAttempts.objects.filter(key="account:alice").exists()


def test_confirming_needs_the_password(alice):
    with pytest.raises(NotPermitted, match="not your current password"):
        signing_in.confirm_password(alice, "wrong", by=BY, address="10.0.0.7")

    assert newest()[:3] == ("password.not_confirmed", "user:alice", "session:password")


def confirm(password):
    signing_in.confirm_password(alice_now(), password, by=BY, address="10.0.0.7")


def alice_now():
    return User.objects.get(username="alice")


def test_confirming_is_slowed_like_signing_in(alice):
    for _ in range(10):
        with pytest.raises(NotPermitted):
            confirm("wrong")

    with pytest.raises(TooManyAttempts):
        confirm(RIGHT)


def test_nobody_who_guesses_at_the_door_keeps_a_session_from_confirming(alice):
    fail(10)

    confirm(RIGHT)


def test_nobody_who_guesses_elsewhere_keeps_out_a_browser_that_is_known(alice):
    fail(10)
    with pytest.raises(TooManyAttempts):
        sign_in()

    known = {"address": "10.0.0.7", "browser": "nonce"}
    assert signing_in.with_password(username="alice", password=RIGHT, **known) == alice


def test_a_known_browser_may_guess_ten_times_too(alice):
    wrong = {"username": "alice", "address": "10.0.0.7", "browser": "nonce"}
    for _ in range(10):
        with pytest.raises(NotPermitted):
            signing_in.with_password(password="wrong", **wrong)

    with pytest.raises(TooManyAttempts):
        signing_in.with_password(password=RIGHT, **wrong)


def test_confirming_the_right_password_is_no_failure(alice):
    signing_in.confirm_password(alice, "a long password", by=BY, address="10.0.0.7")

    assert not SignInAttempts.objects.filter(failures__gt=0).exists()


def test_signing_out_is_recorded_with_how_the_session_was_known(db):
    signing_in.signed_out(by=BY)

    assert newest()[:4] == ("sign_out", "user:alice", "session:password", "user:alice")
