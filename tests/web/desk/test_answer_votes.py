"""Several people approve: who did so far, what is missing, and whose yes does not count."""

import pytest

from approval_client.wire import Status
from dashboard.accounts.services import groups
from dashboard.approvals.models import Vote
from tests import make
from tests.web.pages import bar_of, page_of


def needs(**demands):
    make.in_force({"name": "Careful", "effect": "review", "demands": demands})


def buttons(bar):
    return [button["value"] for button in bar.all("button", name="verdict")]


def said(bar):
    return bar.one(class_="progress-said").text


def voters(element):
    """Who said yes and why, without the time."""
    return [
        (v.one("strong").text, [r.text for r in v.all(class_="voter-reason")])
        for v in element.one("ul", class_="voters").all("li")
    ]


@pytest.fixture
def two(ask):
    """A request that two people have to approve."""
    needs(approvals=2)
    return ask()


def test_before_any_vote_the_bar_says_how_many_are_needed(browser, two):
    bar = bar_of(browser, two)

    assert (said(bar), buttons(bar)) == ("0 of 2 people approved", ["approve", "reject"])


def test_the_bar_says_who_approved_and_when(browser, two, bob):
    vote = make.decided(two, bob, reason="Fine.")

    bar = bar_of(browser, two)

    assert said(bar) == "1 of 2 people approved"
    assert voters(bar) == [("bob", ["Fine."])]
    assert bar.one(class_="voters").one("time").text == f"{vote.voted_at:%H:%M:%S} UTC"


def test_after_my_vote_one_more_is_needed_and_i_can_still_reject(browser, two, answer):
    answer(browser, two)

    bar = bar_of(browser, two)

    assert said(bar) == "1 of 2 people approved You approved; 1 more is needed."
    assert buttons(bar) == ["reject"]
    assert voters(bar) == [("you", [])]


def test_a_vote_raises_the_version_and_changes_the_stamp(browser, two, bob):
    before = bar_of(browser, two)["data-stamp"]
    make.decided(two, bob)

    after = bar_of(browser, two)["data-stamp"]
    two.refresh_from_db()
    assert (two.version, before == after) == (2, False)


def test_a_vote_does_not_change_the_basis(browser, two, bob, answer):
    make.decided(two, bob)

    assert answer(browser, two).status_code == 303
    two.refresh_from_db()
    assert two.status == Status.APPROVED


def test_the_result_names_all_who_approved(browser, two, alice, bob):
    make.decided(two, bob, reason="Fine.")
    make.decided(two, alice)

    result = bar_of(browser, two).one(class_="result")

    assert result.one(class_="result-title").one("strong").text == "Approved by bob and you"
    assert voters(result) == [("bob", ["Fine."]), ("you", [])]


def test_the_result_of_one_person_names_nobody_twice(browser, ask, alice):
    approval = ask()
    make.decided(approval, alice)

    assert list(bar_of(browser, approval).all(class_="voters")) == []


def test_a_rejection_keeps_who_had_approved(browser, two, alice, bob):
    make.decided(two, bob)
    make.decided(two, alice, Status.REJECTED, reason="Not now.")

    result = bar_of(browser, two).one(class_="result")

    assert result.one(class_="result-title").one("strong").text == "Rejected by you"
    assert result.one(class_="result-reason").text == "Not now."
    assert voters(result) == [("bob", [])]


def test_who_is_in_no_group_that_counts_is_told_before_pressing(browser, ask):
    make.group("operators")
    needs(groups=["operators"])

    bar = bar_of(browser, ask())

    assert "disabled" in bar.one("button", value="approve").attributes
    assert bar.one(id="why-not").text == (
        "The policy requires an approval from operators, and you are not a member. You can still "
        "reject it."
    )


def test_a_vote_that_counts_no_more_is_told_so(browser, ask, alice, bob):
    group = make.group("operators", alice, bob)
    needs(groups=["operators"], approvals=2)
    approval = ask()
    make.decided(approval, bob)
    groups.set_members(group, members=[alice], by=make.BY)

    bar = bar_of(browser, approval)

    assert said(bar) == "0 of 2 people approved"
    assert "no longer counts" in bar.one(class_="voters").text


def test_whose_own_vote_counts_no_more_is_told_why(browser, ask, alice, bob, answer):
    group = make.group("operators", alice, bob)
    needs(groups=["operators"], approvals=2)
    approval = ask()
    answer(browser, approval)
    groups.set_members(group, members=[bob], by=make.BY)

    bar = bar_of(browser, approval)

    assert said(bar) == "0 of 2 people approved"
    assert "you are not a member" in bar.one(id="why-not").text


def test_a_reader_sees_how_far_it_has_come(browser_of, two, bob):
    make.decided(two, bob)

    bar = bar_of(browser_of(make.person("otto", auditor=True)), two)

    assert (said(bar), list(bar.all("form"))) == ("1 of 2 people approved", [])


def test_where_one_is_enough_nothing_is_counted(browser, ask):
    assert list(page_of(browser, ask()).all(class_="progress")) == []


def test_a_vote_keeps_what_the_page_had_shown(browser, two, answer):
    answer(browser, two)

    assert '"view":"' in Vote.objects.get().shown
