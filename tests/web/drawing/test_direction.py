import re
import time
import unicodedata
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.inspection.hidden import segments
from dashboard.web.drawing.code import render_code
from dashboard.web.drawing.diff import difference
from dashboard.web.drawing.direction import TextReading
from dashboard.web.drawing.markup import size_drawn, untrusted
from dashboard.web.drawing.text import Span

OWN = re.compile(r'<bdi dir="rtl">(.*?)</bdi>')
SIGNS = {
    '<bdi dir="rtl">': "[",
    '<bdi class="leftwards" dir="rtl">': "[",
    '<bdi dir="ltr">': "{",
    "</bdi>": "]",
}
TURNS = ("R", "AL", "AN")
texts = st.text("אבגدص٣5 ab\n.,-\"'/=#\u200c\u202e\u05b0()<&")
readings = st.sampled_from(TextReading)


def drawn(text, language=None, **more):
    """Return the text as HTML without spans, each isolate that runs leftwards in brackets."""
    html = "\n".join(render_code(text, language, **more).lines)
    html = re.sub(r"</?span[^>]*>", "", html)
    for tag, sign in SIGNS.items():
        html = html.replace(tag, sign)
    return unescape(html)


def prose(text):
    return drawn(text, reading=TextReading.PROSE)


def test_each_word_of_code_is_an_isolate():
    assert drawn("cp אב גד") == "cp [אב] [גד]"


@pytest.mark.parametrize("between", [" ", "-", "=", "/", '"', " 5 ", "(", ", ", " # ", "::", "_"])
def test_nothing_between_two_words_of_code_belongs_to_either(between):
    named = between.replace('"', "&quot;")
    (line,) = render_code(f"אב{between}גד").lines
    assert line == f'<bdi dir="rtl">אב</bdi>{named}<bdi dir="rtl">גד</bdi>'


def test_arabic_digits_are_an_isolate_apart_from_the_letters_beside_them():
    assert drawn("سعر١٢+٣") == "[سعر][١٢]+[٣]"


def test_the_words_of_a_string_are_one_isolate_and_its_quotes_are_not_in_it():
    assert drawn('x = "שלום דנה, ביום 5 ביוני!"', "python") == 'x = "[שלום דנה, ביום 5 ביוני]!"'


@pytest.mark.parametrize("number", ["15:00", "١٥:٠٠", "۱۵:۰۰"], ids=["ours", "Arabic", "Persian"])
def test_a_number_parts_no_sentence_whichever_its_digits(number):
    assert drawn(f'"ساعت {number} (اتاق) است"', "python") == f'"[ساعت {number} (اتاق) است]"'


def test_the_mark_of_a_comment_is_not_in_its_isolate():
    assert drawn("x = 1  # אב (גד) הו", "python") == "x = 1  # [אב (גד) הו]"


def test_a_string_that_closes_and_opens_again_parts_the_words():
    assert drawn('x = "אב""גד"', "python") == 'x = "[אב]""[גד]"'


@pytest.mark.parametrize("between", ["+", "/", "\\", "=", "<", "|", "*", "@", "_", "a", " " * 25])
def test_operators_and_far_blanks_part_the_words_of_a_string(between):
    assert drawn(f'"אב{between}גד"', "python") == f'"[אב]{between}[גד]"'


def test_names_and_values_of_json_are_read_as_strings():
    assert drawn('{"שם מלא": "דנה כהן"}', "json") == '{"[שם מלא]": "[דנה כהן]"}'


def test_json_without_colours_reads_what_is_quoted_as_strings(monkeypatch):
    monkeypatch.setattr("dashboard.web.drawing.code.tokenize", lambda *_: None)
    assert drawn('{"שם מלא": אב גד, "', "json") == '{"[שם מלא]": [אב] [גד], "'


def test_a_line_of_prose_that_begins_leftwards_is_one_isolate():
    assert prose("שלום Dana, 5 ימים\nDear דנה כהן") == "[שלום Dana, 5 ימים]\nDear [דנה כהן]"


def test_a_path_and_an_address_in_prose_stay_in_the_order_of_the_source():
    assert prose("/א/ב") == "/[א]/[ב]"
    assert prose("ראה /א/ב או כאן") == "[ראה {/[א]/[ב]] או כאן]"
    assert prose("א@ב.org") == "[א]@[ב].org"


def test_json_in_prose_runs_from_left_to_right():
    assert prose('["אב", "גד"]') == '["[אב]", "[גד]"]'


@pytest.mark.parametrize(
    "code",
    ["f('\"', אב - גד, '\"')", '# "\nאב - גד # "', 'f("א", אב - גד)', "x = 1 # אב - גד"],
    ids=["in single quotes", "in a comment", "after a call", "after a number sign"],
)
def test_a_quote_in_code_opens_no_string_of_json(code):
    assert "[אב] - [גד]" in drawn(code, reading=TextReading.QUOTED)


@pytest.mark.parametrize(
    "line",
    ["x + (אב - 1 - גד)", "max(אב, גד)", "x: אב - גד", "אב - 1 - גד", "אב = גד, הו", "y-(אב-גד)"],
)
def test_a_line_that_calculates_keeps_the_order_of_its_source(line):
    assert re.findall(r"\[(.*?)\]", prose(line)) == re.findall("[אבגדהו]+", line)


@pytest.mark.parametrize("line", ["שלום - תודה", "אב (גד), הו 5!", "טלפון: +972 50"])
def test_a_sentence_with_a_dash_or_a_number_is_still_prose(line):
    assert prose(line) == f"[{line}]"


def test_what_stands_in_quotation_marks_is_no_operand():
    assert prose('Dear דנה כהן: "אב" - 12') == 'Dear [דנה כהן]: "[אב]" - 12'


def test_and_or_in_prose_is_no_path():
    assert prose("ו/או") == "[ו/או]"


def test_a_joiner_parts_no_persian_word():
    assert drawn('x = "می\u200cخواهم"', "python") == 'x = "[میZWNJخواهم]"'
    assert prose("می\u200cخواهم") == "[میZWNJخواهم]"


def test_a_mark_of_direction_is_a_box_outside_of_the_words():
    assert drawn('x = "אב\u202eגד"', "python") == 'x = "[אב]RLO[גד]"'
    assert drawn("אב\u200fגד") == "[אב]RLM[גד]"


def test_a_line_with_something_masked_runs_as_it_would_without():
    masked = prose_with_mask("שלום xxxx דנה\nDear דנה xxxx", "xxxx")
    assert masked == "[שלום * דנה]\nDear [דנה] *"


def prose_with_mask(text, secret):
    found = tuple(Span(m.start(), m.end()) for m in re.finditer(secret, text))
    return re.sub("•+masked secret", "*", drawn(text, redacted=found, reading=TextReading.PROSE))


def test_a_line_of_a_difference_runs_from_left_to_right():
    (_, line) = difference('a: "b"', 'שם: "אב גד"').lines
    assert OWN.findall(line.text) == ["שם", "אב", "גד"]
    assert "leftwards" not in line.text


def test_a_difference_of_prose_reads_as_prose():
    (_, line) = difference("a", "אב - גד", reading=TextReading.PROSE).lines
    assert line.text == '<bdi class="leftwards" dir="rtl">אב - גד</bdi>'


def test_in_code_no_character_that_turns_a_line_stands_outside_of_an_isolate():
    every = (chr(c) for c in range(0x20000) if unicodedata.bidirectional(chr(c)) in TURNS)
    source = " + ".join(every)
    rest = OWN.sub("", "".join(render_code(source).lines))
    assert not any(unicodedata.bidirectional(c) in TURNS for c in rest)


@given(texts, st.sampled_from(["python", "bash", "json", "sql", "text"]))
def test_in_any_code_what_turns_a_line_stands_in_isolates(source, language):
    for line in render_code(source, language).lines:
        rest = re.sub(r'<bdi dir="rtl">.*?</bdi>', "", line)
        assert not any(unicodedata.bidirectional(c) in TURNS for c in rest)


@given(texts, readings)
def test_the_text_is_the_source_whatever_it_is_read_as(read, source, reading):
    page = read("\n".join(render_code(source, reading=reading).lines))
    shown = [s if isinstance(s, str) else s.label for s in segments(source)]
    assert "".join(p if kind == "text" else p[0] for kind, p in page.parts) == "".join(shown)


@given(texts)
def test_what_is_drawn_is_never_longer_than_was_counted(text):
    assert size_drawn(text) >= len(untrusted(text))
    assert size_drawn(text) >= len("".join(render_code(text).lines))


HOSTILE = ["א", "א ", "# ", ' # "', "א-", 'א"', "א\\", '\\"', "א/", "./", "א\u200c", "١,", "a", "ִ"]


@pytest.mark.parametrize("piece", [*HOSTILE, "א" + " " * 24])
def test_a_hostile_text_takes_no_longer_than_its_length_asks(piece):
    text = "א" + piece * (200_000 // len(piece)) + '"'
    started_at = time.process_time()
    for reading in TextReading:
        render_code(text, reading=reading)
    size_drawn(text)
    untrusted(text)
    assert time.process_time() - started_at < 5
