"""In which order rows stand, what they stand under, and what they say besides."""

from dashboard.approvals import services
from dashboard.inspection.findings import Finding, Severity
from dashboard.inspection.sentences import SENTENCES
from tests import make
from tests.web.pages import links, page_of, read

NETWORK = SENTENCES["uses-network"].rstrip(".")
OF_TWO = {"name": "Two", "effect": "review", "demands": {"approvals": 2}}


def found(severity, code="uses-network", about="", kept=""):
    return Finding("network", severity, 1, 1, code, about=about, kept=kept)


def items(browser, address="/"):
    return list(read(browser.get(address)).one(id="list").all("li", class_="item"))


def ids(browser, address="/"):
    return [item["data-id"] for item in items(browser, address)]


def runs(browser, address="/"):
    page = read(browser.get(address))
    return [
        (run.one(class_="run-head").text, len(list(run.all("li"))))
        for run in page.all(class_="run")
    ]


def test_by_risk_the_gravest_comes_first_and_then_what_has_least_time_left(
    browser, ask, inspected
):
    inspected(found(Severity.LOW))
    low = ask(time_limit_s=60)
    inspected(found(Severity.HIGH))
    later, sooner = ask(time_limit_s=900), ask(time_limit_s=600)

    assert ids(browser, "/?order=risk") == [str(one.pk) for one in (sooner, later, low)]


def test_by_time_left_is_what_comes_without_asking(browser, ask, inspected):
    inspected(found(Severity.HIGH))
    later = ask(time_limit_s=900)
    inspected()
    sooner = ask(time_limit_s=60)

    assert ids(browser) == [str(sooner.pk), str(later.pk)]


def test_by_risk_the_next_action_is_the_gravest(browser, ask, inspected):
    inspected()
    ask(time_limit_s=60)
    inspected(found(Severity.HIGH))
    grave = ask()

    button = read(browser.get("/?order=risk")).one(id="pane").one(class_="button--primary")

    assert button.text == "Open the riskiest"
    assert button["href"] == f"/approvals/{grave.pk}?order=risk"


def test_rows_of_one_run_that_follow_each_other_stand_under_one_heading(browser, ask):
    ask(run_id="r1", time_limit_s=60)
    ask(run_id="r1", time_limit_s=70)

    assert runs(browser) == [("beamline · run r1 2", 2)]
    assert [list(item.all(class_="item-agent")) for item in items(browser)] == [[], []]


def test_the_heading_of_a_run_leads_to_its_story_and_names_it_outside_of_the_link(browser, ask):
    for _ in range(2):
        ask(run_id="r&1")

    (head,) = read(browser.get("/")).all(class_="run-head")

    assert links(head) == [("run", "/runs/beamline?run=r%261")]


def test_grouping_moves_nothing(browser, ask):
    order = [ask(run_id=run, time_limit_s=60 + n) for n, run in enumerate(("r1", "r2", "r1"))]

    assert runs(browser) == []
    assert ids(browser) == [str(one.pk) for one in order]


def test_the_same_run_of_two_agents_is_two_runs(browser, ask):
    ask(run_id="r1")
    make.pending(make.token(make.agent("other")), run_id="r1")

    assert runs(browser) == []


def test_requests_without_a_run_are_not_one_run(browser, ask):
    ask()
    ask()

    assert runs(browser) == []


def test_hidden_characters_of_a_run_are_drawn_in_its_heading(browser, ask):
    ask(run_id="\u200b<i>")
    ask(run_id="\u200b<i>")

    assert runs(browser) == [("beamline · run ZWSP<i> 2", 2)]


def progress(browser):
    said = items(browser)[0].one(class_="item-progress")
    return next(said.all("span")).text, said["title"]


def test_a_row_says_how_many_of_those_it_takes_have_approved(browser, ask, bob):
    make.in_force(OF_TWO)
    make.decided(ask(), bob)

    assert progress(browser) == ("1/2", "1 of 2 approved")


def test_a_yes_whose_right_was_lost_does_not_count(browser, ask, bob):
    make.in_force(OF_TWO)
    make.decided(ask(), bob)
    type(bob).objects.filter(pk=bob.pk).update(is_reviewer=False)

    assert progress(browser) == ("0/2", "0 of 2 approved")


def test_a_row_that_takes_one_yes_says_nothing_of_it(browser, ask):
    ask()

    assert list(items(browser)[0].all(class_="item-progress")) == []


def test_a_high_finding_is_said_with_its_sign_but_no_name_that_an_agent_chose(
    browser, ask, inspected
):
    inspected(found(Severity.LOW), found(Severity.HIGH, "network", "<b>\u202e"))
    ask()

    row = items(browser)[0]

    assert row.one(class_="sign")["title"] == f"High risk: {SENTENCES['network']}"
    assert row.one("a").text == "Python, 1 line: uses the network"
    assert row.one(class_="item-summary").text == "In the agent’s words: print(1)"


def test_a_report_too_long_to_carry_still_gives_its_high_finding(browser, ask, inspected):
    many = [found(Severity.LOW, about=f"little_{n}") for n in range(500)]
    grave = Finding("recursive-delete", Severity.HIGH, 1, 1, "deletes-folders")
    inspected(*many, grave, *many)
    ask()

    row = items(browser)[0]

    assert (
        row.one(class_="sign")["title"] == f"High risk: {SENTENCES['deletes-folders'].rstrip('.')}"
    )
    assert row.one("a").text == "Python, 1 line: deletes a folder"


def test_a_report_too_long_to_carry_still_gives_its_language_and_its_doubt(browser, ask):
    code = "\n".join(f"row_{n} = transform(source[{n}], scale=0.1)" for n in range(500))
    approval = ask(content={"code": code, "language": "python"})

    title = items(browser)[0].one("a").text
    assert title == "Python, 500 lines: not fully inspected"
    assert page_of(browser, approval).one("h1").text == title


def test_what_a_finding_is_about_may_be_long(browser, ask, inspected):
    inspected(found(Severity.HIGH, about="x" * 50_000))
    ask()

    row = items(browser)[0]

    assert row.one(class_="sign")["title"] == f"High risk: {NETWORK}"
    assert row.one(class_="item-summary").text == "In the agent’s words: print(1)"


def test_the_lines_of_long_code_are_counted(browser, ask, inspected):
    inspected()
    ask(content={"code": "x = '\\n'\n" * 2_000})

    assert items(browser)[0].one("a").text == "Python, 2,000 lines"


def test_every_page_counts_the_lines_of_long_code_alike(browser, ask, inspected):
    inspected()
    approval = ask(content={"code": "x = '\\n'\n" * 3_000}, run_id="r")

    pages = ("/", "/history", "/runs/beamline?run=r", f"/approvals/{approval.pk}")
    told = {page: "Python, 3,000 lines" in read(browser.get(page)).text for page in pages}

    assert told == dict.fromkeys(pages, True)


def test_the_lines_of_long_blocks_are_counted_as_on_the_page(browser, ask, inspected):
    inspected()
    blocks = ["```python\n" + "print(1)\n" * count + "```" for count in (900, 600)]
    approval = ask(content={"code": "\n\n".join(blocks)})

    assert items(browser)[0].one("a").text.endswith(" 1,500 lines")
    assert page_of(browser, approval).one("h1").text.endswith(" 1,500 lines")


def test_a_row_says_whose_it_is_and_who_has_it_open(browser, ask, alice, bob):
    mine, his = ask(time_limit_s=60), ask(time_limit_s=90)
    services.assign(approval_id=mine.pk, person=alice, auth="session:password")
    services.assign(approval_id=his.pk, person=bob, auth="session:password")
    services.mark_viewed(approval_id=mine.pk, person=bob, auth="session:password")

    told = [row.one(class_="item-meta").text for row in items(browser)]

    assert told == ["Assigned to you", "Assigned to bob"]


def test_the_title_counts_what_waits_and_says_nothing_else_of_it(browser, ask, alice):
    ask()
    make.pending(make.token(make.agent("mine", owner=alice)))

    assert read(browser.get("/")).one("title").text == "2 waiting · Approvals"


def test_a_title_without_anything_for_me_has_no_count(browser_of, ada, ask):
    ask()

    assert read(browser_of(ada).get("/")).one("title").text == "1 waiting · Approvals"
