"""An approval that is taken back at the moment when its agent starts it: exactly one wins."""

import pytest

from dashboard.approvals import services
from dashboard.approvals.errors import RecallRefused, Refused, TakenBack
from dashboard.approvals.models import Outcome, Recall
from tests import make
from tests.faults.conftest import IN_CHECKS
from tests.faults.test_races import at_once

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def how_many(in_full):
    return 300 if in_full else 30 if IN_CHECKS else 10


def refusal(verb):
    try:
        verb()
    except Refused as error:
        return type(error)
    return None


def take_back(approval, by):
    services.recall(approval_id=approval.pk, person=by, auth="session:password", reason="Not now.")


def test_an_approval_is_started_or_taken_back_and_never_both(token, alice, how_many):
    for _ in range(how_many):
        approval = make.approved(token, alice)

        ends = at_once(
            lambda one=approval: refusal(lambda: make.report(one, token)),
            lambda one=approval: refusal(lambda: take_back(one, alice)),
        )

        assert ends in ([None, RecallRefused], [TakenBack, None])
    assert Outcome.objects.count() + Recall.objects.count() == how_many


def test_of_two_who_take_it_back_at_once_one_is_recorded(token, alice, ada, how_many):
    for _ in range(how_many):
        approval = make.approved(token, alice)

        at_once(
            lambda one=approval: take_back(one, alice), lambda one=approval: take_back(one, ada)
        )

    assert Recall.objects.count() == how_many
