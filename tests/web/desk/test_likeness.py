import re

import pytest

from approval_client.wire import Kind, Status, canonical_json
from dashboard.approvals.models import ApprovalRequest
from dashboard.approvals.rules import likeness
from dashboard.web.desk.likeness import diff_sections
from tests import make
from tests.web.pages import page_of

FIRST = {"code": "from epics import caput\ncaput('SR:C01', 3.2)\nprint('done')"}
SECOND = {"code": "from epics import caput\ncaput('SR:C02', 3.2)\nprint('done')"}
OTHER = {"code": "import shutil\nshutil.rmtree('/srv/data')"}


MEMORIES = [{"operation": "replace", "user_id": "u", "content": text} for text in ("a", "אב - גד")]
CALLS = [{"tool": "calc", "arguments": {"formula": text}} for text in ("1", "אב - גד")]


@pytest.fixture
def rejected(ask, alice):
    """What alice rejected in the run r."""
    approval = ask(content=FIRST, run_id="r")
    make.decided(approval, alice, Status.REJECTED, reason="Wrong sector.")
    return approval


def chain_of(browser, approval):
    return next(page_of(browser, approval).all(class_="chain"), None)


def diff_of(chain):
    return [(line.tag, line.one(class_="diff-text").raw) for line in chain.all(class_="diff-line")]


def test_what_resembles_a_rejected_request_says_so_with_the_words_of_the_no(
    browser, ask, rejected
):
    chain = chain_of(browser, ask(content=SECOND, run_id="r"))

    assert chain.one(class_="chain-said").text == (
        "Rejected by you just now Wrong sector. → This request"
    )
    assert chain.one("q").text == "Wrong sector."
    assert chain.one("a")["href"] == f"/approvals/{rejected.pk}"


def test_what_changed_is_one_press_away_and_marked_by_sign_and_word(browser, ask, rejected):
    chain = chain_of(browser, ask(content=SECOND, run_id="r"))

    assert "open" not in chain.one("details").attributes
    assert diff_of(chain) == [
        ("span", "from epics import caput"),
        ("del", "caput('SR:C01', 3.2)"),
        ("ins", "caput('SR:C02', 3.2)"),
        ("span", "print('done')"),
    ]
    assert chain.one("del").one(class_="visually-hidden").text == "removed:"
    assert chain.one("summary").text == "−1 +1 Diff: 1 line removed and 1 line added"


def test_the_same_again_is_called_the_same(browser, ask, rejected):
    chain = chain_of(browser, ask(content=FIRST, run_id="r"))

    assert chain.one(class_="chain-said").text == (
        "Rejected by you just now Wrong sector. → This request the same content"
    )
    assert list(chain.all("details")) == []


def test_the_run_is_called_a_claim(browser, ask, rejected):
    chain = chain_of(browser, ask(content=SECOND, run_id="r"))

    assert "In the same run, as the agent names it." in chain.one(class_="small").text


def test_it_stands_above_the_content(browser, ask, rejected):
    page = page_of(browser, ask(content=SECOND, run_id="r"))

    headings = [heading.text for heading in page.one(class_="request").all("h2")]
    assert headings.index("Earlier version") < headings.index("What would run")


@pytest.mark.parametrize(
    "changes",
    [{"content": OTHER}, {"run_id": "s"}, {"kind": Kind.PLAN, "content": {"steps": [{"a": "b"}]}}],
    ids=["other content", "other run", "other kind"],
)
def test_what_does_not_resemble_it_is_not_linked(browser, ask, rejected, changes):
    assert chain_of(browser, ask(**{"content": SECOND, "run_id": "r"} | changes)) is None


def test_what_another_agent_asked_is_not_linked(browser, rejected):
    other = make.token(make.agent("other"))

    assert chain_of(browser, make.pending(other, content=FIRST, run_id="r")) is None


def test_what_came_later_is_not_linked(browser, ask, rejected):
    ask(content=SECOND, run_id="r")

    assert chain_of(browser, rejected) is None


def test_what_a_person_answered_counts_before_what_waits(ask, rejected):
    ask(content=FIRST, run_id="r")

    found = likeness.resembled(ask(content=FIRST, run_id="r"))

    assert found.approval == rejected


def test_of_two_answered_the_more_similar_one_counts(ask, alice, rejected):
    near = ask(content={"code": SECOND["code"] + "\nprint('really')"}, run_id="r")
    make.decided(near, alice, Status.REJECTED, reason="No.")

    again = ask(content={"code": SECOND["code"] + "\nprint('truly')"}, run_id="r")

    assert likeness.resembled(again).approval == near


def test_what_the_agent_said_when_it_withdrew_is_not_repeated_as_a_persons_words(
    browser, ask, token
):
    from dashboard.approvals import services  # noqa: PLC0415 - needs the registry

    first = ask(content=FIRST, run_id="r")
    services.cancel(approval_id=first.pk, token=token, reason="SPEECH")

    chain = chain_of(browser, ask(content=FIRST, run_id="r"))

    assert chain.one(class_="chain-said").text == (
        "Withdrawn just now → This request the same content"
    )


def test_hidden_characters_in_a_difference_are_drawn(browser, ask, rejected):
    chain = chain_of(browser, ask(content={"code": SECOND["code"] + "\u202e"}, run_id="r"))

    assert chain.one(class_="glyph").text == "RLO"
    assert "\u202e" not in chain.raw


@pytest.mark.parametrize(
    ("kind", "old", "new", "titles"),
    [
        (
            Kind.TOOL_CALL,
            {"tool": "mail", "arguments": {"to": "everybody@example.org", "times": 1}},
            {"tool": "mail", "arguments": {"to": "everybody@example.org", "times": 1.0}},
            ["Arguments"],
        ),
        (
            Kind.MEMORY,
            {"operation": "set", "user_id": "u", "content": "Likes plots", "existing": None},
            {"operation": "set", "user_id": "u", "content": "Likes plots!", "existing": ""},
            ["New content", "Content that it says exists now"],
        ),
        (Kind.CODE, FIRST, FIRST | {"language": "python"}, ["Language that the agent names"]),
    ],
)
def test_each_part_that_changed_has_its_title(browser, ask, kind, old, new, titles):
    ask(kind=kind, content=old)

    chain = chain_of(browser, ask(kind=kind, content=new))

    assert [title.text for title in chain.all(class_="block-title")] == titles


def test_what_is_longer_than_the_limit_is_found_when_it_is_the_same(ask):
    long = {"code": "x" * (likeness.LONGEST + 1)}
    first = ask(content=long, run_id="r")

    assert likeness.resembled(ask(content=long, run_id="r")).approval == first
    assert likeness.resembled(ask(content={"code": long["code"] + "y"}, run_id="r")) is None


def test_only_the_newest_of_a_run_are_compared(ask):
    ask(content=FIRST, run_id="r")
    for number in range(likeness.MOST_COMPARED):
        ask(content={"code": f"{number}" * 99}, run_id="r")

    assert likeness.resembled(ask(content=SECOND, run_id="r")) is None


def test_thirty_requests_in_a_run_cost_as_many_queries_as_two(
    browser, ask, rejected, count_queries
):
    def opened(approval):
        browser.get("/")  # which reads the rows that are new
        return count_queries(lambda: browser.get(f"/approvals/{approval.pk}"))

    ask(content=SECOND, run_id="r")
    two = opened(ask(content=SECOND, run_id="r"))
    for _ in range(28):
        ask(content=OTHER, run_id="r")
    last = ask(content=SECOND, run_id="r")

    assert opened(last) <= two
    assert ApprovalRequest.objects.count() == 32


@pytest.mark.parametrize(
    ("contents", "isolates"), [(MEMORIES, ["אב - גד"]), (CALLS, ["אב", "גד"])]
)
def test_a_difference_of_memory_reads_as_prose_and_one_of_arguments_as_what_runs(
    contents, isolates
):
    (section,) = diff_sections(*map(canonical_json, contents))

    added = next(line.text for line in section.diff.lines if line.change == "added")
    assert re.findall(r'<bdi [^>]*dir="rtl">(.*?)</bdi>', added) == isolates
