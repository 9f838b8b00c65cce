import json
from uuid import uuid4

import pytest
from django.core import signing

from approval_client.wire import Status
from dashboard.approvals.models import Decision, View
from dashboard.inspection.findings import INSPECTOR_VERSION, Finding, Severity
from dashboard.web import content
from dashboard.web.desk import request, view
from dashboard.web.desk.answer import in_view_in_words
from tests import make
from tests.web.pages import page_of, read


def refusal(response):
    return read(response).one(id="request-bar").one(class_="notice--danger").text


@pytest.mark.parametrize(
    ("verdict", "status"), [("approve", Status.APPROVED), ("reject", Status.REJECTED)]
)
def test_an_answer_is_recorded_and_leads_back_to_the_page(browser, ask, answer, verdict, status):
    approval = ask()

    response = answer(browser, approval, verdict)

    assert (response.status_code, response["Location"]) == (303, f"/approvals/{approval.pk}")
    assert Decision.objects.get().status == status


def test_the_decision_keeps_what_the_page_had_shown(browser, ask, answer, inspected):
    inspected(Finding("network", Severity.MEDIUM, 2, 2, "uses-network"))
    answer(browser, ask(content={"code": "a\u202e\nb"}))

    shown = json.loads(Decision.objects.get().shown)

    assert shown.pop("view") != ""
    assert shown == {
        "renderer": request.RENDERER_VERSION,
        "lines": 2,
        "whole": True,
        "texts": [],
        "masked": 0,
        "masked_tokens": 0,
        "warnings": ["U+202E RIGHT-TO-LEFT OVERRIDE: 1"],
        "warning_count": 1,
        "inspector": INSPECTOR_VERSION,
        "findings": ["medium network 0:2-2"],
        "finding_count": 1,
        "end_seen": "yes",
    }


def test_a_rejection_takes_a_reason_and_an_approval_drops_what_was_typed(browser, ask, answer):
    answer(browser, ask(), "reject", reason="Wrong sector.")
    answer(browser, ask(), "approve", reason="Wrong sector.")

    reasons = Decision.objects.order_by("pk").values_list("status", "reason")
    assert list(reasons) == [("rejected", "Wrong sector."), ("approved", "")]


def test_a_note_with_an_approval_is_told_to_the_agent(browser, ask, answer):
    answer(browser, ask(), approve_reason="Only until 15:00.")

    assert Decision.objects.get().reason == "Only until 15:00."


def test_reasons_of_one_press_stand_before_what_was_typed(browser, ask, answer):
    answer(browser, ask(), "reject", because=["not-now", "too-broad"], reason="Ask at 15:00.")
    answer(browser, ask(), "reject", because=["wrong-target"])

    reasons = Decision.objects.order_by("pk").values_list("reason", flat=True)
    assert list(reasons) == ["Too broad. Not now.\nAsk at 15:00.", "Wrong target."]


def test_a_reason_that_is_not_offered_is_refused(browser, ask, answer):
    assert answer(browser, ask(), "reject", because=["no-such-reason"]).status_code == 422
    assert not Decision.objects.exists()


IN_VIEW = {"unit": "line", "of": 116, "seen": 116, "spans": [[1, 34, 12], [35, 116, 3]]}


def test_what_was_in_view_and_how_long_is_kept_and_said(browser, ask, answer):
    approval = ask()

    answer(browser, approval, in_view=json.dumps(IN_VIEW))

    assert json.loads(Decision.objects.get().shown)["in_view"] == IN_VIEW
    said = page_of(browser, approval).one(class_="result-seen").text
    assert said == "All 116 lines were in view, for 3 to 12 s."


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"of": 9, "seen": 1, "spans": [[4, 4, 2]]}, "1 of 9 lines was in view, for 2 s."),
        ({"seen": 2, "spans": [[1, 2, 0]]}, "2 of 116 lines were in view, for less than 1 s."),
        ({"of": 9, "seen": 0, "spans": []}, "None of 9 lines was in view."),
        ({"of": 1, "seen": 1, "spans": [[1, 1, 5]]}, "1 of 1 line was in view, for 5 s."),
        (
            {"unit": "step", "of": 3, "seen": 3, "spans": [[1, 3, 4]]},
            "All 3 steps were in view, for 4 s.",
        ),
    ],
)
def test_what_was_in_view_in_words(said, words):
    assert in_view_in_words(json.dumps({"in_view": IN_VIEW | said})) == words


@pytest.mark.parametrize(
    "said",
    [
        "{",
        "[]",
        "{}",
        json.dumps(IN_VIEW | {"seen": 117}),
        json.dumps(IN_VIEW | {"unit": "<b>"}),
        json.dumps(IN_VIEW | {"spans": [[0, 3, 1]]}),
        json.dumps(IN_VIEW | {"spans": [[5, 3, 1]]}),
        json.dumps(IN_VIEW | {"spans": [[1, 3, -1]]}),
        json.dumps(IN_VIEW | {"spans": [[1, 3, 10**9]]}),
        json.dumps(IN_VIEW | {"spans": [[1, 3]]}),
        json.dumps(IN_VIEW | {"spans": [[1, 1, 1]] * 61}),
        json.dumps(IN_VIEW | {"spans": []}),
        json.dumps(IN_VIEW | {"of": None}),
        json.dumps(IN_VIEW | {"of": 10**30, "seen": 1e999}),
        "1" * 4_001,
    ],
)
def test_what_no_page_of_ours_says_was_in_view_is_refused(browser, ask, answer, said):
    assert answer(browser, ask(), in_view=said).status_code == 422
    assert not Decision.objects.exists()


def test_an_approval_without_the_reason_that_the_policy_wants_is_refused(browser, ask, answer):
    make.in_force({"name": "Why", "effect": "review", "demands": {"reason_required": True}})
    approval = ask()

    reply = answer(browser, approval, approve_reason="  ")

    assert reply.status_code == 422
    assert "requires a reason for this approval. Nothing was recorded." in refusal(reply)
    approval.refresh_from_db()
    assert (approval.status, approval.votes.count()) == (Status.PENDING, 0)


def test_deciding_is_also_seeing(browser, ask, answer, alice):
    answer(browser, ask())

    assert [view.person for view in View.objects.all()] == [alice]


def test_with_htmx_the_bar_alone_comes_back(browser, ask, answer):
    response = answer(browser, ask(), headers={"HX-Request": "true"})

    page = read(response)
    ids = [e["id"] for e in page.inside if hasattr(e, "tag")]
    assert (response.status_code, ids) == (200, ["request-status", "request-why", "request-bar"])
    assert page.one(class_="result").one("strong").text == "Approved by you"


def test_who_comes_second_is_told_that_nothing_was_recorded(browser, ask, answer, bob):
    approval = ask()
    decision = make.decided(approval, bob, Status.REJECTED)

    response = answer(browser, approval)

    assert response.status_code == 409
    assert refusal(response) == (
        "Nothing was recorded This request was rejected already, at "
        f"{decision.decided_at:%H:%M:%S} UTC. What you sent was not recorded."
    )


def test_the_same_answer_twice_is_one_decision(browser, ask, answer):
    approval = ask()

    statuses = [answer(browser, approval).status_code for _ in range(2)]

    assert (statuses, Decision.objects.count()) == ([303, 303], 1)


@pytest.mark.parametrize("stale", [{"digest": "0" * 64}, {"judgement": 999_999}])
def test_an_answer_to_something_else_does_not_count(browser, ask, answer, stale):
    response = answer(browser, ask(), **stale)

    assert (response.status_code, Decision.objects.count()) == (409, 0)
    assert "changed after the page was shown" in refusal(response)


def test_what_another_page_had_shown_does_not_count(browser, ask, answer):
    other = ask()
    shown = request.request_content(other, other.judgements.get(), "h").shown

    response = answer(browser, ask(), shown=shown)

    assert (response.status_code, Decision.objects.count()) == (409, 0)


@pytest.mark.parametrize("missing", ["verdict", "digest", "judgement", "shown"])
def test_an_incomplete_answer_is_not_recorded(browser, ask, answer, missing):
    response = answer(browser, ask(), **{missing: ""})

    assert (response.status_code, Decision.objects.count()) == (422, 0)
    assert "did not send all that the page showed" in refusal(response)


def test_a_reason_that_is_too_long_comes_back_to_be_shortened(browser, ask, answer):
    response = answer(browser, ask(), "reject", reason="x" * 2001)

    assert (response.status_code, Decision.objects.count()) == (422, 0)
    assert "longer than 2000 characters" in refusal(response)
    assert read(response).one("textarea").text == "x" * 2001


def test_on_hold_nothing_is_approved_but_rejecting_works(browser, ask, answer, hold):
    approval = ask()

    response = answer(browser, approval)
    assert (response.status_code, Decision.objects.count()) == (409, 0)
    assert "put everything on hold" in refusal(response)
    assert answer(browser, approval, "reject").status_code == 303


def test_what_was_not_shown_whole_cannot_be_approved(browser, ask, answer):
    approval = ask(content={"code": "\n" * content.MOST_LINES})

    response = answer(browser, approval)

    assert (response.status_code, Decision.objects.count()) == (403, 0)
    assert "did not show the whole content" in refusal(response)


def test_an_owner_is_refused(browser, alice, answer):
    response = answer(browser, make.pending(make.token(make.agent("hers", owner=alice))))

    assert (response.status_code, Decision.objects.count()) == (403, 0)
    assert "You own hers or issued its token" in refusal(response)


@pytest.mark.parametrize("role", ["admin", "auditor"])
def test_who_does_not_review_is_refused(browser_of, ask, answer, role):
    response = answer(browser_of(make.person("r", **{role: True})), ask())

    assert (response.status_code, Decision.objects.count()) == (403, 0)
    assert "Only reviewers can decide" in refusal(response)


def test_an_answer_to_nothing_is_not_found(browser):
    assert browser.post(f"/approvals/{uuid4()}/decide").status_code == 404


@pytest.mark.parametrize("action", ["decide", "seen"])
def test_reading_addresses_do_not_act(browser, ask, action):
    assert browser.get(f"/approvals/{ask().pk}/{action}").status_code == 405


@pytest.mark.parametrize("action", ["decide", "seen"])
def test_a_form_of_another_site_is_refused(browser_of, ask, alice, action):
    elsewhere = browser_of(alice, enforce_csrf_checks=False)
    elsewhere.defaults["HTTP_ORIGIN"] = "http://127.0.0.1:8888"

    assert elsewhere.post(f"/approvals/{ask().pk}/{action}").status_code == 403
    assert View.objects.count() == 0


def test_a_form_without_its_token_is_refused(browser_of, ask, alice, answer):
    response = answer(browser_of(alice, enforce_csrf_checks=True), ask())

    assert (response.status_code, Decision.objects.count()) == (403, 0)


def test_what_was_shown_is_signed_for_its_purpose(ask):
    approval = ask()
    forged = signing.dumps({"id": str(approval.pk), "shown": {"whole": True}}, salt="other")

    assert view.what_was_shown(str(approval.pk), forged) is None
