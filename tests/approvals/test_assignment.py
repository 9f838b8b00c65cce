"""Who is on a request: assigned, taken over, handed over, released."""

import pytest
from django.utils import timezone

from approval_client.wire import Status
from dashboard.accounts.services import people
from dashboard.approvals import services
from dashboard.approvals.errors import AlreadyClosed, AssignedToAnother, NotAllowed, TimeOver
from dashboard.approvals.models import VIEWING_FOR, Assignment, Snooze, Viewing
from dashboard.approvals.queries.assignment import assignment_of
from dashboard.approvals.rules.snooze import SnoozeLength, snoozed_by
from dashboard.audit.models import AuditEntry
from tests import make

pytestmark = pytest.mark.django_db

AUTH = "session:password"


@pytest.fixture
def asked(token):
    return make.pending(token)


def claim(approval, person, over=""):
    return services.assign(approval_id=approval.pk, person=person, auth=AUTH, over=over)


def hand(approval, person, to, note=""):
    return services.hand_over(approval_id=approval.pk, person=person, auth=AUTH, to=to, note=note)


def put_off(approval, person, later=SnoozeLength.LONGEST):
    return services.snooze(approval_id=approval.pk, person=person, auth=AUTH, length=later)


def actions():
    return list(AuditEntry.objects.order_by("seq").values_list("action", flat=True))


def test_a_claim_is_recorded_and_raises_the_version_and_keeps_the_basis(asked, alice):
    seen, basis = asked.version, make.basis(asked)

    claim(asked, alice)

    asked.refresh_from_db()
    assert (assignment_of(asked).person, asked.version) == (alice, seen + 1)
    assert actions()[-1] == "approval.claimed"
    assert make.decided(asked, alice, basis=basis).status == Status.APPROVED


def test_claiming_twice_is_claiming_once(asked, alice):
    assert claim(asked, alice) == claim(asked, alice)
    assert actions().count("approval.claimed") == 1


def test_a_claim_that_was_not_shown_is_not_taken_over(asked, alice, bob):
    claim(asked, alice)

    for over in ("", "carol"):
        with pytest.raises(AssignedToAnother, match="assigned to alice since"):
            claim(asked, bob, over=over)

    assert assignment_of(asked).person == alice


def test_a_claim_that_was_shown_is_taken_over_and_names_who_was_on_it(asked, alice, bob):
    claim(asked, alice)

    taken = claim(asked, bob, over="alice")

    assert (taken.person, taken.after, taken.is_handed) == (bob, alice, False)
    assert actions()[-1] == "approval.taken_over"


def test_who_may_not_decide_claims_nothing(asked, ada):
    with pytest.raises(NotAllowed, match="Nothing was changed"):
        claim(asked, ada)


def test_what_is_closed_or_overdue_is_not_claimed(asked, token, alice):
    make.decided(asked, alice)
    with pytest.raises(AlreadyClosed):
        claim(asked, alice)
    with pytest.raises(TimeOver):
        claim(make.overdue(token), alice)


def test_an_answer_takes_all_attention_with_it(asked, alice, bob):
    services.note_viewing(approval_id=asked.pk, person=alice)
    put_off(asked, alice)
    claim(asked, bob)

    make.decided(asked, bob)

    present = Viewing.objects.after(timezone.now() - VIEWING_FOR)
    assert [found.count() for found in (Assignment.objects, Snooze.objects, present)] == [0, 0, 0]


def test_who_has_stopped_viewing_is_forgotten(asked, alice, bob):
    services.note_viewing(approval_id=asked.pk, person=alice)
    Viewing.objects.update(last_seen_at=timezone.now() - VIEWING_FOR)
    services.note_viewing(approval_id=asked.pk, person=bob)

    assert services.forget_viewings() == 1
    assert [viewing.person for viewing in Viewing.objects.all()] == [bob]


def test_to_release_is_for_who_is_on_it(asked, alice, bob):
    claim(asked, alice)

    assert services.release(approval_id=asked.pk, person=bob, auth=AUTH) is False
    assert services.release(approval_id=asked.pk, person=alice, auth=AUTH) is True
    assert assignment_of(asked) is None
    assert actions()[-1] == "approval.released"


def test_anybody_who_may_decide_still_rejects_what_is_claimed(asked, alice, bob):
    claim(asked, alice)

    assert make.decided(asked, bob, Status.REJECTED).status == Status.REJECTED


def test_to_approve_what_somebody_else_is_on_has_to_be_said(asked, alice, bob):
    claim(asked, alice)

    for despite in ("", "carol"):
        with pytest.raises(AssignedToAnother):
            make.decided(asked, bob, despite=despite)

    assert make.decided(asked, bob, despite="alice").status == Status.APPROVED


def test_who_is_on_it_approves_as_ever(asked, alice):
    claim(asked, alice)

    assert make.decided(asked, alice).status == Status.APPROVED


def test_a_lost_role_takes_the_claim_along_at_once(asked, alice, bob):
    claim(asked, alice)

    people.change_roles(alice, roles={}, by=make.BY)

    assert assignment_of(asked) is None
    assert claim(asked, bob).person == bob


@pytest.mark.parametrize("how", ["role", "door"])
def test_the_sweeper_takes_lost_claims_off_and_says_so(asked, alice, how):
    claim(asked, alice)
    if how == "role":
        people.change_roles(alice, roles={"admin": True}, by=make.BY)
    else:
        people.set_active(alice, active=False, by=make.BY)

    assert (services.release_lost_assignments(), services.release_lost_assignments()) == (1, 0)
    assert (Assignment.objects.count(), actions()[-1]) == (0, "approval.released")


def test_the_sweeper_leaves_other_claims_alone(asked, alice):
    claim(asked, alice)

    assert (services.release_lost_assignments(), Assignment.objects.count()) == (0, 1)


def test_a_hand_over_carries_a_word_and_comes_out_of_later(asked, alice, bob):
    put_off(asked, bob)

    made = hand(asked, alice, bob, note="You know this one.")

    assert (made.person, made.after, made.is_handed) == (bob, alice, True)
    assert (made.note, snoozed_by(bob, timezone.now())) == ("You know this one.", {})
    assert actions()[-1] == "approval.handed_over"


def test_what_somebody_else_is_on_is_not_mine_to_give(asked, alice, bob):
    carol = make.person("carol", reviewer=True)
    claim(asked, carol)

    with pytest.raises(AssignedToAnother):
        hand(asked, alice, bob)


def test_nothing_is_handed_to_who_may_not_decide(asked, alice, ada):
    with pytest.raises(NotAllowed, match="ada is not a reviewer"):
        hand(asked, alice, ada)
