"""Who is viewing a request."""

from tests.web.pages import read


def test_seen_says_who_else_reads(browser, browser_of, ask, bob):
    approval = ask()
    browser_of(bob).post(f"/approvals/{approval.pk}/seen")

    said = read(browser.post(f"/approvals/{approval.pk}/seen")).one(id="request-viewing")

    assert said.text == "bob is viewing"
