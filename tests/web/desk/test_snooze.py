"""A snoozed request leaves one person's queue and comes back."""

from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone
from django.utils.html import strip_tags

from dashboard.approvals.rules.snooze import SnoozeChoice, SnoozeLength, snoozed_by
from dashboard.web.desk.snooze import choice_in_words
from dashboard.web.drawing import moments
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


@pytest.mark.parametrize("length", [SnoozeLength.MORNING, SnoozeLength.LONGEST])
def test_a_snooze_of_days_names_the_day(length):
    until = datetime(2026, 3, 4, 8, tzinfo=UTC)

    words = choice_in_words(SnoozeChoice(length, until))

    assert strip_tags(words) == "Until 2026-03-04 08:00:00 UTC"


def test_until_when_it_is_snoozed_is_a_time_that_is_written_in_the_zone_of_the_reader(
    browser, ask, alice
):
    approval = ask(time_limit_s=7 * 86_400)
    post(browser, approval, "snooze", later="longest")
    until = moments.clock(snoozed_by(alice, timezone.now())[approval.pk])

    assert timedelta(days=3) < snoozed_by(alice, timezone.now())[approval.pk] - timezone.now()
    assert until in browser.get("/?show=snoozed").content.decode()
    assert f"Snoozed until {until}" in browser.get(f"/approvals/{approval.pk}").content.decode()
