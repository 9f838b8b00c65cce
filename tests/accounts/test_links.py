from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier

import pytest
from django.db import connection
from django.utils import timezone

from dashboard.accounts.errors import LinkNotValid, NotPermitted, TooManyAttempts
from dashboard.accounts.models import SignInLink
from dashboard.accounts.services import people, signing_in
from dashboard.audit.models import AuditEntry
from tests import make

HERE = {"address": "10.0.0.7"}


def link(person):
    return signing_in.make_link(person, by=make.BY)


def newest():
    entry = AuditEntry.objects.latest("seq")
    return entry.action, entry.actor, entry.auth, entry.subject


def test_a_link_signs_its_person_in(alice):
    assert signing_in.with_link(link(alice), **HERE) == alice


def test_a_link_works_once(alice):
    secret = link(alice)
    signing_in.with_link(secret, **HERE)

    with pytest.raises(LinkNotValid, match="was used, has expired or never existed"):
        signing_in.with_link(secret, **HERE)


def test_looking_at_a_link_uses_nothing_up(alice):
    secret = link(alice)
    signing_in.peek_link(secret, **HERE)

    assert signing_in.peek_link(secret, **HERE) == alice


def test_an_expired_link_opens_nothing(alice):
    secret = link(alice)
    SignInLink.objects.update(expires_at=timezone.now() - timedelta(seconds=1))

    with pytest.raises(LinkNotValid):
        signing_in.with_link(secret, **HERE)


def test_a_link_lives_an_hour(alice):
    link(alice)

    made = SignInLink.objects.get()
    assert 3599 < (made.expires_at - made.created_at).total_seconds() <= 3600


def test_the_secret_is_not_stored(alice):
    secret = link(alice)

    assert secret not in repr(list(SignInLink.objects.values()))


def test_using_one_link_uses_up_the_others(alice):
    older, newer = link(alice), link(alice)
    signing_in.with_link(newer, **HERE)

    with pytest.raises(LinkNotValid):
        signing_in.with_link(older, **HERE)


def test_using_a_link_leaves_those_of_others(alice, bob):
    his = link(bob)
    signing_in.with_link(link(alice), **HERE)

    assert signing_in.peek_link(his, **HERE) == bob


def test_a_closed_account_has_no_links_even_after_it_is_opened_again(alice, ada):
    secret = link(alice)
    people.set_active(alice, active=False, by=make.BY)
    people.set_active(alice, active=True, by=make.BY)

    with pytest.raises(LinkNotValid):
        signing_in.with_link(secret, **HERE)


def test_a_new_password_ends_open_links(alice):
    secret = link(alice)
    people.set_password(alice, password="another long one", by=make.BY)

    with pytest.raises(LinkNotValid):
        signing_in.peek_link(secret, **HERE)


def test_wrong_links_are_slowed_by_address(db):
    for _ in range(30):
        with pytest.raises(LinkNotValid):
            signing_in.peek_link("wrong", **HERE)

    with pytest.raises(TooManyAttempts):
        signing_in.peek_link("wrong", **HERE)


def test_a_right_link_opens_even_where_somebody_guessed_passwords(alice):
    for name in ("a", "b", "c"):
        for _ in range(10):
            with pytest.raises(NotPermitted):
                signing_in.with_password(username=name, password="wrong", **HERE)

    assert signing_in.with_link(link(alice), **HERE) == alice


def test_making_a_link_is_recorded(alice):
    link(alice)

    assert newest() == ("sign_in_link.made", "operator", "command", "user:alice")


def test_pressing_a_wrong_link_is_recorded(db):
    with pytest.raises(LinkNotValid):
        signing_in.with_link("wrong", **HERE)

    assert newest() == ("sign_in.failed", "anonymous", "link", "")


@pytest.mark.django_db(transaction=True)
def test_of_two_who_press_at_once_one_is_signed_in(alice):
    secret, start = link(alice), Barrier(2)

    def press(_):
        start.wait()
        try:
            return signing_in.with_link(secret, **HERE)
        except LinkNotValid:
            return None
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(press, range(2)))

    assert sorted(found, key=bool) == [None, alice]
