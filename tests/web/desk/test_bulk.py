"""Requests that are alike, on one page and with one press."""

import json
import re

import pytest
from django.utils.html import strip_tags

from approval_client.wire import Kind, Status
from dashboard.approvals import services
from dashboard.approvals.models import Decision, Grant
from dashboard.inspection.findings import Finding, Severity
from dashboard.web.drawing.summary import title_of
from tests import make
from tests.web.pages import read


@pytest.fixture
def calls(ask):
    def of(*paths, **more):
        content = [{"tool": "read", "arguments": {"path": path}} for path in paths]
        fields = {"kind": Kind.TOOL_CALL, "capability": "files", **more}
        return [ask(content=one, **fields) for one in content]

    return of


def page(browser, approvals):
    address = "&".join(f"id={approval.pk}" for approval in approvals)
    response = browser.get(f"/bulk?{address}")
    assert response.status_code == 200
    return read(response)


def items_of(found):
    return [tick["value"] for tick in found.all("input", name="item")]


def decide(browser, items, verdict="approve", **form):
    sent = {"verdict": verdict, "item": items, "end_seen": "yes"} | form
    return browser.post("/bulk/decide", sent)


def classed(approvals, admin, after, *, bring=True):
    [tool_id] = {approval.tool_id for approval in approvals}
    services.class_tools(
        {tool_id: services.ClassChange("", after)}, by=admin, auth="session:password"
    )
    if bring:
        make.allow_durable()
        services.judge_pending_again()


def statuses(approvals):
    for approval in approvals:
        approval.refresh_from_db()
    return [approval.status for approval in approvals]


def cells(found):
    rows = list(found.one(class_="bulk-table").all("tr"))[1:]
    return [[cell.text for cell in row.all("span", class_="bulk-cell")] for row in rows]


def isolates(browser, first, other, tag):
    """What runs from right to left as one, in what a page shows of the other of two requests."""
    address = f"/bulk?id={first.pk}&id={other.pk}"
    html = browser.get(address).content.decode()
    last = re.findall(rf"<{tag}[\s>].*?</{tag.split(' ')[0]}>", html, re.DOTALL)[-1]
    return re.findall(r'<bdi [^>]*dir="rtl">(.*?)</bdi>', last)


HIDES_QUOTES = """send('"', {}, '"')"""


def test_code_that_is_compared_keeps_the_order_of_its_source(browser, ask, inspected):
    inspected()
    codes = [ask(content={"code": HIDES_QUOTES.format(text)}) for text in ("1", "אב - 1 - גד")]

    assert isolates(browser, *codes, "ins") == ["אב", "גד"]


@pytest.mark.parametrize(
    ("tool", "name", "text"),
    [
        ("python", "code", "print('\"', אב - 1 - גד, '\"')"),
        ("shell", "command", "ledger-sync אב, גד"),
        ("calc", "formula", "x + (אב - 1 - גד)"),
        ("calc", "values", ["אב", "גד"]),
    ],
)
def test_what_runs_keeps_the_order_of_its_source_in_a_cell(browser, ask, tool, name, text):
    calls = [
        ask(kind=Kind.TOOL_CALL, content={"tool": tool, "arguments": {name: value}})
        for value in ("print(1)", text)
    ]

    assert isolates(browser, *calls, 'span class="bulk-cell"') == ["אב", "גד"]


def test_a_sentence_in_a_cell_reads_as_on_its_own_page(browser, ask):
    calls = [
        ask(kind=Kind.TOOL_CALL, content={"tool": "mail", "arguments": {"body": value}})
        for value in ("x", "שלום דנה")
    ]

    assert isolates(browser, *calls, 'span class="bulk-cell"') == ["שלום דנה"]


def test_names_of_arguments_stand_in_the_order_in_which_they_nest(browser, ask):
    calls = [
        ask(kind=Kind.TOOL_CALL, content={"tool": "t", "arguments": {"אב": {"גד": n}}})
        for n in range(2)
    ]

    assert isolates(browser, *calls, 'span class="bulk-name"') == ["אב", "גד"]


def test_a_table_has_a_row_for_each_and_a_column_for_what_differs(browser, ask):
    fields = {"kind": Kind.TOOL_CALL, "capability": "refund"}
    approvals = [
        ask(
            content={
                "tool": "refund",
                "arguments": {"total": {"amount": amount, "currency": "GBP"}, "to": to},
            },
            **fields,
        )
        for amount, to in ((1.5, "<b>"), (20, "x" * 300))
    ]

    found = page(browser, approvals)

    assert found.one("h1").text == "2 alike: refund"
    assert [head.text for head in found.one(class_="bulk-table").all("th")][1:3] == [
        "to",
        "total.amount",
    ]
    assert cells(found) == [["<b>", "1.5"], ["x" * 300, "20"]]
    assert found.one(class_="bulk-shared").text == "The same in all: total.currency=GBP"


def test_what_is_no_table_is_compared_with_the_first(browser, ask, inspected):
    inspected()
    codes = [ask(content={"code": code}) for code in ("a()", "b()", "a()")]

    items = list(page(browser, codes).all(class_="bulk-item"))

    assert [len(list(item.all(class_="diff"))) for item in items] == [0, 1, 0]
    assert items[1].one("ins").one(class_="diff-text").text.strip() == "b()"
    assert "The same as the first" in items[2].text


def test_more_arguments_than_a_table_holds_are_compared_with_the_first(browser, ask):
    fields = {"kind": Kind.TOOL_CALL, "capability": "files"}
    approvals = [
        ask(content={"tool": "t", "arguments": {f"a{k}": n for k in range(7)}}, **fields)
        for n in range(2)
    ]

    found = page(browser, approvals)

    assert list(found.all(class_="bulk-table")) == []
    assert len(list(found.all(class_="diff"))) == 1


@pytest.mark.parametrize(
    ("first", "other", "told"),
    [
        (1, "1", [["1"], ['"1"']]),
        (None, "null", [["null"], ['"null"']]),
        ("a", "", [["a"], ['""']]),
        ("a", " ", [["a"], ['" "']]),
        (1, 1.0, [["1"], ["1.0"]]),
    ],
)
def test_what_reads_alike_and_is_not_is_told_apart_in_a_table(browser, ask, first, other, told):
    fields = {"kind": Kind.TOOL_CALL, "capability": "files"}
    approvals = [
        ask(content={"tool": "t", "arguments": {"a": value}}, **fields) for value in (first, other)
    ]

    assert cells(page(browser, approvals)) == told


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_line_break_at_an_end_is_seen(browser, calls, end):
    approvals = calls("/a", f"/a{end}", f"{end}/a")

    [plain], [after], [before] = cells(page(browser, approvals))

    assert plain == "/a"
    assert {after[0], after[-1], before[0], before[-1]} == {'"'}


def test_that_no_objective_is_given_is_not_called_the_same(browser, ask):
    content = {"tool": "read", "arguments": {"path": "/a"}}
    approvals = [
        ask(kind=Kind.TOOL_CALL, content={**content, "arguments": {"path": path}}, objective=said)
        for path, said in (("/a", "Ann asked for it."), ("/b", ""), ("/c", "Ann asked for it."))
    ]

    rows = list(page(browser, approvals).one(class_="bulk-table").all("td", class_="bulk-said"))

    assert [row.text for row in rows] == [
        "Ann asked for it.",
        "It gives no objective",
        "(the same as 1)",
    ]


def test_beside_code_too_it_is_said_that_no_objective_is_given(browser, ask, inspected):
    inspected()
    approvals = [
        ask(content={"code": code}, objective=said)
        for code, said in (("a()", "Ann asked for it."), ("b()", ""))
    ]

    assert "It gives no objective" in page(browser, approvals).text


def test_an_argument_that_is_missing_is_told_from_an_empty_one(browser, ask):
    fields = {"kind": Kind.TOOL_CALL, "capability": "files"}
    approvals = [
        ask(content={"tool": "t", "arguments": {"o": {"x": 1} | more}}, **fields)
        for more in ({"a": ""}, {})
    ]

    assert cells(page(browser, approvals)) == [['""'], ["not given"]]


@pytest.mark.parametrize("text", ["not given", "Not given.", "(not given)"])
def test_a_text_that_reads_like_our_words_stands_in_quotation_marks(browser, ask, text):
    calls = [
        ask(kind=Kind.TOOL_CALL, content={"tool": "t", "arguments": {"o": 1} | more})
        for more in ({"a": text}, {})
    ]

    assert cells(page(browser, calls)) == [[f'"{text}"'], ["not given"]]


@pytest.mark.parametrize("said", ["It gives no objective", "(the same as 1)"])
@pytest.mark.parametrize("first", [True, False])
def test_an_objective_that_reads_like_our_words_does_too(browser, ask, said, first):
    objectives = [said, "Look"] if first else ["Look", said]
    calls = [
        ask(
            kind=Kind.TOOL_CALL,
            content={"tool": "read", "arguments": {"path": f"/{number}"}},
            objective=objective,
        )
        for number, objective in enumerate(objectives)
    ]

    rows = list(page(browser, calls).one(class_="bulk-table").all("td", class_="bulk-said"))

    assert rows[0 if first else 1].text == f'"{said}"'


def test_what_is_the_same_in_all_reads_as_what_it_is(browser, ask):
    odd = {"ref=1 to=alice note": "x", "memo": "rent amount=5", "n": "7"}
    approvals = [
        ask(kind=Kind.TOOL_CALL, content={"tool": "pay", "arguments": {**odd, "id": name}})
        for name in ("a", "b")
    ]

    assert page(browser, approvals).one(class_="bulk-shared").text == (
        'The same in all: memo="rent amount=5" n="7" "ref=1 to=alice note"=x'
    )


def test_two_names_that_read_alike_are_told_apart(browser, ask):
    fields = {"kind": Kind.TOOL_CALL, "capability": "files"}
    approvals = [
        ask(content={"tool": "t", "arguments": {"a": {"b": hidden}, "a.b": "safe"}}, **fields)
        for hidden in ("safe", "quite another")
    ]

    found = page(browser, approvals)

    assert cells(found) == [["safe"], ["quite another"]]
    assert "a.b" in [head.text for head in found.one(class_="bulk-table").all("th")]
    assert found.one(class_="bulk-shared").text == 'The same in all: "a.b"=safe'


def test_what_else_the_agent_says_of_the_others_is_in_its_frame(browser, calls):
    first, other = calls("/a"), calls("/b", objective="Look", evidence={"why": "<b>now</b>"})

    found = page(browser, first + other)

    heads = [head.text for head in found.one(class_="bulk-table").all("th")]
    assert "The agent says (not verified)" in heads
    told = list(found.all(class_="bulk-said"))[1].text
    assert told.startswith("Look")
    assert '"why": "<b>now</b>"' in told


def test_of_a_tool_that_nobody_classed_it_says_what_the_page_of_one_says(browser, calls):
    approvals = calls("/a", "/b", "/c")

    head = page(browser, approvals).one(class_="request-from").text

    assert "Nobody has classed this tool." in head
    assert "known risks" not in head


def test_what_is_found_hides_no_class(browser, calls, inspected, ada):
    inspected(Finding("network", Severity.LOW, 1, 1, "uses-network"))
    approvals = calls("/a", "/b")
    classed(approvals, ada, "reads")

    head = page(browser, approvals).one(class_="request-from").text

    assert "This tool is classed as “only reads”." in head


def test_calls_of_another_schema_are_left_out(browser, calls, ada):
    approvals = calls("/a") + calls("/b", evidence={"tool_schema": {"type": "object"}})

    found = page(browser, approvals)

    assert len(items_of(found)) == 1
    assert "schema or class of the tool" in found.one(class_="bulk-alone").text


def test_what_is_irreversible_is_answered_alone(browser, calls, ada):
    approvals = calls("/a", "/b")
    classed(approvals, ada, "irreversible")

    found = page(browser, approvals)

    assert items_of(found) == []
    assert "Its tool is classed as irreversible." in found.one(class_="bulk-alone").text


def test_a_page_from_before_the_class_approves_nothing(browser, calls, ada):
    approvals = calls("/a", "/b")
    items = items_of(page(browser, approvals))
    classed(approvals, ada, "reads", bring=False)

    decide(browser, items)

    assert statuses(approvals) == [Status.PENDING, Status.PENDING]


def test_all_of_them_are_approved_each_on_its_own_basis(browser, calls, alice):
    approvals = calls("/a", "/b", "/c")

    answer = decide(browser, items_of(page(browser, approvals)), reason="Harmless.")

    assert answer.status_code == 200
    assert statuses(approvals) == [Status.APPROVED] * 3
    decisions = Decision.objects.order_by("decided_at")
    assert {one.reason for one in decisions} == {"Harmless."}
    assert [json.loads(one.shown)["together"] for one in decisions] == [1, 2, 3]
    assert [one.digest for one in decisions] == [one.digest for one in approvals]
    assert Grant.objects.count() == 0


def test_plans_are_answered_together_as_wholes_and_ask_nothing_of_their_steps(browser, ask):
    plan = {"kind": Kind.PLAN, "capability": "plan", "accepts_edits": True}
    steps = [{"capability": "one"}, {"capability": "two"}]
    approvals = [ask(content={"steps": steps}, **plan) for _ in range(2)]
    found = page(browser, approvals)
    assert not list(found.all("input", type="radio"))

    decide(browser, items_of(found))

    decisions = [approval.decision for approval in approvals]
    assert statuses(approvals) == [Status.APPROVED] * 2
    assert [(decision.edit, decision.steps) for decision in decisions] == [(None, "[]")] * 2


def test_only_the_chosen_are_rejected(browser, calls):
    approvals = calls("/a", "/b", "/c")

    decide(browser, items_of(page(browser, approvals))[:2], "reject")

    assert statuses(approvals) == [Status.REJECTED, Status.REJECTED, Status.PENDING]


def test_the_result_calls_each_request_what_the_page_called_it(browser, calls):
    approvals = calls("/a", "/b", "/c")
    items = items_of(page(browser, approvals))

    done = read(decide(browser, items[1:])).one(class_="bulk-done")

    said = [(link.text.partition(":")[0], link["href"]) for link in done.all("a")]
    assert said == [
        ("Request 2", f"/approvals/{approvals[1].pk}"),
        ("Request 3", f"/approvals/{approvals[2].pk}"),
    ]
    assert strip_tags(title_of(approvals[1])) in done.text


def test_what_fails_is_said_of_each_and_stops_nobody(browser, calls, bob):
    approvals = calls("/a", "/b", "/c")
    items = items_of(page(browser, approvals))
    make.decided(approvals[0], bob, Status.REJECTED)
    services.assign(approval_id=approvals[1].pk, person=bob, auth="session:password")

    done = list(read(decide(browser, items)).one(class_="bulk-done").all("li"))

    assert statuses(approvals) == [Status.REJECTED, Status.PENDING, Status.APPROVED]
    assert ["not recorded" in one.text for one in done] == [True, True, False]


def test_without_its_end_in_sight_nothing_of_it_is_approved(browser, calls):
    approvals = calls("/a", "/b")

    decide(browser, items_of(page(browser, approvals)), end_seen="")

    assert statuses(approvals) == [Status.PENDING, Status.PENDING]


def test_under_another_policy_nothing_of_it_is_approved(browser, calls):
    approvals = calls("/a", "/b")
    items = items_of(page(browser, approvals))
    make.in_force({"name": "Two", "effect": "review", "demands": {"approvals": 2}})

    decide(browser, items)

    assert statuses(approvals) == [Status.PENDING, Status.PENDING]


def test_an_item_is_for_who_was_shown_the_page(browser, browser_of, calls, bob):
    approvals = calls("/a", "/b")
    items = items_of(page(browser, approvals))

    assert decide(browser_of(bob), items).status_code == 422
    assert decide(browser, [*items, "forged"]).status_code == 422
    assert statuses(approvals) == [Status.PENDING, Status.PENDING]


@pytest.mark.parametrize("form", [{"verdict": "remember-tool"}, {"reason": "x" * 2001}])
def test_what_our_page_does_not_send_does_nothing(browser, calls, form):
    approvals = calls("/a")

    answer = decide(browser, items_of(page(browser, approvals)), **form)

    assert (answer.status_code, statuses(approvals)) == (422, [Status.PENDING])


def test_none_chosen_is_none_answered(browser):
    assert "None was chosen" in read(decide(browser, [])).text


def test_hidden_characters_are_read_alone(browser, calls):
    one, two = calls("/a", "/b\u200b")

    found = page(browser, [one, two])

    assert len(items_of(found)) == 1
    left_out = found.one(class_="notice")
    assert left_out.text.startswith("1 left out: open it alone read /bZWSP")
    assert left_out.one("a")["href"] == f"/approvals/{two.pk}"


def test_a_difference_that_does_not_fit_is_read_alone(browser, calls, monkeypatch):
    monkeypatch.setattr("dashboard.web.drawing.diff.MOST_LINES", 1)

    assert len(items_of(page(browser, calls("/a", "/b")))) == 1


def test_five_cost_as_many_queries_as_two(browser, calls, count_queries):
    two, five = calls("/a", "/b"), calls("/c", "/d", "/e", "/f", "/g")
    page(browser, two)  # what is read once and kept

    at_two = count_queries(lambda: page(browser, two))

    assert count_queries(lambda: page(browser, five)) == at_two


def test_an_address_of_nonsense_is_an_empty_page(browser):
    page = read(browser.get("/bulk?id=1&id=&x=y&id=%00"))

    assert page.one("h1").text == "Nothing to answer together"


def test_only_approve_is_filled(browser, calls):
    bar = page(browser, calls("/a", "/b")).one(id="bulk-form")

    filled = [one.text for one in bar.all("button", class_="button--primary")]
    assert filled == ["Approve the chosen"]
    assert list(bar.all("button", class_="button--danger")) == []
