"""A notebook is pinned when its agent asks, stays as it was, or is forgotten if none names it."""

import json
from datetime import timedelta
from unittest.mock import patch

import pytest
from django.db import DatabaseError, transaction
from django.utils import timezone

from dashboard.approvals import services
from dashboard.approvals.errors import NotAllowed
from dashboard.approvals.models import Notebook, NotebookPin
from dashboard.approvals.rules import notebook as notebook_rules
from dashboard.audit.models import AuditEntry
from dashboard.audit.services import verify
from tests import make
from tests.notebooks import code, digest_of, notebook

BODY = notebook(code("x"))
NAMED = {"notebook": digest_of(BODY)}


def sent(token, body=BODY):
    return services.send_notebook(token=token, digest=digest_of(body), body=body)[0]


def a_day_later(**more):
    later = timezone.now() + timedelta(days=1) + timedelta(**more)
    return patch("dashboard.approvals.services.notebook.database_now", lambda: later)


def test_a_request_is_pinned_to_the_notebook_that_it_names(token):
    kept = sent(token)

    approval = make.pending(token, evidence=NAMED)

    assert notebook_rules.pinned_to(approval.pk) == kept
    assert NotebookPin.objects.get().approval == approval


def test_the_log_says_which_notebook_was_pinned(token):
    sent(token)
    make.pending(token, evidence=NAMED)

    entry = AuditEntry.objects.get(action="approval.submitted")
    assert json.loads(entry.details)["notebook"] == NAMED["notebook"]
    assert verify() is None


def test_a_notebook_that_comes_after_the_question_is_no_part_of_it(token):
    approval = make.pending(token, evidence=NAMED)
    sent(token)

    assert notebook_rules.pinned_to(approval.pk) is None


def test_another_agents_notebook_is_no_part_of_it(token):
    sent(make.token(make.agent("other")))

    assert notebook_rules.pinned_to(make.pending(token, evidence=NAMED).pk) is None


def test_another_token_of_the_same_agent_may_have_sent_it(agent, token):
    sent(make.token(agent))

    assert notebook_rules.pinned_to(make.pending(token, evidence=NAMED).pk)


@pytest.mark.parametrize("named", [1, None, ["a" * 64], "A" * 64, "Not sent.", {"cells": []}])
def test_what_is_no_digest_names_no_notebook(token, named):
    assert notebook_rules.pinned_to(make.pending(token, evidence={"notebook": named}).pk) is None


def test_a_token_that_was_revoked_meanwhile_sends_nothing(token, ada):
    stale = type(token).objects.get(pk=token.pk)
    services.revoke_token(token=token, by=make.BY)

    with pytest.raises(NotAllowed):
        sent(stale)
    assert not Notebook.objects.exists()


def test_what_nobody_names_is_forgotten_after_a_day_and_the_log_says_so(token):
    sent(token)
    assert services.forget_notebooks() == 0

    with a_day_later(seconds=1):
        assert services.forget_notebooks() == 1
    assert not Notebook.objects.exists()
    assert AuditEntry.objects.get(action="notebook.forgotten").digest == digest_of(BODY)


def test_what_a_request_names_is_kept(token):
    sent(token)
    make.pending(token, evidence=NAMED)

    with a_day_later(days=30):
        assert services.forget_notebooks() == 0
    assert Notebook.objects.count() == 1


@pytest.mark.parametrize("change", [{"body": b"{}"}, {"digest": "0" * 64}, {"outline": "{}"}])
def test_the_database_itself_keeps_a_notebook_as_it_was(token, change):
    kept = sent(token)

    with pytest.raises(DatabaseError, match="a notebook never changes"), transaction.atomic():
        Notebook.objects.filter(pk=kept.pk).update(**change)


def test_the_database_itself_keeps_what_is_pinned(token):
    kept = sent(token)
    make.pending(token, evidence=NAMED)

    with pytest.raises(DatabaseError, match="never deleted"), transaction.atomic():
        Notebook.objects.filter(pk=kept.pk)._raw_delete("default")


@pytest.mark.parametrize("act", ["update", "delete"])
def test_the_database_itself_keeps_a_pin(token, act):
    sent(token)
    make.pending(token, evidence=NAMED)
    other = sent(token, notebook(code("y")))

    change = {"update": lambda: NotebookPin.objects.update(notebook=other)}
    with pytest.raises(DatabaseError, match="never change"), transaction.atomic():
        change.get(act, lambda: NotebookPin.objects.all()._raw_delete("default"))()


def test_the_notebook_before_is_the_last_one_of_the_same_run(token):
    first = sent(token)
    make.pending(token, evidence=NAMED, run_id="r")
    make.pending(token, run_id="r")
    second = sent(token, notebook(code("y")))
    approval = make.pending(token, evidence={"notebook": second.digest}, run_id="r")

    assert notebook_rules.pinned_before(approval) == first
    assert notebook_rules.pinned_before(make.pending(token, evidence=NAMED, run_id="s")) is None


def test_without_a_run_there_is_no_notebook_before(token):
    sent(token)
    make.pending(token, evidence=NAMED)

    assert notebook_rules.pinned_before(make.pending(token, evidence=NAMED)) is None
