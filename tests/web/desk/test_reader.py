import json

import pytest

from dashboard.approvals.models import Decision, ServedPart
from dashboard.web.drawing.windows import LINES
from tests.web.pages import links, page_of, read

PARTS = 5
CODE = "\n".join(f"row_{n} = {n}" for n in range(1, PARTS * LINES + 1))


@pytest.fixture
def long(ask):
    return ask(content={"code": CODE, "language": "python"})


@pytest.fixture
def open_part(browser):
    def get(approval, asked="", **more):
        response = browser.get(f"/approvals/{approval.pk}/lines?{asked}", **more)
        return response, read(response)

    return get


@pytest.fixture
def press(browser, long):
    """Press Approve as the page that is shown now would."""

    def post():
        bar = page_of(browser, long).one("form", class_="decide")
        form = {e["name"]: e["value"] for e in bar.all("input", type="hidden")}
        form |= {"verdict": "approve", "end_seen": "yes"}
        return browser.post(f"/approvals/{long.pk}/decide", form)

    return post


def lines_of(page):
    return [line.raw for line in page.all("code", class_="line")]


def test_a_page_begins_with_the_first_window_and_links_to_the_next(browser, long):
    page = page_of(browser, long)

    assert lines_of(page) == CODE.split("\n")[:LINES]
    assert ("Lines 1,001 to 2,000", f"/approvals/{long.pk}/lines?block=0&part=2") in links(page)


def test_all_windows_together_are_the_content(long, open_part):
    parts = [lines_of(open_part(long, f"part={n}")[1]) for n in range(1, PARTS + 1)]

    assert "\n".join(line for part in parts for line in part) == CODE


def test_lines_bring_their_numbers_into_every_window(long, open_part):
    _, page = open_part(long, "part=3")

    assert page.one("code", class_="line")["data-n"] == "2001"


def test_what_was_not_served_is_listed_and_approve_is_off(browser, long):
    page = page_of(browser, long)

    assert "lines 1,001 to 5,000" in page.one(class_="owed").text
    assert "disabled" in page.one("button", value="approve").attributes


def test_approve_is_refused_until_every_part_was_served(browser, long, press, open_part):
    for number in range(2, PARTS):
        open_part(long, f"part={number}")

    refused = press()
    assert (refused.status_code, Decision.objects.count()) == (403, 0)
    assert "1 part of it was not opened yet" in read(refused).text

    open_part(long, f"part={PARTS}")
    assert (press().status_code, Decision.objects.get().status) == (303, "approved")


def test_the_decision_keeps_how_much_was_served(long, press, open_part):
    for number in range(2, PARTS + 1):
        open_part(long, f"part={number}")
    press()

    shown = json.loads(Decision.objects.get().shown)
    assert (shown["parts_served"], shown["lines"]) == ([PARTS, PARTS], PARTS * LINES)


def test_what_somebody_else_was_served_does_not_count(browser, browser_of, bob, long, press):
    for number in range(1, PARTS + 1):
        browser_of(bob).get(f"/approvals/{long.pk}/lines?part={number}")

    assert press().status_code == 403


def test_what_a_browser_fetches_ahead_of_its_person_does_not_count(long, open_part, alice):
    open_part(long, "part=2", headers={"Sec-Purpose": "prefetch"})

    assert not ServedPart.objects.filter(person=alice, part=2).exists()


@pytest.mark.parametrize("dest", ["image", "iframe", "empty"])
def test_what_a_page_from_elsewhere_has_a_browser_fetch_does_not_count(long, open_part, dest):
    open_part(long, "part=2", headers={"Sec-Fetch-Site": "same-site", "Sec-Fetch-Dest": dest})

    assert not ServedPart.objects.exists()


def test_what_a_link_from_elsewhere_leads_to_counts(long, open_part):
    headers = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "document"}
    open_part(long, "part=2", headers=headers)

    assert ServedPart.objects.exists()


def test_rejecting_needs_no_reading(browser, long, answer):
    assert answer(browser, long, "reject").status_code == 303


def test_a_search_leads_to_the_line_and_counts_all(long, open_part):
    _, page = open_part(long, "find=ROW_4321 ", follow=True)

    assert page.one("code", class_="line--sought").raw == "row_4321 = 4321"
    assert "1 line holds this. line 4,321" in page.text


def test_a_search_without_a_hit_says_so(long, open_part):
    assert "0 lines hold this." in open_part(long, "find=nothing")[1].text


@pytest.mark.parametrize("asked", ["part=6", "block=1", "part=x", "block=-1", "line=0", "part=0"])
def test_there_is_no_other_part(long, open_part, asked):
    assert open_part(long, asked)[0].status_code == 404


def test_a_window_alone_is_what_the_page_puts_in(long, open_part):
    _, part = open_part(long, "part=2", headers={"X-Part": "alone"})

    assert (list(part.all("html")), lines_of(part)) == ([], CODE.split("\n")[LINES : 2 * LINES])


def test_a_finding_in_a_later_part_leads_there(browser, ask):
    approval = ask(content={"code": "x = 1\n" * 2_500 + "import os\nos.system('ls')"})

    hrefs = [a["href"] for a in page_of(browser, approval).all("a", class_="finding-place")]
    assert f"/approvals/{approval.pk}/lines?block=0&line=2502#line-0-2502" in hrefs


def test_many_short_texts_are_not_all_drawn_at_once(browser, ask):
    blocks = "\n\n".join("```python\n" + "x = 1\n" * 900 + "```" for _ in range(6))

    page = page_of(browser, ask(content={"code": blocks}))
    assert len(lines_of(page)) == 3 * 900
    assert "Text 4, lines 1 to 900" in page.one(class_="owed").text


def test_a_line_that_fills_windows_goes_on_in_the_next(ask, open_part):
    approval = ask(content={"code": "y = 1\nx = '" + "a" * 250_000 + "'"})

    pages = [open_part(approval, f"part={number}")[1] for number in (1, 2, 3, 4)]
    assert "".join(lines_of(page)[-1] for page in pages[1:]) == "x = '" + "a" * 250_000 + "'"
    rest = pages[2].one("code", class_="line")
    assert (rest["data-n"], rest["data-of"]) == ("↪", "2")


def test_the_outline_is_read_from_the_tree_and_not_from_texts(browser, ask):
    code = 'import os\n"""\ndef fake(): ...\n"""\nclass A:\n    def b(self):\n        import re\n'
    approval = ask(content={"code": code, "language": "python"})

    page = read(browser.get(f"/approvals/{approval.pk}/outline"))
    rows = [li.text for li in page.one("ol", class_="outline-rows").all("li")]
    assert rows == [
        "line 1 imports os",
        "line 5 class A",
        "line 6 function A.b",
        "line 7 imports re",
    ]


def test_the_outline_of_a_shell_lists_what_it_runs(browser, ask):
    approval = ask(content={"code": "ls -l\nrm -rf /tmp/x\n", "language": "bash"})

    page = read(browser.get(f"/approvals/{approval.pk}/outline"))
    assert [code.text for code in page.one("ol", class_="outline-rows").all("code")] == [
        "ls",
        "rm",
    ]


def test_what_cannot_be_parsed_has_no_outline(browser, ask):
    approval = ask(content={"code": "def (", "language": "python"})

    assert "no outline can be read" in read(browser.get(f"/approvals/{approval.pk}/outline")).text


def test_the_bar_alone_needs_no_content(browser, long):
    assert browser.get(f"/approvals/{long.pk}/state").status_code == 200
