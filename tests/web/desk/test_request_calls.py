"""A tool call and a plan on the page: readable, marked where something was found, complete."""

import pytest

from approval_client.wire import Kind, parse_json
from dashboard.inspection.findings import Finding, Severity
from dashboard.inspection.sentences import SENTENCES
from tests.web.pages import page_of

BIG = {f"k{number:02}": number for number in range(40)}


def high(block, line):
    return Finding("file-delete", Severity.HIGH, line, line, "deletes-files", block)


@pytest.fixture
def called(browser, ask):
    """Show the page of a call with these arguments."""

    def show(arguments, tool="t"):
        content = {"tool": tool, "arguments": arguments}
        return page_of(browser, ask(kind=Kind.TOOL_CALL, capability="t", content=content))

    return show


@pytest.fixture
def planned(browser, ask):
    """Show the page of a plan of these steps."""
    return lambda *steps: page_of(browser, ask(kind=Kind.PLAN, content={"steps": list(steps)}))


def folds(page):
    return ["open" in e.attributes for e in page.one(class_="call").all("details")]


def raw(page):
    return "\n".join(line.raw for line in page.one(class_="raw").all("code", class_="line"))


def test_a_call_shows_the_tool_and_a_row_an_argument(called):
    arguments = {"cascade": True, "user_id": "12", "note": "by mail"}
    page = called(arguments, tool="delete_user")
    call = page.one(class_="call")

    rows = [
        (row.one(class_="member-name").text, row.one(class_="member-value").text)
        for row in call.all("li")
    ]
    assert page.one(class_="call-tool").text == "delete_user"
    assert rows == [("cascade", "true"), ("note", "by mail"), ("user_id", "12text")]


def test_what_holds_more_comes_after_what_is_one_value(called):
    call = called({"a": {"x": 1, "y": 2, "z": 3, "w": 4}, "b": [{}, 1], "c": 1}).one(class_="call")

    top = call.one("ul", class_="members")
    names = [row.one(class_="member-name").text for row in top.inside]
    assert names == ["c", "a", "b"]


def test_a_small_object_stands_on_one_line(called):
    call = called({"total": {"amount": 166, "currency": "GBP"}}).one(class_="call")

    (row,) = call.all("li")
    assert row.text == "totalamount166 currencyGBP"


def test_a_small_object_is_laid_out_where_something_was_found_in_it(called, inspected):
    inspected(high(1, 1))

    call = called({"a": {"command": "rm x"}}).one(class_="call")

    assert len(list(call.all("li"))) == 2
    assert call.one(class_="line-note").text == f"High: {SENTENCES['deletes-files']}"


def test_a_call_without_arguments_says_so(called):
    assert "It is called without arguments." in called({}).one(class_="call").text


def test_the_whole_call_is_there_as_json(called):
    arguments = {"a": [1, {"b": "x\ny"}], "c": 1.5}

    assert parse_json(raw(called(arguments))) == {"arguments": arguments, "tool": "t"}


def test_the_whole_plan_is_there_as_json(planned):
    steps = [{"task": "t", "inputs": [{"A": 1}]}]

    assert parse_json(raw(planned(*steps))) == {"steps": steps}


def test_code_says_the_language_that_it_was_read_in(called):
    page = called({"sql": "select 1", "note": "select 1"})

    assert [badge.text for badge in page.one(class_="call").all(class_="badge")] == ["SQL"]


def test_a_finding_is_marked_on_its_line_of_its_argument(called, inspected):
    inspected(high(2, 3))
    page = called({"a": "x", "command": "ls\n\nrm x"})

    row = page.one(id="finding-1")
    assert (row.one(class_="said").text, row.one("a").text) == ("command", "line 3")
    assert row.one("a")["href"] == "#line-2-3"
    assert page.one(id="line-2-3").text == "rm x"
    assert page.one("a", class_="mark")["href"] == "#finding-1"


def test_what_our_inspection_really_finds_is_marked_there_too(called):
    page = called({"argv": ["ls"], "script": {"command": "ls\n\nrm -rf /srv"}})

    assert [line.text for line in page.all("code", class_="line--high")] == ["rm -rf /srv"]
    assert page.one(class_="finding").one(class_="said").text == "script, command"


def test_the_same_in_several_arguments_is_one_row_with_all_places(called, inspected):
    inspected(high(1, 1), high(2, 1))
    page = called({"a": "x", "b": "y"})

    (row,) = page.one(class_="found").all("li", class_="finding")
    assert [a["href"] for a in row.all("a")] == ["#line-1-1", "#line-2-1"]
    assert [mark["href"] for mark in page.all("a", class_="mark")] == ["#finding-1", "#finding-2"]
    assert row.one(id="finding-2").one(class_="said").text == "b"


def test_a_finding_in_a_plan_is_marked_in_its_step(planned, inspected):
    inspected(high(2, 1))
    page = planned({"capability": "mail", "task": "send"}, {"task": "x"})

    assert page.one(id="line-2-1").text == "send"


def test_nothing_is_folded_before_a_person_folds_it(called, inspected):
    inspected()

    small = {"a": 1, "b": 2, "c": 3, "d": 4}
    assert folds(called({"big": BIG, "small": small})) == [True, True]


@pytest.mark.parametrize(
    ("name", "spelled"),
    [
        (" dry_run", '" dry_run"'),
        ("dry_run ", '"dry_run "'),
        ("dry_run\n", r'"dry_run\n"'),
        ("dry\trun", r'"dry\trun"'),
    ],
)
def test_a_name_with_blanks_that_could_go_unseen_is_spelled_out_and_warned_of(
    called, name, spelled
):
    member = called({name: True}).one(class_="member")

    assert member.one(class_="member-name").text == spelled
    assert "blanks in a name" in member.one(class_="member-warning").text


def test_a_name_with_quotes_is_not_drawn_as_one_that_is_spelled_out(called):
    assert called({'" x"': 1}).one(class_="member-name").text == r'"\" x\""'


@pytest.mark.parametrize(
    "step", [{"n": "5  to=x"}, {"n=5 to": "x"}, {"n": "5", "a b": "x"}, {"n": "to=x"}]
)
def test_one_argument_of_a_step_is_never_drawn_as_two(planned, step):
    drawn = planned({"task": "Send"} | step).one(class_="plan-step")

    assert list(drawn.all(class_="pair")) == []
    assert [name.text for name in drawn.all(class_="member-name")] == sorted(step)


def test_an_empty_name_is_seen(called):
    assert called({"": 1}).one(class_="member-name").text == '""'


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"force": False}, {"force": [False]}),
        ({"limit": None}, {"limit": [None]}),
        ({"o": {"x": 1}}, {"o": {"x": [1]}}),
        ({"o": [[1], "x"]}, {"o": [1, "x"]}),
        ({"ids": "1, 2"}, {"ids": [1, 2]}),
    ],
)
def test_a_list_is_never_drawn_as_what_is_in_it(called, planned, one, other):
    assert called(one).one(class_="call").text != called(other).one(class_="call").text
    drawn = [planned({"task": "a"} | step).one(class_="plan-step").text for step in (one, other)]
    assert drawn[0] != drawn[1]


def test_names_and_values_are_drawn_and_never_markup(called):
    page = called({"<b>\u202e": "<script>alert(1)</script>", "n": ["<i>"]}, tool="<u>x")

    call = page.one(class_="call")
    assert [e for tag in ("script", "b", "i", "u") for e in call.all(tag)] == []
    assert "RLO" in [glyph.text for glyph in call.all(class_="glyph")]
    assert "Hidden characters: U+202E" in call.one(class_="member-warning").text


def test_no_word_of_the_agent_is_in_a_heading_a_button_or_a_link(called, planned):
    for page in (called({"EVIL": "EVIL"}, tool="EVIL"), planned({"task": "EVIL", "EVIL": "x"})):
        places = [e for tag in ("h2", "h3", "button") for e in page.all(tag)]
        places += page.one(id="request").all("a")
        assert [place.text for place in places if "EVIL" in place.text] == []


def test_the_name_of_a_tool_is_drawn_as_said_in_the_title(called):
    page = called({}, tool="EVIL")

    title = page.one("h1")
    assert title.one(class_="said").text == title.text == "EVIL"
    assert page.one("title").text == "Tool call from beamline · Approvals"


def test_a_plan_shows_its_steps_in_order(planned):
    page = planned({"capability": "loader", "task_objective": "Load"}, {"task": "Send", "to": "x"})

    steps = list(page.one("ol", class_="plan-steps").all("li", class_="plan-step"))
    assert [step.one(class_="plan-step-number").text for step in steps] == ["Step 1", "Step 2"]
    assert [step.one(class_="plan-step-objective").text for step in steps] == ["Load", "Send"]
    assert steps[0].one(class_="plan-step-capability").text == "loader"
    assert steps[1].one(class_="pair").text == "tox"


def test_few_arguments_of_a_step_stand_on_its_line_and_many_below(planned):
    few, many = (
        {"days": 30, "service": "x"},
        {"to": [f"person {n}" for n in range(9)], "zz_drop": True},
    )

    first, second = planned({"task": "a"} | few, {"task": "b"} | many).all(
        "li", class_="plan-step"
    )

    assert [pair.text for pair in first.all(class_="pair")] == ["days30", "servicex"]
    assert list(first.all("details")) == []
    assert list(second.all(class_="pair")) == []
    assert len(list(second.all("li", class_="member"))) == 11
    assert "open" in second.one("details").attributes


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"args": {"target": "prod"}}, {"target": "prod"}),
        ({"a": {"b": "x"}}, {"a.b": "x"}),
        ({"args": {"target": "prod"}, "target": "test"}, {"target": "prod", "x": "test"}),
    ],
)
def test_other_arguments_of_a_step_are_drawn_otherwise(planned, one, other):
    drawn = [planned({"task": "a"} | step).one(class_="plan-step").text for step in (one, other)]

    assert drawn[0] != drawn[1]


def test_a_flood_of_arguments_stands_there_as_json_that_is_open(called):
    arguments = {"numbers": {str(number): 1 for number in range(2_001)}}
    page = called(arguments)

    assert "open" in page.one("details", class_="raw").attributes
    assert len(raw(page).split("\n")) == 1_000
    assert page.one("a", **{"data-next": None}).text == "Lines 1,001 to 2,000"
