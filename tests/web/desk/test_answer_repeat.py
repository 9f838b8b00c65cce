"""An earlier answer is given again by one press."""

from approval_client.wire import Status
from tests import make
from tests.web.pages import bar_of


def test_the_same_no_is_one_press_and_says_its_words(browser, answer, ask, alice):
    make.decided(ask(run_id="r"), alice, Status.REJECTED, reason="Wrong sector.")
    same = ask(run_id="r")
    offer = bar_of(browser, same).one(class_="same")
    assert offer.one("button").text == "Same as before: reject"
    assert "by you: Wrong sector. These words are sent again." in offer.text

    number = offer.one("input", name="same_as")["value"]
    answer(browser, same, "same-reject", same_as=number, reason="dropped")

    assert (same.decision.status, same.decision.reason) == (Status.REJECTED, "Wrong sector.")
    result = bar_of(browser, same).one(class_="result-title")
    assert result.one("strong").text == "Rejected by you, as before"


def test_the_same_yes_needs_the_end_in_sight_unless_it_was_mine(
    browser, browser_of, ask, alice, bob
):
    make.decided(ask(run_id="r"), alice)
    same = ask(run_id="r")

    mine, bobs = (bar_of(one, same).one(class_="same") for one in (browser, browser_of(bob)))

    assert "data-unseen" not in mine.one("button").attributes
    assert "data-unseen" in bobs.one("button").attributes


def test_an_answer_as_before_to_something_else_is_refused(browser, answer, ask, alice):
    decision = make.decided(ask(run_id="r"), alice, Status.REJECTED)
    other = ask(run_id="r", content={"code": "print(2)"})

    assert answer(browser, other, "same-reject", same_as=decision.pk).status_code == 409
    other.refresh_from_db()
    assert other.status == Status.PENDING


def test_a_yes_as_before_is_not_offered_to_whose_yes_does_not_count(
    browser, agent, ask, alice, bob
):
    make.decided(ask(run_id="r"), bob)
    make.own(agent, alice)

    assert list(bar_of(browser, ask(run_id="r")).all(class_="same")) == []
