"""A snoozed request leaves one person's queue and comes back."""

from django.utils import timezone

from dashboard.approvals.rules.snooze import snoozed_by
from tests.web.pages import ids, post, tabs


def test_not_now_leaves_my_queue_and_stands_under_later(browser, browser_of, ask, alice, bob):
    approval, other = ask(), ask()

    post(browser, approval, "snooze", later="longest")

    assert ids(browser, "/") == ids(browser, "/?mine=1") == [str(other.pk)]
    assert ids(browser, "/?show=snoozed") == [str(approval.pk)]
    assert set(ids(browser_of(bob), "/")) == {str(approval.pk), str(other.pk)}
    post(browser, approval, "unsnooze")
    assert snoozed_by(alice, timezone.now()) == {}


def test_the_tabs_count_what_waits_what_is_for_me_assigned_and_snoozed(browser, ask):
    one, two, _ = ask(), ask(), ask()
    post(browser, one, "assign")
    post(browser, two, "snooze", later="longest")

    assert tabs(browser, "/?show=assigned") == {
        "2 for you": False,
        "2 all": False,
        "assigned to you 1": True,
        "snoozed 1": False,
        "decided": False,
    }
