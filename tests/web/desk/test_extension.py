"""More time is offered near the end, and added."""

from datetime import timedelta

from dashboard.approvals.models import ApprovalRequest
from tests import make
from tests.web.pages import bar_of, post


def test_time_is_offered_near_the_end_and_added(browser, token):
    approval = make.pending(token, time_limit_s=50)
    form = bar_of(browser, approval).one("form", class_="extend")
    assert (form.one("button").text, "hidden" in form.attributes) == ("Add 5 min", False)

    answer = post(browser, approval, "extend", ends=form.one("input", name="ends")["value"])

    assert answer.status_code == 303
    now = ApprovalRequest.objects.get(pk=approval.pk)
    assert now.expires_at == approval.expires_at + timedelta(minutes=5)


def test_long_before_the_end_the_offer_waits(browser, ask):
    assert "hidden" in bar_of(browser, ask()).one("form", class_="extend").attributes


def test_where_the_agent_waits_no_longer_nothing_is_offered(browser, token):
    approval = make.pending(token, time_limit_s=50, max_wait_s=50)

    assert list(bar_of(browser, approval).all("form", class_="extend")) == []
