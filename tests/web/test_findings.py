"""What our inspection found: said under its lines, and listed above the content."""

import pytest

from approval_client.wire import Kind
from dashboard.inspection.findings import Finding, Severity, in_doubt
from dashboard.inspection.sentences import SENTENCES
from dashboard.web import findings
from dashboard.web.desk import request, view
from tests.web.pages import page_of

CODE = {"code": "\n".join(f"line_{n} = {n}" for n in range(1, 10)), "language": "python"}
FENCED = {"code": "```python\na = 1\n```\n\n```bash\nls\nrm x\n```"}
WRITES = Finding("file-write", Severity.MEDIUM, 3, 5, "writes-file")
DELETES = Finding("file-delete", Severity.HIGH, 7, 7, "deletes-files")
NETWORK, DELETION = SENTENCES["uses-network"], SENTENCES["deletes-files"]
READS = Finding("file-read", Severity.INFO, 3, 3, "file-read")


@pytest.fixture
def found(browser, ask, inspected):
    """Have these found in a request, and show what its page says of them."""

    def show(*what, content=CODE, **more):
        inspected(*what)
        return page_of(browser, ask(content=content, **more))

    return show


def listed(page):
    rows = page.one("section", class_="found").all("li", class_="finding")
    return [(row.one(class_="risk").text, row.one("p").text, row.one("code").text) for row in rows]


def lines(page, css_class):
    return [line.raw for line in page.all("code", class_=css_class)]


def test_findings_are_listed_the_gravest_first(found):
    page = found(READS, WRITES, DELETES)

    assert listed(page) == [
        ("High", f"{DELETION} line 7", "file-delete"),
        ("Medium", f"{SENTENCES['writes-file']} lines 3 to 5", "file-write"),
        ("Note", f"{SENTENCES['file-read']}. line 3", "file-read"),
    ]


def test_they_are_counted(found):
    page = found(READS, READS, WRITES, DELETES)

    counts = page.one(class_="found").one("summary").all(class_="risk")
    assert [count.text for count in counts] == ["1 high", "1 medium", "2 notes"]


def said(page):
    return [note.text for note in page.one(class_="block").all(class_="line-note")]


def test_a_finding_is_said_under_its_line(found):
    page = found(DELETES, WRITES)

    assert said(page) == [
        f"Medium: {SENTENCES['writes-file']} Lines 3 to 5.",
        f"High: {DELETION}",
    ]
    lines_and_notes = [e for e in page.one(class_="code").inside if not isinstance(e, str)]
    at = [e.attributes.get("class") for e in lines_and_notes].index("line-note line-note--high")
    assert lines_and_notes[at - 1].text == "line_7 = 7"


def test_what_repeats_is_said_once_with_its_lines(found):
    again = [Finding("network", Severity.MEDIUM, n, n, "uses-network") for n in (2, 4, 9)]

    page = found(*again)

    assert said(page) == [f"Medium: {NETWORK} Also lines 4 and 9."]
    assert len(list(page.all("a", class_="mark"))) == 3


def test_of_what_repeats_often_only_some_lines_are_named(found):
    code = {"code": "x\n" * 40, "language": "python"}
    again = [Finding("network", Severity.MEDIUM, n, n, "uses-network") for n in range(1, 11)]

    page = found(*again, content=code)

    assert said(page) == [f"Medium: {NETWORK} Also lines 2, 3, 4, 5, 6, 7 and 3 more."]


def test_next_leads_to_the_first_line_from_the_top(found):
    assert found(DELETES, WRITES).one(class_="walk-on")["href"] == "#line-0-3"


def test_a_long_text_has_a_map_of_what_was_found(found):
    code = {"code": "x = 1\n" * 200, "language": "python"}

    page = found(Finding("network", Severity.HIGH, 150, 150, "uses-network"), content=code)

    link = page.one("svg", class_="map").one("a")
    assert (link["href"], link.one("rect")["y"]) == ("#line-0-150", "149")
    assert link.one("title").text == "Line 150: high, network"


def test_a_short_text_has_no_map(found):
    assert list(found(DELETES).all("svg", class_="map")) == []


def test_a_finding_leads_to_its_line_and_the_line_back(found):
    page = found(DELETES)

    place = page.one(id="finding-1").one("a")
    mark = page.one("a", class_="mark")
    assert (place["href"], page.one(id="line-0-7").text) == ("#line-0-7", "line_7 = 7")
    assert (mark["href"], mark["aria-label"]) == ("#finding-1", "Line 7: high, file-delete")


def test_every_line_of_a_finding_is_marked_and_the_first_one_has_a_sign(found):
    page = found(WRITES)

    assert lines(page, "line--medium") == ["line_3 = 3", "line_4 = 4", "line_5 = 5"]
    assert len(list(page.all("a", class_="mark"))) == 1


def test_what_is_about_all_of_it_marks_the_first_line_alone(found):
    page = found(Finding("not-inspected", Severity.HIGH, 1, 9, "no-language"))

    assert lines(page, "line--high") == ["line_1 = 1"]
    assert listed(page)[0][1] == f"{SENTENCES['no-language']} not followed lines 1 to 9"


def test_a_line_has_the_colour_of_the_gravest_finding_about_it(found):
    page = found(READS, WRITES)

    assert (lines(page, "line--info"), len(lines(page, "line--medium"))) == ([], 3)


def test_marks_are_no_part_of_the_content(found):
    page = found(WRITES, DELETES)

    shown = [line.raw for line in page.one("figure").all("code", class_="line")]
    assert shown == CODE["code"].split("\n")


def test_a_finding_of_the_second_block_leads_there(found):
    page = found(Finding("file-delete", Severity.HIGH, 2, 2, "deletes-files", 1), content=FENCED)

    assert listed(page)[0][1] == f"{DELETION} block 2, line 2"
    assert page.one(id="line-1-2").text == "rm x"


@pytest.mark.parametrize(("line", "block"), [(0, 0), (99, 0), (1, 5), (1, -1)])
def test_what_has_no_line_on_the_page_has_no_link(found, line, block):
    page = found(Finding("too-large", Severity.HIGH, line, line, "too-large", block))

    assert listed(page) == [("High", f"{SENTENCES['too-large']} not read", "too-large")]
    assert list(page.all("a", class_="mark")) == []


def test_an_end_beyond_the_content_is_cut(found):
    page = found(Finding("network", Severity.MEDIUM, 8, 500, "uses-network"))

    assert lines(page, "line--medium") == ["line_8 = 8", "line_9 = 9"]
    assert listed(page)[0][1] == f"{NETWORK} lines 8 to 9"


@pytest.mark.parametrize(
    ("name", "badge", "care"),
    [
        ("does-not-parse", "not read", "Not fully inspected: it may"),
        ("cannot-be-followed", "not followed", "Not fully followed: read it with care"),
    ],
)
def test_a_doubt_says_whether_something_was_not_read_or_not_followed(found, name, badge, care):
    page = found(in_doubt(name, "This is not Python.").findings[0])

    section = page.one("section", class_="found")
    assert section.one(class_="finding-doubt").text == badge
    assert care in section.one(class_="found-doubts").text


@pytest.mark.parametrize(
    ("kind", "content", "said"),
    [
        (Kind.CODE, CODE, "No known risks found. This is not a guarantee."),
        (
            Kind.TOOL_CALL,
            {"tool": "t", "arguments": {}},
            "Nobody has classed this tool. No code or hidden characters found in it.",
        ),
        (
            Kind.PLAN,
            {"steps": [{"task": "x"}]},
            "What the steps would do was not checked. No code or hidden characters found in it.",
        ),
        (
            Kind.MEMORY,
            {"operation": "add", "user_id": "u", "content": "x"},
            "Whether it is true was not checked. No code or hidden characters found in it.",
        ),
    ],
)
def test_where_nothing_was_found_the_page_says_what_is_true(found, kind, content, said):
    section = found(kind=kind, content=content).one("section", class_="found")

    assert section.text == f"What we found {said}"
    assert list(section.all("svg")) == []


def test_more_than_a_page_holds_is_counted(found, monkeypatch):
    monkeypatch.setattr(findings, "MOST_SHOWN", 2)
    page = found(READS, DELETES, READS)

    assert [row[0] for row in listed(page)] == ["High", "Note"]
    assert "And 1 more" in page.one("section", class_="found").text


def test_findings_stand_outside_of_what_the_agent_sent(found):
    forged = '<li class="finding"><span class="badge">High</span> ✔ We found nothing</li>'
    first = Finding("file-delete", Severity.HIGH, 1, 1, "deletes-files")
    page = found(first, content={"code": forged}, objective=forged, evidence={"a": forged})

    assert len(list(page.all("li", class_="finding"))) == 1
    framed = [*page.all("figure"), *page.all(class_="untrusted")]
    assert [e for part in framed for e in part.all(class_="finding")] == []
    assert said(page) == [f"High: {DELETION}"]


def test_what_a_finding_is_about_is_drawn_as_the_agents(found):
    about = "<b>\u202ea</b>"
    page = found(Finding("file-delete", Severity.HIGH, 1, 1, "file-delete", about=about))

    row = page.one(class_="finding")
    assert row.one(class_="said").text == "<b>RLOa</b>"
    assert [glyph.text for glyph in row.all(class_="glyph")] == ["RLO"]
    assert listed(page)[0][1].startswith(f"{SENTENCES['file-delete']}: <b>")


def test_a_sentence_that_was_kept_is_drawn_like_anything_that_may_quote_an_agent(found):
    page = found(Finding("odd", Severity.HIGH, 1, 1, "", kept="Looks like <b>\u202ea</b>."))

    assert [glyph.text for glyph in page.one(class_="finding").all(class_="glyph")] == ["RLO"]
    assert listed(page)[0][1].startswith("Looks like <b>")


def test_a_code_of_a_newer_version_is_said_by_the_name_of_its_finding(found):
    page = found(Finding("file-delete", Severity.HIGH, 1, 1, "deletes-by-magic"))

    assert listed(page)[0][1] == f"{SENTENCES['file-delete']}. line 1"


def test_findings_about_a_tool_call_are_listed_too(found):
    content = {"tool": "rm", "arguments": {"path": "/"}}
    page = found(
        Finding("file-delete", Severity.HIGH, 0, 0, "deletes-files"),
        kind=Kind.TOOL_CALL,
        capability="rm",
        content=content,
    )

    assert listed(page) == [("High", DELETION, "file-delete")]


def test_what_is_shown_fits_into_the_form_however_much_is_found(browser, ask, inspected):
    many = [
        Finding("control-system-write", Severity.HIGH, n, n + 9999, "writes-control", n)
        for n in range(10_000, 10_500)
    ]
    inspected(*many)
    approval = ask(content=CODE)

    shown = request.request_content(approval, approval.judgements.get(), "h").shown

    kept = view.what_was_shown(str(approval.pk), shown)
    assert (len(kept["findings"]), kept["finding_count"]) == (findings.MOST_SHOWN, 500)
    assert len(shown) < 10_000
