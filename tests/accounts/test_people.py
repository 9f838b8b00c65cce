from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.contrib.sessions.backends.db import SessionStore
from django.core.exceptions import ValidationError
from django.db import connection

from dashboard.accounts.errors import LastAdmin, NameTaken
from dashboard.accounts.models import User
from dashboard.accounts.services import people
from dashboard.audit.models import AuditEntry
from tests import make

NOT_ADMIN = {"reviewer": True}


def newest():
    entry = AuditEntry.objects.latest("seq")
    return entry.action, entry.actor, entry.auth, entry.subject, entry.details


def session_of(person):
    session = SessionStore()
    session["_auth_user_id"] = str(person.pk)
    session.save()
    return session.session_key


def test_a_new_person_has_the_roles_that_were_given_and_no_other(db):
    person = make.person("carol", auditor=True)

    assert (person.is_reviewer, person.is_admin, person.is_auditor) == (False, False, True)


def test_adding_a_person_is_recorded(db):
    make.person("carol", auditor=True)

    assert newest() == (
        "person.added", "operator", "command", "user:carol", '{"roles":["auditor"]}',
    )  # fmt: skip


def test_a_person_without_password_cannot_use_any(db):
    assert not make.person("carol", password=None).has_usable_password()


def test_the_first_person_administers_and_reviews(db):
    person = people.create_first_person(username="root")

    assert (person.is_reviewer, person.is_admin, person.is_auditor) == (True, True, False)


@pytest.mark.parametrize("name", ["alice", "ALICE"])
def test_a_name_is_taken_in_upper_and_lower_case(alice, name):
    with pytest.raises(NameTaken, match=r"already\. Nobody was added\.$"):
        make.person(name)


HIDDEN = ["al\u200bice", "ali\u202ece", "\u0430lice", "a\0", "a\n"]
ODD = ["", " alice", "al ice", "alicé", "-a", "<b>", "x" * 101]


@pytest.mark.parametrize("name", HIDDEN + ODD)
def test_names_hold_nothing_that_could_hide_or_imitate(db, name):
    with pytest.raises(ValidationError):
        make.person(name)

    assert not User.objects.exists()


def test_changing_roles_replaces_them_all(alice, ada):
    people.change_roles(alice, roles={"auditor": True}, by=make.BY)

    alice.refresh_from_db()
    assert (alice.is_reviewer, alice.is_admin, alice.is_auditor) == (False, False, True)


def test_changing_roles_is_recorded_with_those_before(alice, ada):
    people.change_roles(alice, roles={"auditor": True}, by=make.BY)

    details = '{"before":["reviewer"],"roles":["auditor"]}'
    assert newest() == ("person.roles_changed", "operator", "command", "user:alice", details)


def test_changing_nothing_is_not_recorded(alice, ada):
    before = AuditEntry.objects.count()
    people.change_roles(alice, roles={"reviewer": True}, by=make.BY)
    people.set_active(alice, active=True, by=make.BY)

    assert AuditEntry.objects.count() == before


def test_the_last_admin_stays_admin(ada):
    with pytest.raises(LastAdmin, match=r"^ada is the only admin left\. Nothing was changed"):
        people.change_roles(ada, roles=NOT_ADMIN, by=make.BY)

    assert User.objects.get(pk=ada.pk).is_admin


def test_the_last_admin_stays_active(ada):
    make.person("closed", admin=True)
    people.set_active(User.objects.get(username="closed"), active=False, by=make.BY)

    with pytest.raises(LastAdmin):
        people.set_active(ada, active=False, by=make.BY)


def test_an_admin_may_go_while_another_stays(ada):
    make.person("carol", admin=True)
    people.change_roles(ada, roles=NOT_ADMIN, by=make.BY)

    assert not User.objects.get(pk=ada.pk).is_admin


def test_somebody_else_can_change_where_there_is_no_admin(alice):
    people.set_active(alice, active=False, by=make.BY)

    assert not User.objects.get(pk=alice.pk).is_active


@pytest.mark.parametrize(("active", "action"), [(False, "deactivated"), (True, "reactivated")])
def test_closing_and_opening_an_account_is_recorded(alice, ada, active, action):
    if active:
        people.set_active(alice, active=False, by=make.BY)
    people.set_active(alice, active=active, by=make.BY)

    assert newest() == (f"person.{action}", "operator", "command", "user:alice", "{}")


def test_closing_an_account_ends_its_sessions_and_nobody_elses(alice, bob, ada):
    hers, his = session_of(alice), session_of(bob)
    people.set_active(alice, active=False, by=make.BY)

    assert [SessionStore().exists(key) for key in (hers, his)] == [False, True]


def test_a_new_password_is_recorded_and_itself_is_not(alice):
    people.set_password(alice, password="correct horse battery", by=make.BY)

    assert newest() == ("person.password_changed", "operator", "command", "user:alice", "{}")
    assert alice.check_password("correct horse battery")


def test_a_new_password_ends_the_other_sessions_of_its_person_and_of_nobody_else(alice, bob):
    here, elsewhere, of_bob = session_of(alice), session_of(alice), session_of(bob)
    people.set_password(alice, password="correct horse battery", by=make.BY, but=here)

    assert [SessionStore().exists(key) for key in (here, elsewhere, of_bob)] == [True, False, True]


@pytest.mark.django_db(transaction=True)
def test_of_two_admins_who_demote_each_other_at_once_one_stays(ada):
    carol, start = make.person("carol", admin=True), Barrier(2)

    def demote(person):
        start.wait()
        try:
            people.change_roles(person, roles=NOT_ADMIN, by=make.BY)
        except LastAdmin:
            return "stayed"
        finally:
            connection.close()
        return "went"

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(demote, [ada, carol])) == ["stayed", "went"]
