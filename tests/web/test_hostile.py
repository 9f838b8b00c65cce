"""A page stays small, whatever is sent; what it leaves out is said, or is read part by part."""

import pytest

from approval_client.wire import Kind, canonical_json
from dashboard.web.content import DENSE_BLOCKS, render_content
from dashboard.web.desk import evidence as said
from dashboard.web.desk.evidence import BEGINNING, MOST_DRAWN, evidence_fields
from dashboard.web.drawing.markup import size_drawn, untrusted
from dashboard.web.drawing.windows import CHARACTERS, CHARACTERS_DENSE, cut
from tests import make

pytestmark = pytest.mark.django_db
MOST_BYTES = 3_500_000
HIDDEN = "a\u200b"
EACH = "a".join("\u200b\u202e\u00ad\u2066\u3164\u180e\ufe0f\U000e0041\x7f\u2028\ue000\u0378")


@pytest.fixture
def page_of(browser, token, read_in_part):
    """Ask for something; gives the bytes of its page."""

    def ask_for(**asked):
        reply = browser.get(f"/approvals/{make.pending(token, **asked).pk}")
        assert reply.status_code == 200
        return reply.content

    return ask_for


@pytest.mark.parametrize(
    "text", ["", "plain\n", "<&>'\"", HIDDEN, "\u202e", "a \r\n", "a\t\n", "a ", "\r", EACH]
)
def test_what_a_text_takes_is_never_estimated_too_low(text):
    assert size_drawn(text * 20) >= len(untrusted(text * 20))


@pytest.mark.parametrize(
    ("text", "most"), [("ab" * 100_000, CHARACTERS), (HIDDEN * 100_000, CHARACTERS_DENSE)]
)
def test_a_window_of_dense_text_is_shorter(text, most):
    windows = cut(text)

    assert max(window.end - window.start for window in windows) == most
    assert "".join(text[window.start : window.end] for window in windows) == text


@pytest.mark.parametrize(
    "asked",
    [
        {"kind": Kind.TOOL_CALL, "content": {"tool": "t", "arguments": {HIDDEN * 50_000: 1}}},
        {"kind": Kind.PLAN, "content": {"steps": [{"task": HIDDEN * 300}] * 200}},
        {"content": {"code": HIDDEN * 50_000}},
        {"content": {"code": "\n\n".join([f"```python\n{HIDDEN * 1_000}\n```"] * 49)}},
        {"content": {"code": "\n\n".join([f"```python\n{'x = 1;' * 1_500}\n```"] * 49)}},
        {"evidence": {"analysis_details": HIDDEN * 50_000}},
        {"evidence": {"context": [{"role": "user", "content": HIDDEN * 600}] * 100}},
        {"evidence": {HIDDEN * 50_000: 1}},
        {"evidence": {"source_event": {"a": [HIDDEN] * 2_000, "b": HIDDEN * 50_000}}},
    ],
    ids=lambda asked: next(iter(asked)),
)
def test_a_page_stays_small(page_of, asked):
    assert len(page_of(**asked)) < MOST_BYTES


def test_a_memory_that_is_dense_is_not_compared(page_of):
    stored = {"operation": "update", "user_id": "u", "existing": HIDDEN * 40_000}

    assert len(page_of(kind=Kind.MEMORY, content=stored | {"content": "a"})) < MOST_BYTES


def test_many_texts_of_few_lines_are_drawn_up_to_a_bound(page_of):
    texts = {f"a{number}": "x = 1; " * 1_000 for number in range(100)}

    assert len(page_of(kind=Kind.TOOL_CALL, content={"tool": "t", "arguments": texts})) < 1_000_000


def test_of_what_the_agent_says_the_beginning_is_drawn_and_the_rest_is_counted():
    (field,) = evidence_fields({"analysis_details": "<" * MOST_DRAWN})
    (item,) = field.items

    assert item.text == "&lt;" * BEGINNING
    assert item.left_out == MOST_DRAWN - BEGINNING


def test_a_secret_that_stands_across_the_end_of_the_beginning_is_masked(monkeypatch):
    monkeypatch.setattr(said, "MOST_DRAWN", 20)
    monkeypatch.setattr(said, "BEGINNING", 10)
    (field,) = evidence_fields(
        {"analysis_details": "1234567 hunter2 and more than fits"}, ["hunter2"]
    )

    assert "hu" not in field.items[0].text.replace("visually-hidden", "")


def test_the_page_says_how_much_it_leaves_out(page_of):
    page = page_of(evidence={"context": HIDDEN * 50_000})

    assert b"95000 more characters of this are left out" in page


def test_dense_blocks_are_one_text():
    code = "\n\n".join([f"```\n{HIDDEN * 5_000}\n```"] * 2)
    content = render_content("code", canonical_json({"code": code}))

    assert [block.remarks for block in content.blocks] == [[DENSE_BLOCKS]]
    assert content.blocks[0].text == code


def test_two_blocks_that_hide_little_are_two():
    content = render_content("code", canonical_json({"code": "```\na\u200b\n```\n\n```\nb\n```"}))

    assert len(content.blocks) == 2
