"""Whoever signs in and whoever is recorded as having seen something do not wait for each other."""

import threading
from contextlib import suppress

import pytest
from django.db import connection

from dashboard.accounts.services import signing_in
from dashboard.approvals.services import view
from tests import make

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.engine("postgresql")]


def test_a_sign_in_goes_on_beside_a_view_of_the_same_person(monkeypatch):
    bob = make.person("bob", reviewer=True)
    approval = make.pending(make.token(make.agent()))
    recorded, locked, done = threading.Event(), threading.Event(), []
    record = view.record

    def record_and_wait(*events):
        record(*events)  # it has the head of the log now, and names bob when it commits
        recorded.set()
        locked.wait(5)

    def look():
        view.mark_viewed(approval_id=approval.pk, person=bob, auth="session:password")

    def sign_in():
        recorded.wait(5)
        place = {"address": "192.0.2.1", "first_hash": ""}
        signing_in.let_in(bob, "password", begin=lambda _: locked.set(), **place)

    def run(work):
        try:
            with suppress(Exception):
                work()
                done.append(work)
        finally:
            connection.close()

    monkeypatch.setattr(view, "record", record_and_wait)
    threads = [threading.Thread(target=run, args=[work]) for work in (look, sign_in)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)

    assert sorted(work.__name__ for work in done) == ["look", "sign_in"]
