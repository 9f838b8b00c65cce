"""What is said of the steps of a plan, believed of nobody."""

import pytest

from approval_client.wire import Status, StepAnswer, canonical_json
from dashboard.approvals.errors import AlreadyClosed, EditRefused, StepsRefused
from dashboard.approvals.models import Decision, Edit
from dashboard.approvals.rules.step import StepSaid
from tests import make

pytestmark = pytest.mark.django_db
PLAN = {"steps": [{"capability": "one"}, {"capability": "two"}]}
BOTH = [StepSaid(0, StepAnswer.ALLOWED), StepSaid(1, StepAnswer.REFUSED)]
NOT_ITS_STEPS = [
    BOTH[:1],
    [*BOTH, StepSaid(2, StepAnswer.HELD)],
    [*BOTH, BOTH[0]],
    BOTH[::-1],
    [BOTH[0], BOTH[0]],
]
TOO_LONG = StepSaid(1, StepAnswer.REFUSED, "x" * 501)


@pytest.fixture
def plan(token):
    return make.pending(token, kind="plan", capability="plan", content=PLAN, accepts_edits=True)


def test_what_is_allowed_of_a_plan_is_kept_as_an_edit(plan, alice):
    assert make.part_of(plan, alice, BOTH).content == canonical_json({"steps": PLAN["steps"][:1]})


@pytest.mark.parametrize("steps", NOT_ITS_STEPS)
def test_answers_to_other_steps_make_no_part_of_a_plan(plan, alice, steps):
    with pytest.raises(StepsRefused, match="Answer each step of the plan once"):
        make.part_of(plan, alice, steps)

    assert not Edit.objects.exists()


@pytest.mark.parametrize("steps", NOT_ITS_STEPS)
def test_a_rejection_with_answers_to_other_steps_is_not_recorded(plan, alice, steps):
    with pytest.raises(StepsRefused, match="Answer each step of the plan once"):
        make.decided(plan, alice, Status.REJECTED, steps=steps)

    assert not Decision.objects.exists()


def test_a_note_on_a_step_that_is_too_long_is_refused_wherever_it_comes_from(plan, alice):
    with pytest.raises(StepsRefused, match="longer than 500 characters"):
        make.part_of(plan, alice, [BOTH[0], TOO_LONG])
    with pytest.raises(StepsRefused, match="longer than 500 characters"):
        make.decided(plan, alice, Status.REJECTED, steps=[BOTH[0], TOO_LONG])


@pytest.mark.parametrize(
    ("answer", "why"), [("allowed", "Approve the plan as it is"), ("held", "nothing is left")]
)
def test_all_of_a_plan_and_none_of_it_are_no_part(plan, alice, answer, why):
    with pytest.raises(StepsRefused, match=why):
        make.part_of(plan, alice, [StepSaid(index, StepAnswer(answer)) for index in range(2)])


def test_no_part_is_made_of_a_plan_that_is_taken_whole(token, alice):
    whole = make.pending(token, kind="plan", capability="plan", content=PLAN)

    with pytest.raises(EditRefused, match="only as a whole"):
        make.part_of(whole, alice, BOTH)


def test_what_is_no_plan_has_no_steps(token, alice):
    code = make.pending(token, accepts_edits=True)

    with pytest.raises(StepsRefused, match="Only a plan has steps"):
        make.decided(code, alice, Status.REJECTED, steps=BOTH)


def test_a_rejection_with_words_on_steps_returns_the_first_when_sent_again(plan, alice):
    first = make.decided(plan, alice, Status.REJECTED, steps=BOTH)

    assert make.decided(plan, alice, Status.REJECTED, steps=BOTH) == first


def test_a_rejection_with_words_on_steps_is_not_the_one_without(plan, alice):
    make.decided(plan, alice, Status.REJECTED)

    with pytest.raises(AlreadyClosed):
        make.decided(plan, alice, Status.REJECTED, steps=BOTH)
