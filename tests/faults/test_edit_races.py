"""An edit and the original, approved at once: one of them is."""

from contextlib import suppress
from threading import Barrier

import pytest

from dashboard.approvals.errors import AlreadyClosed
from dashboard.approvals.models import Decision
from dashboard.audit.services import verify
from tests import make
from tests.faults.test_races import at_once


@pytest.mark.django_db(transaction=True)
def test_of_an_edit_and_the_original_exactly_one_is_approved(token, alice, bob):
    asked = {"content": {"code": "a = 1"}, "accepts_edits": True}
    approvals = [make.pending(token, **asked) for _ in range(10)]
    edits = {one.pk: make.edited(one, alice) for one in approvals}
    pace = Barrier(2)

    def approve(person, *, edited):
        for one in approvals:
            basis = make.basis(one, edits[one.pk] if edited else None)
            pace.wait()
            with suppress(AlreadyClosed):
                make.decided(one, person, basis=basis)

    at_once(lambda: approve(alice, edited=False), lambda: approve(bob, edited=True))

    assert Decision.objects.count() == len(approvals)
    for decision in Decision.objects.select_related("edit", "approval"):
        assert decision.digest == (decision.edit or decision.approval).digest
    assert verify() is None
