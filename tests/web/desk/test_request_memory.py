"""A change of memory on the page: what changes, and what was approved here before."""

import json

import pytest

from approval_client.wire import Kind, Status
from dashboard.approvals.models import Decision
from dashboard.web import content
from tests import make
from tests.web.pages import page_of


def memory(content="new", existing="old", user="u", operation="update"):
    said = {"operation": operation, "user_id": user, "content": content}
    return said | ({} if existing is None else {"existing": existing})


@pytest.fixture
def remembers(ask):
    """Ask for a change of memory."""
    return lambda *said, **more: ask(
        kind=Kind.MEMORY, capability="memory", content=memory(*said, **more)
    )


@pytest.fixture
def approved(remembers, alice):
    """Ask for a change of memory, and have it approved."""

    def approve(*said, **more):
        approval = remembers(*said, **more)
        make.decided(approval, alice)
        return approval

    return approve


def warned(page):
    return [notice.text for notice in page.all(class_="memory-warning")]


def test_lines_that_change_have_a_sign_and_a_word(browser, remembers):
    changes = page_of(browser, remembers("a\nc", "a\nb")).one(class_="line-changes")

    assert [row.text for row in changes.all(class_="change")] == [
        "a",
        "\N{MINUS SIGN}Removed: b",
        "+Added: c",
    ]
    assert [line.raw for line in changes.all("code", class_="line")] == ["a", "b", "c"]


def test_both_texts_are_labelled_as_what_they_are(browser, remembers):
    legend = page_of(browser, remembers()).one(class_="memory-legend")

    assert [label.text for label in legend.all(class_="legend")] == [
        "The agent says this is stored now",
        "This would be stored",
    ]
    assert legend.one(class_="block-size").text == "1 added, 1 removed"


def test_the_operation_and_the_user_are_named(browser, remembers):
    head = page_of(browser, remembers(user="<b>u")).one(class_="content-head")

    assert [said.text for said in head.all(class_="said")] == ["update", "<b>u"]


def test_what_would_be_deleted_is_called_so(browser, remembers):
    page = page_of(browser, remembers("", "old", operation="delete"))

    assert page.one(id="content-title").text == "What would be forgotten"
    assert [label.text for label in page.all(class_="legend")] == ["This would be deleted"]


def test_of_an_operation_that_nobody_knows_no_line_is_marked(browser, remembers):
    page = page_of(browser, remembers("a", "a\nb", operation="archive"))

    assert page.one(id="content-title").text == "What would be done to the memory"
    assert "cannot be told from its name" in page.one(class_="memory-note").text
    assert [head.text for head in page.one(class_="memory-pair").all("figcaption")] == [
        "The agent says this is stored now 2 lines",
        "The text that the operation came with 1 line",
    ]


def test_a_text_that_cannot_be_compared_stands_beside_the_other(browser, remembers, monkeypatch):
    monkeypatch.setattr(content, "line_changes", lambda *_: None)
    pair = page_of(browser, remembers()).one(class_="memory-pair")

    assert [block.text for block in pair.all(class_="block-title")] == [
        "The agent says this is stored now",
        "This would be stored",
    ]


def test_a_claim_that_differs_from_what_was_approved_is_a_warning(browser, remembers, approved):
    earlier = approved("approved text")
    page = page_of(browser, remembers("new", "another text"))

    (notice,) = warned(page)
    assert content.DIFFERS in notice
    assert page.one(class_="memory-warning").one("a")["href"] == f"/approvals/{earlier.pk}"
    titles = [title.text for title in page.all(class_="block-title")]
    assert "This was approved here last" in titles


def test_a_claim_that_agrees_is_said_quietly(browser, remembers, approved):
    approved("old")
    page = page_of(browser, remembers("new", "old"))

    assert (warned(page), content.AGREES in page.text) == ([], True)


def test_the_newest_approval_counts(browser, remembers, approved):
    approved("first")
    approved("second")

    assert warned(page_of(browser, remembers("new", "second"))) == []


@pytest.mark.parametrize("other", [{"user": "U"}, {"user": 'x","user_id":"u'}, {"user": "%"}])
def test_the_memory_of_another_user_does_not_count(browser, remembers, approved, other):
    approved("else", **other)

    assert content.NEVER in page_of(browser, remembers()).text


def test_the_memory_of_another_agent_does_not_count(browser, remembers, alice):
    token = make.token(make.agent("another"))
    make.approved(token, alice, kind=Kind.MEMORY, capability="memory", content=memory("else"))

    assert content.NEVER in page_of(browser, remembers()).text


def test_what_was_rejected_does_not_count(browser, remembers, alice):
    make.decided(remembers("else"), alice, Status.REJECTED, reason="No.")

    assert content.NEVER in page_of(browser, remembers()).text


def test_a_decided_page_keeps_to_what_was_approved_before_it(browser, approved):
    approved("old")
    second = approved("new", "old")
    approved("newer", "new")

    page = page_of(browser, second)
    assert (warned(page), content.AGREES in page.text) == ([], True)


def test_the_warning_is_kept_with_the_decision(browser, remembers, approved, answer):
    approved("approved text")
    second = remembers("new", "another text")

    answer(browser, second)

    shown = json.loads(Decision.objects.get(approval=second).shown)
    assert shown["warnings"] == [content.DIFFERS]
    assert shown["renderer"].startswith("6 ")


@pytest.mark.parametrize("existing", ["", "a\nb", None])
@pytest.mark.parametrize("text", ["Never pay alone.", "a\nb", ""])
def test_what_would_be_deleted_is_on_the_page(browser, ask, existing, text):
    content = {"operation": "delete", "user_id": "u", "content": text, "existing": existing}
    page = page_of(browser, ask(kind=Kind.MEMORY, capability="memory", content=content))

    drawn = [line.text for line in page.one(id="request").all("code", class_="line")]
    assert set((text or existing or "").split("\n")) <= {*drawn, ""}


def test_a_long_text_without_another_one_stands_alone(browser, ask, read_in_part):
    content = {"operation": "set", "user_id": "u", "content": "ab\n" * 98_000}
    page = page_of(browser, ask(kind=Kind.MEMORY, capability="memory", content=content))

    assert len(list(page.all(class_="memory-pair"))) == 1
    assert len(list(page.one(class_="memory-pair").all("figure"))) == 1
    assert len(str(page.text)) < 500_000
