from datetime import timedelta
from urllib.parse import urlencode

import pytest

from approval_client.wire import OutcomeState, Status
from dashboard.approvals import guards, services
from dashboard.approvals.models import Decision, Outcome, View
from dashboard.approvals.rules import run
from tests import make
from tests.web.pages import page_of, read

ODD = "../a b?c=d&e#f/\u202e<b>é"
FIRST = {"code": "from epics import caput\ncaput('SR:C01', 3.2)"}
SECOND = {"code": "from epics import caput\ncaput('SR:C02', 3.2)"}


@pytest.fixture
def run_page(browser):
    """Read the page of a run of the agent."""

    def get(run_id="r"):
        response = browser.get(f"/runs/beamline?{urlencode({'run': run_id})}")
        assert response.status_code == 200
        return read(response)

    return get


def steps_of(page):
    return list(page.all("li", class_="told"))


def kinds(page):
    return [step.one("a").text for step in steps_of(page)]


def test_a_run_is_told_in_the_order_in_which_things_were_asked(ask, run_page):
    asked = [ask(run_id="r", content={"code": f"print({n})"}) for n in range(3)]
    ask(run_id="other")

    links = [step.one("a")["href"] for step in steps_of(run_page())]

    assert links == [f"/approvals/{approval.pk}" for approval in asked]


def test_each_step_says_what_was_asked_and_what_a_person_answered(ask, run_page, bob):
    make.decided(ask(run_id="r"), bob, Status.REJECTED, reason="Wrong sector.")

    (step,) = steps_of(run_page())

    assert step.one(class_="item-summary").text == "In the agent’s words: print(1)"
    assert step.one("q").text == "Wrong sector."
    assert "Rejected by bob after " in step.text
    assert "Nothing was approved, so nothing may run." in step.text


def test_what_ran_says_how_it_ended(token, run_page, alice):
    approval = make.approved(token, alice, run_id="r")
    make.report(approval, token)
    make.report(approval, token, OutcomeState.FINISHED, exit_code=3, duration_s=2.0, error="Oh")

    (step,) = steps_of(run_page())

    assert "It ended with an error after 2.0 s, exit code 3, says the agent." in step.text
    assert step.one(class_="said").text == "Oh"


def test_what_the_policy_answered_names_the_policy(ask, run_page):
    make.in_force({"name": "No", "effect": "reject", "when": {"kinds": ["code"]}})
    ask(run_id="r")

    (step,) = steps_of(run_page())

    assert "Rejected by the policy; nobody was asked" in step.text


def test_what_waits_says_for_how_long_it_can(ask, run_page):
    ask(run_id="r")

    (step,) = steps_of(run_page())

    assert "Waits for an answer." in step.text
    assert step.one(class_="left").text.endswith("left")


def test_a_step_names_the_earlier_one_that_it_resembles(ask, run_page):
    for content in (FIRST, SECOND, FIRST):
        ask(run_id="r", content=content)

    likes = [like.text for like in run_page().all(class_="told-like")]

    assert likes == [
        "Resembles no. 1 (waiting): 1 line removed and 1 line added. See the difference",
        "Exactly the same as no. 1 (waiting).",
    ]


def test_lines_in_another_order_are_called_that(ask, run_page):
    lines = [f"print({n})" for n in range(9)]
    for code in (lines, [*lines[4:], *lines[:4]]):
        ask(run_id="r", content={"code": "\n".join(code)})

    like = run_page().one(class_="told-like")

    assert "the same lines in another order" in like.text


def test_a_run_may_be_called_anything(ask, browser, run_page):
    approval = ask(run_id=ODD)
    link = page_of(browser, approval).one(class_="request-run").one("a")
    page = read(browser.get(link["href"]))

    assert [title.partition(":")[0] for title in kinds(page)] == ["Code"]
    assert page.one(class_="said").text == "../a b?c=d&e#f/RLO<b>é"
    assert "\u202e" not in page.raw


def test_the_agents_name_for_a_run_is_in_no_title_or_link(ask, run_page):
    ask(run_id="evil", content={"code": "evil"})
    page = run_page("evil")

    places = [e for tag in ("title", "h1", "h2", "button", "a") for e in page.all(tag)]
    assert [place.text for place in places if "evil" in place.text] == []


def test_what_was_asked_outside_of_any_run_has_a_page_too(ask, browser):
    ask()
    ask(run_id="r")

    page = read(browser.get("/runs/beamline"))

    assert page.one("h1").text == "What beamline asked outside of any run"
    assert len(steps_of(page)) == 1


def test_a_run_in_which_nothing_was_asked_says_so(agent, run_page):
    page = run_page("nothing")

    assert page.one("h2").text == "Nothing was asked here"
    assert [a["href"] for a in page.one(class_="empty").all("a")] == ["/history?agent=beamline"]


@pytest.mark.parametrize("path", ["/runs/nobody?run=r", "/runs/beamline?run=%00"])
def test_what_cannot_be_is_not_found(agent, browser, path):
    assert browser.get(path).status_code == 404


def test_without_a_role_nothing_is_told(browser_of, agent):
    assert browser_of(make.person("nora")).get("/runs/beamline?run=r").status_code == 403


def test_of_a_very_long_run_the_newest_are_told_and_numbered(ask, run_page, monkeypatch):
    monkeypatch.setattr(run, "MOST_IN_A_STORY", 2)
    for _ in range(5):
        ask(run_id="r")

    page = run_page()

    assert page.one("ol", class_="story")["start"] == "4"
    assert page.one(class_="notice").text == (
        "Only the newest 2 of 5 requests are told here. All of them are in the history."
    )


def test_what_the_agent_withdrew_has_its_reason_in_its_own_voice(ask, token, run_page):
    services.cancel(approval_id=ask(run_id="r").pk, token=token, reason="never mind")

    (step,) = steps_of(run_page())

    assert step.one(class_="said").text == "never mind"
    assert list(step.all("q")) == []


def lines_of(page):
    """What each line of the timeline says."""
    return [mark["aria-label"] for mark in page.one(class_="run-line").all("a", class_="mark")]


def at(approval, table, seconds, field, **chosen):
    """Have something have happened ``seconds`` after the request was asked."""
    guards.remove()
    moment = approval.submitted_at + timedelta(seconds=seconds)
    table.objects.filter(approval=approval, **chosen).update(**{field: moment})
    guards.install()


def test_the_timeline_says_when_what_happened(token, run_page, alice):
    approval = make.approved(token, alice, run_id="r")
    make.report(approval, token)
    make.report(approval, token, OutcomeState.FINISHED, exit_code=0)
    View.objects.create(approval=approval, person=alice, seen_at=approval.submitted_at)
    at(approval, View, 9, "seen_at")
    at(approval, Decision, 42, "decided_at")
    at(approval, Outcome, 42.2, "reported_at", state="started")
    at(approval, Outcome, 60, "reported_at", state="finished")

    page = run_page()

    assert lines_of(page) == [
        (
            "No. 1, Code: first viewed after 9.0 s, approved after 42 s, started after 42 s, "
            "finished after 1 min"
        )
    ]
    assert [c.text for c in page.one(class_="run-line").one("tbody").all("td")][1:] == [
        "9.0 s",
        "42 s",
        "42 s",
        "1 min",
    ]


def test_the_timeline_says_what_ended_with_an_error(token, run_page, alice):
    approval = make.approved(token, alice, run_id="r")
    make.report(approval, token)
    make.report(approval, token, OutcomeState.FINISHED, exit_code=3)
    page = run_page()

    (line,) = lines_of(page)

    assert line.endswith(" with an error")
    assert "Ended with an error" in page.one(class_="run-line").one(class_="legend").text


def test_what_is_open_waits_in_the_timeline(ask, run_page):
    ask(run_id="r")

    (line,) = lines_of(run_page())

    assert line.startswith("No. 1, Code: waiting for ")


def test_each_line_of_the_timeline_leads_to_its_step(ask, run_page, monkeypatch):
    monkeypatch.setattr(run, "MOST_IN_A_STORY", 2)
    for _ in range(3):
        ask(run_id="r")
    page = run_page()

    leads = [mark["href"] for mark in page.one(class_="run-line").all("a", class_="mark")]

    assert leads == [f"#{step['id']}" for step in steps_of(page)] == ["#step-2", "#step-3"]


def test_thirty_steps_cost_as_many_queries_as_one(token, alice, ask, browser, count_queries):
    def tell():
        browser.get("/runs/beamline?run=r")

    def happen(number):
        approval = make.approved(token, alice, run_id="r", content={"code": f"print({number})"})
        make.report(approval, token)
        make.report(approval, token, OutcomeState.FINISHED, exit_code=0)

    happen(0)
    one = count_queries(tell)
    for number in range(1, 30):
        happen(number)

    assert count_queries(tell) == one
