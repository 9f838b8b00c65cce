"""Who has seen what, and who is viewing now."""

from datetime import timedelta

import pytest
from django.utils import timezone

from approval_client.wire import Status
from dashboard.approvals import services
from dashboard.approvals.errors import StaleBasis
from dashboard.approvals.models import View
from dashboard.approvals.rules.view import presence
from dashboard.approvals.services import Basis
from dashboard.audit.models import AuditEntry
from tests import make

pytestmark = pytest.mark.django_db
AUTH = "session:password"


@pytest.fixture
def asked(token):
    return make.pending(token)


def actions():
    return list(AuditEntry.objects.order_by("seq").values_list("action", flat=True))


def test_who_looked_45_seconds_ago_looks_no_more(asked, alice, bob):
    services.note_viewing(approval_id=asked.pk, person=alice)
    services.note_viewing(approval_id=asked.pk, person=alice)
    now = timezone.now()

    assert presence([asked.pk], bob, now).viewing == {asked.pk: ["alice"]}
    assert presence([asked.pk], alice, now).viewing == {}
    assert presence([asked.pk], bob, now + timedelta(seconds=46)).viewing == {}


def test_to_look_is_neither_recorded_nor_rung(asked, alice):
    before, seen = actions(), asked.version

    services.note_viewing(approval_id=asked.pk, person=alice)

    asked.refresh_from_db()
    assert (actions(), asked.version) == (before, seen)


def test_the_first_sight_of_a_request_is_recorded_once_for_each_person(token, alice, bob):
    approval = make.pending(token)
    seen = [
        services.mark_viewed(approval_id=approval.pk, person=person, auth=AUTH)
        for person in (alice, alice, bob)
    ]

    assert seen == [True, False, True]
    assert View.objects.count() == 2
    assert AuditEntry.objects.filter(action="approval.viewed").count() == 2


def test_a_first_view_is_recorded_with_the_answer(asked, alice):
    make.decided(asked, alice, viewed=True)

    assert actions()[-2:] == ["approval.viewed", "approval.approved"]
    assert [view.seen_at for view in View.objects.all()] == [asked.decision.decided_at]


@pytest.mark.parametrize("viewed", [True, False])
def test_a_view_is_recorded_once_also_with_an_answer(asked, alice, viewed):
    services.mark_viewed(approval_id=asked.pk, person=alice, auth=AUTH)

    make.decided(asked, alice, viewed=viewed)

    assert actions().count("approval.viewed") == View.objects.count() == 1


def test_a_view_is_not_recorded_where_the_answer_is_not(asked, alice):
    with pytest.raises(StaleBasis):
        make.decided(asked, alice, viewed=True, basis=Basis("0" * 64, 1))

    assert View.objects.count() == actions().count("approval.viewed") == 0


def test_a_view_is_not_recorded_where_only_a_new_judgement_is(asked, alice):
    make.in_force({"name": "Two", "effect": "review", "demands": {"approvals": 2}})
    with pytest.raises(StaleBasis):
        make.decided(asked, alice, viewed=True)

    assert actions()[-1] == "approval.judged"
    assert View.objects.count() == actions().count("approval.viewed") == 0


def test_a_first_view_is_recorded_with_a_rejection_too(asked, alice):
    make.decided(asked, alice, Status.REJECTED, viewed=True)

    assert actions()[-2:] == ["approval.viewed", "approval.rejected"]


def test_a_first_view_is_recorded_with_a_vote_too(token, alice):
    make.in_force({"name": "Two", "effect": "review", "demands": {"approvals": 2}})
    asked = make.pending(token)

    make.decided(asked, alice, viewed=True)

    assert actions()[-2:] == ["approval.viewed", "approval.voted"]
