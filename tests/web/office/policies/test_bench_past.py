"""Trying a policy on a past request: with what was found then, and what happened then."""

import json

import pytest

from approval_client.wire import Status
from dashboard.audit.models import AuditEntry
from dashboard.inspection.findings import Finding, Report, Severity
from dashboard.inspection.sentences import SENTENCES
from dashboard.policies import inspections
from dashboard.policies.services import current_revision
from tests import make
from tests.web.pages import read as tree

READS = {"name": "prints", "when": {"content_matches": "print"}, "effect": "review"}
CALL = {"tool": "delete_user", "arguments": {"user_id": "12"}}


def steps(reply):
    return list(tree(reply).all("li", class_="step"))


def look(client, approval, **more):
    return client.get("/policies/bench", {"request": str(approval.pk), **more})


def test_a_past_request_is_tried_with_what_was_found_then(reviewer, found, token, read):
    found(Finding("network", Severity.MEDIUM, 1, 1, "uses-network"))
    approval = make.pending(token)
    found()

    assert SENTENCES["uses-network"] in read(look(reviewer, approval), "answer")


def test_a_past_request_is_tried_on_the_policy_that_was_chosen(reviewer, found, token):
    approval = make.pending(token)
    make.in_force(READS)

    assert len(steps(look(reviewer, approval, policy="1"))) == 1
    assert len(steps(look(reviewer, approval))) == 2


def test_a_past_request_says_what_happened_then(reviewer, found, token, alice, read):
    approval = make.pending(token)
    make.decided(approval, alice, Status.REJECTED, reason="No.")

    page = read(look(reviewer, approval), "main")
    assert "Revision 1 A person is asked. In the end Rejected by you." in page


def test_findings_of_an_older_inspector_are_said_to_be(reviewer, found, token, monkeypatch, read):
    old = Report(inspector="0").to_json()
    monkeypatch.setattr(inspections, "_inspected", lambda _: old)

    page = read(look(reviewer, make.pending(token)), "answer")
    assert "by an older inspector (version 0)" in page


def test_the_address_of_a_request_is_as_good_as_its_id(reviewer, found, token):
    approval = make.pending(token)

    address = f"http://127.0.0.1:8000/approvals/{str(approval.pk).upper()}?show=decided"
    reply = reviewer.get("/policies/bench", {"request": address})
    assert len(steps(reply)) == 1


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ("00000000-0000-4000-8000-000000000000", "There is no such request."),
        ("7f", "This contains no id of a request."),
    ],
)
def test_what_is_no_request_is_refused_and_said(reviewer, read, wanted, said):
    reply = reviewer.get("/policies/bench", {"request": wanted})

    assert reply.status_code == 422
    assert said in read(reply)


def test_a_past_request_can_be_changed_and_tried_again(reviewer, found, token):
    approval = make.pending(
        token, kind="tool_call", capability="crm", content=CALL, run_id="night-7"
    )

    page = tree(reviewer.get("/policies/bench", {"copy": str(approval.pk)}))
    assert json.loads(page.one("textarea").raw) == CALL
    assert page.one("input", name="agent")["value"] == "beamline"
    assert page.one("input", name="run")["value"] == "night-7"


def test_looking_at_a_past_request_changes_nothing(reviewer, found, token):
    approval = make.overdue(token)
    entries = AuditEntry.objects.count()

    look(reviewer, approval)
    assert AuditEntry.objects.count() == entries
    assert current_revision().number == 1
