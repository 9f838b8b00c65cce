from datetime import timedelta

import pytest

from approval_client.wire import Status
from dashboard.approvals import services
from dashboard.approvals.models import Decision
from dashboard.approvals.rules.grant import GrantScope, GrantTerms
from dashboard.inspection.findings import Report
from dashboard.policies import inspections
from dashboard.web.office.policies import backtest
from tests import make
from tests.web.pages import links
from tests.web.pages import read as tree

PRINTS = {
    "name": "prints",
    "when": {"kinds": ["code"], "content_matches": "print.*"},
    "effect": "approve",
}
NO_PRINTS = {"name": "no prints", "when": {"content_matches": "print"}, "effect": "reject"}
NO_MODES = {
    "global_mode": "selective",
    "capabilities": {"python_execution": None, "memory": None},
}


@pytest.fixture(autouse=True)
def _nothing_is_found(monkeypatch):
    report = Report(languages=("python",)).to_json()
    monkeypatch.setattr(inspections, "_inspected", lambda _: report)


@pytest.fixture
def run(reviewer):
    """Try rules on the last days; returns the answer."""

    def send(*rules, days=30, policy=None):
        policy = policy or make.in_force(*rules, modes=NO_MODES).number
        return reviewer.get("/policies/backtest", {"policy": policy, "days": days})

    return send


def answered(token, person, *statuses):
    """Requests that a person answered."""
    asked = [make.pending(token, content={"code": "print(1)"}) for _ in statuses]
    for approval, status in zip(asked, statuses, strict=True):
        make.decided(approval, person, status, reason="No." * (status == Status.REJECTED))
    return asked


def figures(reply):
    """The large figures: name -> text."""
    whole = tree(reply).one("dl", class_="figures")
    return dict(zip(*([e.text for e in whole.all(t)] for t in ("dt", "dd")), strict=True))


def test_what_a_person_rejected_and_would_be_approved_is_linked(run, token, alice):
    rejected, _ = answered(token, alice, Status.REJECTED, Status.APPROVED)

    wrong = tree(run(PRINTS)).one(class_="wrong")
    assert wrong.one("h3").text == "Approved without asking, although a person rejected it: 1"
    assert ("Code from beamline", f"/approvals/{rejected.pk}") in links(wrong)
    assert "Rejected by you" in wrong.text


def test_what_a_person_edited_counts_as_a_no(run, token, alice):
    (edited,) = answered(token, alice, Status.APPROVED)
    with make._unguarded():
        Decision.objects.filter(approval=edited).update(digest="0" * 64)

    assert "Edited by you" in tree(run(PRINTS)).one(class_="wrong").text


def test_what_a_person_took_back_counts_as_a_no(run, token, alice):
    (approval,) = answered(token, alice, Status.APPROVED)
    recalled(approval, alice)

    wrong = tree(run(PRINTS)).one(class_="wrong").text
    assert "Taken back by you" in wrong
    assert "The beam is on." in wrong
    assert list(tree(run(NO_PRINTS)).all(class_="wrong")) == []


def recalled(approval, person):
    services.recall(
        approval_id=approval.pk, person=person, auth="session:password", reason="The beam is on."
    )


def test_what_a_person_approved_and_would_be_rejected_is_linked(run, token, alice):
    (approved,) = answered(token, alice, Status.APPROVED)

    wrong = tree(run(NO_PRINTS)).one(class_="wrong")
    assert wrong.one("h3").text == "Rejected without asking, although a person approved it: 1"
    assert ("Code from beamline", f"/approvals/{approved.pk}") in links(wrong)


def test_a_policy_that_agrees_with_people_has_nothing_in_red(run, token, alice, read):
    answered(token, alice, Status.APPROVED)

    reply = run(PRINTS)
    assert list(tree(reply).all(class_="wrong")) == []
    assert "Nothing that a person rejected, edited or took back would be approved" in read(reply)


def test_prompts_saved_and_waiting_are_counted(run, token, alice):
    for approval, minutes in zip(
        answered(token, alice, *["approved"] * 3), (1, 2, 6), strict=True
    ):
        began = approval.decision.decided_at - timedelta(minutes=minutes)
        make._backdate(approval, submitted_at=began)

    shown = figures(run(PRINTS))
    assert shown["Prompts saved"] == "3"
    assert shown["Prompts added"] == "0"
    assert shown["Waiting saved"] == "9 min in 3 answers by people; the median is 2 min"


def test_prompts_added_are_counted(run, token):
    make.in_force(NO_PRINTS, modes=NO_MODES)
    make.pending(token, content={"code": "print(1)"})

    assert figures(run())["Prompts added"] == "1"


def test_what_a_remembered_approval_answered_is_no_prompt_added(run, token, alice, read):
    make.in_force(make.REMEMBERS, modes=NO_MODES)
    first, terms = ask(token), GrantTerms(scope=GrantScope.CONTENT, this_run=False)
    make.decided(first, alice, remember=terms)
    ask(token)

    reply = run(make.REMEMBERS)
    assert figures(reply)["Prompts added"] == "0"
    assert "1 that this policy would have reviewed was answered by a remembered approval" in read(
        reply
    )
    # Without the rule nothing is remembered.
    assert figures(run())["Prompts added"].startswith("1 that may wait")


def ask(token):
    return make.pending(token, content={"code": "print(1)"}, accepts_grants=True)


def test_what_an_added_prompt_may_cost_is_said(run, token, alice):
    make.in_force(NO_PRINTS, modes=NO_MODES)
    make.pending(token, content={"code": "print(1)"})
    make.in_force()
    (approval,) = answered(token, alice, Status.APPROVED)
    make._backdate(approval, submitted_at=approval.decision.decided_at - timedelta(minutes=4))

    assert figures(run())["Prompts added"] == (
        "1 that may wait 4 min each, the median of all answers by people"
    )


def test_then_and_now_stand_side_by_side(run, token, alice):
    answered(token, alice, Status.APPROVED, Status.REJECTED)

    table = tree(run(PRINTS)).one("table")
    rows = [[cell.text for cell in row.inside if hasattr(cell, "text")] for row in table.all("tr")]
    assert rows[1:] == [
        ["Approved, nobody asked", "0", "2"],
        ["A person asked", "2", "0"],
        ["Rejected, nobody asked", "0", "0"],
    ]


def test_how_often_each_rule_matched_is_said(run, token, alice, read):
    answered(token, alice, Status.APPROVED)
    never = {"name": "never", "when": {"tools": ["x"]}, "effect": "review"}

    assert "prints approves 1 never asks never" in read(run(PRINTS, never))


def test_agents_and_capabilities_have_their_own_lines(run, token, alice, read):
    answered(token, alice, Status.REJECTED, Status.APPROVED)

    assert "beamline python_execution 2 2 2 0 1" in read(run(PRINTS))


def test_one_draft_is_tried_and_nothing_changes(run, alice, token, read):
    answered(token, alice, Status.APPROVED)

    reply = run(policy="in_force")
    assert "Revision 1 on 1 request" in read(reply)
    assert figures(reply)["Prompts saved"] == "0"


def test_the_form_alone_runs_nothing(reviewer, token, alice, read):
    answered(token, alice, Status.APPROVED)

    page = read(reviewer.get("/policies/backtest", {"policy": "1"}), "main")
    assert "Choose a policy and how far back" in page
    assert "Prompts saved" not in page


def test_days_without_questions_are_said_to_be(run, read):
    assert "No requests in these days" in read(run(PRINTS))


def test_what_still_waits_is_counted_and_left_out(run, token, alice, read):
    answered(token, alice, Status.APPROVED)
    make.pending(token)

    assert "1 still waits for an answer and is left out." in read(run(PRINTS))


def test_more_than_the_most_is_cut_and_said(run, token, alice, monkeypatch, read):
    monkeypatch.setattr(backtest, "MOST_REQUESTS", 2)
    answered(token, alice, *["approved"] * 3)

    assert "1 older than these is left out." in read(run(PRINTS))


def test_findings_of_an_older_inspector_are_counted(run, token, alice, monkeypatch, read):
    old = Report(inspector="0", languages=("python",)).to_json()
    monkeypatch.setattr(inspections, "_inspected", lambda _: old)
    answered(token, alice, Status.APPROVED)

    assert "1 was inspected by an older inspector" in read(run(PRINTS))


@pytest.mark.parametrize("days", ["0", "366", "many", ""])
def test_days_have_to_be_a_number_up_to_a_year(run, days):
    assert run(PRINTS, days=days).status_code == 422


@pytest.mark.parametrize("policy", ["99", "draft", "nothing"])
def test_a_policy_that_is_not_there_is_refused_and_said(run, read, policy):
    reply = run(policy=policy)

    assert reply.status_code == 422
    assert "There is no such policy" in read(reply)


def test_who_has_no_role_may_not(enter, db):
    nina = enter(make.person("nina"))

    assert nina.get("/policies/backtest").status_code == 403


def test_many_cases_take_as_many_queries_as_few(reviewer, cost, token, alice):
    path = f"/policies/backtest?days=30&policy={make.in_force(PRINTS, modes=NO_MODES).number}"
    make.in_force()
    answered(token, alice, Status.REJECTED)
    few = cost(reviewer, path)

    answered(token, alice, *[Status.REJECTED] * 20)
    assert cost(reviewer, path) == few
