from datetime import timedelta
from uuid import uuid4

import pytest

from approval_client.wire import Kind, OutcomeState, Status
from dashboard.accounts.models import User
from dashboard.approvals import guards, services
from dashboard.approvals.errors import (
    NotAllowed,
    NotFound,
    RecallReasonMissing,
    RecallRefused,
    TakenBack,
)
from dashboard.approvals.models import Decision, Grant, Outcome, Recall
from dashboard.approvals.rules.likeness import earlier_answer, memory_approved_before
from dashboard.approvals.rules.logged import texts_of
from dashboard.audit.models import AuditEntry
from tests import make

pytestmark = pytest.mark.django_db
AUTH = "session:password"
PYTHON = {"code": "print(1)", "language": "python"}


@pytest.fixture
def approval(token, alice):
    return make.approved(token, alice)


def recall(approval, by, reason="The beam is on."):
    return services.recall(approval_id=approval.pk, person=by, auth=AUTH, reason=reason)


def test_what_was_taken_back_does_not_start(approval, token, alice):
    recall(approval, alice)

    with pytest.raises(
        TakenBack, match=r"taken back by alice at .*: The beam is on\. Nothing may"
    ):
        make.report(approval, token)

    assert not Outcome.objects.exists()


def test_the_decision_and_the_status_stay_what_they_were(approval, alice):
    recall(approval, alice)

    approval.refresh_from_db()
    assert approval.status == Status.APPROVED
    assert Decision.objects.get().status == Status.APPROVED


def test_taking_back_is_recorded_with_the_digest_and_the_reason(approval, alice):
    taken_back = recall(approval, alice)

    entry = AuditEntry.objects.latest("seq")
    assert (entry.action, entry.actor) == ("approval.taken_back", "user:alice")
    assert (entry.subject, entry.digest) == (str(approval.pk), approval.digest)
    assert texts_of([entry])[entry.seq] == ("The beam is on.", True)
    assert taken_back.seq == entry.seq


def test_open_pages_and_agents_hear_of_it(approval, alice):
    before = approval.version

    recall(approval, alice)

    approval.refresh_from_db()
    assert approval.version == before + 1


def test_taking_back_twice_changes_nothing(approval, alice, ada):
    first = recall(approval, alice)

    again = recall(approval, ada, "Another reason.")

    assert (again.pk, again.reason) == (first.pk, "The beam is on.")
    assert AuditEntry.objects.filter(action="approval.taken_back").count() == 1


@pytest.mark.parametrize("reason", ["", "  \n"])
def test_it_needs_a_reason(approval, alice, reason):
    with pytest.raises(RecallReasonMissing, match=r"the agent is told your reason\. Nothing was"):
        recall(approval, alice, reason)

    assert not Recall.objects.exists()


def test_everybody_whose_approval_counted_may(token, alice, bob):
    make.in_force({"name": "Two", "effect": "review", "demands": {"approvals": 2}})
    approval = make.pending(token)
    make.decided(approval, alice)
    make.decided(approval, bob)

    assert recall(approval, alice).source == "reviewer"


def test_a_reviewer_who_did_not_give_it_may_not(approval, bob):
    with pytest.raises(NotAllowed, match="Only whoever gave this approval, or an admin"):
        recall(approval, bob)

    assert not Recall.objects.exists()


@pytest.mark.parametrize("lost", ["is_reviewer", "is_active"])
def test_who_is_no_reviewer_any_more_may_not(approval, alice, lost):
    User.objects.filter(pk=alice.pk).update(**{lost: False})

    with pytest.raises(NotAllowed):
        recall(approval, alice)


def test_an_admin_may_take_back_what_others_approved(approval, ada):
    assert recall(approval, ada).source == "admin"


def test_an_admin_may_take_back_what_the_policy_approved(token, alice, ada):
    make.in_force({"name": "Fast", "effect": "approve", "when": {"tools": ["read"]}})
    call = {"kind": Kind.TOOL_CALL, "capability": "read"}
    approval = make.pending(token, content={"tool": "read", "arguments": {}}, **call)

    with pytest.raises(NotAllowed):
        recall(approval, alice)

    assert recall(approval, ada).source == "admin"


def test_who_gave_a_remembered_approval_may_take_back_what_it_approved(token, alice, bob):
    make.granted(token, alice, content=PYTHON)
    approval = make.pending(token, accepts_grants=True, content=PYTHON)

    with pytest.raises(NotAllowed):
        recall(approval, bob)

    assert recall(approval, alice).source == "reviewer"


def test_a_remembered_approval_is_not_ended_by_it(token, alice):
    grant = make.granted(token, alice, content=PYTHON)

    recall(grant.made_from, alice)

    assert Grant.objects.get().ended_at is None
    again = make.pending(token, accepts_grants=True, content=PYTHON)
    assert again.status == Status.APPROVED


def test_what_runs_already_is_not_taken_back(approval, token, alice):
    make.report(approval, token)

    with pytest.raises(RecallRefused, match=r"The agent started this at .*, so it runs already"):
        recall(approval, alice)

    assert not Recall.objects.exists()


def test_what_ran_is_not_taken_back(approval, token, alice):
    make.report(approval, token)
    make.report(approval, token, OutcomeState.FINISHED, key="f")

    with pytest.raises(RecallRefused, match="has run"):
        recall(approval, alice)


def test_what_ran_out_is_not_taken_back(approval, alice):
    guards.remove()
    decision = Decision.objects.get()
    Decision.objects.update(valid_until=decision.decided_at - timedelta(seconds=1))
    guards.install()

    with pytest.raises(RecallRefused, match="The time to start this is over"):
        recall(approval, alice)


@pytest.mark.parametrize("status", [Status.PENDING, Status.REJECTED])
def test_what_is_not_approved_is_not_taken_back(token, ada, alice, status):
    approval = make.pending(token)
    if status == Status.REJECTED:
        make.decided(approval, alice, status)

    with pytest.raises(RecallRefused, match="This request is not approved"):
        recall(approval, ada)


def test_what_is_not_there_is_not_taken_back(ada):
    with pytest.raises(NotFound):
        services.recall(approval_id=uuid4(), person=ada, auth=AUTH, reason="Odd.")


def test_an_approval_is_taken_back_while_everything_is_on_hold(approval, alice, ada):
    services.place_hold(by=ada, auth=AUTH)

    assert recall(approval, alice).approval_id == approval.pk


def test_of_many_that_were_approved_together_one_is_taken_back(token, alice):
    one, other = make.approved(token, alice), make.approved(token, alice, content={"code": "2"})

    recall(one, alice)

    assert make.report(other, token).pk == other.pk


def test_what_was_taken_back_is_not_offered_to_be_given_again(token, alice):
    first = make.approved(token, alice, run_id="r")
    again = make.pending(token, run_id="r")
    assert earlier_answer(again, again.judgements.get()) is not None

    recall(first, alice)

    assert earlier_answer(again, again.judgements.get()) is None


def test_what_was_taken_back_is_not_offered_through_an_older_approval(token, alice):
    make.approved(token, alice, run_id="r")
    recall(make.approved(token, alice, run_id="r"), alice)
    again = make.pending(token, run_id="r")

    assert earlier_answer(again, again.judgements.get()) is None


def test_an_older_approval_that_is_taken_back_ends_the_offer_of_a_newer_one(token, alice):
    older = make.approved(token, alice, run_id="r")
    make.approved(token, alice, run_id="r")
    again = make.pending(token, run_id="r")

    recall(older, alice)

    assert earlier_answer(again, again.judgements.get()) is None


def test_what_was_approved_anew_after_it_was_taken_back_is_offered(token, alice):
    recall(make.approved(token, alice, run_id="r"), alice)
    newer = make.approved(token, alice, run_id="r")
    again = make.pending(token, run_id="r")

    assert earlier_answer(again, again.judgements.get()) == newer.decision


def test_a_memory_that_was_taken_back_is_not_what_was_approved_before(token, alice):
    content = {"operation": "add", "user_id": "u", "content": "x", "existing": None}
    asked = {"kind": Kind.MEMORY, "capability": "memory"}
    first = make.approved(token, alice, content=content, **asked)
    then = make.pending(token, content=content | {"content": "y"}, **asked)
    assert memory_approved_before(then) == first

    recall(first, alice)

    assert memory_approved_before(then) is None
