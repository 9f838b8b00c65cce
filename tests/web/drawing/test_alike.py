"""Letters that pass for others are marked where they are drawn, and nothing else is."""

import re
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.inspection.hidden import segments
from dashboard.web.drawing.code import render_code
from dashboard.web.drawing.markup import size_drawn, untrusted

MARK = re.compile(r'<span class="alike" title="([^"]*)">(.*?)</span>')
LETTERS = st.sampled_from(
    "a b.;\u0430\u0441\u043e\u0436\u03bf\u03bd\u01c3\u037e\u1d00\u0336\u0131<&\n"
)


def marked(html):
    return [text for _, text in MARK.findall(html)]


@pytest.mark.parametrize(
    ("text", "letters"),
    [
        ("rm /sr\u0441/x", ["\u0441"]),
        ("\u0441\u043e\u0440\u0443", ["\u0441\u043e\u0440\u0443"]),
        ("a\u037e b", ["\u037e"]),
        ("environment\u01c3=1", ["\u01c3"]),
        ("\u1d00dmin", ["\u1d00"]),
        ("a\u0336dmin", ["a\u0336"]),
        ("Delete the file of \u0440\u0430\u0443", ["\u0440\u0430\u0443"]),
    ],
)
def test_what_passes_for_ascii_is_marked(text, letters):
    assert marked(untrusted(text)) == letters


@pytest.mark.parametrize(
    "text",
    [
        "\u042d\u0442\u043e \u0444\u0430\u0439\u043b \u043e \u0434\u043e\u043c\u0435",
        "\u03bf \u03ba\u03cc\u03c3\u03bc\u03bf\u03c2 \u03bf \u03bc\u03b9\u03ba\u03c1\u03cc\u03c2",
        "na\u00efve \u0153uvre \u2013 \u201cquoted\u201d 50 \u00d7 2",
        "\u6771\u4eac\u3078\uff08\u4e0a\uff09",
        "plain",
    ],
)
def test_honest_text_is_not_marked(text):
    assert marked(untrusted(text)) == []


@pytest.mark.parametrize("language", ["python", "bash", "json", "text"])
def test_code_is_marked_in_every_language(language):
    (line,) = render_code('x = "p\u0430th"', language).lines

    assert marked(line) == ["\u0430"]


def test_a_mark_names_the_letter():
    assert MARK.findall(untrusted("\u0430dmin"))[0][0] == (
        "U+0430 CYRILLIC SMALL LETTER A, looks like a"
    )


def test_a_row_of_strokes_is_one_mark():
    html = untrusted("a" + "\u0336" * 20_000 + "b")

    assert len(MARK.findall(html)) == 1
    assert len(html) < 100_000


def test_the_letter_that_a_capital_passes_for_is_named_as_it_is():
    assert "looks like I" in untrusted("\u0406nto")


@pytest.mark.parametrize(
    ("text", "letters"),
    [
        ("caf\xe9 cafe\u0301", ["e\u0301"]),
        ("\u30da\u30fc\u30b8 \u307a\u30fc\u30b8", ["\u30da", "\u307a"]),
        ("\u30ab\u30e1\u30e9 \u529b\u30e1\u30e9", ["\u30ab"]),
        ("\U0001d41eval(x)", ["\U0001d41e"]),
    ],
)
def test_what_passes_for_another_word_of_the_text_is_marked(text, letters):
    assert marked(untrusted(text)) == letters


def test_a_word_is_marked_beside_its_twin_in_another_line():
    lines = render_code("caf\xe9 = 1\nprint('x')\ncafe\u0301 = 2", "python").lines

    assert [marked(line) for line in lines] == [[], [], ["e\u0301"]]


@pytest.mark.parametrize("text", ["caf\xe9", "cafe\u0301", "\u529b\u30e1\u30e9", "x\xb2 1\xba"])
def test_what_has_no_twin_is_not_marked(text):
    assert marked(untrusted(text)) == []


OF_TWINS = st.sampled_from("a \u0430\xe9\u0301\u30ab\u529b\u307a\u309a\U0001d41e=\n")


@given(st.text(OF_TWINS, max_size=40))
def test_pairs_are_no_longer_than_was_counted(text):
    assert len(untrusted(text)) <= size_drawn(text)


@given(st.text(LETTERS, max_size=40))
def test_the_text_is_the_source_and_no_longer_than_was_counted(text):
    html = untrusted(text)
    shown = [s if isinstance(s, str) else s.label for s in segments(text)]

    assert unescape(re.sub("<[^>]*>", "", html)) == "".join(shown)
    assert len(html) <= size_drawn(text)
