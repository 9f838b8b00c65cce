"""Which lines two texts share: told by the sandbox, and checked."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard import sandbox
from dashboard.web.drawing import diff
from dashboard.web.drawing.diff import LineChange, line_changes
from dashboard.web.drawing.matching import match

texts = st.lists(st.sampled_from(["", "a", "b", "c"]), max_size=8).map("\n".join)


@pytest.fixture
def answering(monkeypatch):
    """Have the sandbox answer just this."""
    return lambda answer: monkeypatch.setattr(sandbox, "call", lambda *_: answer)


def test_lines_are_removed_added_and_kept():
    assert line_changes("a\nb\nc", "a\nx\nc\nd") == [
        (LineChange.SAME, 1),
        (LineChange.REMOVED, 2),
        (LineChange.ADDED, 2),
        (LineChange.SAME, 3),
        (LineChange.ADDED, 4),
    ]


@given(texts, texts)
def test_both_texts_can_be_read_out_of_what_became_of_their_lines(before, after):
    old, new = before.split("\n"), after.split("\n")
    shared = json.loads(match(json.dumps([old, new]).encode()))

    found = list(diff._laid_out(old, new, shared))

    assert [new[n - 1] for change, n in found if change is not LineChange.REMOVED] == new
    removed = [n for change, n in found if change is LineChange.REMOVED]
    assert len(removed) + sum(change is LineChange.SAME for change, _ in found) == len(old)


@pytest.mark.parametrize(
    "answer",
    [
        b"[[0, 0, 2]]",  # more than both share
        b"[[0, 1, 1]]",  # lines that are not the same
        b"[[2, 0, 0], [0, 0, 1]]",  # out of order
        b"[[0, 0, -1]]",
        b"[[0, 0]]",
        b'[["x", 0, 1]]',
        b"7",
        b"no JSON",
    ],
)
def test_an_answer_that_is_not_true_is_no_answer(answering, answer):
    answering(answer)

    assert line_changes("a\nb", "a\nc") is None


def test_what_takes_too_long_is_not_compared_and_not_tried_again_at_once(monkeypatch):
    calls = []

    def hang(*_):
        calls.append(1)
        raise sandbox.DeadlineExceeded

    monkeypatch.setattr(sandbox, "call", hang)

    assert [line_changes("a\nb", "b\na"), line_changes("a\nb", "b\na")] == [None, None]
    assert len(calls) == 1


@pytest.mark.parametrize(
    ("before", "after"),
    [("a", "b" * diff.MAX_CHARACTERS), ("a", "\n" * diff.MAX_LINES), ("\n" * diff.MAX_LINES, "")],
)
def test_what_is_too_long_is_not_even_begun(monkeypatch, before, after):
    monkeypatch.setattr(sandbox, "call", lambda *_: pytest.fail("begun"))

    assert line_changes(before, after) is None


def test_line_ends_are_part_of_their_lines():
    assert line_changes("a\r\nb", "a\nb") == [
        (LineChange.REMOVED, 1),
        (LineChange.ADDED, 1),
        (LineChange.SAME, 2),
    ]
