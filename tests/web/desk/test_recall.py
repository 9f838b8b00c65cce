import pytest

from approval_client.wire import Kind, Status
from dashboard.approvals import services
from dashboard.approvals.models import Recall
from tests import make
from tests.web.desk.test_history_export import exported, rows_of
from tests.web.pages import bar_of, page_of, read


@pytest.fixture
def approval(token, alice):
    return make.approved(token, alice, run_id="r")


def take_back(browser, approval, reason="The beam is on."):
    return browser.post(f"/approvals/{approval.pk}/take-back", {"reason": reason})


def is_offered(browser, approval):
    """Whether the page of the request leads to a form that takes it back."""
    address = f"/approvals/{approval.pk}/take-back"
    has_link = next(bar_of(browser, approval).all("a", href=address), None) is not None
    response = browser.get(address)
    has_form = response.status_code == 200
    assert has_link == has_form
    assert has_form or response["Location"] == f"/approvals/{approval.pk}"
    return has_form


def recalled(approval, by):
    services.recall(
        approval_id=approval.pk, person=by, auth="session:password", reason="<b>Beam</b> on."
    )


def test_who_gave_it_can_take_it_back(browser, approval):
    assert is_offered(browser, approval)

    take_back(browser, approval)

    assert Recall.objects.get().reason == "The beam is on."


def test_the_page_that_asks_why_names_what_was_approved(browser, token, alice):
    call = {"tool": "refund_order", "arguments": {"order": 48213}}
    fields = {"kind": Kind.TOOL_CALL, "capability": "refund_order", "content": call}
    approved = make.approved(token, alice, **fields)

    page = read(browser.get(f"/approvals/{approved.pk}/take-back"))

    said = page.one(class_="recall-title").text
    assert said == page_of(browser, approved).one(id="request-title").text
    assert "refund_order" in said


def test_an_admin_can_take_it_back(browser_of, approval, ada):
    assert is_offered(browser_of(ada), approval)


@pytest.mark.parametrize("role", ["reviewer", "auditor"])
def test_others_are_not_offered_it_and_are_refused(browser_of, approval, role):
    other = browser_of(make.person("other", **{role: True}))
    assert not is_offered(other, approval)

    response = take_back(other, approval)

    assert response.status_code == 403
    assert not Recall.objects.exists()


def test_without_a_reason_nothing_is_taken_back(browser, approval):
    response = take_back(browser, approval, " ")

    assert response.status_code == 422
    assert "Say why you take it back" in read(response).text
    assert not Recall.objects.exists()


def test_what_runs_is_not_offered_and_refused_in_a_sentence(browser, approval, token):
    make.report(approval, token)
    assert not is_offered(browser, approval)

    response = take_back(browser, approval)

    assert response.status_code == 409
    assert "so it runs already or has run. Nothing was changed." in read(response).text


@pytest.mark.parametrize("status", [None, Status.REJECTED])
def test_what_is_not_approved_is_not_offered(browser, token, alice, status):
    approval = make.pending(token)
    if status:
        make.decided(approval, alice, status)

    assert not is_offered(browser, approval)


def test_the_page_says_who_took_it_back_and_why(browser, approval, alice):
    recalled(approval, alice)

    page = page_of(browser, approval)

    said = page.one(id="request-bar").text
    assert "Taken back by you" in said
    assert "<b>Beam</b> on." in said
    assert "Approved by you" in said
    assert "The agent had not started it, so nothing ran." in said
    assert page.one(id="request-status").text == "Taken back"
    assert not is_offered(browser, approval)


def test_the_bar_changes_when_it_is_taken_back(browser, approval, alice):
    before = bar_of(browser, approval)["data-stamp"]

    recalled(approval, alice)

    assert bar_of(browser, approval)["data-stamp"] != before


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("/history", "taken back by alice, never started"),
        ("/runs/beamline?run=r", "Taken back by you: <b>Beam</b> on."),
        ("/runs/beamline?run=r", "1 taken back"),
        ("/?show=decided", "Taken back"),
    ],
)
def test_lists_and_the_run_say_so(browser, approval, alice, address, said):
    recalled(approval, alice)

    assert said in read(browser.get(address)).text


def test_the_audit_page_says_so(browser_of, approval, alice, ada):
    recalled(approval, alice)

    said = read(browser_of(ada).get("/audit")).text
    assert "alice took back the approval of" in said
    assert "<b>Beam</b> on." in said


def test_the_form_says_that_a_remembered_approval_stays(browser, token, alice):
    grant = make.granted(token, alice, content={"code": "print(1)", "language": "python"})

    page = read(browser.get(f"/approvals/{grant.made_from_id}/take-back"))

    assert f"This does not end remembered approval {grant.pk}." in page.text


def test_the_export_says_so(browser, approval, alice):
    recalled(approval, alice)

    (row,) = rows_of(exported(browser))

    assert (row["taken_back_by"], row["taken_back_because"]) == ("alice", "<b>Beam</b> on.")
